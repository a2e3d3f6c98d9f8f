"""The one package that uses private and experimental API of PyTorch.

A module for each subject: `pytree`, `sizes` (symbolic sizes), `fake_tensors`, `operators`, `modes`
(what sees the calls of operators), `non_strict` (the parts of torch.export that fake-tensor tracing
uses), `export`, `torchscript`, `state` (of modules, tensors and settings). `features` says what the
installed release lacks, and which of our features need it.

What a release has is found by looking for it and trying it, never by its number.
`tools/check_torch_private.py` refuses private names of PyTorch in all other packages.
"""
