"""A person who uses the recorded application in a real browser, which keeps a HAR of it."""

from __future__ import annotations

import json
import os
import shutil
import time
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
PAUSE_S = 6.0
"""What is put between two doings, so that no test has to wait."""


def chromium() -> str:
    """Path of the system's Chromium; skips where it is missing, never in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is missing")
        pytest.skip("chromium is missing: apt-get install chromium")
    return found


def record(url: str, user: str, password: str, folder: Path) -> dict[str, Any]:
    """Logs in, opens an item, saves a note, filters, logs out.

    Returns:
        The recording, with pauses between these.
    """
    path = folder / "raw.har"
    doings: list[float] = []
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        context: BrowserContext = browser.new_context(
            record_har_path=path, record_har_content="embed"
        )
        page: Page = context.new_page()

        def doing() -> None:
            page.wait_for_load_state("networkidle")
            doings.append(time.time())

        page.goto(f"{url}/")
        page.fill("[name=username]", user)
        page.fill("[name=password]", password)
        page.click("text=Log in >> nth=-1")
        page.wait_for_selector("#items a")
        doing()
        page.click("#items a >> nth=2")
        page.wait_for_selector("#save")
        doing()
        page.fill("[name=note]", "looked at")
        page.click("#save")
        page.wait_for_url("**saved=1")
        doing()
        page.click("#filter")
        page.wait_for_function("document.getElementById('rows').textContent === '3 rows'")
        doing()
        page.click("text=All items")
        page.wait_for_selector("#items a")
        doing()
        page.click("#leave")
        page.wait_for_selector("[name=password]")
        context.close()
        browser.close()
    recording: dict[str, Any] = json.loads(path.read_text())
    return _with_pauses(recording, doings)


def _with_pauses(recording: dict[str, Any], doings: list[float]) -> dict[str, Any]:
    """The same with a pause behind each doing."""
    for entry in recording["log"]["entries"]:
        began = datetime.fromisoformat(entry["startedDateTime"])
        pauses = sum(began.timestamp() > each for each in doings)
        entry["startedDateTime"] = (began + timedelta(seconds=pauses * PAUSE_S)).isoformat()
    return recording


def sanitized(recording: dict[str, Any]) -> dict[str, Any]:
    """The same as Chrome exports it since version 130: without cookies and credentials."""
    clean = deepcopy(recording)
    for entry in clean["log"]["entries"]:
        for part in (entry["request"], entry["response"]):
            part["cookies"] = []
            part["headers"] = [
                each
                for each in part["headers"]
                if each["name"].lower() not in ("cookie", "set-cookie", "authorization")
            ]
    return clean
