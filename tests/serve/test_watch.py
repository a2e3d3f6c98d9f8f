"""`sardonyx serve --watch`: what is saved is on the page, or its errors are."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.server import Server, serving

SOURCE = """
import os
import time

import torch

from layers import activation


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x):
        return activation(self.linear(x))


def example():
    return Net(), (torch.randn(2, 8),), {"dynamic_shapes": ({0: "batch"},)}
"""
LAYERS = "import torch\n\n\ndef activation(x):\n    return torch.relu(x)\n"


class Watched:
    """A server that watches model.py, which imports layers.py."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder, self.count = server, folder, 0

    def save(self, name: str, text: str) -> Any:
        """The status of the export of what is saved."""
        self.count = self.server.json("GET", "watch")["count"]
        (self.folder / name).write_text(text)
        return self.wait()

    def wait(self, state: str = "done") -> Any:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            answer = self.server.json("GET", "watch")
            status = json.loads(answer["text"] or "{}")
            if answer["count"] > self.count and status.get("state") == state:
                return status
            time.sleep(0.01)
        raise AssertionError("nothing was exported")

    def operators(self, number: int) -> str:
        return self.server.ask("GET", f"models/{number}")[1].decode()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    write(folder)
    with serving(tmp_path_factory.mktemp("tmp"), "--watch", f"{folder}/model.py:example") as server:
        watched = Watched(server, folder)
        assert watched.wait()["ok"]
        yield watched


@pytest.fixture
def watched(running: Watched) -> Iterator[Watched]:
    yield running
    running.save("layers.py", LAYERS + f"# {time.monotonic()}\n")
    running.save("model.py", SOURCE)


def write(folder: Path) -> None:
    (folder / "model.py").write_text(SOURCE)
    (folder / "layers.py").write_text(LAYERS)


def only(status: Any) -> Any:
    assert not status["ok"]
    (found,) = status["diagnostics"]
    return found


def test_a_save_is_shown_beside_the_one_before(watched: Watched) -> None:
    before = watched.save("model.py", SOURCE + "# 1\n")["id"]
    done = watched.save("layers.py", LAYERS.replace("relu", "tanh"))
    assert done["ok"]
    models = watched.server.models()
    assert [each["id"] for each in models] == [before, done["id"]]
    assert models[1]["from"] == before
    assert '"Tanh"' in watched.operators(done["id"])
    assert '"Tanh"' not in watched.operators(before)


def test_errors_have_their_lines(watched: Watched) -> None:
    wrong = watched.save("layers.py", LAYERS.replace("torch.relu", "torch.rellu"))
    found = wrong["diagnostics"][0]
    assert (found["code"], Path(found["file"]).name, found["line"]) == ("SX1003", "layers.py", 5)
    found = only(watched.save("model.py", SOURCE + "\n1 +\n"))
    assert found["code"] == "SX1032"
    assert "SyntaxError" in found["message"]
    assert found["line"] == SOURCE.count("\n") + 2
    found = only(watched.save("model.py", SOURCE + "\nraise KeyError('x')\n"))
    assert (found["message"], found["function"]) == ("KeyError: 'x'", "<module>")


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ("Net()", "returns Net, not a model and its example inputs"),
        ("Net(), (), 3", "the options that model.py:example returns are int"),
        ("os._exit(3)", "the export ended with exit code 3"),
        ("os.abort()", "the export ended with signal 6"),
        ("exit()", "SystemExit"),
    ],
)
def test_what_the_function_returns(watched: Watched, returned: str, says: str) -> None:
    text = SOURCE[: SOURCE.index("    return Net()")] + f"    return {returned}\n"
    found = only(watched.save("model.py", text))
    assert found["code"] == "SX1032"
    assert says in found["message"]


def test_a_function_that_is_gone(watched: Watched) -> None:
    found = only(watched.save("model.py", SOURCE.replace("def example", "def other")))
    assert found["message"] == "model.py has no function example"


def test_an_export_that_is_out_of_date_is_ended(watched: Watched) -> None:
    watched.count = watched.server.json("GET", "watch")["count"]
    endless = SOURCE.replace("def example():", "def example():\n    time.sleep(1000)")
    (watched.folder / "model.py").write_text(endless)
    watched.wait("exporting")
    assert watched.save("model.py", SOURCE + "# 2\n")["ok"]


def test_a_file_that_is_away_for_a_moment(watched: Watched) -> None:
    watched.count = watched.server.json("GET", "watch")["count"]
    (watched.folder / "model.py").unlink()
    other = watched.folder / "model.py.new"
    other.write_text(SOURCE.replace("Linear(8, 4)", "Linear(8, 5)"))
    other.rename(watched.folder / "model.py")
    assert watched.wait()["ok"]


@pytest.mark.parametrize("words", ["model.py", "nothing.py:example", "model.txt:example"])
def test_what_cannot_be_watched(tmp_path: Path, words: str) -> None:
    write(tmp_path)
    with serving(tmp_path, "--watch", f"{tmp_path}/{words}") as server:
        found = only(Watched(server, tmp_path).wait())
        assert found["code"] == "SX1032"


def test_the_watcher_ends_with_the_server(tmp_path: Path) -> None:
    write(tmp_path)
    with serving(tmp_path, "--watch", f"{tmp_path}/model.py:example") as server:
        Watched(server, tmp_path).wait("loading")
        (watcher,) = children(server.process.pid)
        assert server.end()[0] == 0
        assert not Path(f"/proc/{watcher}").exists()
    assert list(tmp_path.glob("sardonyx-*")) == []


def children(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(each) for each in found.split() if int(each) != os.getpid()]
