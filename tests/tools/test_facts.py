"""The table of operator facts agrees with PyTorch, and its check is able to complain."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_facts


def test_the_table_agrees_with_pytorch():
    assert check_facts.check(check_facts.table()) == []


def test_a_row_is_read():
    text = '{"max.other", {.pointwise = true,\n    .result = Result::kPromoted}},\n'
    rows = check_facts.read_rows(text)
    assert rows == {"max.other": {"pointwise": "true", "result": "kPromoted"}}
    with pytest.raises(ValueError, match="two rows"):
        check_facts.read_rows(text * 2)


@pytest.mark.parametrize(
    ("name", "fields", "complaint"),
    [
        ("no_such_operator", {}, "no_such_operator: PyTorch has no operator"),
        ("clone", {"view": "kAlias"}, "clone: is a view here"),
        ("relu", {"write": "kFill"}, "relu.: writes here"),
        ("t_", {}, "t_.: PyTorch says inplace_view"),
        ("add", {"result": "kPromoted"}, "add.Tensor: PyTorch says pointwise"),
        ("sort", {"pointwise": "true"}, "sort: pointwise here"),
        ("mul", {"pointwise": "true"}, "mul.Tensor: gives torch.float64"),
        ("eq", {"pointwise": "true"}, "eq.Tensor: gives torch.bool"),
        ("mm", {}, "mm: PyTorch casts its arguments on cpu"),
        ("relu", {"autocast_cpu": "kFull"}, "relu: kFull on cpu here"),
        ("pow", {"autocast_cuda": "kLowered"}, "pow: kLowered on cuda here, kFull"),
        ("sort", {"asserts": "true"}, "sort.: asserts here"),
    ],
)
def test_a_wrong_row_is_named(name, fields, complaint):
    rows = check_facts.table() | {name: fields}
    assert any(found.startswith(complaint) for found in check_facts.check(rows))
