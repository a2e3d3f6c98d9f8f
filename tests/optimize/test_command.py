"""`sardonyx optimize`: what it takes, what it says, and what it leaves alone when it fails."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.harness.command import run_command
from tests.optimize.models import layered, run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    onnx.save(layered(), path)
    return path


def test_rules_are_listed() -> None:
    listed = run_command("optimize", "--list-rules").stdout.split()
    assert "drop-identity" in listed
    told = json.loads(run_command("optimize", "--list-rules", "--json").stdout)
    assert told == {"ok": True, "rules": listed}


@pytest.mark.parametrize("words", [[], ["in.onnx"], ["-o", "out.onnx"]])
def test_an_input_and_an_output_are_needed(words: list[str]) -> None:
    done = run_command("optimize", *words)
    assert done.returncode == 2
    assert "required" in done.stderr


def test_what_it_did_as_json(path: Path, tmp_path: Path) -> None:
    done = run_command("optimize", path, "-o", tmp_path / "out.onnx", "--json")
    told = json.loads(done.stdout)
    assert told["ok"]
    assert (told["nodes_before"], told["nodes"]) == (7, len(nodes_of(tmp_path / "out.onnx")))
    assert {"name": "drop-identity", "count": 2} in told["applied"]
    assert isinstance(told["declined"], list)


def nodes_of(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_rules_can_be_left_out(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    words = ["optimize", path, "-o", out, "--disable", "drop-identity", "--disable", "fold-pad"]
    assert run_command(*words).returncode == 0
    assert nodes_of(out).count("Identity") == 2


def test_an_unknown_rule_is_told_with_those_near(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    for option in ("--disable", "--stop-after"):
        done = run_command("optimize", path, "-o", out, option, "drop-identitty")
        assert done.returncode == 1
        assert "SX1801" in done.stderr
        assert "did you mean `drop-identity`?" in done.stderr
        assert not out.exists()


def test_the_former_name_of_a_rule_is_accepted(tmp_path: Path) -> None:
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    x, y = (helper.make_tensor_value_info(n, 1, [2, 3]) for n in "xy")
    twice = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    last = helper.make_node("Relu", ["b"], ["y"])
    graph = helper.make_graph([*twice, last], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
    for name in ("idempotent", "drop-repeated"):
        done = run_command(
            "optimize", path, "-o", out, "--disable", name, "--disable", "join-clips"
        )
        assert done.returncode == 0, done.stderr
        assert nodes_of(out).count("Relu") == 2
    assert "drop-repeated" not in run_command("optimize", "--list-rules").stdout.split()


def test_a_file_of_another_kind_is_recognized(path: Path, tmp_path: Path) -> None:
    archive, weights = tmp_path / "m.pt2", tmp_path / "m.safetensors"
    archive.write_bytes(b"PK\x03\x04" + bytes(40))
    weights.write_bytes((2).to_bytes(8, "little") + b"{}")
    for command, file, what in (
        ("optimize", archive, "`sardonyx convert` makes an ONNX model of it"),
        ("optimize", weights, "a file of weights (safetensors)"),
        ("convert", weights, "a file of weights (safetensors)"),
        ("convert", path, "`sardonyx optimize` and `sardonyx inspect` read ONNX models"),
    ):
        done = run_command(command, file, "-o", tmp_path / "out.onnx")
        assert done.returncode == 1
        assert "SX1001" in done.stderr
        assert what in done.stderr
        assert not (tmp_path / "out.onnx").exists()


def test_data_stays_outside_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(layered(), path, save_as_external_data=True, location="weights.bin")
    before = (tmp_path / "weights.bin").read_bytes()
    assert run_command("optimize", path, "-o", path).returncode == 0
    assert (tmp_path / "model.onnx.data").exists()
    assert (tmp_path / "weights.bin").read_bytes() == before
    np.testing.assert_allclose(run(str(path)), run(layered()), rtol=1e-5, atol=1e-5)
    words = ["optimize", path, "-o", tmp_path / "one.onnx", "--external-data", "never"]
    assert run_command(*words).returncode == 0
    assert not (tmp_path / "one.onnx.data").exists()


# --- what is wrong


def refused(path: Path, out: Path, code: str) -> None:
    """Ends with a diagnostic, in text and in JSON, and leaves the output as it was."""
    before = out.read_bytes() if out.is_file() else None
    names = set(out.parent.iterdir()) if out.parent.is_dir() else set()
    done = run_command("optimize", path, "-o", out)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert code in done.stderr
    told = json.loads(run_command("optimize", path, "-o", out, "--json").stdout)
    assert not told["ok"]
    assert any(each["code"].startswith(code) for each in told["diagnostics"])
    assert (out.read_bytes() if out.is_file() else None) == before
    assert (set(out.parent.iterdir()) if out.parent.is_dir() else set()) == names


def test_a_missing_input(tmp_path: Path) -> None:
    refused(tmp_path / "nothing.onnx", tmp_path / "out.onnx", "SX1101")


@pytest.mark.parametrize("text", [b"", b"no model at all", b"\x00" * 64, b"\xff" * 9])
def test_other_bytes(text: bytes, tmp_path: Path) -> None:
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    path.write_bytes(text)
    out.write_bytes(b"what was there")
    refused(path, out, "SX115")


def test_damaged_bytes_end_in_a_model_or_a_diagnostic(path: Path, tmp_path: Path) -> None:
    whole, rng = bytearray(path.read_bytes()), random.Random(3)
    out, damaged = tmp_path / "out.onnx", tmp_path / "damaged.onnx"
    for _ in range(60):
        bytes_ = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            bytes_[rng.randrange(min(len(bytes_), 900))] = rng.randrange(256)
        damaged.write_bytes(bytes_[: rng.choice([len(bytes_), rng.randrange(len(bytes_))])])
        done = run_command("optimize", damaged, "-o", out)
        assert done.returncode in (0, 1), done
        if done.returncode:
            assert "error[SX1" in done.stderr


def test_a_cycle(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    model.graph.node[0].input[0] = "v1"
    onnx.save(model, path)
    refused(path, tmp_path / "out.onnx", "SX1152")


def test_a_name_that_nothing_makes(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    model.graph.node[1].input[0] = "nobody"
    onnx.save(model, path)
    refused(path, tmp_path / "out.onnx", "SX1152")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("location", "../weights.bin"),
        ("location", "/etc/passwd"),
        ("location", "nothing.bin"),
        ("offset", str(1 << 40)),
        ("length", str(1 << 40)),
        ("offset", "-1"),
    ],
)
def test_external_data_that_is_not_there(key: str, value: str, tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    path = folder / "model.onnx"
    onnx.save(layered(), path, save_as_external_data=True, location="weights.bin")
    (tmp_path / "weights.bin").write_bytes((folder / "weights.bin").read_bytes())
    model = onnx.load(path, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        if entry.key == key:
            entry.value = value
    onnx.save(model, path)
    refused(path, tmp_path / "out.onnx", "SX1155")


@pytest.mark.parametrize("out", ["missing/out.onnx", "/dev/full", "."])
def test_an_output_that_cannot_be_written(out: str, path: Path, tmp_path: Path) -> None:
    done = run_command("optimize", path, "-o", tmp_path / out)
    assert done.returncode == 1
    assert "SX1601" in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.onnx"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_that_is_protected(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    out.write_bytes(b"kept")
    out.chmod(0o444)
    refused(path, out, "SX1601")


def test_what_an_opset_cannot_say(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    model.opset_import[0].version = 20
    model.ir_version = 9
    model.graph.node[-1].op_type = "Gelu"
    model.graph.node.append(helper.make_node("StringConcat", ["a", "a"], ["c"], "/c"))
    model.graph.input.append(helper.make_tensor_value_info("a", onnx.TensorProto.STRING, [1]))
    model.graph.output.append(helper.make_tensor_value_info("c", onnx.TensorProto.STRING, [1]))
    onnx.save(model, path)
    out = tmp_path / "out.onnx"
    done = run_command("optimize", path, "-o", out, "--opset", "13")
    assert done.returncode == 1
    assert "SX1504" in done.stderr
    assert not out.exists()


def test_what_is_no_node_of_an_operator_stays_where_the_opset_has_it(tmp_path: Path) -> None:
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    text = """<ir_version: 13, opset_import: ["" : 28]>
    agraph (float[b, s, 8] x) => (float[b, s, 8] y) { y = LinearAttention(x, x) }"""
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    done = run_command("optimize", path, "-o", out)
    assert done.returncode == 0, done.stderr
    assert nodes_of(out) == ["LinearAttention"]
    out.unlink()
    done = run_command("optimize", path, "-o", out, "--opset", "20")
    assert done.returncode == 1
    assert "SX1504" in done.stderr
    assert "this node is none of that operator" in done.stderr
    assert not out.exists()


def test_rules_of_a_runtime_can_be_left_out_and_stopped_at(tmp_path: Path) -> None:
    """Fusions are named, listed, left out and stopped at like other rules."""
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 4]) for name in "xy")
    bias = helper.make_tensor("bias", onnx.TensorProto.FLOAT, [4], [1, 2, 3, 4])
    nodes = [
        helper.make_node("Add", ["x", "bias"], ["sum"]),
        helper.make_node("Gelu", ["sum"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "biased", [x], [y], [bias])
    opsets = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)

    def operators(*words: str) -> list[str]:
        done = run_command("optimize", path, "-o", out, "--runtime", "onnxruntime-cpu", *words)
        assert done.returncode == 0, done.stderr
        return [node.op_type for node in onnx.load(out).graph.node]

    assert "bias-gelu" in run_command("optimize", "--list-rules").stdout
    assert operators() == ["BiasGelu"]
    assert operators("--stop-after", "bias-gelu") == ["BiasGelu"]
    assert operators("--disable", "bias-gelu") == ["Add", "Gelu"]
    assert operators("--stop-after", "packed-attention") == ["Add", "Gelu"]


def test_int4_of_a_weight_whose_shape_has_no_blocks(tmp_path: Path) -> None:
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3, 8, 8])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 4, 6, 6])
    weight = helper.make_tensor("kernel", onnx.TensorProto.FLOAT, [4, 3, 3, 3], [1.0] * 108)
    graph = helper.make_graph([helper.make_node("Conv", ["x", "kernel"], ["y"])], "g", [x], [y])
    graph.initializer.append(weight)
    opsets = [helper.make_opsetid("", 21)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    out.write_bytes(b"what was there")
    words = ["--precision", "int4", "--mixed", "kernel=int4"]
    done = run_command("optimize", path, "-o", out, *words, "--json")
    assert done.returncode == 1
    assert [each["code"] for each in json.loads(done.stdout)["diagnostics"]] == ["SX1814"]
    assert out.read_bytes() == b"what was there"
