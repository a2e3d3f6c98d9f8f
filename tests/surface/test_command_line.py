"""The command line beside converting: standard streams, differences, completions, manual pages,
and the commands that are written in Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest

from tests.harness.command import command_path, run_command
from tests.harness.json_output import told
from tests.harness.rotation import long_test


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """relu(x @ w), then a node that does nothing."""
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="product"),
        onnx.helper.make_node("Relu", ["y"], ["z"], name="relu"),
        onnx.helper.make_node("Identity", ["z"], ["out"], name="nothing"),
    ]
    weight = onnx.numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    graph = onnx.helper.make_graph(
        nodes,
        "graph",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 4])],
        [onnx.helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, ["batch", 3])],
        [weight],
    )
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    opsets = [onnx.helper.make_opsetid("", 18)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


def piped(content: bytes, *words: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [command_path(), *words], input=content, capture_output=True, check=False, timeout=120
    )


def in_python(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command that the native program hands over, to this interpreter."""
    return subprocess.run(
        [command_path(), *words],
        env=os.environ | {"SARDONYX_PYTHON": sys.executable} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_models_go_through_pipes(model: Path, tmp_path: Path) -> None:
    by_name = run_command("optimize", model, "-o", tmp_path / "out.onnx")
    assert by_name.returncode == 0
    ended = piped(model.read_bytes(), "optimize", "-", "-o", "-")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == (tmp_path / "out.onnx").read_bytes()
    shown = piped(model.read_bytes(), "inspect", "-", "--json")
    assert told(shown.stdout.decode(), "inspect-model")["nodes"] == 3


def test_a_pipe_that_holds_no_model_is_refused() -> None:
    ended = piped(b"no model at all", "optimize", "-", "-o", "-")
    assert ended.returncode == 1
    assert ended.stdout == b""
    assert b"SX1151" in ended.stderr


def test_json_and_a_model_cannot_share_standard_output(model: Path) -> None:
    ended = run_command("optimize", model, "-o", "-", "--json")
    assert ended.returncode == 2
    assert "--json" in ended.stderr


def test_differences_end_with_3_for_scripts(model: Path, tmp_path: Path) -> None:
    smaller = tmp_path / "smaller.onnx"
    assert run_command("optimize", model, "-o", smaller).returncode == 0
    ended = run_command("diff", model, smaller)
    assert ended.returncode == 0
    assert "Identity: 1 -> none" in ended.stdout
    assert run_command("diff", model, smaller, "--exit-code").returncode == 3
    assert run_command("diff", model, model, "--exit-code").returncode == 0
    assert told(run_command("diff", model, smaller, "--json").stdout, "diff")["other"]


def test_json_of_other_commands(model: Path, tmp_path: Path) -> None:
    told(run_command("inspect", model, "--json").stdout, "inspect-model")
    optimized = run_command("optimize", model, "-o", tmp_path / "out.onnx", "--json").stdout
    assert told(optimized, "optimize")["nodes"] == 2
    failed = run_command("optimize", tmp_path / "none.onnx", "-o", tmp_path / "out", "--json")
    assert told(failed.stdout, "failure")["diagnostics"][0]["code"] == "SX1101"


def test_a_model_that_no_provider_takes_is_warned_of(tmp_path: Path) -> None:
    path, out = tmp_path / "bits.onnx", tmp_path / "out.onnx"
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (int64[4] x, int64[4] y) => (int64[4] z) { z = BitwiseXor(x, y) }"""
    onnx.save(onnx.parser.parse_model(text), path)
    words = ("optimize", str(path), "-o", str(out), "--runtime")
    done = run_command(*words, "webgpu")
    assert done.returncode == 0
    assert "warning[SX1507]" in done.stderr
    assert "SX1507" not in run_command(*words, "webgpu", "--quiet").stderr
    assert not run_command(*words, "onnxruntime").stderr
    (note,) = told(run_command(*words, "webgpu", "--json").stdout, "optimize")["notes"]
    assert note["code"] == "SX1507"


def test_what_no_provider_takes_is_rejected(tmp_path: Path) -> None:
    path, out = tmp_path / "sum.onnx", tmp_path / "out.onnx"
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (TYPE[4] x, TYPE[4] y) => (TYPE[4] z) { z = Add(x, y) }"""
    words = ("optimize", str(path), "-o", str(out), "--runtime")
    onnx.save(onnx.parser.parse_model(text.replace("TYPE", "float")), path)
    for precision, code in (("bf16", 1), ("fp16", 0)):
        done = run_command(*words, "webgpu", "--precision", precision, "--io")
        assert done.returncode == code
        assert ("WebGPU provider computes nothing in bfloat16" in done.stderr) == bool(code)
        assert ("help: choose fp16" in done.stderr) == bool(code)
        assert out.exists() != bool(code)
    # The CUDA provider has the kernels, WebGPU and the CPU have none.
    onnx.save(onnx.parser.parse_model(text.replace("TYPE", "bfloat16")), path)
    assert run_command(*words, "onnxruntime-cuda").returncode == 0
    done = run_command(*words, "webgpu")
    assert done.returncode == 1
    assert "error[SX1505]" in done.stderr
    assert "help: compute in float16 or float32" in done.stderr
    # Without an accelerator that is asked for, a model that exists is not rejected.
    assert run_command(*words[:-1]).returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["optimze", "a"], "there is no command `optimze`; did you mean `optimize`?"),
        (["nothing-like-it"], "there is no command `nothing-like-it`\n"),
        (["optimize", "a", "--disble=x"], "no option `--disble`; did you mean `--disable`?"),
        ([], "no command is given"),
        (["convert", "a"], "--output is required"),
        (["convert", "a", "-o", "b", "--opset", "99"], "not in range 13 to 28"),
    ],
)
def test_what_is_mistyped_is_told(words: list[str], says: str) -> None:
    done = piped(b"", *words)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert says in said
    command = f" {words[0]}" if words and words[0] in ("convert", "optimize") else ""
    assert f"help: `sardonyx{command} --help`" in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command_and_option(shell: str) -> None:
    script = run_command("completions", shell).stdout
    for command in (
        "convert",
        "inspect",
        "optimize",
        "diff",
        "serve",
        "run",
        "doctor",
        "hf",
        "man",
    ):
        assert command in script
    assert "onnxruntime-cpu" in script
    assert ("external-data" if shell == "fish" else "--external-data") in script
    if interpreter := shutil.which(shell):
        subprocess.run([interpreter, "-n"], input=script, text=True, check=True)


