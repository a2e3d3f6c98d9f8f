"""Files of older PyTorch releases say the same as those of the newest."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from torch.export import ExportedProgram

from tests.harness.command import run_command

from .saved import save_as_2_6, save_as_2_8, save_as_2_13, tied_program

OLDER: dict[str, Callable[[ExportedProgram, Path], None]] = {
    "2.8": save_as_2_8,
    "2.8, pickle protocol 4": partial(save_as_2_8, protocol=4),
    "2.6": save_as_2_6,
}


def listing(path: Path) -> list[str]:
    done = run_command("inspect", path)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def converted(path: Path) -> bytes:
    model = path.with_suffix(".onnx")
    done = run_command("convert", path, "-o", model)
    assert done.returncode == 0, done.stderr
    return model.read_bytes()


def test_the_listing_names_everything(tmp_path: Path) -> None:
    save_as_2_13(tied_program(), tmp_path / "tied.pt2")
    text = "\n".join(listing(tmp_path / "tied.pt2"))
    assert "%ids: int64[s" in text
    assert "# parameter turned, strides [1, 4]" in text
    assert "# buffer slice, strides [4, 1], offset 8" in text
    assert "# buffer scratch, not persistent" in text
    assert "# parameter empty, strides [6, 1]\n" in text
    assert "aten::embedding(%p_head_weight, %ids)  # embed (Embedding), saved.py:" in text


@pytest.mark.parametrize("layout", OLDER)
def test_older_layouts_hold_the_same_program(layout: str, tmp_path: Path) -> None:
    program = tied_program()
    save_as_2_13(program, tmp_path / "new.pt2")
    OLDER[layout](program, tmp_path / "old.pt2")
    new, old = listing(tmp_path / "new.pt2"), listing(tmp_path / "old.pt2")
    # Storages are saved once for each view in one layout, once in all in the other.
    assert new[0].split(" weights of ")[0] == old[0].split(" weights of ")[0]
    assert new[1:] == old[1:]


@pytest.mark.parametrize("layout", OLDER)
def test_older_layouts_convert_to_the_same_bytes(layout: str, tmp_path: Path) -> None:
    program = tied_program()
    save_as_2_13(program, tmp_path / "new.pt2")
    OLDER[layout](program, tmp_path / "old.pt2")
    assert converted(tmp_path / "new.pt2") == converted(tmp_path / "old.pt2")


def test_the_listing_as_json(tmp_path: Path) -> None:
    save_as_2_13(tied_program(), tmp_path / "tied.pt2")
    done = run_command("inspect", "--json", tmp_path / "tied.pt2")
    program = json.loads(done.stdout)["program"]
    ids, x = program["inputs"]
    assert ids["name"] == "ids"
    assert ids["dtype"] == "int64"
    assert ids["shape"] == [x["shape"][0], 3]
    assert isinstance(ids["shape"][0], str)
    assert [output["name"] for output in program["outputs"]] == ["logits", "rows", "total"]
    assert {"name": "aten::embedding", "count": 1} in program["operators"]
    assert program["calls"] == sum(entry["count"] for entry in program["operators"])
    assert program["weights"]["count"] == 10


def test_a_program_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "tied.pt2"
    save_as_2_13(tied_program(), path)
    before = path.read_bytes()
    (tmp_path / "link.pt2").symlink_to(path)
    for destination in (path, tmp_path / "link.pt2"):
        done = run_command("convert", path, "-o", destination)
        assert done.returncode == 1
        assert "error[SX1601]: the model would take the place of the program" in done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("option", ["--input=ids:int64[n]", "--dynamic=ids:0"])
def test_an_exported_program_says_itself_what_its_inputs_are(tmp_path: Path, option: str) -> None:
    path = tmp_path / "tied.pt2"
    save_as_2_13(tied_program(), path)
    done = run_command("convert", path, "-o", tmp_path / "out.onnx", option)
    assert done.returncode == 1
    assert (
        "error[SX1122]: an exported program has its inputs and dynamic dimensions already"
        in done.stderr
    )
    assert list(tmp_path.iterdir()) == [path]
