"""What the sweeps over small checkpoints share: their options, and their libraries made ready."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .trial import import_all


def sweep_parser(
    program: str, description: str | None, *, cache: str, limit: float
) -> argparse.ArgumentParser:
    """The parser of `python -m <program>`. `cache`: the folder of its records, below
    ~/.cache/sardonyx; `limit`: seconds for one architecture."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--models", help="architectures, separated by commas; all by default")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/sardonyx" / cache)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=limit, help="seconds for one architecture")
    parser.add_argument("--most", type=int, default=1000, help="how many are done in this run")
    parser.add_argument("--again", action="store_true", help="also those already done")
    parser.add_argument("--summary", action="store_true", help="only say what came of all")
    return parser


def prepare_libraries() -> None:
    """Imports all, with one thread, without a network, and without messages of transformers."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    import_all()
