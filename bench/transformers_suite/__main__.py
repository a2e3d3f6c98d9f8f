"""Runs transformers' tests of ONNX exporters with Sardonyx in place of transformers' own exporter.

    git clone https://github.com/huggingface/transformers        # the tests are no package
    python -m bench.transformers_suite --tests transformers --jobs 2
    python -m bench.transformers_suite --tests transformers --exporter onnx --models swin,bert
    python -m bench.transformers_suite --tests transformers --summary

Each class of models is exported with static and dynamic shapes, and the stages of its generate()
with a growing and a static cache. The tests compare the names of outputs with those of eager
PyTorch. Here the values are compared, too: "differs" is a test that passes and whose values are
others, "unsure" one where PyTorch's own differ as much after rounding, in float64 or with equal
scores in another order or with other random numbers; "not made" is one whose model or inputs the
tests don't make with the installed release. `--exporter onnx` runs transformers' own exporter, for
comparison. What the tests' own list of exceptions leaves out is tried as well, and counted apart.
Needs the packages parameterized, pillow and pytest. Each variant is a process with `--limit`
seconds of CPU time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import warnings
import zlib
from pathlib import Path
from typing import Any

from tests.architectures.workers import run_each

from .folder import import_leniently, model_tests, open_checkout
from .summary import summary
from .variants import Suite, Variant


def main() -> None:
    options = _options()
    records = options.cache / options.exporter
    records.mkdir(parents=True, exist_ok=True)
    if not options.summary:
        _sweep(options, records)
    print(summary(options.cache))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.transformers_suite", description=__doc__)
    parser.add_argument("--tests", type=Path, required=True, help="a checkout of transformers")
    parser.add_argument("--exporter", choices=("sardonyx", "onnx"), default="sardonyx")
    parser.add_argument("--models", default="", help="folders of tests/models, by commas")
    parser.add_argument("--every", type=int, default=1, help="of all variants, one of as many")
    parser.add_argument("--offset", type=int, default=0, help="which of them: 0 to --every - 1")
    parser.add_argument("--listed", action="store_true", help="only what the tests leave out")
    parser.add_argument("--match", default="", help="only variants whose name has this in it")
    parser.add_argument("--again", action="store_true", help="also those already done")
    parser.add_argument("--failed", action="store_true", help="again those that have not passed")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one variant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--summary", action="store_true", help="only what came of all")
    parser.add_argument(
        "--cache", type=Path, default=Path.home() / ".cache/sardonyx/transformers-suite"
    )
    return parser.parse_args()


def _sweep(options: argparse.Namespace, records: Path) -> None:
    os.environ.update(RUN_SLOW="1", HF_HUB_OFFLINE="1")
    import torch
    import transformers

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    suite = _suite(options)
    variants: dict[str, Variant] = {}
    for module in model_tests(options.tests, set(filter(None, options.models.split(",")))):
        with contextlib.suppress(ImportError, AttributeError):  # of another release's models
            variants.update((each.name, each) for each in suite.variants(import_leniently(module)))
    # The same part of all for each exporter, in no order of theirs.
    chosen = sorted(
        (
            name
            for name, variant in variants.items()
            if zlib.crc32(name.encode()) % options.every == options.offset
            and (variant.listed or not options.listed)
            and options.match in name
            and _is_due(options, records / f"{name}.json")
        ),
        key=lambda name: zlib.crc32(name.encode()[::-1]),
    )

    def record(name: str, **facts: Any) -> None:
        whole = {"name": name, **facts}
        (records / f"{name}.json").write_text(json.dumps(whole, indent=1))

    run_each(
        chosen,
        lambda name: record(name, **suite.run(variants[name])),
        lambda name, why: record(
            name,
            listed=variants[name].listed,
            status="failed",
            seconds=options.limit,
            components=0,
            reason=why,
        ),
        options.jobs,
        options.limit,
    )


def _suite(options: argparse.Namespace) -> Suite:
    tests = open_checkout(options.tests)
    if options.exporter == "onnx":
        from transformers.exporters import OnnxConfig, OnnxExporter

        return Suite(tests, OnnxExporter(), OnnxConfig)
    from sardonyx.transformers import SardonyxConfig, SardonyxExporter

    return Suite(tests, SardonyxExporter(), SardonyxConfig)


def _is_due(options: argparse.Namespace, record: Path) -> bool:
    if options.again or not record.exists():
        return True
    return options.failed and json.loads(record.read_text())["status"] in ("failed", "differs")


if __name__ == "__main__":
    main()
