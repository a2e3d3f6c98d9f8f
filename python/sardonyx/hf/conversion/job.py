"""One export of `sardonyx.hf.export`."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import CaptureError, ProgramError, UsageError, refusal
from sardonyx._model.program import ONNXProgram
from sardonyx._model.program_settings import settings_in, settings_of
from sardonyx._model.visualization import visualization
from sardonyx._report.module_sizes import module_sizes
from sardonyx.hf.output.in_place import beside, locations_of, save_in_place
from sardonyx.hf.output.page import page
from sardonyx.hf.output.report import ExportedPart, Report
from sardonyx.hf.output.writing import PAGE, PIPELINE, REPORT, copy_companions, describe, new_folder

from .adapting import Adapters
from .notes import is_worth_telling, of_known_inputs, of_weights

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.base.parts import Part
    from sardonyx.hf.base.progress import Progress
    from sardonyx.hf.base.tasks import ExportChoice
    from sardonyx.hf.checkpoints.checkpoint import Checkpoint
    from sardonyx.hf.checkpoints.dequantized_reference import DequantizedValues
    from sardonyx.hf.checkpoints.quantized import QuantizedCheckpoint
    from sardonyx.hf.checkpoints.weights import PlacedWeights
    from sardonyx.hf.components.sentence_embeddings import SentencePooling

    from .decoder_options import DecoderOptions
    from .graphs import ExportTarget
    from .mtp import MtpHead

_NOTHING_STAYS = (
    "none of the weights could stay in the checkpoint's files: the models need all of them in "
    "another form"
)
# ONNX Runtime 1.31: "TransposeDQWeightsForMatMulNBits Missing required weight".
_NOT_MERGED = (
    "there is no decoder of both steps in one file: ONNX Runtime finds block-wise quantized "
    "weights only in the branch that reads them; --runtime onnxruntime-cpu writes one, with "
    "contrib operators"
)
_WITHOUT_CACHE = (
    "neither takes nor returns a cache, and is exported without one, so that each step takes the "
    "whole text"
)


class Job:
    """One export."""

    def __init__(
        self,
        out: Path,
        in_place: bool,
        task: str | None,
        target: ExportTarget,
        progress: Progress,
        *,
        adapters: Adapters,
        decoder: DecoderOptions,
        external_data: bool | None = None,
    ) -> None:
        self._out = out
        self._external_data = external_data  # None: by size
        self._in_place = in_place
        # Files that weights stay in, and where they are from the folder to write.
        self._files: dict[str, str] = {}
        self._task = task
        self._target = target
        self._dims: set[str] = set()
        self._progress = progress
        self._adapters = adapters
        self._decoder = decoder
        self._source: Path | None = None  # where the tokenizer is
        self._sentences: SentencePooling | None = None
        # The values of block-wise quantized weights, for verification.
        self._values: DequantizedValues | None = None
        # Weights that stay as they are in whatever precision.
        self._kept: frozenset[str] = frozenset()
        # What tells the program from another with the same weights.
        self._settings: dict[str, str] = {}
        self._mtp: MtpHead | None = None

    def of_folder(self, path: Path, trust_remote_code: bool, verify: bool) -> Report:
        """Exports the checkpoint in a folder, or a GGUF file."""
        from sardonyx.hf.base.tasks import choose
        from sardonyx.hf.checkpoints import building
        from sardonyx.hf.checkpoints.checkpoint import read_checkpoint
        from sardonyx.hf.checkpoints.formats import weights_of
        from sardonyx.hf.components.composites import part_that_runs, run_as_encoder
        from sardonyx.hf.components.sentence_embeddings import read_sentences, transformer_of

        self._check_mtp(is_folder=True)
        if (path / PIPELINE).is_file():
            return self._of_pipeline(path, verify)
        checkpoint, part_notes = part_that_runs(
            read_checkpoint(transformer_of(path), trust_remote_code)
        )
        folder = path if path.is_dir() else checkpoint.folder
        chosen = choose(checkpoint.config, self._task)
        if self._task in (None, "feature-extraction", "sentence-similarity"):
            self._sentences = read_sentences(folder)
            if self._sentences is not None:
                chosen = choose(checkpoint.config, "feature-extraction")
        self._watch_values(verify)
        self._check_draft(checkpoint.config, folder, trust_remote_code)
        self._source = folder
        self._settings = settings_in(checkpoint.folder)
        weights = weights_of(checkpoint)
        with self._folder(folder, weights.paths, verify) as staging, ExitStack() as cleaning:
            with self._progress.step("build"):
                model = building.build(checkpoint, chosen.model_class)
            scratch = staging / ".computed"
            cleaning.callback(_remove, scratch)
            placed = weights.placed(model, scratch, self._progress)
            if weights.quantized is not None:
                self._take_codes_of(weights.quantized, placed)
            self._adapters.read(model)
            self._adapters.merge(model, placed, weights, scratch)
            chosen, notes = self._settled(model, chosen)
            report = self._report(model, chosen)
            self._begin_mtp(model, placed, staging, report)
            report.notes += [*part_notes, *run_as_encoder(model), *notes, *of_weights(placed)]
            if weights.quantized is not None:
                report.notes += weights.quantized.notes()
            chosen = self._write(model, chosen, placed, staging, report)
            if self._in_place and not any(part.bytes_in_place for part in report.parts):
                report.notes.append(_NOTHING_STAYS)
            if not self._in_place:
                self._copy(folder, checkpoint, staging)
            self._add_draft(staging, report, trust_remote_code)
            self._describe_mtp(staging, report)
            if verify:
                held = None if weights.is_plain and not self._adapters.merged else placed
                self._verify(checkpoint, chosen, staging, report, held)
            cleaning.close()
            _write_report(report, self._progress, staging)
        return report

    def _of_pipeline(self, folder: Path, verify: bool) -> Report:
        """Of a folder with several models, each of which has one of its own."""
        from sardonyx.hf.components import pipelines
        from sardonyx.hf.evaluation.verification import compare_part

        self._check_options_of_pipeline(folder)
        found = pipelines.read_pipeline(folder)
        precision = self._target.precision
        report = Report(
            found.pipeline_class,
            "diffusers",
            found.task,
            "fp32" if precision is None else precision.to,
            self._target.runtime,
        )
        with new_folder(self._out, folder) as staging, ExitStack() as cleaning:
            scratch = staging / ".computed"
            cleaning.callback(_remove, scratch)
            for component in found.components:
                model, placed, parts = pipelines.prepared(found, component, scratch, self._progress)
                report.notes += [f"{component.name}: {note}" for note in of_weights(placed)]
                for wanted in parts:
                    (staging / wanted.name).parent.mkdir(exist_ok=True)
                    part, _ = self._write_part(wanted, model, placed, staging, report)
                    if verify:
                        with self._progress.step("verify"):
                            compare_part(part, placed, staging, report)
            pipelines.copy_beside(found, staging)
            cleaning.close()
            _write_report(report, self._progress, staging)
        return report

    def _check_options_of_pipeline(self, folder: Path) -> None:
        given = {
            "--weights-in-place": self._in_place,
            "--task": self._task is not None,
            "--adapter": bool(self._adapters),
            **dict.fromkeys(self._decoder.given, True),
        }
        option = next((name for name, is_given in given.items() if is_given), None)
        if option is not None:
            raise refusal(
                "SX1001",
                f"{folder} is a pipeline of several models, for which there is no {option}",
                "export the folder of one of its models",
                UsageError,
            )

    def _copy(self, folder: Path, checkpoint: Checkpoint, staging: Path) -> None:
        """What belongs to the model beside its weights."""
        if not checkpoint.has_config:
            describe(checkpoint, staging)
            return
        for source in dict.fromkeys((folder, checkpoint.folder)):
            copy_companions(source, staging)

    def _folder(
        self, folder: Path, paths: Iterable[str], opened: bool
    ) -> AbstractContextManager[Path]:
        """The folder to write to, for a checkpoint in `folder`."""
        if not self._in_place:
            return new_folder(self._out, folder)
        self._files = locations_of(paths, folder)
        return beside(folder, self._files, opened)

    def of_model(self, model: Any, verify: bool) -> Report:
        """Exports a model in memory."""
        from sardonyx.hf.base.tasks import choose

        config = getattr(model, "config", None)
        if config is None or not hasattr(model, "forward"):
            raise refusal(
                "SX2001", f"a {type(model).__name__} is no folder, and no model of transformers",
                "sardonyx.export takes any module", UsageError,
            )  # fmt: skip
        chosen = choose(config, self._task, type(model))
        self._check_draft(config, None, False)
        self._check_mtp(is_folder=False)
        self._adapters.read(model)
        chosen, notes = self._settled(model, chosen)
        self._settings = settings_of(config.to_dict()) if hasattr(config, "to_dict") else {}
        self._watch_values(verify)
        with new_folder(self._out, None) as staging:
            report = self._report(model, chosen)
            report.notes += notes
            self._begin_mtp(model, None, staging, report)
            chosen = self._write(model, chosen, None, staging, report)
            config.save_pretrained(staging)
            if getattr(model, "generation_config", None) is not None:
                model.generation_config.save_pretrained(staging)
            self._add_draft(staging, report, False)
            self._describe_mtp(staging, report)
            if verify:
                # Values in few bits are put into it.
                own = copy.deepcopy(model) if self._values else model
                self._compare(own, chosen, staging, report)
            _write_report(report, self._progress, staging)
        return report

    def _check_draft(self, config: Any, folder: Path | None, trusted: bool) -> None:
        if self._decoder.draft is not None:
            from .drafting import check_vocabulary

            check_vocabulary(self._decoder.draft, config, folder, trusted)

    def _add_draft(self, staging: Path, report: Report, trusted: bool) -> None:
        """Exports the model that proposes tokens, in the same precision for the same runtime."""
        if self._decoder.draft is None:
            return
        from .drafting import FOLDER, add_draft

        job = self._of_companion(staging / FOLDER, self._decoder.of_draft())
        add_draft(staging, job.of_folder(self._decoder.draft, trusted, False), report)

    def _of_companion(
        self, folder: Path, decoder: DecoderOptions, external_data: bool | None = None
    ) -> Job:
        """The export of what runs next to the model."""
        return Job(
            folder, False, None, self._target, self._progress,
            adapters=Adapters([], []), decoder=decoder, external_data=external_data,
        )  # fmt: skip

    def _check_mtp(self, is_folder: bool) -> None:
        if self._decoder.mtp is not None:
            from .mtp import check

            check(self._decoder.mtp, is_folder, self._target.precision)

    def _begin_mtp(
        self, model: torch.nn.Module, placed: PlacedWeights | None, staging: Path, report: Report
    ) -> None:
        """Exports the head that predicts further tokens, in the same precision."""
        if self._decoder.mtp is None:
            return
        from .mtp import FOLDER, MtpHead

        if placed is None:
            self._mtp = MtpHead(self._decoder.mtp, model)
        else:
            self._mtp = MtpHead.of_checkpoint(model, placed, staging / ".computed" / FOLDER)
        job = self._of_companion(staging / FOLDER, type(self._decoder)(), external_data=True)
        self._mtp.write(staging, model, report, job._write_part)

    def _describe_mtp(self, staging: Path, report: Report) -> None:
        if self._mtp is not None:
            self._mtp.describe(staging, report)

    def _watch_values(self, verify: bool) -> None:
        from sardonyx.hf.checkpoints.dequantized_reference import DequantizedValues

        self._values = DequantizedValues() if verify else None

    def _take_codes_of(self, quantized: QuantizedCheckpoint, placed: PlacedWeights) -> None:
        """What the checkpoint has in four bits is written in the same codes, and what it has in
        full stays so, where the user asks for no more than four bits."""
        precision = self._target.precision
        if precision is None or (taken := quantized.precision(precision)) is precision:
            return
        self._target = dataclasses.replace(self._target, precision=taken)
        names = set(quantized.names)
        self._kept = frozenset(name for name, at in placed.places.items() if at.name not in names)

    def _settled(
        self, model: torch.nn.Module, chosen: ExportChoice
    ) -> tuple[ExportChoice, Iterable[str]]:
        """What is exported of the model, and what is to be told of it."""
        from sardonyx.hf.components.decoders import has_cache
        from sardonyx.hf.components.separable import settled
        from sardonyx.hf.output import genai

        if self._is_by_default(chosen) and not has_cache(model, model.config):
            chosen = dataclasses.replace(chosen, with_past=False)
            return chosen, (f"{type(model).__name__} {_WITHOUT_CACHE}",)
        alone = genai.is_for(self._target.runtime)
        return settled(model, chosen, named=self._task is not None, decoder_alone=alone)

    def _report(self, model: torch.nn.Module, chosen: ExportChoice) -> Report:
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
        chosen: ExportChoice,
        placed: PlacedWeights | None,
        staging: Path,
        report: Report,
    ) -> ExportChoice:
        """What was written. Raises SX2009 where the task has a cache by default that cannot be
        flattened into tensors: the help names the task without it."""
        from sardonyx.hf.components.separable import without_cache

        was_training = model.training
        model.eval()
        try:
            self._write_parts(model, chosen, placed, staging, report)
            return chosen
        except ProgramError as error:
            why = error.diagnostics[0] if error.diagnostics else None
            if not self._is_by_default(chosen) or why is None or why.code != "SX2009":
                raise
            raise without_cache(chosen, why.message) from error
        finally:
            model.train(was_training)

    def _is_by_default(self, chosen: ExportChoice) -> bool:
        """Whether it has a cache that nobody asked for."""
        from sardonyx.hf.output import genai

        return self._task is None and chosen.with_past and not genai.is_for(self._target.runtime)

    def _write_parts(
        self,
        model: torch.nn.Module,
        chosen: ExportChoice,
        placed: PlacedWeights | None,
        staging: Path,
        report: Report,
    ) -> None:
        from sardonyx.hf.components import encoder_decoders
        from sardonyx.hf.components.architecture import parts_of
        from sardonyx.hf.output import genai

        for_genai = genai.is_for(self._target.runtime)
        programs: dict[str, ONNXProgram] = {}
        static = self._decoder.captured_cache(self._target.runtime)
        wanted_parts = parts_of(model, chosen, self._sentences, for_genai, static)
        for wanted in self._decoder.one(self._adapters.one(wanted_parts)):
            part, program = self._write_part(wanted, model, placed, staging, report)
            if for_genai and chosen.with_past:
                self._describe_for_genai(program, part, model, staging, report)
            programs[part.name] = program
        self._check_dims()
        report.static_cache = self._decoder.static_cache or 0
        report.cache_type = self._decoder.cache.type if self._decoder.cache else ""
        report.adapters = self._adapters.write(programs, staging)
        both = encoder_decoders.merged(programs)
        if both is not None and encoder_decoders.reads_blocks(programs):
            report.notes.append(_NOT_MERGED)
        elif both is not None:
            with self._progress.step(f"write {encoder_decoders.MERGED}"):
                path = staging / f"{encoder_decoders.MERGED}.onnx"
                stays = save_in_place(both, path, self._files)
            report.parts.append(_described(both, path, stays))

    def _describe_for_genai(
        self,
        program: ONNXProgram,
        part: Part,
        model: torch.nn.Module,
        staging: Path,
        report: Report,
    ) -> None:
        """Writes the runtime's configuration. SX2009 where it does not run the model."""
        from sardonyx.hf.output import genai

        if reason := genai.declined(program._native, self._adapters.names):
            raise refusal(
                "SX2009",
                f"onnxruntime-genai does not run {type(model).__name__}: {reason}",
                "--runtime onnxruntime exports it for ONNX Runtime itself",
            )
        takes_positions = "position_ids" in part.inputs
        report.notes += genai.notes(program._native, model.config, takes_positions)
        file, runtime = f"{part.name}.onnx", self._target.runtime
        stages = [each for each in report.parts if each.file in report.pipeline]
        genai.write_genai_config(
            staging,
            file,
            program._native,
            model,
            runtime=runtime,
            stages=stages,
            longest=self._decoder.longest(self._max_tokens()),
        )

    def _write_part(
        self,
        wanted: Part,
        model: torch.nn.Module,
        placed: PlacedWeights | None,
        staging: Path,
        report: Report,
    ) -> tuple[Part, ONNXProgram]:
        """What became of the part."""
        from .graphs import captured, dim_names, finished, give_weights

        wanted = self._decoder.part(self._adapters.part(wanted))
        with (
            self._progress.step(f"capture {wanted.name}"),
            self._adapters.in_force(wanted),
            self._decoder.in_force(wanted),
        ):
            try:
                part, program, notes = captured(wanted, self._target)
            except CaptureError as error:
                if not wanted.fails_with_cache:
                    raise
                why = wanted.fails_with_cache
                raise refusal("SX2009", why, "leave `-with-past` out of the task") from error
        _native.set_program(program._native, self._settings)
        report.notes += notes
        report.notes += of_known_inputs(part.known, part.name)
        if placed is not None:
            give_weights(program, model, placed.places)
        with self._progress.step(f"optimize {part.name}"):
            self._dims |= dim_names(program)
            longest = self._decoder.longest(self._longest(model))
            done = finished(program, self._target, longest, self._kept)
            self._adapters.give_defaults(program)
            if self._values is not None:
                self._values.take(done.weights)
            self._decoder.check_outputs(program, part)
            scratch = staging / ".calibration"
            try:
                self._decoder.set_cache(
                    program, part, source=self._source, scratch=scratch, longest=longest
                )
            finally:
                _remove(scratch)
        with self._progress.step(f"write {part.name}"):
            self._save(program, part, staging, report)
        report.opset = program.opset_version
        report.notes += [
            part.with_input_names(note.message) for note in program.notes if is_worth_telling(note)
        ]
        return part, program

    def _check_dims(self) -> None:
        """SX1019 for a dimension that no part has."""
        unknown = {*self._target.fixed, *self._target.max_sizes} - self._dims
        if unknown:
            raise refusal(
                "SX1019",
                f"there is no dynamic dimension `{min(unknown)}`",
                f"the dynamic dimensions are {', '.join(sorted(self._dims))}",
                UsageError,
            )

    def _longest(self, model: torch.nn.Module) -> int | None:
        """The context length in the runtime's configuration; None where the runtime needs none."""
        from sardonyx.hf.output import genai

        if not genai.is_for(self._target.runtime):
            return None
        context, most = genai.context_length(model.config), self._max_tokens()
        return context if most is None else min(context, most)

    def _max_tokens(self) -> int | None:
        """The tokens that `max_sizes` leave room for: a runtime whose cache is one buffer gives it
        as many places as a text may have tokens."""
        from sardonyx.hf.base.caches import PAST_LENGTH
        from sardonyx.hf.base.example import TOTAL_LENGTH

        most = self._target.max_sizes
        return min(
            (most[name] for name in (PAST_LENGTH, TOTAL_LENGTH) if name in most), default=None
        )

    def _save(self, program: ONNXProgram, part: Part, staging: Path, report: Report) -> None:
        """Writes the part, as one file or as several, and describes these."""
        if self._decoder.split is not None:
            from sardonyx.hf.output import genai

            from .splitting import write_stages

            for stage in write_stages(
                program, part, self._decoder.split, staging,
                files=self._files, progress=self._progress.written,
                for_genai=genai.is_for(self._target.runtime),
            ):  # fmt: skip
                path = staging / f"{stage.name}.onnx"
                report.parts.append(_described(stage.model, path, stage.bytes_in_place))
                report.pipeline.append(path.name)
            return
        path = staging / f"{part.name}.onnx"
        stays = 0
        if self._in_place:
            stays = save_in_place(program._native, path, self._files)
        else:
            places = {} if self._mtp is None else self._mtp.share(program._native)
            _native.write(
                program._native, os.fspath(path), external_data=self._external_data,
                in_place=places, progress=self._progress.written,
            )  # fmt: skip
        report.parts.append(_described(program._native, path, stays, f"{part.name}.onnx"))

    def _verify(
        self,
        checkpoint: Checkpoint,
        chosen: ExportChoice,
        staging: Path,
        report: Report,
        placed: PlacedWeights | None,
    ) -> None:
        """`placed`: where the weights are that transformers would not read without packages."""
        from sardonyx.hf.checkpoints import building

        with self._progress.step("load for verification"):
            if placed is None:
                model = building.load(checkpoint, chosen.model_class)
            else:
                model = building.filled(building.build(checkpoint, chosen.model_class), placed)
        self._compare(model, chosen, staging, report)

    def _compare(
        self, model: torch.nn.Module, chosen: ExportChoice, staging: Path, report: Report
    ) -> None:
        from sardonyx.hf.evaluation.verification import compare

        with self._progress.step("verify"):
            report.verified = compare(
                model, chosen, staging, report, self._sentences, held=self._values
            )


def _described(native: Any, path: Path, in_place: int, file: str = "") -> ExportedPart:
    """`file`: its name in the folder, where it is not directly in it."""
    return ExportedPart(
        file or path.name,
        {name: shape or [] for name, _, shape in native.inputs},
        {name: shape or [] for name, _, shape in native.outputs},
        native.node_count,
        sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*")),
        in_place,
        module_sizes(native),
        visualization(native, file or path.name, None).html,
    )


def _write_report(report: Report, progress: Progress, folder: Path) -> None:
    report.notes = list(dict.fromkeys(report.notes))
    report.seconds = progress.seconds
    text = json.dumps(report.as_dict(), indent=2, ensure_ascii=False)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")
    (folder / PAGE).write_text(page(report), encoding="utf-8")


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
