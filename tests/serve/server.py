"""`sardonyx serve` as a process, and requests to it."""

from __future__ import annotations

import http.client
import json
import math
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tests.harness.command import command_path


def safetensors(shapes: dict[str, list[int]]) -> bytes:
    """A file of float32 zeros."""
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


class Server:
    """A server that runs; what it uploads lies in `scratch`."""

    def __init__(self, scratch: Path, *words: str | Path) -> None:
        self.scratch = scratch
        self.process = subprocess.Popen(
            [str(command_path()), "serve", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(scratch)},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        self.host, self.port = str(parts.hostname), int(parts.port or 0)
        self.token = parts.path.strip("/")

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """The status, the body and the headers of what a path below the token gives."""
        connection = self.connect()
        connection.request(method, f"/{self.token}/{path}", body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def json(self, method: str, path: str, body: bytes | None = None) -> Any:
        return json.loads(self.ask(method, path, body)[1])

    def models(self) -> list[Any]:
        return list(self.json("GET", "state")["models"])

    def new_uploads(self) -> str:
        return str(self.json("POST", "uploads", b"")["uploads"])

    def upload(self, path: Path, name: str | None = None, uploads: str | None = None) -> Any:
        group = uploads or self.new_uploads()
        return self.json(
            "POST",
            f"uploads/{group}?name={quote(path.name if name is None else name)}",
            path.read_bytes(),
        )

    def run(self, model: int, **options: str) -> Any:
        return self.json("POST", f"models/{model}/run?{urlencode(options)}", b"")

    def files(self) -> list[str]:
        """What there is in the server's folder."""
        return sorted(each.name for each in self.scratch.glob("sardonyx-*/**/*") if each.is_file())

    def end(self, by: int = signal.SIGINT) -> tuple[int, str]:
        """The exit code, and what it wrote to standard error."""
        self.process.send_signal(by)
        errors = self.process.communicate(timeout=30)[1]
        return self.process.returncode, errors


@contextmanager
def serving(scratch: Path, *words: str | Path) -> Iterator[Server]:
    server = Server(scratch, *words)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()
