"""Node models in other element types: one for each type that a version of an operator gained."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.node_models.cases import Case
from tests.node_models.engines import in_reference, in_runtime

TENSOR = re.compile(r"tensor\((\w+)\)")
# Names of types in schemas, where those of TensorProto are others.
NAMES = {"float": "FLOAT", "double": "DOUBLE"}


def element_type(text: str) -> int | None:
    """Of `tensor(float16)`; None for sequences and optionals."""
    found = TENSOR.fullmatch(text)
    if found is None:
        return None
    return int(onnx.TensorProto.DataType.Value(NAMES.get(found[1], found[1].upper())))


def single_nodes(cases: list[Case]) -> dict[str, list[Case]]:
    """The models of one node, by its operator."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain:
            found[nodes[0].op_type].append(case)
    return found


def in_type(case: Case, opset: int, position: int, element: int) -> Case | None:
    """The model at `opset` with input `position`, and what shares its type, of that type.

    None where the schema or the case has no place for it.
    """
    model = case.model
    node = model.graph.node[0]
    try:
        schema = onnx.defs.get_schema(node.op_type, opset)
    except onnx.defs.SchemaError:
        return None
    if position >= min(len(node.input), len(schema.inputs)) or not node.input[position]:
        return None
    parameter = schema.inputs[position].type_str
    dtype = helper.tensor_dtype_to_np_dtype(element)
    feeds = dict(case.feeds)
    names = set(_names(node.input, schema.inputs, parameter))
    for value in model.graph.input:
        if value.name in names:
            array = case.feeds.get(value.name)
            if not isinstance(array, np.ndarray):
                return None
            value.type.tensor_type.elem_type = element
            feeds[value.name] = _converted(array, dtype)
    for value in model.graph.output:
        if value.name in set(_names(node.output, schema.outputs, parameter)):
            value.type.tensor_type.elem_type = element
    imports = [helper.make_opsetid("", opset)]
    del model.opset_import[:]
    model.opset_import.extend(imports)
    model.ir_version = helper.find_min_ir_version_for(imports)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception:  # its own classes: the case's attributes say another type
        return None
    name = f"{case.name} of {dtype.name} at opset {opset}"
    return Case(name, model.SerializeToString(), opset, feeds, [], 1e-3, 1e-5)


def _names(values: Any, formals: Any, parameter: str) -> Iterator[str]:
    for i, name in enumerate(values):
        formal = formals[min(i, len(formals) - 1)] if formals else None
        if formal is not None and formal.type_str == parameter:
            yield name


def _converted(array: Any, dtype: Any) -> Any:
    if dtype.kind == "O":
        return array.astype(str).astype(object)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if array.dtype.kind not in "biufc":  # of ml_dtypes, which are cast by way of float32 alone
            array = array.astype(np.float32)
        return (np.abs(array) if array.dtype.kind in "if" else array).astype(dtype)


def runs(case: Case) -> bool:
    return any(run(case.data, case.feeds) is not None for run in (in_runtime, in_reference))
