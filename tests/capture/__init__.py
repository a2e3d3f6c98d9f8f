"""Fake-tensor tracing compared with torch.export: models, operators and programs of every kind.

    python -m tests.capture [zoo mutation ...] [--names bert,gpt2] [--every 10] [--again]

torch.export's program of each subject is captured once and kept as text under `--cache`. The
program of fake-tensor tracing is compared with it call by call, size by size and range by range.
"""
