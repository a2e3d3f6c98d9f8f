"""Small programs that write in place: every kind of write through every kind of view, and the
idioms people write. Each is compared with eager PyTorch at several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Program:
    """A function of tensors, the example's inputs and those of further runs."""

    name: str
    run: Callable[..., Any]
    example: tuple[Tensor, ...]
    others: tuple[tuple[Tensor, ...], ...] = ()
    # Which dims vary: {input: {dim: ...}} as torch.export takes them; None: none.
    dynamic: Any = None

    def module(self) -> torch.nn.Module:
        return module_of(self.run, len(self.example))


def module_of(run: Callable[..., Any], count: int) -> torch.nn.Module:
    """A module whose forward takes `count` tensors by name, as dynamic shapes need it."""

    class One(torch.nn.Module):
        def forward(self, x: Tensor) -> Any:
            return run(x)

    class Two(torch.nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Any:
            return run(x, y)

    class Three(torch.nn.Module):
        def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
            return run(x, y, z)

    class Four(torch.nn.Module):
        def forward(self, x: Tensor, y: Tensor, z: Tensor, w: Tensor) -> Any:
            return run(x, y, z, w)

    class Five(torch.nn.Module):
        def forward(self, x: Tensor, y: Tensor, z: Tensor, w: Tensor, v: Tensor) -> Any:
            return run(x, y, z, w, v)

    return (One, Two, Three, Four, Five)[count - 1]()


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    low = 0 if dtype == torch.uint8 else -9
    return torch.randint(low, 9, shape, generator=generator).to(dtype)


# Views of a 4 x 6 tensor.
VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "itself": lambda x: x,
    "row": lambda x: x[1],
    "last_row": lambda x: x[-1],
    "column": lambda x: x[:, 2],
    "rows": lambda x: x[1:3],
    "every_other_column": lambda x: x[:, ::2],
    "tail": lambda x: x[:, -2:],
    "block": lambda x: x[1:, 2:5],
    "narrow": lambda x: x.narrow(1, 1, 3),
    "narrow_from_the_end": lambda x: x.narrow(0, -2, 2),
    "transposed": lambda x: x.t(),
    "transposed_row": lambda x: x.t()[1],
    "permuted": lambda x: x.unsqueeze(0).permute(2, 0, 1),
    "moved": lambda x: x[None].movedim(0, 2),
    "swapped": lambda x: x.swapaxes(0, 1),
    "flat": lambda x: x.view(-1),
    "flat_slice": lambda x: x.view(-1)[3:17:4],
    "reshaped": lambda x: x.reshape(-1, 2, 3),
    "flattened": lambda x: x.unsqueeze(1).flatten(1),
    "unflattened": lambda x: x.unflatten(1, (2, 3))[:, 1],
    "unsqueezed": lambda x: x.unsqueeze(1),
    "squeezed": lambda x: x[1:2].squeeze(0),
    "diagonal": lambda x: x.diagonal(),
    "upper_diagonal": lambda x: x.diagonal(offset=1),
    "lower_diagonal_of_transposed": lambda x: x.t().diagonal(-1),
    "first_of_split": lambda x: x.split(4, 1)[0],
    "rest_of_split": lambda x: x.split(4, 1)[1],
    "of_sizes": lambda x: x.split([1, 3, 2], 1)[1],
    "chunk": lambda x: x.chunk(3, 1)[2],
    "unbound": lambda x: x.unbind(1)[3],
    "tensor_split": lambda x: x.tensor_split(4, 1)[1],
    "tensor_split_at": lambda x: x.tensor_split((1, 4), 1)[1],
    "detached": lambda x: x.detach(),
    "contiguous": lambda x: x.contiguous()[0],
    "same_dtype": lambda x: x.to(x.dtype)[2],
    "chain": lambda x: x[1:].t()[2:5].t()[:, 1],
    "deep": lambda x: x.view(-1, 3, 2).transpose(1, 2)[:, :, 1].squeeze()[1:],
    "expanded_by_nothing": lambda x: x.expand(-1, -1)[1],
    "viewed_as": lambda x: x.view_as(x)[:, 1],
    "strided": lambda x: x.as_strided((3, 2), (6, 2), 1),
    "windows": lambda x: x.unfold(1, 2, 2)[:, 1],
}

# What is written to a view; `y` has as many elements as the view has in its last dimension.
WRITES: dict[str, Callable[[Tensor], object]] = {
    "fill": lambda v: v.fill_(5),
    "zero": lambda v: v.zero_(),
    "add": lambda v: v.add_(2),
    "multiply": lambda v: v.mul_(v),
    "copy": lambda v: v.copy_(torch.arange(v.shape[-1])),
    "assign": lambda v: v.__setitem__(..., 7),
    "mask": lambda v: v.masked_fill_(v > 0, 3),
    "clamp": lambda v: v.clamp_(min=0, max=1),
    "put": lambda v: v.index_put_((torch.tensor([0, 0]),), torch.ones(()).to(v.dtype), True),
    "compare": lambda v: v.gt_(0),
}


def through(view: Callable[[Tensor], Tensor], write: Callable[[Tensor], object]) -> Any:
    """Reads the base, an older view of it and the view after the write."""

    def run(x: Tensor) -> tuple[Tensor, ...]:
        base = x.clone()
        older = base.t()
        seen = view(base)
        write(seen)
        return base, older, seen * 2, base[0]

    return run


def product() -> list[Program]:
    """Every view with every write, the dtypes taking turns; rows are dynamic where the view allows
    any number of them."""
    dtypes = (torch.float32, torch.int64, torch.float64, torch.int32, torch.float16)
    programs = []
    for row, (view_name, view) in enumerate(VIEWS.items()):
        for column, (write_name, write) in enumerate(WRITES.items()):
            dtype = dtypes[(row + column) % len(dtypes)]
            dynamic = (row + column) % 2 == 0 and view_name not in FIXED
            example = (numbers(4, 6, dtype=dtype),)
            others = ((numbers(7, 6, dtype=dtype, seed=1),),) if dynamic else ()
            programs.append(
                Program(
                    f"{write_name}-{view_name}-{str(dtype)[6:]}" + ("-dynamic" if dynamic else ""),
                    through(view, write),
                    example,
                    others,
                    ({0: torch.export.Dim.DYNAMIC},) if dynamic else None,
                )
            )
    return programs


# Their sizes depend on those of the example.
FIXED = {"lower_diagonal_of_transposed", "diagonal", "upper_diagonal", "strided", "flat_slice"}
