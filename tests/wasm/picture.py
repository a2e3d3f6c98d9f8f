"""The picture of the page without a server in docs/viewer.md: `make page-screenshot` calls it.

A small BERT, as torch.export saves it, is added to the page of `make wasm` and converted in the
browser, as a person would do it.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import torch
import transformers
from playwright.sync_api import sync_playwright

from tests.viewer.browser.driving import ARGUMENTS, CHROMIUM
from tests.wasm.module import BUILD
from tests.wasm.serving import serving

PICTURE = Path(__file__).parents[2] / "docs" / "screenshots" / "page.png"
READY = 60_000  # milliseconds


def save_program(path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128,
        vocab_size=500,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).eval()
    batch, tokens = torch.export.Dim("batch"), torch.export.Dim("tokens", max=512)
    shapes = {"input_ids": {0: batch, 1: tokens}}
    inputs = {"input_ids": torch.randint(0, 500, (2, 16))}
    torch.export.save(torch.export.export(model, (), inputs, dynamic_shapes=shapes), path)


def take_picture(program: Path, picture: Path) -> None:
    with serving(BUILD / "page") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        page.wait_for_selector("#runtime option >> nth=1", state="attached", timeout=READY)
        page.set_input_files("#files", program)
        page.wait_for_selector("#go >> text=Convert", timeout=READY)
        page.select_option("#runtime", "onnxruntime-cpu")
        page.select_option("#precision", "int8")
        page.click("#go")
        page.wait_for_selector("#status >> text=nodes", timeout=READY)
        frame = page.frame_locator("#viewer")
        frame.locator("html[data-ready]").wait_for(state="attached", timeout=READY)
        page.wait_for_timeout(1000)  # boxes move to their places
        page.screenshot(path=picture)
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, picture = Path(folder) / "bert.pt2", Path(folder) / "page.png"
        save_program(program)
        take_picture(program, picture)
        words = ["pngquant", "64", "--force", "--output", PICTURE, picture]
        subprocess.run(words, check=True)
    print(PICTURE)


if __name__ == "__main__":
    main()
