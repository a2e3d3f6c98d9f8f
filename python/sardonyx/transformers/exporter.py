"""The exporter that transformers calls."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._base.errors import OnnxExporterError
from sardonyx._base.log import LOGGER
from sardonyx._base.state import ending_at_data
from sardonyx._base.versions import installed
from sardonyx._compare.tensors import difference
from sardonyx._export.export import export
from sardonyx._optimize.optimize import optimize
from sardonyx._transformers_private.exporters import (
    GENERATION,
    exporter_class,
    is_multimodal,
    metadata_of,
    register_backend,
    runs_of_generation,
)
from sardonyx._transformers_private.registration import register_caches
from sardonyx._transformers_private.structures import flatten
from sardonyx.hf.base.experts import all_experts

from . import files
from .config import EXPORT_FORMAT, SardonyxConfig, config_of
from .dynamic import all_above_one, all_automatic, with_one_past
from .fixed_values import ReadValues, fixed
from .runner import SardonyxRunner
from .signature import Signature, signature_of

if TYPE_CHECKING:
    from pathlib import Path

    from sardonyx._model.program import ONNXProgram

    class HfExporter:
        """What Sardonyx knows of transformers' class."""

        export: Any
        export_for_generation: Any

else:
    HfExporter = exporter_class("HfExporter")


class SardonyxExporter(HfExporter):
    """Exports models of transformers to ONNX, with the interface of transformers' own exporters.

    `export(model, inputs, config)` makes one graph, `export_for_generation(model, inputs, config)`
    one for each stage of generate(). Both take a SardonyxConfig, an OnnxConfig or a dict. They
    return an ExportedModel, whose programs are ONNXPrograms.
    """

    export_format = EXPORT_FORMAT
    config_class = SardonyxConfig
    program_suffix = ".onnx"
    required_packages = ("torch",)

    def export(self, model: Any, sample_inputs: Any, config: Any) -> Any:
        """One graph.

        Args:
            model: a PreTrainedModel, or another torch.nn.Module.
            sample_inputs: arguments of forward(), by name: tensors, caches, numbers, None. Numbers
                and None are constants of the graph. They are not changed.
            config: the options.

        Returns an ExportedModel with the component "model". Raises what sardonyx.export() raises.
        """
        return super().export(model, sample_inputs, config_of(config))

    def export_for_generation(
        self,
        model: Any,
        sample_inputs: Any,
        config: Any,
        *,
        generation_config: Any = None,
        multi_token_decode: bool = False,
    ) -> Any:
        """One component for each stage of generate(): "prefill" and "decode", or the encoders, the
        language model, its head and "decode" of a multimodal model.

        Args:
            model: a PreTrainedModel that generates.
            sample_inputs: arguments of generate(), by name.
            config: the options, or those of each component by its name.
            generation_config: that of generate(), by default the model's own.
            multi_token_decode: whether "decode" takes several tokens at a time. One graph for both
                stages does in any case.

        Returns an ExportedModel. Raises what sardonyx.export() raises.
        """
        if isinstance(config, dict) and all(map(_is_config, config.values())):
            config = {name: config_of(each) for name, each in config.items()}
        else:
            config = config_of(config)
        if _wants_one_graph(model, config):
            made = self._one_graph(model, sample_inputs, config, generation_config)
            if made is not None:
                return made
        return super().export_for_generation(
            model,
            sample_inputs,
            config,
            generation_config=generation_config,
            multi_token_decode=multi_token_decode,
        )

    def export_program(
        self, model: Any, sample_inputs: Any, config: SardonyxConfig
    ) -> tuple[ONNXProgram, Any]:
        """The ONNXProgram of one graph, and what transformers records of it."""
        program, metadata, _ = self._exported(model, dict(sample_inputs), config)
        return _with_precision(program, config), metadata

    @classmethod
    def save_program(cls, program: ONNXProgram, path: str | Path) -> None:
        """Writes a program, and its weights to `<path>.data`."""
        files.save(program, path)

    @classmethod
    def load_program(cls, path: str | Path) -> ONNXProgram:
        """Reads a program; its weights stay in their file."""
        return files.load(path)

    @classmethod
    def program_files(cls, filename: str) -> list[str]:
        """The files of a program."""
        return [filename, files.weights_of(filename).name]

    def _exported(
        self, model: Any, inputs: dict[str, Any], config: SardonyxConfig
    ) -> tuple[ONNXProgram, Any, Any]:
        """The program, what is recorded of it, and what the model returned for the inputs."""
        config.check()
        register_caches(model)
        result, read = _read_in_eager(model, inputs)
        values = {name: inputs[name] for name in sorted(read)}
        try:
            # Numbers that the model reads are fixed where they decide what it computes.
            with ending_at_data() if values else nullcontext():
                program = _captured(model, inputs, config, read=values)
        except OnnxExporterError as error:
            if not values:
                raise
            LOGGER.warning(
                "the graph has the example's values of %s, and takes no others: %s",
                ", ".join(values),
                str(error).partition("\n")[0],
            )
            others = {name: value for name, value in inputs.items() if name not in values}
            with fixed(model, values):
                program = _captured(model, others, config)
            signature = signature_of(program, others, result, fixed=values)
        else:
            signature = signature_of(program, inputs, result)
        metadata = _metadata(model, inputs, signature.in_spec, signature.out_spec)
        return program, metadata, result

    def _one_graph(
        self, model: Any, inputs: Any, config: SardonyxConfig, generation_config: Any
    ) -> Any:
        """The components "prefill" and "decode" with one program; None where one graph is not right
        for both; the logger "sardonyx" has the reason."""
        runs = runs_of_generation(model, inputs, generation_config)
        prefill, decode = runs["prefill"], runs["decode"]
        try:
            program, metadata, result = self._exported(model, decode, config)
            expected = _in_eager(model, prefill)
            why = _differs(program, metadata, prefill, expected, result)
        except OnnxExporterError as error:
            why = str(error)
        if why:
            LOGGER.info("prefill and decode are two graphs, with weights of their own: %s", why)
            return None
        program = _with_precision(program, config)
        of_prefill = _metadata(model, prefill, metadata.in_spec, metadata.out_spec)
        component = exporter_class("ExportedComponent")
        for each in (metadata, of_prefill):
            each.export_config = json.loads(config.to_json_string())
        return exporter_class("ExportedModel")(
            {"prefill": component(program, of_prefill), "decode": component(program, metadata)},
            self.export_format,
            config=getattr(model, "config", None),
            generation_config=generation_config,
        )