def test_bash_completes_words_of_options() -> None:
    script = run_command("completions", "bash").stdout
    script += (
        "COMP_WORDS=(sardonyx convert x.pt2 --external-data a); COMP_CWORD=4; _sardonyx\n"
        'echo "${COMPREPLY[@]}"\n'
        "COMP_WORDS=(sardonyx opt); COMP_CWORD=1; _sardonyx\n"
        'echo "${COMPREPLY[@]}"\n'
        "COMP_WORDS=(sardonyx hf folder --precision int); COMP_CWORD=4; _sardonyx\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    ended = subprocess.run(
        ["bash", "--norc"], input=script, text=True, capture_output=True, check=True
    )
    assert ended.stdout.splitlines() == ["always auto", "optimize", "int8 int4"]


def test_manual_pages_have_what_help_has() -> None:
    for command in ("convert", "optimize", "inspect", "serve", "hf", "run", "doctor"):
        page = run_command("man", command).stdout
        assert page.startswith(f".TH sardonyx\\-{command} 1")
        options = re.findall(r"--[a-z][a-z-]+", run_command(command, "--help").stdout)
        assert options
        for option in options:
            assert option.replace("-", "\\-") in page


def test_help_says_words_as_they_are_typed() -> None:
    shown = run_command("convert", "--help").stdout
    assert "--external-data {always,auto,never}" in shown
    assert "TEXT:{" not in shown


