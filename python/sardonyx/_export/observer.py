"""`InputObserver`: inputs, and what varies of them, from the calls that a model really gets."""

from __future__ import annotations

import contextlib
import functools
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import usage_error
from sardonyx._transformers_private.registration import register_caches

from .observed import Call, ObservedCalls

if TYPE_CHECKING:
    import torch

    from sardonyx._model.program import ONNXProgram


class InputObserver:
    """Watches the calls of a model, as torch.onnx's, which of them knows what to export with.

    observer = sardonyx.InputObserver()
    with observer(model):
        model.generate(input_ids)
    program = sardonyx.export(
        model,
        kwargs=observer.infer_arguments(),
        dynamic_shapes=observer.infer_dynamic_shapes(),
    )

    What differs between calls varies. An input that some calls leave out (the cache of the first
    step) is empty in those, so that one call has them all; where none does, `value_if_missing`
    says, by name or position, what an input that is left out is.
    """

    def __init__(self, value_if_missing: Mapping[str | int, Any] | None = None) -> None:
        """Nothing is watched yet."""
        self._observed: ObservedCalls | None = None
        self._missing = dict(value_if_missing or {})

    @contextlib.contextmanager
    def __call__(
        self, model: torch.nn.Module, store_n_calls: int = 3, method_name: str = "forward"
    ) -> Iterator[InputObserver]:
        """Watches a method of the model within the block, and keeps the tensors of its next
        `store_n_calls` calls. Blocks add up: those of one model, or of models that are called
        alike."""
        method = getattr(model, method_name, None)
        if method is None:
            raise usage_error(f"{type(model).__name__} has no method '{method_name}'")
        own = method_name in vars(model)
        register_caches(model)
        signature = inspect.signature(method)
        if self._observed is None:
            self._observed = ObservedCalls(signature, self._missing)
        calls = self._observed.calls
        most = len(calls) + store_n_calls
        setattr(model, method_name, _watched(method, self._observed, most))
        try:
            yield self
        finally:
            if own:
                setattr(model, method_name, method)
            else:
                delattr(model, method_name)

    def num_obs(self) -> int:
        """How many calls were kept."""
        return len(self._observed.calls) if self._observed else 0

    def infer_dynamic_shapes(
        self, set_batch_dimension_for: set[int | str] | bool | None = None
    ) -> Any:
        """`dynamic_shapes` for `export`: the dims that differ between calls.

        Parameters:
            set_batch_dimension_for: inputs, by name or position, whose first dim varies although
                it did not in the calls; True for all.

        A tuple where the calls were positional, otherwise a dict.
        """
        return self._known().dynamic_shapes(set_batch_dimension_for)

    def infer_arguments(
        self,
        index_or_args_or_kwargs: tuple[Any, ...] | dict[str, Any] | int | None = None,
        flat: bool = False,
        as_args_kwargs: bool = False,
    ) -> Any:
        """Inputs to export with, of which none is left out.

        Parameters:
            index_or_args_or_kwargs: the number of a call, or inputs to complete; by default the
                call that leaves least out, of those where fewest dims that vary are 1.
            flat: their tensors in order.
            as_args_kwargs: positional ones and those by keyword, as a pair. Otherwise a tuple
                where the calls were positional, and a dict where they were not.
        """
        observed = self._known()
        call = observed.call_of(index_or_args_or_kwargs)
        if flat:
            return observed.flat(call)
        return observed.arguments(call, as_args_kwargs)

    def check_discrepancies(  # noqa: PLR0917 (the order of torch.onnx's)
        self,
        onnx_program: ONNXProgram,
        atol: float = 1e-4,
        rtol: float = 0.1,
        progress_bar: bool = False,
        initializer: Callable[[str | bytes], Any] | None = None,
        skip_none: bool = True,
    ) -> list[dict[str, Any]]:
        """Runs the exported model on the inputs of every call that was kept, and compares.

        One dict a call: `SUCCESS`, `abs` and `rel` (the largest differences), or `error`; its
        `index`, seconds in PyTorch and ONNX Runtime, and how many inputs there were, were left
        out, and were empty. `skip_none` does not ask for outputs that the call had as None;
        `progress_bar` prints the number of each.
        """
        observed = self._known()
        onnx_program.initialize_inference_session(initializer)
        found = []
        for index, call in enumerate(observed.calls):
            if progress_bar:
                print(f"call {index + 1} of {len(observed.calls)}")
            found.append({"index": index, **_run(onnx_program, observed, call)})
            made = found[-1].pop("made", None)
            if made is not None:
                wanted = [x for x in call.outputs if x is not None or not skip_none]
                found[-1].update(_differences(made, wanted, atol, rtol))
        onnx_program.release()
        return found

    def _known(self) -> ObservedCalls:
        if self._observed is None or not self._observed.calls:
            raise usage_error(
                "no call was watched", "call the model in `with observer(model):` first"
            )
        return self._observed


def _watched(method: Callable[..., Any], observed: ObservedCalls, most: int) -> Callable[..., Any]:
    # wraps() keeps the signature, which transformers' generate() reads.
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(observed.calls) >= most:
            return method(*args, **kwargs)
        kept = observed.add(args, kwargs)
        began = time.perf_counter()
        result = method(*args, **kwargs)
        kept.finish(result, time.perf_counter() - began)
        return result

    return call


def _run(program: ONNXProgram, observed: ObservedCalls, call: Call) -> dict[str, Any]:
    """What came of a call in ONNX Runtime: its outputs are `made`, unless there is an `error`."""
    inputs = observed.flat(call)
    names = [value.name for value in program.model.graph.inputs]
    facts: dict[str, Any] = {
        "duration_torch": call.seconds,
        "n_inputs": len(names),
        "n_none": observed.left_out(call),
        "n_empty": sum(value.numel() == 0 for value in inputs),
    }
    began = time.perf_counter()
    try:
        made = program(**dict(zip(names, inputs, strict=True)))
    except Exception as error:
        return facts | {"SUCCESS": False, "error": str(error)}
    facts["ort_duration"] = time.perf_counter() - began
    return facts | {"made": list(made)}


def _differences(made: list[Any], wanted: list[Any], atol: float, rtol: float) -> dict[str, Any]:
    if len(made) != len(wanted):
        return {"SUCCESS": False, "error": f"{len(made)} outputs instead of {len(wanted)}"}
    largest, relative = 0.0, 0.0
    for got, want in zip(made, wanted, strict=True):
        if want is None or got.shape != want.shape or got.dtype != want.dtype:
            expected = None if want is None else f"{want.dtype} {list(want.shape)}"
            error = f"an output is {got.dtype} {list(got.shape)} instead of {expected}"
            return {"SUCCESS": False, "error": error}
        if want.numel():
            distance = (got.double() - want.double()).abs()
            largest = max(largest, float(distance.max()))
            relative = max(relative, float((distance / (want.double().abs() + rtol)).max()))
    return {"SUCCESS": largest <= atol and relative <= rtol, "abs": largest, "rel": relative}
