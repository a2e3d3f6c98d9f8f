"""The module writes the bytes of the command, and its diagnostics are the command's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.harness.command import run_command
from tests.viewer.models import transformer
from tests.wasm.models import dense_model
from tests.wasm.module import BUILD, PACKAGE, run_jobs, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
MAX_BYTES = 6_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wasm")


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, Path]:
    """A program of each kind, and a model."""
    made = {"program": folder / "program.pt2", "script": folder / "script.pt"}
    made["program"].write_bytes((CORPUS / "pt2" / "small").read_bytes())
    made["script"].write_bytes((CORPUS / "torchscript" / "language").read_bytes())
    made["model"] = folder / "model.onnx"
    onnx.save(transformer(100), made["model"])
    return made


CASES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "program": ("program", {}, ()),
    "program for a target": (
        "program",
        {"runtime": "onnxruntime-cpu", "opset": 21, "precision": "fp16"},
        ("--runtime", "onnxruntime-cpu", "--opset", "21", "--precision", "fp16"),
    ),
    "script": ("script", {"input": ["x:float32[n,3]"]}, ("--input", "x:float32[n,3]")),
    "model": ("model", {}, ()),
    "model in int8": ("model", {"precision": "int8"}, ("--precision", "int8")),
    "model in int4": (
        "model",
        {"precision": "int4", "runtime": "onnxruntime-cpu"},
        ("--precision", "int4", "--runtime", "onnxruntime-cpu"),
    ),
    "model in bf16": ("model", {"precision": "bf16"}, ("--precision", "bf16")),
    "model with a size": ("model", {"fixed": {"batch": 2}}, ("--fixed", "batch=2")),
}


def command_for(path: Path) -> str:
    return "optimize" if path.suffix == ".onnx" else "convert"


def test_the_bytes_are_the_command_s(folder: Path, files: dict[str, Path]) -> None:
    jobs: list[dict[str, Any]] = []
    expected: list[Path] = []
    for i, (name, options, words) in enumerate(CASES.values()):
        jobs.append({"path": files[name], "output": folder / f"{i}.onnx", "options": options})
        expected.append(folder / f"{i}-command.onnx")
        command = command_for(files[name])
        done = run_command(command, files[name], "-o", expected[-1], *words)
        assert done.returncode == 0, done.stderr
    results = run_jobs(jobs)["results"]
    for name, job, result, by_command in zip(CASES, jobs, results, expected, strict=True):
        assert "diagnostics" not in result, (name, result)
        assert job["output"].read_bytes() == by_command.read_bytes(), name


def test_diagnostics_are_the_command_s(folder: Path, files: dict[str, Path]) -> None:
    text = folder / "text.onnx"
    text.write_text("this is no model")
    empty = folder / "empty.pt2"
    empty.write_bytes(b"PK\x03\x04")
    short = folder / "short.pt2"
    short.write_bytes(files["program"].read_bytes()[:3000])
    jobs: list[dict[str, Any]] = [
        {"path": text},
        {"path": empty},
        {"path": short},
        {"path": files["script"]},
        {"path": files["model"], "options": {"opset": 99}},
        {"path": files["model"], "options": {"precision": "int1"}},
    ]
    results = run_jobs(jobs)["results"]
    for job, result in list(zip(jobs, results, strict=True))[:4]:
        words = (command_for(job["path"]), job["path"], "-o", folder / "none.onnx", "--json")
        (expected,) = json.loads(run_command(*words).stdout)["diagnostics"]
        (found,) = result["diagnostics"]
        assert (found["code"], found["message"]) == (expected["code"], expected["message"])
    assert [result["diagnostics"][0]["code"] for result in results[4:]] == ["SX1002", "SX1810"]


def test_a_state_and_pages(files: dict[str, Path]) -> None:
    done = run_jobs([{"path": files["model"], "page": True}])
    assert "<canvas" in done["results"][0]["html"] or "<script" in done["results"][0]["html"]
    assert "onnxruntime-cpu" in [each["name"] for each in done["targets"]]
    version = run_command("--version").stdout.split()[-1]
    assert done["version"] == version


def test_external_data(folder: Path) -> None:
    path = folder / "apart.onnx"
    onnx.save(transformer(20), path, save_as_external_data=True, location="apart.data",
              size_threshold=0)  # fmt: skip
    job = {"path": path, "data": [folder / "apart.data"], "output": folder / "apart-out.onnx"}
    (result,) = run_jobs([job])["results"]
    assert result["model"]["data"]
    by_command = folder / "by-command" / "apart-optimized.onnx"
    by_command.parent.mkdir()
    assert run_command("optimize", path, "-o", by_command).returncode == 0
    assert (folder / "apart-out.onnx").read_bytes() == by_command.read_bytes()
    written = (folder / "apart-out.onnx.data").read_bytes()
    assert written == by_command.with_name("apart-optimized.onnx.data").read_bytes()


def run_script(folder: Path, text: str) -> list[str]:
    """The lines that a script prints, which has `load`, `SardonyxModule` and `wasm`."""
    path = folder / "script.mjs"
    package = PACKAGE.as_uri()
    path.write_text(
        f"""
