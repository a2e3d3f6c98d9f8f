"""The server behind the page of `sardonyx serve`, which gave its address in SARDONYX_SERVE."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit


class Page:
    """Requests to the server. They raise OSError once it has ended."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port, self._path = str(parts.hostname), parts.port, parts.path

    def report(self, status: dict[str, Any]) -> None:
        """Shows what the watcher did; watching.js of the page reads it."""
        self._send("POST", "watch", json.dumps(status).encode())

    def add(self, model: Path, *, before: int | None, settings: str) -> int:
        """Puts a model on the page, next to the one before; returns its number."""
        uploads = self._send("POST", "uploads", b"")["uploads"]
        query = {"name": model.name, "settings": settings}
        if before is not None:
            query["from"] = str(before)
        added = self._send("POST", f"uploads/{uploads}?{urlencode(query)}", model.read_bytes())
        return int(added["model"]["id"])

    def remove(self, model: int) -> None:
        self._send("DELETE", f"models/{model}", None)

    def _send(self, method: str, path: str, body: bytes | None) -> Any:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=60)
        try:
            connection.request(method, self._path + path, body)
            answer = connection.getresponse().read()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()
        return json.loads(answer)
