"""`sardonyx.hf.export`."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sardonyx import _native
from sardonyx._base.errors import Diagnostic, ProgramError, UsageError, refusal
from sardonyx._model.program import ONNXProgram
from sardonyx._optimize.precision import Precision

from .example import TOTAL_LENGTH
from .report import ExportedPart, Report
from .writing import REPORT, copy_companions, new_folder

if TYPE_CHECKING:
    import torch

    from .checkpoint import Checkpoint
    from .graphs import Target
    from .parts import Part
    from .progress import Progress
    from .quantised import Quantised
    from .sentences import Sentences
    from .tasks import Chosen
    from .weights import Placed

PrecisionName = Literal["fp32", "fp16", "bf16", "int8", "int4"]
_ONE_TOKEN = (
    "the model's own code loops over tokens, so that input_ids is one token: prompts go through "
    "token by token, as what follows them does"
)
_ONE_ROW = "the model's own code takes the number of rows for a constant, so that they are one"
_TEXT_ALONE = (
    "the model also looks at images, and is exported for texts alone; --task image-text-to-text "
    "exports it with images and without a cache"
)
_NO_CACHE = (
    "the model looks at images, and is exported without a cache, so that each step takes the whole "
    "text"
)
PRECISIONS = ("fp32", "fp16", "bf16", "int8", "int4")


def export(
    model: str | os.PathLike[str] | torch.nn.Module,
    out: str | os.PathLike[str],
    *,
    task: str | None = None,
    precision: PrecisionName | Precision = "fp32",
    runtime: str = "onnxruntime",
    opset: int | None = None,
    verify: bool = False,
    trust_remote_code: bool = False,
    capture: str = "auto",
    progress: Progress | None = None,
) -> Report:
    """Exports a checkpoint of transformers to a folder of ONNX models.

    Parameters:
        model: the folder of a checkpoint (config.json and safetensors), whose weights go from
            their files to the ONNX files without passing through PyTorch; or a model of
            transformers in memory.
        out: the folder to write; complete when this returns, untouched when it raises.
        task: optimum's name of a task, "text-generation-with-past"; by default that of the class
            that the checkpoint was saved from, with its cache where there is one.
        precision: "fp32"; "fp16" or "bf16" for all that is computed; "int8" or "int4" for weights
            in blocks; or a `sardonyx.Precision`.
        runtime: where it is to run, as `target_runtime` of `sardonyx.export`.
        opset: 13 to 26; by default what suits the runtime.
        verify: compare with PyTorch, greedy tokens for models that generate. The model is then
            loaded into memory.
        trust_remote_code: whether code in the folder may be run.
        capture: as of `sardonyx.export`.
        progress: told of each step.

    Returns what was exported. Its parts are named and have the inputs and outputs that optimum
    gives them; the tokenizer and configurations are beside them.

    Raises UsageError for what cannot be meant (SX2002 for a task, SX2003 for remote code, SX2008
    for a folder that is not to be replaced), ProgramError for checkpoints that are not whole
    (SX2001, SX2004, SX2005), and what `sardonyx.export` raises.
    """
    from .packages import transformers
    from .progress import Progress as Silent

    transformers()
    job = _Job(
        Path(out),
        task,
        _target(precision, runtime, opset, capture),
        progress or Silent(),
    )
    if isinstance(model, (str, os.PathLike)):
        return job.of_folder(Path(model), trust_remote_code, verify)
    return job.of_model(model, verify)


def _target(
    precision: PrecisionName | Precision, runtime: str, opset: int | None, capture: str
) -> Target:
    from .graphs import Target

    if isinstance(precision, str) and precision not in PRECISIONS:
        raise refusal(
            "SX1001", f"there is no precision '{precision}'", ", ".join(PRECISIONS), UsageError
        )
    if runtime not in _native.target_names():
        raise refusal(
            "SX1010",
            f"there is no runtime '{runtime}'",
            ", ".join(_native.target_names()),
            UsageError,
        )
    if isinstance(precision, Precision):
        held: Precision | None = precision
    elif precision == "fp32":
        held = None
    else:
        held = Precision(precision, io=precision in ("fp16", "bf16"))
    return Target(held, runtime, opset, capture)


class _Job:
    """One export."""

    def __init__(self, out: Path, task: str | None, target: Target, progress: Progress) -> None:
        self._out = out
        self._task = task
        self._target = target
        self._progress = progress
        self._sentences: Sentences | None = None
        # Weights that stay as they are in whatever precision.
        self._kept: frozenset[str] = frozenset()

    def of_folder(self, folder: Path, trust_remote_code: bool, verify: bool) -> Report:
        from . import building
        from .checkpoint import read_checkpoint
        from .quantised import decoded
        from .sentences import read_sentences, transformer_of
        from .tasks import choose
        from .weights import place_weights

        checkpoint = read_checkpoint(transformer_of(folder), trust_remote_code)
        chosen = choose(checkpoint.config, self._task)
        if self._task in (None, "feature-extraction", "sentence-similarity"):
            self._sentences = read_sentences(folder)
            if self._sentences is not None:
                chosen = choose(checkpoint.config, "feature-extraction")
        in_files = checkpoint.weights()
        quantised: Quantised | None = None
        with new_folder(self._out, folder) as staging, ExitStack() as cleaning:
            with self._progress.step("build"):
                model = building.build(checkpoint, chosen.model_class)
            scratch = staging / ".computed"
            cleaning.callback(_remove, scratch)
            if checkpoint.quantisation:
                with self._progress.step("unpack weights"):
                    quantised = decoded(in_files, checkpoint.quantisation, scratch)
                in_files = quantised.weights
            with self._progress.step("place weights"):
                placed = place_weights(model, in_files, scratch)
            if quantised is not None:
                self._take_codes_of(quantised, placed)
            chosen, notes = self._with_what_cache(model, chosen)
            report = self._report(model, chosen)
            report.notes += [*notes, *_notes_of(placed)]
            if quantised is not None:
                report.notes += quantised.notes()
            self._write(model, chosen, placed, staging, report)
            for source in dict.fromkeys((folder, checkpoint.folder)):
                copy_companions(source, staging)
            if verify:
                self._verify(checkpoint, chosen, staging, report, placed if quantised else None)
            cleaning.close()
            _write_report(report, self._progress, staging)
        return report

    def of_model(self, model: Any, verify: bool) -> Report:
        from .tasks import choose

        config = getattr(model, "config", None)
        if config is None or not hasattr(model, "forward"):
            raise refusal(
                "SX2001", f"a {type(model).__name__} is no folder, and no model of transformers",
                "sardonyx.export takes any module", UsageError,
            )  # fmt: skip
        chosen = choose(config, self._task, type(model))
        chosen, notes = self._with_what_cache(model, chosen)
        with new_folder(self._out, None) as staging:
            report = self._report(model, chosen)
            report.notes += notes
            self._write(model, chosen, None, staging, report)
            config.save_pretrained(staging)
            if getattr(model, "generation_config", None) is not None:
                model.generation_config.save_pretrained(staging)
            if verify:
                self._compare(model, chosen, staging, report)
            _write_report(report, self._progress, staging)
        return report

    def _take_codes_of(self, quantised: Quantised, placed: Placed) -> None:
        """What the checkpoint has in four bits is written in the same codes, and what it has in
        full stays so, where the user asks for no more than four bits."""
        precision = self._target.precision
        if precision is None or (taken := quantised.precision(precision)) is precision:
            return
        self._target = dataclasses.replace(self._target, precision=taken)
        names = set(quantised.names)
        self._kept = frozenset(name for name, at in placed.places.items() if at.name not in names)

    def _with_what_cache(
        self, model: torch.nn.Module, chosen: Chosen
    ) -> tuple[Chosen, Iterable[str]]:
        """Without one, unless it was asked for, where the model also looks at images and its
        decoder cannot be had alone."""
        from . import genai
        from .architecture import looks_at_images
        from .tasks import of_images
        from .vision_language import check_separable

        if self._task is None and self._target.runtime != genai.RUNTIME:
            # A class of both tasks is published for images.
            both = of_images(chosen, model.config)
            if both is not None and looks_at_images(model, both):
                try:
                    check_separable(model, both)
                except ProgramError as error:
                    return chosen, (f"{_TEXT_ALONE}: {error.diagnostics[0].message}",)
                return both, ()
        if self._task is not None or not looks_at_images(model, chosen):
            return chosen, ()
        try:
            check_separable(model, chosen)
        except ProgramError as error:
            without = dataclasses.replace(chosen, with_past=False)
            return without, (f"{_NO_CACHE}: {error.diagnostics[0].message}",)
        return chosen, ()

    def _report(self, model: torch.nn.Module, chosen: Chosen) -> Report:
        precision = self._target.precision
        return Report(
            type(model).__name__,
            str(getattr(model.config, "model_type", "")),
            chosen.name,
            "fp32" if precision is None else precision.to,
            self._target.runtime,
        )

    def _write(
        self,
        model: torch.nn.Module,
        chosen: Chosen,
        placed: Placed | None,
        staging: Path,
        report: Report,
    ) -> None:
        from . import genai
        from .architecture import parts_of
        from .graphs import captured, finished, give_weights

        was_training = model.training
        model.eval()
        one_width = self._target.runtime == genai.RUNTIME
        for wanted in parts_of(model, chosen, self._sentences, one_width):
            with self._progress.step(f"capture {wanted.name}"):
                part, program = captured(wanted, self._target)
            if part is not wanted:
                report.notes.append(_ONE_TOKEN if part is wanted.one_token else _ONE_ROW)
            report.notes += [
                f"{name} is {value.tolist()} in every run, and no input: {part.name} takes images "
                "of that size, one in each run"
                for name, value in part.known.items()
            ]
            if placed is not None:
                give_weights(program, model, placed.places)
            with self._progress.step(f"optimize {part.name}"):
                finished(program, self._target, self._longest(model), self._kept)
            with self._progress.step(f"write {part.name}"):
                self._save(program, part, model, staging)
                if self._target.runtime == genai.RUNTIME and chosen.with_past:
                    _describe_for_genai(program, part, model, staging)
            report.parts.append(_described(program, part, staging))
            report.opset = program.opset_version
            report.notes += [note.message for note in program.notes if _is_worth_telling(note)]
        model.train(was_training)

    def _longest(self, model: torch.nn.Module) -> int | None:
        """The longest text that the runtime is told of; None where it asks for none."""
        from . import genai

        return genai.context_length(model.config) if self._target.runtime == genai.RUNTIME else None

    def _save(
        self, program: ONNXProgram, part: Part, model: torch.nn.Module, staging: Path
    ) -> None:
        path = staging / f"{part.name}.onnx"
        expected = _expected_bytes(model, self._target)
        self._progress.writing(staging, expected, lambda: program.save(path))

    def _verify(
        self,
        checkpoint: Checkpoint,
        chosen: Chosen,
        staging: Path,
        report: Report,
        placed: Placed | None,
    ) -> None:
        """`placed`: where the weights are that transformers would not read without packages."""
        from . import building

        with self._progress.step("load for verification"):
            if placed is None:
                model = building.load(checkpoint, chosen.model_class)
            else:
                model = building.filled(building.build(checkpoint, chosen.model_class), placed)
        self._compare(model, chosen, staging, report)

    def _compare(
        self, model: torch.nn.Module, chosen: Chosen, staging: Path, report: Report
    ) -> None:
        from .verification import compare

        with self._progress.step("verify"):
            report.verified = compare(model, chosen, staging, report, self._sentences)


def _is_worth_telling(note: Diagnostic) -> bool:
    """What a model asks of the length of all of a text always holds: it is the past's length and
    the tokens' together, which PyTorch knows as three sizes."""
    return note.code != "SX1015" or TOTAL_LENGTH not in note.message