import {{readFile}} from 'node:fs/promises';
import {{load}} from '{package}/index.js';
import {{SardonyxModule}} from '{package}/module.js';
const wasm = await WebAssembly.compile(await readFile('{PACKAGE}/sardonyx.wasm'));
const codes = run => {{
  try {{ run(); }} catch (wrong) {{ return wrong.diagnostics.map(({{code}}) => code).join(); }}
}};
{text}"""
    )
    done = subprocess.run(["node", path], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_files_larger_than_memory(folder: Path) -> None:
    """Of weights the header is read; a model ends in a message."""
    length = 5_000_000_000
    tensor = {"dtype": "F32", "shape": [length // 4], "data_offsets": [0, length]}
    header = json.dumps({"layer": tensor})
    script = f"""
const header = new TextEncoder().encode({json.dumps(header)});
const start = new Uint8Array(8 + header.length);
new DataView(start.buffer).setUint32(0, header.length, true);
start.set(header, 8);
let most = 0;
const large = {{
  size: start.length + {length},
  read(offset, to) {{
    most = Math.max(most, offset + to.length);
    to.set(start.subarray(offset, offset + to.length));
  }},
  part() {{}},
}};
const sardonyx = await load(wasm);
const weights = sardonyx.add('large.safetensors', large);
const shown = sardonyx.page(weights).includes('float32[1250000000]');
console.log(weights.kind, shown, most === start.length);
const zeros = {{...large, read(_, to) {{ to.fill(0); }}}};
try {{ sardonyx.add('large.onnx', zeros); }} catch (wrong) {{ console.log(wrong.message); }}
"""
    sizes, message = run_script(folder, script)
    assert sizes == "weights true true"
    assert message.startswith("error[SX1004]: the 5000 MB of ")


def test_weights_beyond_two_gigabytes(folder: Path) -> None:
    """They are copied from where they are in the file; what does not fit is reported."""
    sizes = {"large": (550_000, 1000), "small": (1000, 16_000)}
    weights, at = [], 0
    for name, dims in sizes.items():
        weight = onnx.TensorProto(name=name, data_type=1, dims=dims, data_location=1)
        length = 4 * dims[0] * dims[1]
        for key, value in (("location", "data"), ("offset", at), ("length", length)):
            weight.external_data.add(key=key, value=str(value))
        weights.append(weight)
        at += length
    nodes = [onnx.helper.make_node("MatMul", ["x", "large"], ["h"]),
             onnx.helper.make_node("MatMul", ["h", "small"], ["y"])]  # fmt: skip
    value = onnx.helper.make_tensor_value_info
    inputs, outputs = value("x", 1, ["n", 550_000]), value("y", 1, ["n", 16_000])
    graph = onnx.helper.make_graph(nodes, "large", [inputs], [outputs], weights)
    onnx.save(onnx.helper.make_model(graph), folder / "large.onnx")
    script = f"""
