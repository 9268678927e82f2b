"""The page in a real browser: drawn, silent, self-contained, readable in every light."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from report_page import CONTRAST, DARK, WINDOWS, Opened

from loadstone.report.html import write_html
from loadstone.report.model.document import ReportDocument

pytestmark = pytest.mark.xdist_group("pages")
"""One browser serves them."""


@pytest.fixture(scope="module")
def page_file(ladder_document: ReportDocument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(ladder_document, path)
    return path


@pytest.fixture(scope="module", params=WINDOWS)
def opened(
    request: pytest.FixtureRequest, windows: dict[str, Opened], page_file: Path
) -> Iterator[Opened]:
    """The page, for tests that look at it and change nothing."""
    window = windows[request.param]
    window.show(page_file)
    yield window
    if request.config.getoption("--long"):  # for people to look at
        window.page.screenshot(path=page_file.with_name(f"{request.param}.png"), full_page=True)


def test_page_is_silent_and_asks_for_nothing(opened: Opened, page_file: Path) -> None:
    assert opened.said == []
    assert opened.asked == [page_file.as_uri()]


def test_every_chart_is_drawn_in_the_width_there_is(opened: Opened) -> None:
    page = opened.page
    charts = page.locator("[role=img]")
    assert charts.count() > 10
    for chart in charts.all():
        box = chart.bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["height"] >= 44
        assert chart.get_attribute("aria-label")
    drawn = page.evaluate(
        "[...document.querySelectorAll('.chart svg')].map(s => s.querySelectorAll('path').length)"
    )
    assert drawn
    assert min(drawn) > 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_headline_verdicts_and_marks_are_there(
    opened: Opened, ladder_document: ReportDocument
) -> None:
    text = opened.page.inner_text("main")
    assert ladder_document.headline in text
    for expected in ("▲ better", "= no detectable change", "unsafe", "several changes", "Notices"):
        assert expected in text
    for notice in ladder_document.notices:
        assert notice.message in text
    headings = opened.page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])"
    )
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))


def test_text_is_readable_on_its_background(opened: Opened) -> None:
    """Contrast of at least 4.5 : 1 (WCAG 2.2, 1.4.3) for every element with text of its own."""
    assert opened.page.evaluate(CONTRAST) == []


def test_another_trial_is_shown_by_keyboard(windows: dict[str, Opened], page_file: Path) -> None:
    opened = windows["light"]
    opened.show(page_file)
    page = opened.page
    page.focus("#trial")
    before = page.inner_text("#trials ~ p strong")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(
        "name => document.querySelector('#trials ~ p strong').textContent !== name", arg=before
    )
    page.get_by_role("button", name="earlier").press("Enter")
    assert opened.said == []


def test_failed_trial_says_what_is_missing(windows: dict[str, Opened], page_file: Path) -> None:
    windows["light"].show(page_file)
    page = windows["light"].page
    failed = page.locator("#trial option", has_text="(invalid)").first.get_attribute("value")
    assert failed is not None
    page.select_option("#trial", failed)
    page.get_by_text("✗ 1 of 13 failed").wait_for()
    assert "not in figures and verdicts" in page.inner_text("main")


def test_command_is_copied(
    browser: Browser, page_file: Path, ladder_document: ReportDocument
) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = Opened(context, page_file).page
    page.get_by_role("button", name="Copy the command").click()
    page.get_by_role("status").get_by_text("copied").or_(
        page.get_by_text("press Ctrl+C")
    ).wait_for()
    shown = page.inner_text("pre code")
    assert shown == ladder_document.command
    context.close()


def test_paper_is_light_and_charts_fit_it(
    browser: Browser, page_file: Path, tmp_path: Path
) -> None:
    context = browser.new_context(**DARK)
    opened = Opened(context, page_file)
    page = opened.page
    page.emulate_media(media="print")
    page.wait_for_function(
        "[...document.querySelectorAll('.chart svg')]"
        ".every(svg => svg.getBoundingClientRect().width <= 661)"
    )
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#trial").is_visible()
    pdf = page.pdf(format="A4", path=tmp_path / "report.pdf")
    assert pdf.startswith(b"%PDF")
    assert opened.said == []
    context.close()


def test_document_cannot_run_script(
    windows: dict[str, Opened], ladder_document: ReportDocument, tmp_path: Path
) -> None:
    evil = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    renamed: Any = [v.model_copy(update={"because": evil}) for v in ladder_document.variants]
    document = ladder_document.model_copy(update={"title": evil, "variants": renamed})
    write_html(document, tmp_path / "report.html")
    windows["light"].show(tmp_path / "report.html")
    page = windows["light"].page
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == evil
