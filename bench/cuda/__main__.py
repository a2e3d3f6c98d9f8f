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

from . import architectures, decoder, graphs, timing, verdicts
from .makers import DTYPES, MAKERS, PRECISIONS, in_type
from .models import MODELS, Subject, subject
from .placing import left_to_the_cpu
from .results import Record, Results

_BATCHES = (1, 8)
_OURS = verdicts.OURS
_FIRST = "fp16"
_ARCHITECTURES = 57
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


def check(it: Subject, precision: str, made: dict[str, Any]) -> Record:
    """Without a GPU: nodes, what is left to the CPU by the table, answers. Ours are right."""
    record: Record = {"rows": [], "right": True, "left": {}}
    for maker, path in made.items():
        if isinstance(path, str):
            record["rows"].append([maker, path, "", ""])
            continue
        model = onnx.load(path)
        try:
            apart = _difference(path, it)
            answer = f"{apart:.1e}"
        except Exception as error:  # kernels that ONNX Runtime's CPU provider does not have
            apart, answer = 0.0, f"not run on the CPU: {str(error).strip().splitlines()[0][:40]}"
        if maker.startswith(_OURS):
            record["right"] &= apart < _MOST[precision]
        left = left_to_the_cpu(model)
        record["rows"].append([maker, len(model.graph.node), _listed(left), answer])
        if maker == _OURS:
            fixed, left_of_fixed = _check_fixed(it, path)
            record["rows"].append(fixed)
            record["right"] &= not left_of_fixed
            record["left"] = dict(left + left_of_fixed)
    return record


def _check_fixed(it: Subject, source: Path) -> tuple[list[Any], Counter[str]]:
    """Whether all of a model with fixed sizes may be one CUDA graph."""
    model = onnx.load(graphs.fixed(source, source.with_suffix(".fixed.onnx"), it, 1))
    left = left_to_the_cpu(model) + Counter(graphs.of_sizes(model))
    return [f"{_OURS}, fixed", len(model.graph.node), _listed(left), ""], left


def measure(it: Subject, precision: str, made: dict[str, Any]) -> Record:
    """With a GPU: milliseconds by batch, and where the nodes are."""
    dtype = DTYPES.get(precision, torch.float16 if precision == "int4" else torch.float32)
    model = copy.deepcopy(it.model).to(dtype).cuda()
    compiled, reduced = torch.compile(model), torch.compile(model, mode="reduce-overhead")
    times: dict[str, list[float]] = {}
    places: dict[str, tuple[int, Counter[str]]] = {}
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
            verdicts.REDUCED: of(reduced, on_device),
        }
        for maker, path in made.items():
            if isinstance(path, str):
                continue
            runs[maker] = timing.bound(timing.session(str(path)), inputs)
            places[maker] = timing.placed(str(path), inputs)
            if maker == _OURS:
                whole = graphs.fixed(path, path.with_suffix(f".{rows}.onnx"), it, rows)
                captured = timing.session(str(whole), graph=True)
                runs[verdicts.GRAPH] = timing.bound(captured, inputs)
        for maker, took in timing.medians(runs).items():
            times.setdefault(maker, []).append(took)
    rows_of: list[list[Any]] = []
    for maker, each_batch in times.items():
        on_gpu, left = places.get(maker, ("–", None))
        cells = " / ".join(f"{each:.2f}" for each in each_batch)
        rows_of.append([maker, on_gpu, "–" if left is None else _listed(left), cells])
    rows_of += [[maker, path, "", ""] for maker, path in made.items() if isinstance(path, str)]
    ours = places[_OURS][1] if _OURS in places else Counter()
    record: Record = {"rows": rows_of, "ms": times, "left": dict(ours)}
    # NumPy has no bfloat16.
    if isinstance(made.get(_OURS), Path) and dtype != torch.bfloat16:
        record["apart"] = _difference_on_gpu(made[_OURS], it, dtype)
        record["right"] = record["apart"] < _MOST[precision]
    return record


