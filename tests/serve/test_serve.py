"""`sardonyx serve`: what it does with models, and whom it refuses."""

from __future__ import annotations

import contextlib
import signal
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.harness.command import run_command
from tests.serve.server import Server, safetensors, serving
from tests.viewer.models import transformer

TINY = Path(__file__).parents[1] / "fuzz" / "corpus"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.onnx"
    onnx.save(transformer(100), path)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "small.pt2"
    path.write_bytes((TINY / "pt2" / "small").read_bytes())
    return path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, "--max-upload", "1") as running:
        yield running


def codes(answer: Any) -> list[str]:
    assert answer["ok"] is False
    return [each["code"] for each in answer["diagnostics"]]


# --- what it does


def test_it_optimizes_as_the_command_does(server: Server, model: Path, tmp_path: Path) -> None:
    uploaded = server.upload(model)["model"]
    assert (uploaded["name"], uploaded["kind"]) == ("model.onnx", "model")
    done = server.run(uploaded["id"], runtime="onnxruntime-cpu", precision="int8", opset="21")
    made = done["model"]
    assert made["name"] == "model-optimized.onnx"
    assert made["settings"] == "onnxruntime-cpu, opset 21, int8"
    assert made["from"] == uploaded["id"]
    assert done["nodesBefore"] == len(onnx.load(model).graph.node)
    words = ("--runtime", "onnxruntime-cpu", "--precision", "int8", "--opset", "21")
    by_command = tmp_path / "by-command.onnx"
    assert run_command("optimize", model, "-o", by_command, *words).returncode == 0
    status, body, headers = server.ask("GET", f"models/{made['id']}/file")
    assert (status, body) == (200, by_command.read_bytes())
    assert headers["Content-Disposition"].endswith("UTF-8''model-optimized.onnx")
    page = server.ask("GET", f"compare/{uploaded['id']}/{made['id']}")[1].decode()
    assert '"alignment":' in page


def test_it_converts_as_the_command_does(server: Server, program: Path, tmp_path: Path) -> None:
    uploaded = server.upload(program)["model"]
    assert uploaded["kind"] == "program"
    page = server.ask("GET", f"models/{uploaded['id']}")[1].decode()
    assert "<pre" in page
    assert "<script" not in page
    done = server.run(uploaded["id"])
    assert done["nodesBefore"] is None
    by_command = tmp_path / "by-command.onnx"
    assert run_command("convert", program, "-o", by_command).returncode == 0
    body = server.ask("GET", f"models/{done['model']['id']}/file")[1]
    assert body == by_command.read_bytes()


