"""The options of an export through transformers' exporters."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sardonyx._base.choices import CaptureStrategy, Runtime
from sardonyx._base.errors import OnnxExporterError, refusal, usage_error
from sardonyx._optimize.precision import To
from sardonyx._transformers_private.exporters import BACKENDS, exporter_class

if not BACKENDS.available:
    raise refusal(
        "SX1016",
        f"sardonyx.transformers is a backend of transformers.exporters: {BACKENDS.reason}",
        "pip install --upgrade transformers",
        OnnxExporterError,
    )

if TYPE_CHECKING:

    @dataclasses.dataclass
    class OnnxConfig:
        """What Sardonyx knows of transformers' class."""

        export_format: str
        dynamic: bool = False
        strict: bool = False
        dynamic_shapes: dict[str, Any] | None = None
        quantizer: Any = None
        opset_version: int | None = None
        optimize: bool = True
        ort_fusions: str | None = None

        def to_json_string(self) -> str:
            """All options but the quantizer, as JSON."""

else:
    OnnxConfig = exporter_class("OnnxConfig")

EXPORT_FORMAT = "sardonyx"
# The target runtime for an execution provider that `ort_fusions` names.
_RUNTIMES: dict[str | None, Runtime] = {
    None: "onnxruntime",
    "cpu": "onnxruntime-cpu",
    "cuda": "onnxruntime-cuda",
    "webgpu": "onnxruntime",
    "dml": "onnxruntime",
}


@dataclasses.dataclass
class SardonyxConfig(OnnxConfig):
    """The options of transformers' `OnnxConfig`, and Sardonyx's own.

    Attributes:
        target_runtime: where the model is to run, as for `sardonyx.export`; None chooses by
            `ort_fusions`.
        precision: "fp16", "bf16", "int8", "int4", "fp16+int8" or "fp16+int4", as for
            `sardonyx.optimize`; None keeps the model's.
        capture: how the model is captured, as for `sardonyx.export`.
        one_graph: for `export_for_generation`: one graph with one copy of the weights serves the
            prefill and the decode component, where it is right for both. Needs `dynamic=True`.
    """

    export_format: str = EXPORT_FORMAT

    target_runtime: Runtime | None = None
    precision: To | None = None
    capture: CaptureStrategy = "auto"
    one_graph: bool = True

    @property
    def runtime(self) -> Runtime:
        """The target runtime that is meant."""
        return self.target_runtime or _RUNTIMES[self.ort_fusions]

    def check(self) -> None:
        """UsageError for options of transformers' configurations that mean another exporter."""
        if self.strict:
            raise usage_error("strict=True is an option of torch.export: leave it out")
        if self.quantizer is not None:
            raise usage_error(
                f"a {type(self.quantizer).__name__} quantizes models of other exporters",
                "use precision='int8' or 'int4' for weights, sardonyx.quantize() for activations",
            )


def config_of(given: Any) -> SardonyxConfig:
    """The configuration for a SardonyxConfig, an OnnxConfig, or a dict of options. UsageError."""
    if isinstance(given, SardonyxConfig):
        return given
    if isinstance(given, OnnxConfig):
        values = {each.name: getattr(given, each.name) for each in dataclasses.fields(given)}
    elif isinstance(given, dict):
        values = dict(given)
    else:
        raise usage_error(
            f"config is a {type(given).__name__}, not a SardonyxConfig, an OnnxConfig or a dict"
        )
    values.pop("export_format", None)
    known = {each.name for each in dataclasses.fields(SardonyxConfig)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise usage_error(f"SardonyxConfig has no option {', '.join(unknown)}")
    return SardonyxConfig(**values)
