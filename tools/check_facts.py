"""Holds the table of operator facts (src/program/facts/) against what PyTorch says of itself.

Alias annotations and the tag `inplace_view` tell of views and writes, the tag `pointwise` of
elements, kernels run on the meta device of result types, and the kernels registered for autocast,
with the lists of its C++ header, of casts. The tag `dynamic_output_shape` tells of sizes. Where the
table knows better, the reason stands here.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._prims

FOLDER = Path(__file__).resolve().parent.parent / "src" / "program" / "facts"

ROW = re.compile(r'^\{"([^"]+)", \{(.*?)\}\},', re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"\.(\w+) = (?:\w+::)?(\w+|\"[^\"]*\")")

# Views without an annotation in their schemas.
UNANNOTATED = {
    "dropout": "returns its argument in evaluation",
    "feature_dropout": "returns its argument in evaluation",
    "alpha_dropout": "returns its argument in evaluation",
    "feature_alpha_dropout": "returns its argument in evaluation",
    "atleast_1d": "composite: a view",
    "atleast_2d": "composite: a view",
    "atleast_3d": "composite: a view",
    "_unsafe_view": "shares memory that autograd may take to be its own",
    "unsafe_chunk": "shares memory that autograd may take to be its own",
    "unsafe_split": "shares memory that autograd may take to be its own",
    "unsafe_split_with_sizes": "shares memory that autograd may take to be its own",
    "broadcast_tensors": "composite: expands",
    "meshgrid": "composite: views and expands",
    "type_as": "composite: to",
    "data": "the argument without its history",
    "lift": "the argument",
    "as_tensor": "of TorchScript: its argument, where it has the type",
    "cpu": "of TorchScript: its argument, where it is there",
    "cuda": "of TorchScript: its argument, where it is there",
}

# Tagged as pointwise, and not so.
NOT_POINTWISE = {"equal": "one answer for all elements", "rrelu": "draws a number for each element"}
# Pointwise, and without the tag.
UNTAGGED = {"__and__": "another name of bitwise_and", "__or__": "another name of bitwise_or"}

# Registered for autocast, and without casts.
UNCAST = {("cuda", "binary_cross_entropy"): "refused under autocast"}
# Composites that are translated whole, whose matrix products are cast inside.
PRODUCTS_INSIDE = {
    ("cpu", name) for name in ("chain_matmul", "einsum", "linalg_multi_dot", "tensordot")
}
CUDA_LISTS = {
    "AT_FORALL_LOWER_PRECISION_FP": "kLowered",
    "AT_FORALL_FP32": "kFull",
    "AT_FORALL_FP32_SET_OPT_DTYPE": "kFull",
    "AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE": "kFull",
    "AT_FORALL_PROMOTE": "kWidest",
}


@dataclass(frozen=True)
class Operator:
    """An overload that PyTorch's dispatcher knows."""

    base: str  # "add" of ATen, "prims::add"
    overload: str
    schema: torch.FunctionSchema
    tags: tuple[torch.Tag, ...]
    call: Any

    @property
    def returns_view(self) -> bool:
        """Whether its schema says that a result lies in an argument."""
        returns = self.schema.returns
        return any(r.alias_info is not None and not r.alias_info.is_write for r in returns)


Facts = dict[str, dict[str, str]]


def read_rows(text: str) -> Facts:
    """Field to value, by the name of the row."""
    rows: Facts = {}
    for name, fields in ROW.findall(text):
        if name in rows:
            raise ValueError(f"{name} has two rows")
        rows[name] = {field: value.strip('"') for field, value in FIELD.findall(fields)}
    return rows


def table() -> Facts:
    files = sorted(FOLDER.glob("operators_*.inc"))
    return read_rows("".join(file.read_text(encoding="utf-8") for file in files))


@functools.cache
def operators() -> list[Operator]:
    """Every overload of ATen and of prims."""
    found = []
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        space, _, name = full.partition("::")
        if space not in ("aten", "prims"):
            continue
        base, _, overload = name.partition(".")
        call = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
        shown = base if space == "aten" else f"{space}::{base}"
        found.append(Operator(shown, overload, call._schema, tuple(call.tags), call))
    return found