def test_run_tells_outputs_and_time_by_operator(model: Path, tmp_path: Path) -> None:
    picture = tmp_path / "times.svg"
    words = ("run", model, "--random", "--size", "batch=3")
    ended = in_python(*words, "--json", "--svg", picture)
    assert ended.returncode == 0, ended.stderr
    result = told(ended.stdout, "run")
    assert result["outputs"][0]["shape"] == [3, 3]
    assert result["outputs"][0]["min"] >= 0.0
    assert {each["operator"] for each in result["operators"]} >= {"MatMul"}
    assert "MatMul" in picture.read_text(encoding="utf-8")
    assert "ms a run" in in_python(*words).stdout
    # The same seed, the same numbers.
    assert (
        in_python(*words, "--json").stdout.split('"outputs"')[1].split('"operators"')[0]
        == (ended.stdout.split('"outputs"')[1].split('"operators"')[0])
    )


def test_run_takes_inputs_from_a_file(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "inputs.npz", x=np.full((2, 4), 2.0, np.float32))
    ended = in_python("run", model, "--inputs", tmp_path / "inputs.npz", "--json")
    output = told(ended.stdout, "run")["outputs"][0]
    assert (output["shape"], output["min"], output["max"]) == ([2, 3], 8.0, 8.0)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--random", "--size", "rows=3"), "no dynamic dimension rows"),
        (("--random", "--size", "batch"), "NAME=N"),
        (("--inputs", "nowhere.npz"), "nowhere.npz"),
    ],
)
def test_run_refuses_what_cannot_be_meant(model: Path, words: tuple[str, ...], says: str) -> None:
    ended = in_python("run", model, *words)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


def test_run_on_a_provider_that_is_missing(model: Path) -> None:
    ended = in_python("run", model, "--random", "--provider", "cuda")
    assert ended.returncode == 2
    assert "has no provider cuda" in ended.stderr
    assert "onnxruntime-gpu in place of onnxruntime" in ended.stderr


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_run_on_a_provider_that_cannot_be_loaded(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """ONNX Runtime itself goes on with the CPU."""
    import onnxruntime

    from sardonyx._cli.run import main

    there = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    assert main([str(model), "--random", "--provider", "cuda"]) == 2
    assert "its libraries or its device are missing" in capsys.readouterr().err


def test_run_says_what_to_install(model: Path, tmp_path: Path) -> None:
    (tmp_path / "onnxruntime.py").write_text("raise ImportError", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-m", "sardonyx", "run", model, "--random"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr.startswith("error[SX1016]: running a model needs")
    assert "pip install onnxruntime" in ended.stderr


@long_test(3)
def test_doctor_tells_what_is_installed() -> None:
    result = told(in_python("doctor", "--json").stdout, "doctor")
    by_subject = {each["subject"]: each for each in result["findings"]}
    assert by_subject["torch"]["state"] == "ok"
    assert by_subject["command"]["text"] == str(command_path().resolve())
    assert "onnxruntime" in in_python("doctor").stdout


def test_no_python_at_all_is_said_in_two_lines(model: Path) -> None:
    ended = in_python("run", model, "--random", SARDONYX_PYTHON="/nowhere/python3")
    assert ended.returncode == 1
    assert "error[SX2006]" in ended.stderr
    assert "SARDONYX_PYTHON" in ended.stderr


def test_the_package_runs_native_commands_too(model: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "sardonyx", "inspect", model, "--json"],
        env=os.environ | {"SARDONYX_COMMAND": str(command_path().resolve())},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert told(ended.stdout, "inspect-model")["nodes"] == 3


def test_pipes_get_no_colors() -> None:
    ended = run_command("inspect", "nowhere.onnx")
    assert ended.stderr.startswith("error[SX1101]")
    assert "\033" not in ended.stderr


def test_terminals_get_colors_unless_NO_COLOR_is_set() -> None:
    script = shutil.which("script")
    if script is None:
        pytest.skip("util-linux's script, which makes a terminal, is not here")
    command = f"{command_path().resolve()} inspect nowhere.onnx"

    def shown(**environment: str) -> str:
        plain = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
        return subprocess.run(
            [script, "-qec", command, "/dev/null"],
            env=plain | {"TERM": "xterm"} | environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
        ).stdout  # fmt: skip

    assert "\033[1;31merror[SX1101]\033[0m" in shown()
    assert "\033" not in shown(NO_COLOR="1")
