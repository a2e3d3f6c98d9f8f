"""See the package's description. Exits with 1 where an answer is wrong."""

from __future__ import annotations

import argparse
import copy
import logging
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch

from sardonyx._runtime.session import open_session, run

from . import architectures, decoder, graphs, timing
from .makers import DTYPES, MAKERS, PRECISIONS, in_type
from .models import MODELS, Subject, subject
from .placing import left_to_the_cpu

_BATCHES = (1, 8)
_OURS = "sardonyx"
# The largest difference from PyTorch in float32, of the largest number of the answer.
_MOST = {"fp32": 1e-3, "fp16": 3e-2, "bf16": 0.2, "int4": 0.6}


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "nothing"


def _difference(path: Path, it: Subject) -> float:
    """Of the CPU provider's answers for another batch than the example's, from PyTorch's."""
    inputs = it.inputs(3)
    with torch.no_grad():
        wanted = it.model(**inputs).float()
    running = open_session(str(path))
    kinds = {"tensor(float16)": torch.float16, "tensor(bfloat16)": torch.bfloat16}
    feeds = {
        each.name: inputs[each.name].to(kinds.get(each.type, inputs[each.name].dtype))
        for each in running.get_inputs()
    }
    (result,) = run(running, feeds, [running.get_outputs()[0].name])
    return float((result.float() - wanted).abs().max() / wanted.abs().max())


def _made(
    it: Subject, name: str, precision: str, folder: Path, makers: list[str]
) -> dict[str, Any]:
    """Files by maker, or why there is none."""
    made: dict[str, Any] = {}
    for maker in makers:
        path = folder / f"{name}-{precision}-{len(made)}.onnx"
        try:
            MAKERS[maker](it, precision, path)
            made[maker] = path
        except Exception as error:  # other exporters fail in their own ways
            if maker.startswith(_OURS):
                raise
            made[maker] = (str(error).strip().splitlines() or [type(error).__name__])[0][:60]
    return made


def check(it: Subject, name: str, precision: str, made: dict[str, Any]) -> bool:
    """Without a GPU: nodes, what is left to the CPU by the table, answers. Ours are right."""
    right = True
    for maker, path in made.items():
        if isinstance(path, str):
            print(f"| {name} {precision} | {maker} | {path} | | |", flush=True)
            continue
        model = onnx.load(path)
        try:
            apart = _difference(path, it)
            answer = f"{apart:.1e}"
        except Exception as error:  # kernels that ONNX Runtime's CPU provider does not have
            apart, answer = 0.0, f"not run on the CPU: {str(error).strip().splitlines()[0][:40]}"
        if maker.startswith(_OURS):
            right &= apart < _MOST[precision]
        left = _listed(left_to_the_cpu(model))
        print(
            f"| {name} {precision} | {maker} | {len(model.graph.node)} | {left} | {answer} |",
            flush=True,
        )
        if maker == _OURS:
            right &= _check_fixed(it, name, precision, path)
    return right


def _check_fixed(it: Subject, name: str, precision: str, source: Path) -> bool:
    """Whether all of a model with fixed sizes may be one CUDA graph."""
    model = onnx.load(graphs.fixed(source, source.with_suffix(".fixed.onnx"), it, 1))
    left = left_to_the_cpu(model) + Counter(graphs.of_sizes(model))
    print(
        f"| {name} {precision} | {_OURS}, fixed | {len(model.graph.node)} | {_listed(left)} | |",
        flush=True,
    )
    return not left


def measure(it: Subject, name: str, precision: str, made: dict[str, Any]) -> None:
    """With a GPU: milliseconds by batch, and where the nodes are."""
    dtype = DTYPES.get(precision, torch.float16 if precision == "int4" else torch.float32)
    model = copy.deepcopy(it.model).to(dtype).cuda()
    compiled, reduced = torch.compile(model), torch.compile(model, mode="reduce-overhead")
    times: dict[str, list[float]] = {}
    places: dict[str, str] = {}
    for rows in _BATCHES:
        inputs = in_type(it.inputs(rows), dtype)
        on_device = {key: value.cuda() for key, value in inputs.items()}

        def of(module: Any, given: dict[str, torch.Tensor]) -> Callable[[], Any]:
            def forward() -> Any:
                with torch.no_grad():
                    return module(**given)

            return forward

        runs = {
            "eager": of(model, on_device),
            "torch.compile": of(compiled, on_device),
            "torch.compile, reduce-overhead": of(reduced, on_device),
        }
        for maker, path in made.items():
            if isinstance(path, str):
                continue
            runs[maker] = timing.bound(timing.session(str(path)), inputs)
            on_gpu, left = timing.placed(str(path), inputs)
            places[maker] = f"{on_gpu} | {_listed(left)}"
            if maker == _OURS:
                whole = graphs.fixed(path, path.with_suffix(f".{rows}.onnx"), it, rows)
                captured = timing.session(str(whole), graph=True)
                runs[f"{_OURS}, fixed, CUDA graph"] = timing.bound(captured, inputs)
        for maker, took in timing.medians(runs).items():
            times.setdefault(maker, []).append(took)
    for maker, each_batch in times.items():
        cells = " / ".join(f"{each:.2f}" for each in each_batch)
        print(f"| {name} {precision} | {maker} | {places.get(maker, '– | –')} | {cells} |")
    for maker, problem in made.items():
        if isinstance(problem, str):
            print(f"| {name} {precision} | {maker} | {problem} | | |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    reason = timing.missing()
    if reason:
        print(f"Nothing is timed: {reason}. Nodes and answers are checked.\n")
        print("| model | maker | nodes | left to the CPU | apart |\n|---|---|---|---|---|")
    else:
        print(f"{torch.cuda.get_device_name()}, milliseconds for batches of 1 / 8\n")
        print("| model | maker | on the GPU | elsewhere | ms |\n|---|---|---|---|---|")
    small = bool(reason) if options.size is None else options.size == "small"
    right = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in options.models:
            for precision in options.precisions:
                it = subject(name, small=small)
                made = _made(it, name, precision, folder, options.makers)
                if reason:
                    right &= check(it, name, precision, made)
                else:
                    measure(it, name, precision, made)
        if options.architectures:
            right &= architectures.sweep(options.architectures)
        if options.decoder:
            decoder.compare(folder, small=small, peer=options.peers)
    return 0 if right else 1


def _options() -> argparse.ArgumentParser:
    def names(text: str) -> list[str]:
        return text.split(",")

    made = argparse.ArgumentParser(prog="bench.cuda")
    made.add_argument("--models", type=names, default=list(MODELS), help=", ".join(MODELS))
    made.add_argument("--precisions", type=names, default=list(PRECISIONS))
    made.add_argument("--makers", type=names, default=list(MAKERS))
    made.add_argument("--size", choices=("small", "full"), help="default: full with a GPU")
    made.add_argument("--no-decoder", dest="decoder", action="store_false")
    made.add_argument(
        "--architectures", type=int, default=0, metavar="N",
        help="as many of transformers' architectures, small, on the provider",
    )  # fmt: skip
    made.add_argument("--peers", default=".venv-peers/bin/python", help="has the model builder")
    return made


if __name__ == "__main__":
    sys.exit(main())