def _difference_on_gpu(path: Path, it: Subject, dtype: torch.dtype) -> float:
    """From PyTorch's answer in float32, of its largest number."""
    inputs = it.inputs(1)
    with torch.no_grad():
        model = copy.deepcopy(it.model).cuda()
        wanted = model(**{name: each.cuda() for name, each in inputs.items()}).float().cpu()
    found = timing.answers(str(path), in_type(inputs, dtype))[0].float()
    return float((found - wanted).abs().max() / wanted.abs().max())


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    reason = timing.missing()
    small = bool(reason) if options.size is None else options.size == "small"
    device = f"no GPU ({reason})" if reason else torch.cuda.get_device_name()
    results = Results(options.results, f"{device}{', small models' * small}", options.minutes)
    if reason:
        print(f"Nothing is timed: {reason}. Nodes and answers are checked.\n")
        print("| model | maker | nodes | left to the CPU | apart |\n|---|---|---|---|---|")
    else:
        print(f"{device}, milliseconds for batches of 1 / 8\n")
        print("| model | maker | on the GPU | elsewhere | ms |\n|---|---|---|---|---|")
    right = True
    count = options.architectures
    if count is None:
        count = _ARCHITECTURES if options.results else 0
    # What matters most comes first: a GPU is lent for a while.
    first = [each for each in options.precisions if each == _FIRST]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def models(precisions: list[str]) -> bool:
            found = [
                _model(name, precision, folder, results, options, small=small, reason=reason)
                for precision in precisions
                for name in options.models
            ]
            return all(found)

        right &= models(first)
        if options.decoder:
            decoder.compare(folder, results, small=small, peer=options.peers)
        if count:
            halves = options.results is not None
            right &= architectures.sweep(count, results, halves=halves)
        others = [each for each in options.precisions if each not in first]
        if others:
            right &= models(others)
    if options.results:
        _print_verdicts(results)
    return 0 if right else 1


def _model(
    name: str, precision: str, folder: Path, results: Results, options: Any, *, small: bool,
    reason: str,
) -> bool:  # fmt: skip
    def record() -> Record:
        it = subject(name, small=small)
        made = _made(it, name, precision, folder, options.makers)
        try:
            return check(it, precision, made) if reason else measure(it, precision, made)
        except Exception as error:
            if not options.results:
                raise
            # The others are measured all the same.
            text = str(error).strip().splitlines() or [""]
            return {"problem": f"{type(error).__name__}: {text[0][:100]}"}

    found = results.of(f"models/{precision}/{name}", record)
    if found is None:
        return True
    for row in found.get("rows", [["", found.get("problem"), "", ""]]):
        print(f"| {name} {precision} | {' | '.join(map(str, row))} |", flush=True)
    return "problem" not in found and found.get("right", True)


def _print_verdicts(results: Results) -> None:
    print("\n| to show | shown | |\n|---|---|---|")
    for what, is_shown, detail in verdicts.verdicts(results.records):
        print(f"| {what} | {'yes' if is_shown else '**no**'} | {detail} |")
    if results.left_out:
        listed = ", ".join(results.left_out[:5]) + (", …" if len(results.left_out) > 5 else "")
        print(f"\nNot begun for lack of time: {len(results.left_out)} ({listed}). Run it again.")


def _names_of(known: list[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        found = text.split(",") if text else []
        for name in found:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no {name!r} among {', '.join(known)}")
        return found

    return names


def _options() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="bench.cuda")
    for option, known in (("models", MODELS), ("precisions", PRECISIONS), ("makers", MAKERS)):
        made.add_argument(
            f"--{option}", type=_names_of(list(known)), default=list(known), metavar="NAME,...",
            help=", ".join(known),
        )  # fmt: skip
    made.add_argument("--size", choices=("small", "full"), help="default: full with a GPU")
    made.add_argument("--no-decoder", dest="decoder", action="store_false")
    made.add_argument(
        "--architectures", type=int, metavar="N",
        help="as many of transformers' architectures, small, on the provider",
    )  # fmt: skip
    made.add_argument(
        "--results", type=Path, metavar="FILE",
        help="JSON of what was measured, which is not measured again; with "
        f"{_ARCHITECTURES} architectures, and what all of it shows",
    )  # fmt: skip
    made.add_argument("--minutes", type=float, help="after so many nothing more is begun")
    made.add_argument("--peers", default=".venv-peers/bin/python", help="has the model builder")
    return made


if __name__ == "__main__":
    sys.exit(main())
