"""What must be true of a model before it runs."""

from __future__ import annotations

import onnx


def assert_wellformed(model: onnx.ModelProto) -> None:
    onnx.checker.check_model(model, full_check=True)
    names = [i.name for i in model.graph.input] + [o.name for o in model.graph.output]
    assert all(names), "an input or output has no name"
    inputs = [i.name for i in model.graph.input]
    outputs = [o.name for o in model.graph.output]
    assert len(set(inputs)) == len(inputs), f"inputs share a name: {inputs}"
    assert len(set(outputs)) == len(outputs), f"outputs share a name: {outputs}"
    assert not set(inputs) & {i.name for i in model.graph.initializer}, "an input has a value"
