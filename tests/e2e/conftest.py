"""Runs the commands of Loadstone as a user does, and looks at what they leave behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from report_page import ARGUMENTS, WINDOWS, Opened
from session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A user who starts in an empty folder."""
    with Session(tmp_path) as user:
        yield user


@pytest.fixture
def own(session: Session) -> Iterator[Session]:
    """The same, who leaves nothing."""
    yield session
    session.assert_nothing_left()


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the system's Chromium; skips by name where it is missing, never in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is missing")
        pytest.skip("chromium is missing: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """The system's Chromium, for pages of reports."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def windows(browser: Browser) -> dict[str, Opened]:
    """A window of each kind, without a network."""
    return {
        name: Opened(browser.new_context(**options, offline=True))
        for name, options in WINDOWS.items()
    }