const bytes = await readFile('{folder / "large.onnx"}');
const sardonyx = await load(wasm);
const source = size => ({{
  size,
  read(offset, to) {{ to.fill(offset >= 2.2e9 ? 1 : 0); }},
  part() {{}},
}});
const model = sardonyx.add('large.onnx', bytes, {{data: [['data', source({at})]]}});
const data = sardonyx.externalDataSource(sardonyx.run(model).model);
const last = new Uint8Array(4);
data.read(data.size - 4, last);
console.log(data.size >= {at}, last.join());
sardonyx.remove(model);
try {{
  sardonyx.add('large.onnx', bytes, {{data: [['data', source(5e9)]]}});
}} catch (wrong) {{
  console.log(wrong.message);
  console.log(wrong.diagnostics[0].help);
}}
"""
    copied, message, fix = run_script(folder, script)
    assert copied == "true 1,1,1,1"
    assert message.startswith("error[SX1004]: the 5000 MB of ")
    assert "use the command `sardonyx`" in fix


def test_files_of_node(folder: Path) -> None:
    """They are read and written in slices; what is computed does not stay in memory."""
    path = dense_model(folder / "dense.onnx", 40_000)
    script = f"""
import {{FileSource, save}} from '{PACKAGE.as_uri()}/node.js';
const sardonyx = await load(wasm);
const source = new FileSource('{path}');
const model = sardonyx.add('dense.onnx', source);
const before = process.memoryUsage().arrayBuffers;
const result = sardonyx.run(model, {{precision: 'fp16'}}).model;
console.log(save(sardonyx, result, '{folder}'));
console.log(process.memoryUsage().arrayBuffers - before < result.bytes);
source.close();
"""
    saved, is_small = run_script(folder, script)
    assert is_small == "true"
    by_command = folder / "dense-by-command.onnx"
    assert run_command("optimize", path, "-o", by_command, "--precision", "fp16").returncode == 0
    assert Path(saved).read_bytes() == by_command.read_bytes()


def test_files_that_cannot_be_read(folder: Path, files: dict[str, Path]) -> None:
    """One that is gone, one that no memory holds; then a model as if nothing had been."""
    script = f"""
const sardonyx = await load(wasm);
const gone = {{size: 100, read() {{ throw new Error('gone'); }}, part() {{}}}};
console.log(codes(() => sardonyx.add('gone.onnx', gone)));
const large = {{size: 4.29e9, read(_, to) {{ to.fill(0); }}, part() {{}}}};
console.log(codes(() => sardonyx.add('large.onnx', large)));
const model = sardonyx.add('model.onnx', await readFile('{files["model"]}'));
console.log(sardonyx.run(model).nodesAfter > 0);
"""
    assert run_script(folder, script) == ["SX1101", "SX1004", "true"]


def test_a_module_that_ends_is_started_again(folder: Path, files: dict[str, Path]) -> None:
    script = """
const module = new SardonyxModule(wasm);
const trap = {toString() { throw new Error('as if the module had thrown it'); }};
const {status, text} = module.ask('GET', 'state', {trap});
console.log(status, JSON.parse(text).restarted, JSON.parse(text).diagnostics[0].code);
console.log(JSON.parse(module.ask('GET', 'state').text).models.length);
"""
    assert run_script(folder, script) == ["500 true SX1005", "0"]


def test_one_model_after_the_other(folder: Path, files: dict[str, Path]) -> None:
    """What was held of one file is not another's."""
    script = f"""
const sardonyx = await load(wasm);
const bytes = new Uint8Array(await readFile('{files["model"]}'));
const first = sardonyx.add('a.onnx', bytes);
const before = sardonyx.bytes(sardonyx.run(first).model).length;
sardonyx.remove(first);
const second = sardonyx.add('a.onnx', bytes);
console.log(sardonyx.bytes(sardonyx.run(second).model).length === before);
console.log(codes(() => sardonyx.add('a.onnx', bytes.subarray(0, 5000))));
"""
    assert run_script(folder, script) == ["true", "SX1151"]


def test_its_size() -> None:
    assert (BUILD / "sardonyx.wasm").stat().st_size < MAX_BYTES


def test_the_types_of_the_package_name_what_it_has() -> None:
    declared = (PACKAGE / "index.d.ts").read_text()
    script = (PACKAGE / "index.js").read_text()
    for method in ("add", "run", "bytes", "externalData", "page", "comparison", "remove"):
        assert f"  {method}(" in declared
        assert f"  {method}(" in script
    files = json.loads((PACKAGE / "package.json").read_text())["exports"]["."]
    assert all((PACKAGE / each).exists() for each in files.values())
