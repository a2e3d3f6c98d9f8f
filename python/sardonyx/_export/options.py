"""What `export` and `convert` are asked for, as one record each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import usage_error
from sardonyx._capture.capture import FakeTracing
from sardonyx._optimize.dims import native_dims
from sardonyx._optimize.precision import Precision, To, native_precision

from .deprecated import OlderOptions
from .module_classes import class_names

if TYPE_CHECKING:
    from sardonyx._translate.registry import OnnxRegistry

Table = Mapping[Callable[..., Any], Any]
Step = Callable[[str, Callable[[], Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `export`, whose signature has their defaults and says what they are."""

    kwargs: Mapping[str, Any] | None
    export_params: bool
    verbose: bool | None
    input_names: Sequence[str] | None
    output_names: Sequence[str] | None
    opset_version: int | None
    dynamo: bool
    external_data: bool
    dynamic_shapes: Any
    dynamic_axes: Mapping[str, Any] | None
    custom_translation_table: Table | None
    report: bool
    optimize: bool
    verify: bool
    profile: bool
    dump_exported_program: bool
    artifacts_dir: str | os.PathLike[str]
    keep_initializers_as_inputs: bool
    target_runtime: str
    mutations_as_outputs: bool
    assertions_as_outputs: bool
    decompose: bool
    training: Any
    operator_export_type: Any
    do_constant_folding: bool
    custom_opsets: Mapping[str, int] | None
    export_modules_as_functions: Any
    autograd_inlining: bool
    registry: OnnxRegistry | None
    plugins: Sequence[str | os.PathLike[str]]
    capture: str
    fixed: Mapping[str, int] | None
    record_rules: bool

    def check(self) -> None:
        """UsageError for what cannot be meant, before anything is done."""
        _ = self.older, self.modules
        if self.capture not in ("auto", "quick", "torch", "trace"):
            raise usage_error(
                f"capture={self.capture!r} is not 'auto', 'quick', 'torch' or 'trace'"
            )
        if self.capture == "quick" and self.assertions_as_outputs:
            raise usage_error(
                "fake-tensor tracing does not see what a program asserts of its sizes",
                "leave out capture='quick' or assertions_as_outputs",
            )

    @property
    def is_trace(self) -> bool:
        """Whether torch.jit.trace is to capture the model, and nothing else."""
        return self.capture == "trace"

    @property
    def quick(self) -> FakeTracing:
        """Whether fake-tensor tracing is to try, and whether anything may take over.

        Left to choose, it does not where torch.export's assertions are asked for. What is verified,
        reported and dumped is of the program that users get without it.
        """
        if self.capture == "quick":
            return FakeTracing.ALONE
        is_left_open = self.capture == "auto" and not self.assertions_as_outputs
        return FakeTracing.FIRST if is_left_open else FakeTracing.NO

    @cached_property
    def older(self) -> OlderOptions:
        """The older exporter's, as the export needs them."""
        return OlderOptions.of(
            self.training,
            self.operator_export_type,
            self.custom_opsets,
            self.autograd_inlining,
            dynamo=self.dynamo,
        )

    @cached_property
    def modules(self) -> list[str] | None:
        """The classes of modules that become functions, none for all of them; None for no such."""
        return class_names(self.export_modules_as_functions)

    @property
    def folds_weights(self) -> bool:
        """Whether weights may be computed with: not where whoever runs the model gives them."""
        given = self.keep_initializers_as_inputs or not self.export_params
        return self.do_constant_folding and not given

    def conversion(
        self, input_names: Sequence[str], dim_names: Mapping[str, str], on_step: Step
    ) -> ConversionOptions:
        """What of them the conversion is asked for."""
        return ConversionOptions(
            input_names=input_names,
            output_names=self.output_names,
            opset_version=self.opset_version,
            optimize=self.optimize,
            fold_weights=self.folds_weights,
            target_runtime=self.target_runtime,
            mutations_as_outputs=self.mutations_as_outputs,
            assertions_as_outputs=self.assertions_as_outputs,
            dim_names=dim_names,
            custom_translation_table=self.custom_translation_table,
            registry=self.registry,
            custom_opsets=self.older.domain_versions,
            plugins=self.plugins,
            fall_through=self.older.fall_through,
            decompose=self.decompose,
            modules_as_functions=self.modules,
            precision=None,
            fixed=self.fixed,
            max_sizes=None,
            stop_after="",
            record_rules=self.record_rules,
            on_step=on_step,
            inputs=(),
            dynamic=(),
        )


def untimed(_name: str, run: Callable[[], Any]) -> Any:
    """A step that nobody watches."""
    return run()


@dataclass(frozen=True, kw_only=True)
class ConversionOptions:
    """The options of `convert`, which says what they are."""

    inputs: Sequence[str]
    dynamic: Sequence[str]
    input_names: Sequence[str] | None
    output_names: Sequence[str] | None
    opset_version: int | None
    optimize: bool
    fold_weights: bool
    target_runtime: str
    mutations_as_outputs: bool
    assertions_as_outputs: bool
    dim_names: Mapping[str, str] | None
    custom_translation_table: Table | None
    registry: OnnxRegistry | None
    custom_opsets: Mapping[str, int] | None
    plugins: Sequence[str | os.PathLike[str]]
    fall_through: str
    decompose: bool
    modules_as_functions: Sequence[str] | None
    precision: Precision | To | None
    fixed: Mapping[str, int] | None
    max_sizes: Mapping[str, int] | None
    stop_after: str
    record_rules: bool
    on_step: Step

    def checked_opset(self) -> int:
        """The opset that the conversion begins with. UsageError where there is no such."""
        self._check_name("target_runtime", _native.target_names())
        best = _native.target_opset(self.target_runtime)
        opset = best if self.opset_version is None else self.opset_version
        fits = isinstance(opset, int) and _native.oldest_opset <= opset <= _native.newest_opset
        if not fits:
            raise usage_error(
                f"opset_version={opset!r} is not between "
                f"{_native.oldest_opset} and {_native.newest_opset}"
            )
        return opset

    def native(self, opset: int | None) -> _native.ConvertOptions:
        """The native library's record of them. UsageError for names that mean nothing there."""
        self._check_name("fall_through", _native.fall_through_names())
        native = _native.ConvertOptions()
        native.opset = opset
        native.target_runtime = self.target_runtime
        native.input_names = list(self.input_names or ())
        native.output_names = list(self.output_names or ())
        native.optimize = self.optimize
        native.fold_weights = self.fold_weights
        native.mutations_as_outputs = self.mutations_as_outputs
        native.assertions_as_outputs = self.assertions_as_outputs
        native.precision = native_precision(self.precision)
        native.dims = native_dims(self.fixed, self.max_sizes)
        native.stop_after = self.stop_after
        native.record_rules = self.record_rules
        native.all_modules_as_functions = (
            self.modules_as_functions is not None and not self.modules_as_functions
        )
        native.modules_as_functions = list(self.modules_as_functions or ())
        native.domain_versions = dict(self.custom_opsets or {})
        native.plugins = [os.fspath(path) for path in self.plugins]
        native.fall_through = self.fall_through
        return native

    def _check_name(self, option: str, names: Sequence[str]) -> None:
        value = getattr(self, option)
        if value not in names:
            raise usage_error(
                f"{option}={value!r} is not {', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
            )
