"""What sees the calls of operators and functions, in front of autograd, and what is seen there.

Only fake-tensor tracing imports this module: where PyTorch lacks one of these names, it is off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.fx.experimental.proxy_tensor import PreDispatchTorchFunctionMode
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = [
    "ASSERT_KIND",
    "CHOOSING_AN_OVERLOAD",
    "DUALS",
    "ENTER_AUTOCAST",
    "EXIT_AUTOCAST",
    "NO_TORCH_FUNCTION",
    "SET_GRADIENTS",
    "TO_COPY",
    "TRANSFORMS",
    "FunctionMode",
    "OperatorMode",
    "is_transformed",
    "name_in",
    "set_geometry",
    "tensor_of",
]

# The marks that stand in a graph where a region begins or ends.
ENTER_AUTOCAST: Any = torch.amp.autocast_mode._enter_autocast
EXIT_AUTOCAST: Any = torch.amp.autocast_mode._exit_autocast
SET_GRADIENTS: Any = torch._C._set_grad_enabled
# Forward derivatives, which torch.export does not see as such.
DUALS = frozenset({torch.ops.aten._make_dual.default, torch.ops.aten._unpack_dual.default})
# What torch.export asserts before a conversion.
ASSERT_KIND: Any = torch.ops.aten._assert_tensor_metadata.default
TO_COPY: Any = torch.ops.aten._to_copy.default
# torch.func, whose transforms torch.export keeps as calls.
TRANSFORMS = "torch._functorch.predispatch"
# The code that chooses an operator's overload.
CHOOSING_AN_OVERLOAD = torch._ops.OpOverloadPacket.__call__.__code__


class OperatorMode(SchemaCheckMode):
    """Sees operators before autograd, with composite operators whole.

    A mode of that place has to be of a class that PyTorch knows; of the one it is derived from
    nothing is used but the name.
    """

    def __init__(self) -> None:
        TorchDispatchMode.__init__(self, torch._C.DispatchKey.PreDispatch)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise PyTorch wraps what sees a call to keep TorchDynamo out, which does not run."""
        return False


class FunctionMode(PreDispatchTorchFunctionMode):
    """Sees functions; PyTorch tells modes of this class of autocast and of torch.func, too."""

    def __init__(self) -> None:
        TorchFunctionMode.__init__(self)


def is_transformed() -> bool:
    """Whether a transform of torch.func runs."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def name_in(graph: torch.fx.Graph, operator: Any) -> str:
    """What torch.export calls the node of an operator, without its number."""
    return str(graph._target_to_str(operator.overloadpacket.__name__))


def tensor_of(
    kind: type, sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype, *, is_static: bool
) -> Any:
    """A tensor of a subclass, with these sizes, on the CPU and without memory; where they are not
    static, asking for its sizes asks the subclass."""
    make: Any = torch.Tensor._make_wrapper_subclass
    return make(
        kind,
        sizes,
        strides=strides,
        dtype=dtype,
        device=torch.device("cpu"),
        dispatch_sizes_strides_policy=None if is_static else "sizes",
    )


def set_geometry(tensor: torch.Tensor, sizes: Sequence[int], strides: Sequence[int]) -> None:
    """Gives other sizes to a tensor without memory whose sizes are static."""
    with no_dispatch():
        torch.ops.aten.as_strided_.default(tensor, sizes, strides)


# What subclasses of tensors have that want to see operators alone.
NO_TORCH_FUNCTION: Any = torch._C._disabled_torch_function_impl
