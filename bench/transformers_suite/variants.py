"""The variants of the tests of exporters: which there are, and what comes of each."""

from __future__ import annotations

import copy
import time
import types
import unittest
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx.hf.evaluation.references import as_sure, of_pytorch

# Random numbers of eager PyTorch and of ONNX Runtime differ; so do sums over long rows.
_ATOL = _RTOL = 1e-3


@dataclass(frozen=True)
class Variant:
    """A test method with one class of models.

    Attributes:
        case: the test class.
        model: the class of models.
        method: the name of the test method.
        listed: whether the tests' own list of exceptions leaves the variant out.
    """

    case: type[unittest.TestCase]
    model: type
    method: str
    listed: bool

    @property
    def name(self) -> str:
        """A name that no other variant has, fit for a file."""
        model = self.case.__module__.rpartition(".")[2].removeprefix("test_modeling_")
        variant = self.method.removeprefix("test_onnx_export_")
        return f"{model}.{self.case.__name__}.{self.model.__name__}.{variant}"


@dataclass
class _Outcome:
    """What is seen while a test runs."""

    seconds: float = 0.0
    is_made: bool = False  # a model with inputs
    components: int = 0
    differences: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)


class Suite:
    """The tests of exporters, with a backend in place of the one they were written for.

    Args:
        tests: the module of the tests.
        exporter: the backend: `export(model, inputs, config)` returns an ExportedModel.
        config: makes the configuration, of `dynamic` and `optimize`.
    """

    def __init__(self, tests: Any, exporter: Any, config: Any) -> None:
        self._exceptions = dict(tests.EXPORT_SKIPS)
        self._outcome = _Outcome()
        self._exporter = exporter
        tests.OnnxExporter = lambda: self
        tests.OnnxConfig = config
        tests._run_onnx_program = self._run
        self._tests = tests

    def variants(self, module: types.ModuleType) -> Iterator[Variant]:
        """Those of a module of tests of models."""
        for case in vars(module).values():
            if not isinstance(case, type) or not issubclass(case, self._tests.ExportTesterMixin):
                continue
            if case.__module__ != module.__name__ or not issubclass(case, unittest.TestCase):
                continue
            yield from self._of_case(case)

    def _of_case(self, case: type[unittest.TestCase]) -> Iterator[Variant]:
        names = (name for name in dir(case) if name.startswith("test_onnx_export_"))
        methods = sorted(name for name in names if callable(getattr(case, name)))
        if not methods:
            return
        test: Any = case(methods[0])
        test.setUp()  # some cases choose their classes of models there
        for method in methods:
            generates = "_generate_" in method
            models = test.all_generative_model_classes if generates else test.all_model_classes
            for model in models or ():
                yield Variant(case, model, method, self._is_listed(model, method, generates))

    def _is_listed(self, model: type, method: str, generates: bool) -> bool:
        shapes = "dynamic" if "_dynamic" in method else "static"
        scopes = ["all", shapes, "onnx", f"onnx.{shapes}"]
        if generates:
            scopes += ["generate", "onnx.generate", f"generate.{shapes}"]
        return any(model.__name__ in self._exceptions.get(scope, {}) for scope in scopes)

    def run(self, variant: Variant) -> dict[str, Any]:
        """What came of a variant, as a record for JSON: its status, seconds and the reason."""
        # The list of exceptions is left out of account: what it names is tried as well.
        self._tests.EXPORT_SKIPS.clear()
        self._outcome = _Outcome()
        result = unittest.TestResult()
        _of_one_model(variant.case, variant.model)(variant.method).run(result)
        return {"listed": variant.listed, **_status(result, self._outcome)}

    def export(self, model: Any, inputs: Any, config: Any) -> Any:
        """What the tests call: the export of a component, timed."""
        self._outcome.is_made = True
        began = time.process_time()
        try:
            exported = self._exporter.export(model, inputs, config=config)
        finally:
            self._outcome.seconds += time.process_time() - began
        self._outcome.components += 1
        return model, exported

    def _run(self, component: Any, inputs: Any) -> dict[str, torch.Tensor]:
        """The outputs by name, which the tests compare with those of eager PyTorch by name; their
        values are compared here."""
        model, exported = component
        leaves, seed = self._tests.get_leaf_tensors, self._tests.set_seed
        seed(1234)
        outputs = leaves(exported(**copy.deepcopy(dict(inputs))))

        def eager(
            module: Any, tensors: dict[str, torch.Tensor], drawn: int = 1234
        ) -> dict[str, torch.Tensor]:
            seed(drawn)
            with torch.no_grad():
                results = leaves(module(**copy.deepcopy({**inputs, **tensors})))
            return {name: result.clone() for name, result in results.items()}

        tensors = {name: each for name, each in inputs.items() if isinstance(each, torch.Tensor)}
        expected = eager(model, tensors)
        wrong = {}
        for name in outputs.keys() & expected.keys():
            try:
                torch.testing.assert_close(outputs[name], expected[name], atol=_ATOL, rtol=_RTOL)
            except AssertionError as error:
                wrong[name] = str(error)
        # PyTorch's random numbers are not ONNX Runtime's: other ones are another answer, too.
        others = of_pytorch(model, tensors, eager) if wrong else []
        if wrong:
            others += [eager(model, tensors, drawn) for drawn in range(3)]
        for name, difference in wrong.items():
            alike = [other[name] for other in others if name in other]
            is_unsure = as_sure(outputs[name], expected[name], alike)
            found = self._outcome.unsure if is_unsure else self._outcome.differences
            found.append(f"{name}: {difference}")
        return dict(outputs)


def _of_one_model(case: type[unittest.TestCase], model: type) -> type[unittest.TestCase]:
    """The test class with one class of models."""

    def set_up(self: Any) -> None:
        case.setUp(self)
        self.all_model_classes = (model,)
        if not isinstance(getattr(case, "all_generative_model_classes", None), property):
            self.all_generative_model_classes = (model,)

    return type(case.__name__, (case,), {"setUp": set_up})


def _status(result: unittest.TestResult, outcome: _Outcome) -> dict[str, Any]:
    wrong = [*result.errors, *result.failures]
    record: dict[str, Any] = {
        "seconds": round(outcome.seconds, 2),
        "components": outcome.components,
    }
    if wrong:
        status = "failed" if outcome.is_made else "not made"
        return {**record, "status": status, "reason": "\n\n".join(text for _, text in wrong)}
    if outcome.differences:
        return {**record, "status": "differs", "reason": "\n".join(outcome.differences)}
    if outcome.unsure:
        return {**record, "status": "unsure", "reason": "\n".join(outcome.unsure)}
    if result.skipped or not outcome.components:
        reason = "; ".join(reason for _, reason in result.skipped)
        return {**record, "status": "skipped", "reason": reason or "no component"}
    return {**record, "status": "passed"}