@functools.cache
def known_names() -> set[str]:
    """Names with and without overload; TorchScript knows some that the dispatcher does not."""
    names = set()
    for schema in [*torch._C._jit_get_all_schemas(), *(o.schema for o in operators())]:
        name = schema.name.removeprefix("aten::")
        names |= {name, f"{name}.{schema.overload_name}"}
    return names


def facts_of(rows: Facts, operator: Operator) -> dict[str, str]:
    own = rows.get(f"{operator.base}.{operator.overload}")
    return own if own is not None else rows.get(operator.base, {})


def check_names(rows: Facts) -> Iterator[str]:
    known = known_names()
    for name, facts in rows.items():
        if name not in known:
            yield f"{name}: PyTorch has no operator of that name"
        for field in ("form", "each"):
            other = facts.get(field, "").removeprefix("aten::")
            if other and other not in known:
                yield f"{name}: {field} names {other}, which PyTorch does not have"


def check_views(rows: Facts, every: list[Operator]) -> Iterator[str]:
    annotated = {o.base for o in every if o.returns_view}
    annotated |= {
        schema.name.removeprefix("aten::")
        for schema in torch._C._jit_get_all_schemas()
        if any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    }
    for name, facts in rows.items():
        base = name.partition(".")[0]
        if "view" in facts and base not in annotated and base not in UNANNOTATED:
            yield f"{name}: is a view here, and its schema does not say so"
    for base in UNANNOTATED:
        if "view" not in rows.get(base, {}):
            yield f"{base}: has a reason to be a view, and is none here"


def check_writes(rows: Facts, every: list[Operator]) -> Iterator[str]:
    elsewhere = {"kResize", "kReplace", "kNothing"}
    for operator in every:
        facts = facts_of(rows, operator)
        write = facts.get("write", "kNone")
        name = f"{operator.base}.{operator.overload}"
        if write not in ("kNone", "kBatchNorm") and not operator.schema.is_mutable:
            yield f"{name}: writes here ({write}), and its schema does not say so"
        if write == "kBatchNorm" and operator.schema.is_mutable:
            yield f"{name}: writes unannounced here, and its schema announces it"
        changes_view = torch.Tag.inplace_view in operator.tags and operator.base != "set_"
        if changes_view and write not in {"kMetadata", *elsewhere}:
            yield f"{name}: PyTorch says inplace_view, the table {write}"
        if write == "kMetadata" and not changes_view:
            yield f"{name}: {write} here, and PyTorch does not say inplace_view"


def check_pointwise(rows: Facts, every: list[Operator]) -> Iterator[str]:
    tagged: dict[str, bool] = {}
    for operator in every:
        in_place = operator.base.endswith("_") and not operator.base.startswith("__")
        if operator.schema.is_mutable or in_place or operator.base.startswith("prims::"):
            continue
        is_tagged = torch.Tag.pointwise in operator.tags
        tagged[operator.base] = tagged.get(operator.base, False) or is_tagged
        pointwise = "pointwise" in facts_of(rows, operator)
        if is_tagged and not pointwise and operator.base not in NOT_POINTWISE:
            yield f"{operator.base}.{operator.overload}: PyTorch says pointwise"
    for name, facts in rows.items():
        base = name.partition(".")[0]
        if "pointwise" in facts and not tagged.get(base) and base not in UNTAGGED:
            yield f"{name}: pointwise here, and PyTorch does not say so"


@functools.cache
def result_type(operator: Operator, first: torch.dtype, others: torch.dtype) -> torch.dtype | None:
    """Of a call on meta tensors; nothing where PyTorch refuses it."""
    arguments: list[Any] = []
    dtype = first
    for parameter in operator.schema.arguments:
        kind = str(parameter.type)
        if kind == "Tensor":
            arguments.append(torch.ones(3, dtype=dtype, device="meta"))
            dtype = others
        elif parameter.has_default_value():
            break
        elif kind in ("number", "int", "float"):
            arguments.append(2)
        else:
            return None
    try:
        result = operator.call(*arguments)
    except Exception:  # whatever an operator has against these arguments
        return None
    return result.dtype if isinstance(result, torch.Tensor) else None


