"""Where ONNX nodes came from, kept through every pass."""

from __future__ import annotations

import ast
from pathlib import Path

import onnx
import torch

import sardonyx


class Norm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, bias=False)
        self.norm = torch.nn.BatchNorm2d(4)
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        y = self.norm(self.conv(x)).relu()
        y[:, 0] += 1
        return self.fc(y.mean((2, 3)))


X = torch.randn(2, 3, 8, 8)


def metadata(node: onnx.NodeProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in node.metadata_props}


def test_every_node_says_where_it_came_from() -> None:
    model = Norm().eval()
    for optimize in (True, False):
        program = sardonyx.export(model, (X,), optimize=optimize)
        captured = {node.name for node in program.exported_program.graph.nodes}
        for node in program.model_proto.graph.node:
            found = metadata(node)
            scopes = ast.literal_eval(found["pkg.torch.onnx.name_scopes"])
            classes = ast.literal_eval(found["pkg.torch.onnx.class_hierarchy"])
            assert len(scopes) == len(classes)
            assert scopes[0] == "", node.name
            assert classes[0].endswith("Norm")
            assert scopes[-1] in captured, node.name
            assert found["pkg.torch.onnx.fx_node"].startswith(f"%{scopes[-1]} : [num_users=")
            assert "test_metadata.py" in found["pkg.torch.onnx.stack_trace"]


def test_paths_of_the_machine_stay_out(tmp_path: Path) -> None:
    program = sardonyx.export(Norm().eval(), (X,))
    program.save(tmp_path / "as it is.onnx")
    program.save(tmp_path / "stripped.onnx", strip_paths=True)
    as_it_is, stripped = (
        (tmp_path / name).read_bytes() for name in ("as it is.onnx", "stripped.onnx")
    )
    assert b"-packages/torch/" not in as_it_is  # which is where PyTorch is installed
    assert b'File "torch/nn/modules/' in as_it_is
    assert __file__.encode() in as_it_is
    assert str(Path(__file__).parent).encode() not in stripped
    assert b'File "test_metadata.py", line ' in stripped


def test_nodes_are_mapped_back() -> None:
    program = sardonyx.export(Norm().eval(), (X,))
    nodes = program.captured_nodes
    assert set(nodes) == {node.name for node in program.model_proto.graph.node}
    by_name = {node.name: node for node in program.exported_program.graph.nodes}
    gemm = next(node for node in program.model_proto.graph.node if node.op_type == "Gemm")
    assert by_name[nodes[gemm.name]].target is torch.ops.aten.linear.default
    program.model.graph.name = "edited"
    assert program.captured_nodes == nodes


def test_captured_calls_read_as_torch_fx_prints_them() -> None:
    class Calls(torch.nn.Module):
        def forward(self, x, y):
            a, _ = torch.split(x, 2, dim=1)
            return torch.add(a, y, alpha=2).to(torch.float64), torch.softmax(a, -1)

    program = sardonyx.export(Calls(), (torch.randn(2, 4), torch.randn(2, 2)), optimize=False)
    printed = {
        node.name: node.format_node()
        for node in program.exported_program.graph.nodes
        if node.op == "call_function"
    }
    said = {metadata(node)["pkg.torch.onnx.fx_node"] for node in program.model_proto.graph.node}
    for name in ("add", "softmax"):
        assert printed[name] in said


def test_dims_are_named_as_the_user_names_them() -> None:
    batch = torch.export.Dim("batch")
    program = sardonyx.export(Norm().eval(), (X,), dynamic_shapes=({0: batch},))
    graph = program.model_proto.graph
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"


def test_functions_keep_what_is_inside_of_them() -> None:
    program = sardonyx.export(Norm().eval(), (X,), export_modules_as_functions=True)
    inside = [node for function in program.model_proto.functions for node in function.node]
    said = [metadata(node).get("pkg.torch.onnx.class_hierarchy", "") for node in inside]
    assert any("torch.nn.modules.conv.Conv2d" in classes for classes in said)
