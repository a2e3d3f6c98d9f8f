"""The examples of PyTorch's pages about programs, as they stand there but for the import."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
import torch
from torch import nn

import sardonyx
from sardonyx.verification import save_node_data_from_verification_info, verify_onnx_program


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class MLPModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc0 = nn.Linear(8, 8, bias=True)
        self.fc1 = nn.Linear(8, 4, bias=True)
        self.fc2 = nn.Linear(4, 2, bias=True)
        self.fc3 = nn.Linear(2, 2, bias=True)

    def forward(self, tensor_x: torch.Tensor):
        tensor_x = self.fc0(tensor_x)
        tensor_x = torch.sigmoid(tensor_x)
        tensor_x = self.fc1(tensor_x)
        tensor_x = torch.sigmoid(tensor_x)
        tensor_x = self.fc2(tensor_x)
        tensor_x = torch.sigmoid(tensor_x)
        output = self.fc3(tensor_x)
        return output  # noqa: RET504 (as on the page)


def test_a_simple_example() -> None:
    model = MLPModel()
    tensor_x = torch.rand((97, 8), dtype=torch.float32)
    onnx_program = sardonyx.export(model, (tensor_x,), dynamo=True)
    onnx_program.save("mlp.onnx")
    assert isinstance(onnx_program.model_proto, onnx.ModelProto)
    onnx.checker.check_model("mlp.onnx", full_check=True)


def test_each_layer_is_a_box_that_opens() -> None:
    program = sardonyx.export(MLPModel(), (torch.rand((97, 8)),), export_modules_as_functions=True)
    graph = program.model_proto.graph
    boxes = [(node.name, node.op_type) for node in graph.node if node.op_type == "Linear"]
    assert boxes == [(f"fc{i}", "Linear") for i in range(4)]
    assert program.function_names == ["torch.nn.modules.linear::Linear"]


def test_verifying_onnx_program() -> None:
    model, args = MLPModel(), (torch.rand((97, 8)),)
    onnx_program = sardonyx.export(model, args, dynamo=True)
    onnx_program.save("model.onnx")
    verification_infos = verify_onnx_program(onnx_program, compare_intermediates=True)
    save_node_data_from_verification_info(
        verification_infos, onnx_program.model, model_name="model"
    )
    assert Path("model_max_abs_diff.json").is_file()
    assert max(info.max_abs_diff for info in verification_infos) < 1e-5