def check_results(rows: Facts, every: list[Operator]) -> Iterator[str]:
    """The result types of pointwise operators."""
    for operator in every:
        facts = facts_of(rows, operator)
        if "pointwise" not in facts or operator.schema.is_mutable:
            continue
        name = f"{operator.base}.{operator.overload}"
        kind = facts.get("result", "kOwn")
        same = result_type(operator, torch.float32, torch.float32)
        if same is not None and (same == torch.bool) != (kind == "kTruth"):
            yield f"{name}: gives {same} of float32, and is {kind} here"
        tensors = sum(str(a.type) == "Tensor" for a in operator.schema.arguments)
        mixed = result_type(operator, torch.float32, torch.float64)
        if tensors < 2 or mixed is None or kind in ("kTruth", "kDouble"):
            continue
        # Gradients are of one type in any program.
        if operator.base.endswith("_backward") or operator.base == "where":
            continue
        if (mixed == torch.float64) != (kind == "kPromoted"):
            yield f"{name}: gives {mixed} of float32 and float64, and is {kind} here"


@functools.cache
def registered_casts(device: str) -> set[str]:
    kernel = re.compile(
        rf"^Autocast{device.upper()}\S*: registered at \S+/autocast_mode\.cpp", re.MULTILINE
    )
    names = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    return {
        name.removeprefix("aten::").partition(".")[0]
        for name in names
        if kernel.search(torch._C._dispatch_dump(name))
    }


def cuda_casts() -> dict[str, str]:
    """The lists of CUDA's casts, which PyTorch's header holds."""
    header = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    text = header.read_text(encoding="utf-8")
    casts = {}
    for macro, kind in CUDA_LISTS.items():
        listed = re.search(rf"#define {macro}\(_\)(.*?)\n\n", text, re.DOTALL)
        if listed is None:
            raise ValueError(f"PyTorch's header has no {macro}")
        for name in re.findall(r"_\(\s*(?:ADD_NS\()?(\w+)", listed[1]):
            casts[name] = kind
    return casts


def check_autocast(rows: Facts) -> Iterator[str]:
    lists = cuda_casts()
    for device in ("cpu", "cuda"):
        registered = registered_casts(device)
        listed = {
            name: facts[f"autocast_{device}"]
            for name, facts in rows.items()
            if facts.get(f"autocast_{device}", "kOwn") != "kOwn"
        }
        for name in sorted(registered - set(listed)):
            if (device, name) not in UNCAST:
                yield f"{name}: PyTorch casts its arguments on {device}"
        for name, kind in listed.items():
            if name not in registered and (device, name) not in PRODUCTS_INSIDE:
                yield f"{name}: {kind} on {device} here, and PyTorch does not cast"
            if device == "cuda" and lists.get(name, kind) != kind:
                yield f"{name}: {kind} on {device} here, {lists[name]} in PyTorch's header"


def check_asserts(rows: Facts, every: list[Operator]) -> Iterator[str]:
    for operator in every:
        if "asserts" not in facts_of(rows, operator):
            continue
        if operator.schema.is_mutable or len(operator.schema.returns) > 1:
            yield f"{operator.base}.{operator.overload}: asserts here, and gives results"


def check_sizes(rows: Facts, every: list[Operator]) -> Iterator[str]:
    for operator in every:
        tagged = torch.Tag.dynamic_output_shape in operator.tags
        if not operator.schema.is_mutable and tagged != (
            "sized_by_data" in facts_of(rows, operator)
        ):
            yield f"{operator.base}.{operator.overload}: PyTorch and sized_by_data differ"


def check(rows: Facts) -> list[str]:
    """Every complaint about the rows."""
    every = operators()
    return [
        *check_names(rows),
        *check_views(rows, every),
        *check_writes(rows, every),
        *check_pointwise(rows, every),
        *check_results(rows, every),
        *check_autocast(rows),
        *check_asserts(rows, every),
        *check_sizes(rows, every),
    ]


def main() -> int:
    rows = table()
    complaints = check(rows)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"facts: {len(rows)} rows, {len(complaints)} of which PyTorch says something else")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