def test_torchscript_asks_for_its_inputs(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "script.pt"
    path.write_bytes((TINY / "torchscript" / "language").read_bytes())
    uploaded = server.upload(path)["model"]
    assert codes(server.run(uploaded["id"])) == ["SX1122"]
    assert server.run(uploaded["id"], input="x:float32[n,3]")["ok"]


def test_a_file_that_is_named_stays_where_it_is(tmp_path: Path, model: Path) -> None:
    before = model.read_bytes()
    with serving(tmp_path, model) as server:
        (each,) = server.models()
        assert server.files() == []
        assert server.run(each["id"])["ok"]
        assert server.json("DELETE", f"models/{each['id']}")["ok"]
        assert server.end()[0] == 0
    assert model.read_bytes() == before


def test_external_data_comes_first(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "apart" / "large.onnx"
    path.parent.mkdir()
    onnx.save(transformer(20), path, save_as_external_data=True, location="large.data",
              size_threshold=0)  # fmt: skip
    assert codes(server.upload(path)) == ["SX1155"]
    group = server.new_uploads()
    data = (path.parent / "large.data").read_bytes()
    assert server.json("POST", f"uploads/{group}?name=large.data&data=1", data) == {"ok": True}
    uploaded = server.upload(path, uploads=group)["model"]
    made = server.run(uploaded["id"])["model"]
    assert made["data"]
    status, body, _ = server.ask("GET", f"models/{made['id']}/data")
    assert (status, len(body) > 0) == (200, True)


def test_weights_are_shown(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(safetensors({"layer.<b>": [2, 3]}))
    uploaded = server.upload(path)["model"]
    assert uploaded["kind"] == "weights"
    page = server.ask("GET", f"models/{uploaded['id']}")[1].decode()
    assert "1 tensors, 24 bytes" in page
    assert "layer.&lt;b>  float32[2, 3]  24 bytes" in page
    assert codes(server.run(uploaded["id"])) == ["SX1031"]
    path.write_bytes(path.read_bytes()[:-1])
    assert codes(server.upload(path)) == ["SX2005"]


def test_settings_that_cannot_be(server: Server, model: Path) -> None:
    number = server.upload(model)["model"]["id"]
    assert codes(server.run(number, opset="99")) == ["SX1002"]
    assert codes(server.run(number, opset="x")) == ["SX1001"]
    assert codes(server.run(number, runtime="abacus")) == ["SX1010"]
    assert codes(server.run(number, precision="int1")) == ["SX1810"]
    assert codes(server.run(number, fixed="batch")) == ["SX1001"]
    assert codes(server.run(number, fixed="batch=1,batch=2")) == ["SX1001"]
    assert codes(server.run(number, fixed="nothing=1")) == ["SX1019"]
    assert server.run(number, fixed=" batch = 2 ")["ok"]
    assert server.ask("POST", "models/99/run", b"")[0] == 404


# --- files that are none


def test_files_that_are_no_models(server: Server, tmp_path: Path) -> None:
    text = tmp_path / "readme.txt"
    text.write_text("this is no model")
    assert codes(server.upload(text)) == ["SX1151"]
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(b"")
    assert codes(server.upload(empty)) == ["SX1151"]
    damaged = tmp_path / "damaged.pt2"
    damaged.write_bytes(b"PK\3\4" + b"\0" * 100)
    uploaded = server.upload(damaged)["model"]
    assert codes(server.run(uploaded["id"])) == ["SX1102"]
    status, body, _ = server.ask("GET", f"models/{uploaded['id']}")
    assert (status, b"SX1102" in body) == (422, True)
    assert [each["name"] for each in server.models()] == ["damaged.pt2"]
    assert server.files() == ["damaged.pt2"]


@pytest.mark.parametrize(
    "name", ["../x.onnx", "a/b.onnx", "..", ".x", "", "a\nb", "a\\b", "x" * 300]
)
def test_names_that_lead_elsewhere(server: Server, model: Path, name: str) -> None:
    assert codes(server.upload(model, name)) == ["SX1031"]
    assert server.files() == []


def test_one_name_twice(server: Server, model: Path) -> None:
    group = server.new_uploads()
    assert server.upload(model, uploads=group)["ok"]
    assert codes(server.upload(model, uploads=group)) == ["SX1031"]
    assert server.upload(model)["ok"]  # in another folder


def test_uploads_that_are_too_large(server: Server) -> None:
    group = server.new_uploads()
    path = f"/{server.token}/uploads/{group}?name=large.onnx"
    declared = server.connect()
    declared.putrequest("POST", path)
    declared.putheader("Content-Length", "1000000000000")
    declared.endheaders()
    answer = declared.getresponse()
    assert (answer.status, b"SX1031" in answer.read()) == (413, True)
    # In pieces, whose number nobody declares.
    pieces = server.connect()
    try:
        pieces.request("POST", path, iter([b"x" * 100_000] * 50), encode_chunked=True,
                       headers={"Transfer-Encoding": "chunked"})  # fmt: skip
        assert pieces.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server does not read the rest
    assert server.files() == []
    assert server.models() == []


def test_a_tab_that_is_closed_while_it_sends(server: Server, model: Path) -> None:
    group = server.new_uploads()
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(
            f"POST /{server.token}/uploads/{group}?name=half.onnx HTTP/1.1\r\n"
            f"Host: {server.host}:{server.port}\r\nContent-Length: 500000\r\n\r\n".encode()
            + b"x" * 1000
        )
        wait_for(lambda: server.files() == [".half.onnx"])
    wait_for(lambda: server.files() == [])
    assert server.upload(model)["ok"]


def test_a_tab_that_is_closed_while_it_waits(server: Server, model: Path) -> None:
    number = server.upload(model)["model"]["id"]
    for path in (f"models/{number}/run", f"models/{number}"):
        connection = server.connect()
        connection.request("POST" if path.endswith("run") else "GET", f"/{server.token}/{path}")
        connection.close()
    wait_for(lambda: len(server.models()) == 2)  # it was made all the same
    assert server.process.poll() is None


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- who may use it


def raw(server: Server, path: str, host: str | None, method: str = "GET", **headers: str) -> int:
    connection = server.connect()
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse().status


def test_without_the_token(server: Server) -> None:
    host = f"{server.host}:{server.port}"
    for path in (
        "/",
        "/state",
        "/favicon.ico",
        "/" + "0" * 32 + "/",
        "//",
        f"/{server.token[:-1]}/",
    ):
        assert raw(server, path, host) == 403
    assert raw(server, f"/{server.token}/", host) == 200
    assert raw(server, "/" + "0" * 32 + "/uploads", host, "POST") == 403
    assert len(server.token) == 32


def test_other_hosts(server: Server) -> None:
    path = f"/{server.token}/state"
    for host in (
        "attacker.example",
        f"attacker.example:{server.port}",
        "127.0.0.1.example",
        "",
        None,
    ):
        assert raw(server, path, host) in (400, 403)
    for host in (f"localhost:{server.port}", "127.0.0.1:8000", "[::1]:8000"):
        assert raw(server, path, host) == 200


def test_other_pages(server: Server) -> None:
    host = f"{server.host}:{server.port}"
    path = f"/{server.token}/uploads"
    for origin in ("http://attacker.example", "null", f"https://{host}"):
        assert raw(server, path, host, "POST", Origin=origin) == 403
    assert raw(server, path, host, "POST", Origin=f"http://{host}") == 200
    _, _, headers = server.ask("GET", "")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers


def test_addresses_that_lead_nowhere(server: Server) -> None:
    for path in ("nothing", "models/1", "models/x", "models/1/../../etc/passwd", "compare/1/2",
                 "models/99999999999999999999"):  # fmt: skip
        assert server.ask("GET", path)[0] == 404
    assert server.ask("GET", "x" * 5000)[0] == 414
    assert server.ask("DELETE", "models/7")[0] == 404
    assert server.ask("PUT", "state")[0] in (403, 404)
    assert server.process.poll() is None


@pytest.mark.parametrize(
    "request_",
    [
        b"\0\xff" * 2000,
        b"GET /{path}/state HTTP/1.1\r\n" + b"A: b\r\n" * 3000 + b"\r\n",
        b"GET /{path}/" + b"%ff%00" * 50 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /{path}/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        (
            b"POST /{path}/uploads/1?name=a%00%2f.onnx HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"
        ),
        b"GET /{path}/models/1/file HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=9-2,0-\r\n\r\n",
    ],
    ids=["bytes", "headers", "path", "length", "chunks", "range"],
)
def test_requests_that_are_none(server: Server, model: Path, request_: bytes) -> None:
    server.upload(model)
    with socket.create_connection((server.host, server.port), timeout=10) as connection:
        connection.sendall(request_.replace(b"{path}", server.token.encode()))
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(100_000):
                pass
    assert [each["name"] for each in server.models()] == ["model.onnx"]


def test_it_listens_on_the_loopback_alone(server: Server) -> None:
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    port = f"{server.port:04X}"
    places = {each[1] for each in listening if each[1].endswith(":" + port) and each[3] == "0A"}
    assert places == {f"0100007F:{port}"}


def test_another_host_is_warned_of(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        server.host = "127.0.0.1"
        assert server.json("GET", "state")["ok"]
        code, errors = server.end()
    assert code == 0
    assert "warning: 0.0.0.0 can be reached from other machines" in errors


# --- its beginning and its end


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_folder_goes_at_the_end(server: Server, model: Path, by: int) -> None:
    server.upload(model)
    (folder,) = server.scratch.glob("sardonyx-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert server.end(by)[0] == 0
    assert list(server.scratch.glob("sardonyx-*")) == []


def test_a_second_ctrl_c_does_not_wait(server: Server) -> None:
    group = server.new_uploads()
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(
            f"POST /{server.token}/uploads/{group}?name=half.onnx HTTP/1.1\r\n"
            f"Host: {server.host}:{server.port}\r\nContent-Length: 500000\r\n\r\nx".encode()
        )
        wait_for(lambda: server.files() == [".half.onnx"])
        server.process.send_signal(signal.SIGINT)
        wait_for(lambda: not answers(server))
        assert server.process.poll() is None  # the upload may yet end
        assert server.end()[0] == 128 + signal.SIGINT
    assert list(server.scratch.glob("sardonyx-*")) == []


def answers(server: Server) -> bool:
    try:
        socket.create_connection((server.host, server.port)).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_port_that_is_taken(server: Server, tmp_path: Path) -> None:
    done = run_command("serve", "--port", str(server.port))
    assert done.returncode == 1
    assert "error[SX1030]" in done.stderr


def test_models_that_cannot_be_read(tmp_path: Path) -> None:
    done = run_command("serve", tmp_path / "missing.onnx")
    assert done.returncode == 1
    assert "error[SX1101]" in done.stderr


def test_texts_of_a_program_stay_text(server: Server, tmp_path: Path, model: Path) -> None:
    name = "<img src=x onerror=alert(1)>.onnx"
    number = server.upload(model, name)["model"]["id"]
    page = server.ask("GET", f"models/{number}")[1].decode()
    assert "<img" not in page
    assert page.count("</script>") == 2
