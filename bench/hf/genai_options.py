"""Runs small decoders in onnxruntime-genai with each option that its CPU provider takes.

    make build && python -m bench.hf.genai_options --models llama,qwen3
    python -m bench.hf.genai_options --summary

Each architecture is made once and exported with each option of `OPTIONS`. The 20 greedy tokens of
onnxruntime-genai are compared with eager PyTorch's, for one sequence and for two. Where they
differ, PyTorch's own logits decide: a difference at scores that are nearer to each other than the
option rounds is a tie, any other is wrong. It is a tie, too, where PyTorch gives these tokens once
its top-k takes the first of equal values, whose order PyTorch does not define, where it gives them
in float16, or its float16 moves the scores as far apart, and where it gives them with keys and
values rounded to the integers of an int8 cache. With `int4`, PyTorch has the dequantized weights;
a difference that is gone once the file's own products leave activations in float is "unsure".
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.architectures.workers import run_each

from sardonyx._base.choices import Runtime

from .checkpoints import architectures, headline, make_checkpoint
from .sweeping import prepare_libraries, sweep_parser
from .ties import FirstOfEqual, in_float16, integer_cache
from .trial import PROMPT, STEPS, batches, end_tokens, generated_in_genai, until_end

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.checkpoints.dequantized_reference import DequantizedValues

DECODERS = "text-generation-with-past"
RUNTIME: Runtime = "onnxruntime-genai"


class Option(NamedTuple):
    """Options of `sardonyx.hf.export`, and by how many standard deviations of the logits two
    scores have to be apart for rounding not to exchange them."""

    options: dict[str, Any]
    rounding: float


OPTIONS = {
    "none": Option({}, 0.001),
    "--split 2": Option({"split": 2}, 0.001),
    "--static-cache 64": Option({"static_cache": 64}, 0.001),
    "--last-logits": Option({"last_logits": True}, 0.001),
    "--cache-type int8": Option({"cache_type": "int8"}, 0.25),
    "--precision fp16": Option({"precision": "fp16"}, 0.05),
    "--precision int4": Option({"precision": "int4"}, 0.2),
}


def main() -> None:
    options = _parser().parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    if not options.summary:
        _run(options)
    print(_table(options.cache))


def _parser() -> argparse.ArgumentParser:
    parser = sweep_parser("bench.hf.genai_options", __doc__, cache="genai-options", limit=900)
    parser.add_argument("--options", help="of those above, separated by commas; all by default")
    return parser


def _run(options: argparse.Namespace) -> None:
    prepare_libraries()
    chosen = options.options.split(",") if options.options else list(OPTIONS)
    names = options.models.split(",") if options.models else architectures(DECODERS)
    records = options.cache
    if not options.again:
        names = [n for n in names if set(chosen) - set(_recorded(records, n))]
    names.sort(key=lambda name: zlib.crc32(name.encode()))
    run_each(
        names[: options.most],
        lambda name: _try(name, chosen, records, options.again),
        lambda name, why: _record_end(records, name, chosen, why),
        options.jobs,
        options.limit,
    )


def _try(name: str, chosen: list[str], records: Path, again: bool) -> None:
    """Writes what came of an architecture with each option as soon as it is known."""
    from sardonyx.hf.base.tasks import choose
    from sardonyx.hf.checkpoints import building
    from sardonyx.hf.checkpoints.checkpoint import read_checkpoint

    with tempfile.TemporaryDirectory(prefix="sardonyx-options-") as work:
        folder = Path(work) / "checkpoint"
        try:
            make_checkpoint(name, DECODERS, folder)
        except Exception as error:
            made = {"status": "not made", "reason": headline(error)}
            _record(records, name, dict.fromkeys(chosen, made))
            return
        checkpoint = read_checkpoint(folder)
        model_class = choose(checkpoint.config, "text-generation").model_class
        model = building.load(checkpoint, model_class)
        for option in chosen:
            if not again and option in _recorded(records, name):
                continue
            began = time.monotonic()
            came = _came_of(folder, Path(work) / "out", model, option)
            seconds = round(time.monotonic() - began, 1)
            _record(records, name, {option: came | {"seconds": seconds}})
            if option == "none" and came["status"] == "refused":
                _record(records, name, dict.fromkeys(chosen, came))
                return


def _record_end(records: Path, name: str, chosen: list[str], why: str) -> None:
    """Of a process that ended before all options were tried: at the first of those."""
    left = [option for option in chosen if option not in _recorded(records, name)]
    _record(records, name, {left[0]: {"status": "failed", "reason": why}} if left else {})


def _came_of(folder: Path, out: Path, model: Any, option: str) -> dict[str, Any]:
    import copy

    import sardonyx

    options = dict(OPTIONS[option].options)
    if "cache_type" in options:
        options["cache_prompts"] = _prompts(model.config)
    values: list[DequantizedValues] = []
    try:
        with _taking_values(values):
            sardonyx.hf.export(folder, out, task=DECODERS, runtime=RUNTIME, **options)
    except sardonyx.OnnxExporterError as error:
        return {"status": "refused" if error.diagnostics else "failed", "reason": str(error)[:1500]}
    except Exception as error:
        return {"status": "failed", "reason": headline(error)}
    reference = model
    if any(values):
        reference = copy.deepcopy(model)
        others = values[0].put(reference)
        if others:
            return {"status": "unsure", "reason": f"weights in another form: {others[:3]}"}
    try:
        came = _compared(reference, out, OPTIONS[option].rounding)
        if came["status"] == "wrong":
            came = _explained(reference, out, option) or came
        if came["status"] == "wrong" and _leave_activations_in_float(out):
            exact = _compared(reference, out, OPTIONS["none"].rounding)
            if exact["status"] == "wrong":
                exact = _explained(reference, out, "none") or exact
            if exact["status"] in ("right", "tie"):
                reason = f"{came['reason']}; {exact['status']} with activations in float"
                came = {"status": "unsure", "reason": reason}
        return came
    except Exception as error:
        return {"status": "failed", "reason": headline(error)}


def _explained(reference: Any, out: Path, option: str) -> dict[str, Any] | None:
    """A tie that shows in what else PyTorch gives; None where there is none."""
    rounding = OPTIONS[option].rounding
    with FirstOfEqual():
        came = _compared(reference, out, rounding)
    if came["status"] != "wrong":
        return {"status": "tie", "reason": "equal values in PyTorch's top-k"}
    if "int8" in option:
        with integer_cache(reference, out):
            came = _compared(reference, out, OPTIONS["none"].rounding)
        if came["status"] != "wrong":
            return {"status": "tie", "reason": "PyTorch's with keys and values of these integers"}
    if "fp16" in option:
        rounded = in_float16(reference)
        with FirstOfEqual():
            came = _compared(rounded, out, OPTIONS["none"].rounding)
        if came["status"] != "wrong":
            return {"status": "tie", "reason": "PyTorch's in float16"}
        came = _compared(reference, out, rounding, rounded)
    return None if came["status"] == "wrong" else came


def _leave_activations_in_float(out: Path) -> bool:
    """Whether a file in the folder has products that round activations to 8 bits, which are then
    exact in all of them: MatMulNBits with an accuracy_level."""
    import onnx

    found = False
    for path in out.glob("*.onnx"):
        proto = onnx.load(path, load_external_data=False)
        for node in proto.graph.node:
            for attribute in [each for each in node.attribute if each.name == "accuracy_level"]:
                node.attribute.remove(attribute)
                found = True
        onnx.save(proto, path)
    return found


def _prompts(config: Any) -> list[torch.Tensor]:
    """Prompts of all tokens, special ones too: models of random weights generate any."""
    import torch

    generator = torch.Generator().manual_seed(0)
    size = config.get_text_config().vocab_size
    return [torch.randint(size, (40,), generator=generator) for _ in range(16)]


def _taking_values(values: list[DequantizedValues]) -> Any:
    """Within it, an export leaves what its block-wise quantized weights stand for in `values`."""
    from unittest import mock

    from sardonyx.hf.checkpoints.dequantized_reference import DequantizedValues
    from sardonyx.hf.conversion.job import Job

    def take(job: Any, _: bool) -> None:
        job._values = DequantizedValues()
        values.append(job._values)

    return mock.patch.object(Job, "_watch_values", take)


def _compared(model: Any, out: Path, rounding: float, rounded: Any = None) -> dict[str, Any]:
    """`rounded`: the model in the type of the option, by which scores differ as they may."""
    import torch

    from sardonyx.hf.base.example import token_ids
    from sardonyx.hf.evaluation.greedy import greedy, greedy_with_cache

    ends = end_tokens(out)
    ties = []
    for batch in batches(out):
        ids = token_ids(model.config, batch, PROMPT, seed=batch)
        # A text that ends early has the token that ends it, which is not among those generated.
        got = [_ended(row, ends) for row in generated_in_genai(out, ids)]
        found = []
        for reference in (greedy, greedy_with_cache):
            wanted = reference(model, ids, torch.ones_like(ids), STEPS).tolist()
            rows = zip((until_end(ends, row) for row in wanted), got, strict=True)
            found.append([_gap(model, text, row, rounded) for text, row in rows])
            if not any(found[-1]):
                break
        gaps = min(found, key=lambda rows: max((row[0] for row in rows if row), default=0.0))
        for gap, place in filter(None, gaps):
            text = f"token {place - PROMPT} at batch {batch}, scores {gap:.4f} deviations apart"
            if gap > rounding:
                return {"status": "wrong", "reason": text}
            ties.append(text)
    return {"status": "tie" if ties else "right", "reason": "; ".join(ties)}


def _ended(row: list[int], ends: Collection[int]) -> list[int]:
    short = len(row) < PROMPT + STEPS and ends and row[-1] not in ends
    return [*row, min(ends)] if short else row


def _gap(
    model: torch.nn.Module, text: list[int], row: list[int], rounded: torch.nn.Module | None
) -> tuple[float, int] | None:
    """How far apart PyTorch's scores of both texts are at the first token at which they differ, in
    standard deviations of its logits, and where that is. None where they do not differ. No more
    than nothing where the rounded model's scores differ from the model's by as much."""
    places = [n for n, (a, b) in enumerate(zip(text, row, strict=False)) if a != b]
    if not places:
        return None if len(row) >= len(text) else (float("inf"), len(row))
    place = places[0]
    apart = _apart(model, text, row, place)
    if rounded is not None and abs(_apart(rounded, text, row, place) - apart) >= abs(apart):
        return 0.0, place
    return abs(apart), place


def _apart(model: torch.nn.Module, text: list[int], row: list[int], place: int) -> float:
    import torch

    from sardonyx.hf.base.parts import accepted, fixed_arguments

    ids = torch.tensor([text[:place]])
    given = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "position_ids": torch.arange(place)[None],  # as greedy() has them
    }
    taken = accepted(model)
    with torch.no_grad():
        feed = {name: value for name, value in given.items() if name in taken}
        result = model(**feed, **fixed_arguments(model))
    logits = result.logits[0, -1].float()
    return float((logits[text[place]] - logits[row[place]]) / logits.std())


def _record(records: Path, name: str, facts: dict[str, Any]) -> None:
    records.mkdir(parents=True, exist_ok=True)
    whole = _recorded(records, name) | facts
    (records / f"{name}.json").write_text(json.dumps(whole, indent=1), encoding="utf-8")


def _recorded(records: Path, name: str) -> dict[str, Any]:
    path = records / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _table(folder: Path) -> str:
    """What came of each option, and the reasons where that is not "right", once for a model."""
    records = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    kinds = ("right", "tie", "unsure", "refused", "wrong", "failed")
    lines = [f"{'option':20}" + "".join(f"{kind:>9}" for kind in kinds)]
    details = []
    for option in OPTIONS:
        counts = Counter(facts[option]["status"] for facts in records.values() if option in facts)
        lines.append(f"{option:20}" + "".join(f"{counts[kind]:9}" for kind in kinds))
        details += [
            f"{option:20} {facts[option]['status']:8} {name}: "
            + " ".join(str(facts[option]["reason"]).split())[:200]
            for name, facts in records.items()
            if option in facts
            and facts[option]["status"] not in ("right", "tie", "not made")
            and (option == "none" or facts[option] != facts.get("none"))
        ]
    return "\n".join([*lines, "", *details])


if __name__ == "__main__":
    main()
