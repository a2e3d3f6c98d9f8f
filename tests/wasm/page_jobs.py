"""Runs jobs on the page without a server, in headless Chromium, as a person would."""

from __future__ import annotations

import re
import time
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.viewer.browser.driving import ARGUMENTS, CHROMIUM
from tests.wasm.module import BUILD
from tests.wasm.serving import serving

READY = 60_000  # milliseconds


def run_jobs_on_page(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each job of `run_jobs`, its seconds, or the diagnostics that the page shows."""
    with serving(BUILD / "page") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_selector("#runtime option >> nth=1", state="attached", timeout=READY)
            return [_run(page, job) for job in jobs]
        finally:
            browser.close()


def _run(page: Page, job: dict[str, Any]) -> dict[str, Any]:
    begun = time.monotonic()
    page.set_input_files("#files", job["path"])
    if message := _outcome(page, "#go"):
        return {"diagnostics": [{"message": message}]}
    for name in ("runtime", "precision"):
        page.select_option(f"#{name}", job["options"].get(name, ""))
    page.click("#go")
    message = _outcome(page, "#status >> text=nodes")
    if not message:
        with page.expect_download(timeout=READY) as download:
            page.click("#downloads >> text=Download")
        download.value.save_as(job["output"])
    for last in reversed(range(page.locator("#models li").count())):
        page.locator("[aria-label^='Remove']").first.click()
        page.locator("#models li").nth(last).wait_for(state="detached")
    seconds = time.monotonic() - begun
    return {"diagnostics": [{"message": message}]} if message else {"elapsed": seconds}


def _outcome(page: Page, success: str) -> str:
    """Waits for what is seen after success; otherwise the message of the first error."""
    error = page.locator("#diagnostics .diagnostic:not(.note) p")
    page.locator(success).or_(error).first.wait_for(timeout=READY)
    if not error.count():
        return ""
    return re.sub(r"^error(\[\w+\])? ", "", error.first.inner_text())
