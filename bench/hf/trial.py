"""One architecture: made, exported from its folder, and run."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sardonyx import ProgramError
from sardonyx.hf.base.tasks import WITH_PAST

from .checkpoints import headline, make_checkpoint

PROMPT, STEPS = 6, 20


def trial(
    name: str,
    task: str,
    runtime: str,
    named: bool = True,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What came of it: "right", "wrong", "unsure" (differs where PyTorch differs from itself),
    "refused" (with a diagnostic), "failed", or "not made" where no small model of the architecture
    runs in eager PyTorch. The task is
    passed to the export where `named` is true; `options` are further ones of it."""
    with tempfile.TemporaryDirectory(prefix="sardonyx-sweep-") as work:
        folder = Path(work) / "checkpoint"
        try:
            made = make_checkpoint(name, task, folder)
        except ProgramError as error:
            return {"status": "refused", "task": task, "reason": str(error)[:3000]}
        except Exception as error:
            return {"status": "not made", "reason": headline(error)[:1500]}
        out = Path(work) / "out"
        came = _exported(folder, out, task if named else None, runtime, options)
        if runtime == "onnxruntime" and "SX2009" in came.get("reason", ""):
            # Where its cache cannot be had, the task without one is to be right.
            why = headline(ValueError(came["reason"])).partition("]: ")[2]
            came = _exported(folder, out, task.removesuffix(WITH_PAST), runtime, options)
            if came["status"] == "right":
                came["reason"] = f"without a cache: {why}"
        return {"task": task, **made, **came}


def import_all() -> None:
    """Exports once, so that the processes that are forked from this one need import nothing."""
    import onnxruntime  # noqa: F401 (is imported for them)

    import sardonyx

    with tempfile.TemporaryDirectory(prefix="sardonyx-sweep-") as work:
        make_checkpoint("llama", "text-generation-with-past", Path(work) / "checkpoint")
        sardonyx.hf.export(Path(work) / "checkpoint", Path(work) / "out")


def _exported(
    folder: Path,
    out: Path,
    task: str | None,
    runtime: Any,
    options: Mapping[str, Any] | None,
) -> dict[str, Any]:
    import sardonyx

    began = time.monotonic()
    genai = runtime == "onnxruntime-genai"
    try:
        report = sardonyx.hf.export(
            folder, out, task=task, runtime=runtime, verify=not genai, **(options or {})
        )
    except sardonyx.VerificationError as error:
        return {"status": "wrong", "reason": str(error)[:3000]}
    except sardonyx.OnnxExporterError as error:
        return {"status": "refused" if error.diagnostics else "failed", "reason": str(error)[:3000]}
    except Exception as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:3000]}
    facts: dict[str, Any] = {
        "seconds": round(time.monotonic() - began, 1),
        "exported": report.task,
        "nodes": [part.nodes for part in report.parts],
    }
    if not genai:
        unsure = report.verified.get("unsure", [])
        status = "unsure" if unsure else "right"
        reason = "; ".join([*unsure, *_left_out(report.notes)])
        return facts | {"status": status, "reason": reason, "verified": report.verified}
    return facts | _in_genai(folder, out)


def _left_out(notes: list[str]) -> list[str]:
    """What a model has, and its export has not, by the notes of the report."""
    said = {
        "exported for texts alone": "texts alone",
        "exported without a cache": "without a cache",
        "exported without them": "without its sounds",
    }
    return [text for part, text in said.items() if any(part in note for note in notes)]


def _in_genai(folder: Path, out: Path) -> dict[str, Any]:
    """Greedy tokens of onnxruntime-genai compared with eager PyTorch's."""
    try:
        wrong = [text for batch in batches(out) if (text := _differs(folder, out, batch))]
    except Exception as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:3000]}
    kind = next(
        (kind for kind in ("wrong", "unsure") if any(kind == each for each, _ in wrong)), "right"
    )
    return {"status": kind, "reason": "; ".join(text for _, text in wrong)}


def _differs(folder: Path, out: Path, batch: int) -> tuple[str, str] | None:
    """Whether that is wrong or unsure, and where; None where they do not differ. Unsure is what
    differs where PyTorch differs from itself, in float64 say."""
    import torch

    from sardonyx.hf.base.example import token_ids
    from sardonyx.hf.base.tasks import choose
    from sardonyx.hf.checkpoints import building
    from sardonyx.hf.checkpoints.checkpoint import read_checkpoint
    from sardonyx.hf.evaluation.greedy import greedy, greedy_with_cache
    from sardonyx.hf.evaluation.token_comparison import differs_from_itself

    checkpoint = read_checkpoint(folder)
    model = building.load(checkpoint, choose(checkpoint.config, "text-generation").model_class)
    ids = token_ids(model.config, batch, PROMPT, seed=batch)
    got = generated_in_genai(out, ids)
    ends = end_tokens(out)
    mask = torch.ones_like(ids)
    counts = []
    for reference in (greedy, greedy_with_cache):
        wanted = reference(model, ids, mask, STEPS).tolist()
        texts = [until_end(ends, row) for row in wanted]
        rows = list(zip(texts, got, strict=True))
        if all(row[: len(text)] == text for text, row in rows):
            return None
        counts.append(min(_same(text, row) for text, row in rows))
    is_unsure = differs_from_itself(model, {"ids": ids, "mask": mask}, max(counts), never=[])
    text = f"of {STEPS} greedy tokens, {max(counts)} are PyTorch's at batch {batch}"
    return ("unsure" if is_unsure else "wrong"), text


def batches(out: Path) -> tuple[int, ...]:
    """The numbers of sequences that the runtime takes at a time: it passes prompts in pieces for
    one alone."""
    settings = json.loads((out / "genai_config.json").read_text(encoding="utf-8"))
    return (1,) if "chunk_size" in settings["search"] else (1, 2)


def end_tokens(out: Path) -> list[int]:
    """The tokens that end a text, by the runtime's configuration in the folder."""
    ends = json.loads((out / "genai_config.json").read_text())["model"]["eos_token_id"]
    return ends if isinstance(ends, list) else [ends]


def until_end(ends: list[int], row: list[int]) -> list[int]:
    """The row until its text ends; the runtime chooses nothing behind that."""
    found = [place for place, token in enumerate(row) if place >= PROMPT and token in ends]
    return row[: found[0]] if found else row


def _same(text: list[int], row: list[int]) -> int:
    pairs = zip(text[PROMPT:], row[PROMPT:], strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(text) - PROMPT)


def generated_in_genai(out: Path, ids: Any) -> list[list[int]]:
    """The greedy tokens of onnxruntime-genai after the prompts [batch, length], which they begin
    with."""
    import numpy as np
    import onnxruntime_genai as genai

    running = genai.Model(str(out))
    options = genai.GeneratorParams(running)
    length = ids.shape[1] + STEPS
    options.set_search_options(max_length=length, batch_size=ids.shape[0], do_sample=False)
    generator = genai.Generator(running, options)
    generator.append_tokens(ids.numpy().astype(np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    return [generator.get_sequence(row).tolist() for row in range(ids.shape[0])]
