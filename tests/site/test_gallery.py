"""The gallery: each model computes what PyTorch does, and its page has all that it links to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import onnxruntime
import pytest
import torch
from tools import draw_gallery

from tests.harness.command import command_path
from tests.models.gallery import GALLERY, Entry

NAMED = {entry.name: entry for entry in GALLERY}


def test_a_page_is_drawn(tmp_path: Path) -> None:
    before, after = draw_gallery.draw(NAMED["residual-network"], str(command_path()), tmp_path)
    assert before > after
    text = (tmp_path / "residual-network.md").read_text(encoding="utf-8")
    assert f"{before} nodes as translated, {after} after" in text
    assert "class Residual(nn.Module):" in text
    assert "class ResidualNetwork(nn.Module):" in text
    assert "class Attention" not in text
    links = re.findall(r"\]\((residual-network/[^)]+)\)", text)
    assert sorted(links) == [
        f"residual-network/{each}.html" for each in ("after", "before", "both")
    ]
    for link in links:
        page = (tmp_path / link).read_text(encoding="utf-8")
        assert 'id="model"' in page
        assert str(draw_gallery.ROOT) not in page  # no folders of this machine
    # The site puts NAME.md into the folder NAME, where the frame looks for its page.
    assert re.findall(r'<iframe src="([^"]+)"', text) == ["both.html"]


@pytest.mark.parametrize("entry", GALLERY, ids=NAMED)
def test_a_model_computes_what_pytorch_does(entry: Entry, tmp_path: Path) -> None:
    model = entry.build()
    for path in draw_gallery.export(entry, str(command_path()), tmp_path):
        session = onnxruntime.InferenceSession(path)
        for size in (1, 3):
            torch.manual_seed(size)
            args = entry.inputs(size)
            names = [each.name for each in session.get_inputs()]
            feeds = dict(zip(names, (each.numpy() for each in flat(args)), strict=True))
            with torch.no_grad():
                expected = flat(model(*args))
            for value, other in zip(session.run(None, feeds), expected, strict=True):
                torch.testing.assert_close(
                    torch.from_numpy(value), other, rtol=1e-3, atol=1e-4, check_dtype=True
                )


def test_what_was_drawn_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def draw_into(command: str, parent: Path) -> Path:
        drawn.append(command)
        folder = parent / "new"
        folder.mkdir(parents=True)
        (folder / "table.md").write_text("| the table |\n")
        return folder

    monkeypatch.setattr(draw_gallery, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(draw_gallery, "draw_into", draw_into)
    command = tmp_path / "command"
    for content, times in ((b"1", 1), (b"1", 1), (b"2", 2)):
        command.write_bytes(content)
        monkeypatch.setattr("sys.argv", ["", str(command), str(tmp_path / "pages")])
        assert draw_gallery.main() == 0
        assert len(drawn) == times
        assert (tmp_path / "pages" / "index.md").read_text().endswith("| the table |\n")
    assert len(list((tmp_path / "cache").iterdir())) == 1


def flat(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [each for part in tree for each in flat(part)]
