"""The one package that uses what transformers does not promise: its private names, and modules that
it does not export from its root.

A module for each subject: `caches` (which parameter and which output a cache is, and new ones),
`trees` (any object as tensors and a description), `registration` (caches as pytrees), `models`
(classes of a task, and models without weights), `outputs`, `weights` (conversions of checkpoints),
`gguf`, `kernels` (which function in Python stands for which kernel), `tracing` (what transformers
does otherwise while a program is captured). `features` says what the installed release lacks, and
which of our features need it.

What a release has is found by looking for it and trying it, never by its number.
`tools/check_private_names.py` refuses such names in all other packages.
"""
