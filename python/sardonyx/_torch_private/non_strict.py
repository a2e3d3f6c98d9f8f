"""The parts of torch.export's non-strict mode that fake-tensor tracing shares with it: how inputs
become fake, what holds while the model runs, and how sizes are solved afterwards."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._export import non_strict_utils
from torch._export.utils import _bind_signature_to_inputs, _compiling_state_context
from torch.export import _trace
from torch.fx.experimental.proxy_tensor import _ModuleStackTracer, disable_autocast_cache

from . import pytree, sizes
from .probing import patched


@dataclass(frozen=True)
class FakeInputs:
    """The inputs of a model as torch.export makes them: `leaves` are fake tensors, symbolic sizes
    and constants, in the order of `spec`."""

    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dynamic_shapes: Any
    fake_mode: Any
    leaves: list[Any]
    spec: Any
    _equalities: Any
    _signature: Any

    @staticmethod
    def of(
        model: torch.nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        dynamic_shapes: Any,
        *,
        may_be_empty: bool = False,
    ) -> FakeInputs:
        """Of example inputs; raises what torch.export raises of them. `may_be_empty`: sympy is to
        know of sizes that they may be 0."""
        args, kwargs, _, dynamic_shapes, *_ = _trace._process_export_inputs(
            model, args, kwargs, dynamic_shapes
        )
        # In pieces: putting caches of fake tensors together takes long, and nothing needs them.
        symbols = sizes.sizes_from_zero() if may_be_empty else nullcontext()
        with symbols, patched(non_strict_utils, "tree_map_with_path", _mapped_leaves):
            fake_mode, leaves, spec, equalities, signature, dynamic_shapes = (
                non_strict_utils.make_fake_inputs(
                    model,
                    args,
                    kwargs,
                    dynamic_shapes,
                    prefer_deferred_runtime_asserts_over_guards=True,
                )
            )
        made: Any = leaves
        return FakeInputs(
            model, args, kwargs, dynamic_shapes, fake_mode, made, spec, equalities, signature
        )

    def bound(self) -> Any:
        """The arguments by their parameters' names."""
        return _bind_signature_to_inputs(self.model, self.args, self.kwargs)

    def solve(self, graph_module: Any) -> None:
        """Checks what was asked of sizes against what the user said of them; raises as
        torch.export does."""
        non_strict_utils.produce_guards_and_solve_constraints(
            fake_mode=self.fake_mode,
            gm=graph_module,
            dynamic_shapes=self.dynamic_shapes,
            equalities_inputs=self._equalities,
            original_signature=self._signature,
        )

    def ranges(self, graph_module: Any, signature: Any) -> Any:
        """Of the sizes, by symbol."""
        has_sizes = self.fake_mode.shape_env is not None
        graph_module.meta["inline_constraints"] = (
            _trace._get_inline_constraints(self.fake_mode) if has_sizes else {}
        )
        artifact: Any = SimpleNamespace(
            aten=SimpleNamespace(gm=graph_module, sig=signature), fake_mode=self.fake_mode
        )
        return _trace._get_range_constraints(
            self.model, artifact, self.args, self.kwargs, self.dynamic_shapes
        )

    def argument_names(self) -> Any:
        """Of forward(), as far as the example gives them."""
        return _trace._get_forward_arg_names(self.model, self.args, self.kwargs)


def _mapped_leaves(function: Callable[..., Any], tree: Any) -> tuple[list[Any], Any]:
    """What the function gives of each leaf and its path, and the tree's spec; a tree again where
    only paths are asked for."""
    leaves, spec = pytree.tree_flatten_with_path(tree)
    given = [function(path, leaf) for path, leaf in leaves]
    if all(leaf is None for _, leaf in leaves):
        mapped: Any = pytree.tree_unflatten(given, spec)
        return mapped  # type: ignore[no-any-return]
    return given, spec


@contextmanager
def model_runs() -> Iterator[None]:
    """What torch.export has hold while a model runs, but for the modes that see its calls."""
    with (
        torch.no_grad(),
        disable_autocast_cache(),
        _trace._ignore_backend_decomps(),
        compiling(),
        fx_tracing(),
        non_strict_utils._override_builtin_ops(),
        enable_python_dispatcher(),
    ):
        yield


def compiling() -> Any:
    """Within it, torch.compiler says that a program is exported, as it does while one is."""
    return _compiling_state_context()


@contextmanager
def fx_tracing() -> Iterator[None]:
    """Within it, the flag is set that says that torch.fx traces, as it is while torch.export
    does."""
    module: Any = importlib.import_module("torch.fx._symbolic_trace")
    if hasattr(module, "_is_fx_tracing_context"):  # a flag of each thread
        with module._is_fx_tracing_context(True):
            yield
        return
    with patched(module, "_is_fx_tracing_flag", True):
        yield


def function_watcher() -> Any:
    """The mode by which torch.export sees functions that are no operators."""
    return non_strict_utils._NonStrictTorchFunctionHandler()


def module_tracer(root: torch.nn.Module) -> Any:
    """What finds out by which path a module that stands in several places was reached."""
    return _ModuleStackTracer(root)  # type: ignore[arg-type]
