"""The opset of a model: the default, a newer one that the program needs, or the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import sardonyx
from tests.harness.command import run_command


class Bits(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(torch.int32) & 0xFF


def test_a_newer_opset_is_taken_where_the_program_needs_it() -> None:
    x = torch.tensor([1.1, -2.7, float("inf")])
    program = sardonyx.export(Bits(), (x,))
    assert program.opset_version == 26
    (note,) = program.notes
    assert (note.code, note.severity, note.op) == ("SX1312", "note", "aten::view.dtype")
    assert "opset 26 rather than 20" in note.message
    (result,) = program(x)
    assert torch.equal(result, Bits()(x))


def test_the_default_stays_where_it_will_do() -> None:
    program = sardonyx.export(torch.nn.ReLU(), (torch.ones(2),))
    assert program.opset_version == 20
    assert program.notes == ()


def test_an_opset_that_was_asked_for_is_kept_to() -> None:
    with pytest.raises(sardonyx.ConversionError) as caught:
        sardonyx.export(Bits(), (torch.ones(3),), opset_version=20)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "SX1504"
    assert "opset_version=26" in diagnostic.help


def test_functions_of_the_users_own_for_newer_opsets_keep_the_default() -> None:
    name, function = "sardonyx_choice::nothing", lambda g, x: g.op("Identity", x)
    for version, opset in ((9, 26), (23, None)):
        sardonyx.register_custom_op_symbolic(name, function, version)
        try:
            if opset:
                assert sardonyx.export(Bits(), (torch.ones(3),)).opset_version == opset
            else:
                with pytest.raises(sardonyx.ConversionError, match="opset_version=26"):
                    sardonyx.export(Bits(), (torch.ones(3),))
        finally:
            sardonyx.unregister_custom_op_symbolic(name, version)


def test_nothing_is_chosen_where_no_opset_will_do() -> None:
    class Both(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.aten._foobar(x.view(torch.int32))

    with pytest.raises(sardonyx.ConversionError) as caught:
        sardonyx.export(Both(), (torch.ones(3),))
    assert [d.code for d in caught.value.diagnostics] == ["SX1504", "SX1300"]


def test_the_command_line_tells_of_it(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Bits(), (torch.ones(3),)), tmp_path / "model.pt2")
    arguments = ["convert", tmp_path / "model.pt2", "-o", tmp_path / "model.onnx"]
    run = run_command(*arguments)
    assert (run.returncode, "SX1312" in run.stderr) == (0, True)
    run = run_command(*arguments, "--opset", "20")
    assert (run.returncode, "SX1504" in run.stderr) == (1, True)


def test_a_target_says_which_opset_serves_it_best() -> None:
    class Attends(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    x = torch.randn(2, 3, 4, 8)
    for runtime, opset, whole in (("onnxruntime", 20, False), ("onnxruntime-cpu", 23, True)):
        program = sardonyx.export(Attends(), (x,), target_runtime=runtime)
        assert program.opset_version == opset
        kinds = [node.op_type for node in program.model_proto.graph.node]
        assert ("Attention" in kinds) == whole
        torch.testing.assert_close(program(x)[0], Attends()(x), rtol=1e-5, atol=1e-5)