def _is_config(value: Any) -> bool:
    return isinstance(value, dict) or hasattr(value, "export_format")


def _wants_one_graph(model: Any, config: Any) -> bool:
    return (
        isinstance(config, SardonyxConfig)
        and config.one_graph
        and config.dynamic
        and config.dynamic_shapes is None
        and GENERATION.available
        and bool(installed("onnxruntime"))
        and not is_multimodal(model)
    )


def _in_eager(model: Any, inputs: Mapping[str, Any]) -> Any:
    """What the model returns for copies of the inputs."""
    with torch.no_grad():
        return model(**copy.deepcopy(dict(inputs)))


def _read_in_eager(model: Any, inputs: Mapping[str, Any]) -> tuple[Any, set[str]]:
    """What the model returns for copies of the inputs, and those whose elements it reads as
    numbers."""
    copies = copy.deepcopy(dict(inputs))
    with torch.no_grad(), ReadValues(copies) as values:
        result = model(**copies)
    return result, values.read


def _captured(
    model: Any, inputs: dict[str, Any], config: SardonyxConfig, read: Collection[str] = ()
) -> ONNXProgram:
    """The program, with dynamic shapes where the options ask for them. `read`: the inputs whose
    elements the model reads as numbers."""

    def with_shapes(shapes: Any) -> ONNXProgram:
        with all_experts(model):
            return export(
                model,
                (),
                kwargs=inputs,
                dynamic_shapes=shapes,
                opset_version=config.opset_version,
                optimize=config.optimize,
                target_runtime=config.runtime,
                capture=config.capture,
            )

    if config.dynamic_shapes is not None:
        return with_shapes({**dict.fromkeys(inputs), **config.dynamic_shapes})
    if not config.dynamic:
        return with_shapes(None)
    # A model may fix the length of its cache, or remove dimensions of 1.
    tied, automatic, last = (
        shapes_of(inputs) for shapes_of in (with_one_past, all_automatic, all_above_one)
    )
    for shapes in [tied] if tied == automatic else [tied, automatic]:
        if shapes == last:
            break
        try:
            return with_shapes(shapes)
        except OnnxExporterError as error:
            is_answered = any(shapes[name] != last[name] for name in read)
            if read and _is_data_dependent(error) and not is_answered:
                raise  # no dimension that is to be constant answers a question of elements
            LOGGER.info("captured again with fewer dynamic dimensions: %s", error)
    return with_shapes(last)


def _is_data_dependent(error: OnnxExporterError) -> bool:
    return "DataDependent" in type(error.__cause__).__name__


def _metadata(model: Any, inputs: Mapping[str, Any], in_spec: str, out_spec: str) -> Any:
    parameters = list(model.parameters())
    dtype = next((p.dtype for p in parameters if p.is_floating_point()), torch.get_default_dtype())
    packages = ("sardonyx", "torch", "transformers")
    return metadata_of(
        model,
        packages={name: installed(name) for name in packages if installed(name)},
        export_dtype=str(dtype).removeprefix("torch."),
        export_device=str(parameters[0].device if parameters else torch.device("cpu")),
        kwargs={name: _described(value) for name, value in inputs.items()},
        in_constants={name: value for name, value in inputs.items() if _is_constant(value)},
        in_spec=in_spec,
        out_spec=out_spec,
    )


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _described(value: Any) -> dict[str, Any]:
    """An argument in the words of transformers' own metadata."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return {"rank": value.dim(), "shape": [int(size) for size in value.shape], "dtype": dtype}
    return {"container": type(value).__name__}


def _with_precision(program: ONNXProgram, config: SardonyxConfig) -> ONNXProgram:
    if config.precision is not None:
        optimize(program, runtime=config.runtime, precision=config.precision)
    return program


def _differs(
    program: ONNXProgram, metadata: Any, prefill: Mapping[str, Any], expected: Any, decoded: Any
) -> str:
    """How the graph of a decode step differs from the model in its first run; empty where it does
    not."""
    wanted, description = flatten(expected)
    if description != flatten(decoded)[1]:
        return "the first run returns something else than those that follow"
    runner = SardonyxRunner.from_program(program, metadata)
    try:
        found = flatten(runner(**prefill))[0]
    except Exception as error:  # of ONNX Runtime, which raises many
        return f"the graph does not run without a past: {error}"
    program.release()
    names = Signature.of(metadata.in_spec, metadata.out_spec).tensors
    differences = (
        f"output '{name}' of the first run: {what}"
        for name, got, want in zip(names, found, wanted, strict=True)
        if (what := difference(got, want))
    )
    return next(differences, "")


register_backend(SardonyxExporter, SardonyxRunner)