def _notes_of(placed: Placed) -> Iterable[str]:
    if placed.computed:
        yield (
            f"{len(placed.computed)} weights were computed of several tensors of the checkpoint, "
            "as transformers does when it loads them"
        )
    if placed.unused:
        shown = ", ".join(placed.unused[:5]) + (", …" if len(placed.unused) > 5 else "")
        yield f"{len(placed.unused)} tensors of the checkpoint are not the model's: {shown}"


def _expected_bytes(model: torch.nn.Module, target: Target) -> int:
    bits = {"int4": 5, "int8": 9, "fp16": 16, "bf16": 16}
    width = 32 if target.precision is None else bits[target.precision.to]
    return sum(parameter.numel() for parameter in model.parameters()) * width // 8


def _describe_for_genai(
    program: ONNXProgram, part: Part, model: torch.nn.Module, staging: Path
) -> None:
    """Writes the runtime's configuration. SX2009 where it does not run the model."""
    from . import genai

    if reason := genai.declined(program._native):
        raise refusal(
            "SX2009",
            f"onnxruntime-genai does not run {type(model).__name__}: {reason}",
            "--runtime onnxruntime exports it for ONNX Runtime itself",
        )
    genai.write_genai_config(staging, f"{part.name}.onnx", program._native, model)


def _described(program: ONNXProgram, part: Part, folder: Path) -> ExportedPart:
    native = program._native
    file = f"{part.name}.onnx"
    return ExportedPart(
        file,
        {name: shape or [] for name, _, shape in native.inputs},
        {name: shape or [] for name, _, shape in native.outputs},
        native.node_count,
        sum(path.stat().st_size for path in folder.glob(f"{file}*")),
    )


def _write_report(report: Report, progress: Progress, folder: Path) -> None:
    report.notes = list(dict.fromkeys(report.notes))
    report.seconds = progress.seconds
    text = json.dumps(report.as_dict(), indent=2, ensure_ascii=False)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
