"""Keeps LSTM, GRU and RNN whole, and their sequences dynamic, while a model is captured.

torch.export records `aten.lstm.input` as one call, but finds the shape of its result by running
PyTorch's Python decomposition on fake tensors, which loops over the sequence and so makes its
length a constant. During capture these operators get kernels that say no more than the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._torch_private import fake_tensors, operators

if TYPE_CHECKING:
    import torch

    Kernel = Callable[..., tuple[torch.Tensor, ...]]


def _sequence_result(
    sequence: torch.Tensor, hidden: torch.Tensor, bidirectional: bool
) -> torch.Tensor:
    # [L, N, I] or [N, L, I] with state [layers * directions, N, H] -> [..., directions * H]
    width = hidden.shape[-1] * (2 if bidirectional else 1)
    return sequence.new_empty([*sequence.shape[:-1], width])


# The operators end alike: `params, has_biases, num_layers, dropout, train, bidirectional`, and
# `batch_first` for those on plain tensors (input); those on packed sequences (data) have no such.


def _lstm_input(
    sequence: torch.Tensor, hx: Sequence[torch.Tensor], *rest: Any
) -> tuple[torch.Tensor, ...]:
    return _sequence_result(sequence, hx[0], rest[-2]), *map(_like, hx)


def _lstm_data(
    data: torch.Tensor, _batch_sizes: torch.Tensor, hx: Sequence[torch.Tensor], *rest: Any
) -> tuple[torch.Tensor, ...]:
    return _sequence_result(data, hx[0], rest[-1]), *map(_like, hx)


def _one_state_input(
    sequence: torch.Tensor, hx: torch.Tensor, *rest: Any
) -> tuple[torch.Tensor, ...]:
    return _sequence_result(sequence, hx, rest[-2]), _like(hx)


def _one_state_data(
    data: torch.Tensor, _batch_sizes: torch.Tensor, hx: torch.Tensor, *rest: Any
) -> tuple[torch.Tensor, ...]:
    return _sequence_result(data, hx, rest[-1]), _like(hx)


def _like(state: torch.Tensor) -> torch.Tensor:
    return state.new_empty(state.shape)


def _kernels() -> list[tuple[Any, Kernel]]:
    import torch

    aten = torch.ops.aten
    kernels: list[tuple[Any, Kernel]] = [
        (aten.lstm.input, _lstm_input),
        (aten.lstm.data, _lstm_data),
    ]
    for packet in (aten.gru, aten.rnn_tanh, aten.rnn_relu):
        kernels += [(packet.input, _one_state_input), (packet.data, _one_state_data)]
    return kernels


def _on_fakes_only(kernel: Kernel, original: Kernel) -> Kernel:
    """`kernel` where the first argument is a fake tensor; constants keep being computed."""
    kinds = (fake_tensors.FakeTensor, fake_tensors.FunctionalTensor)

    def chosen(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        shapes_only = isinstance(args[0], kinds) or args[0].is_meta
        return (kernel if shapes_only else original)(*args, **kwargs)

    return chosen


@contextmanager
def whole_recurrent_operators() -> Iterator[None]:
    """Within it, recurrent operators on fake tensors give shapes and loop over nothing."""
    if not operators.WHOLE_RECURRENCES.available:
        yield
        return
    keys = operators.kernel_keys()
    changed: list[tuple[Any, dict[Any, Any]]] = []
    try:
        for operator, kernel in _kernels():
            changed.append((operator, dict(operator.py_kernels)))
            for key in keys:
                if key in operator.py_kernels:
                    operator.py_kernels[key] = _on_fakes_only(kernel, operator.py_kernels[key])
            operators.forget_dispatch(operator)
        yield
    finally:
        for operator, kernels in changed:
            operator.py_kernels.clear()
            operator.py_kernels.update(kernels)
            operators.forget_dispatch(operator)
