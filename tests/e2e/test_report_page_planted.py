"""Pages of planted documents in a real browser: each kind of experiment shows what it found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sample_documents
import sample_graduated
import sample_report_jobs
from playwright.sync_api import Locator
from report_page import CONTRAST, WINDOWS, Opened

from loadstone.report.html import write_html
from loadstone.report.model.document import ReportDocument

EXECUTION = "Execution time of stations, operators, attendants over time"
OUTAGE = "outage: paused"
TIMES = "\u00d7"
PLANTED = {
    "search": sample_documents.searched,
    "scale": sample_documents.scaled,
    "scale without a fit": sample_documents.unfitted,
    "held": sample_documents.held,
    "archive": sample_documents.archived,
    "baseline": sample_documents.predicted,
    "requests": sample_documents.requested,
    "graduated": sample_graduated.graduated,
    "jobs": sample_report_jobs.clustered,
}

pytestmark = pytest.mark.xdist_group("pages")
"""One browser serves them."""


@pytest.fixture(scope="module")
def planted(
    request: pytest.FixtureRequest,
    windows: dict[str, Opened],
    ladder_document: ReportDocument,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Opened]:
    """A page of a planted document, for all its tests: parameters are which, and the window."""
    name, window = request.param
    folder = tmp_path_factory.mktemp("page")
    write_html(PLANTED[name](ladder_document), folder / "report.html")
    windows[window].show(folder / "report.html")
    yield windows[window]
    if request.config.getoption("--long"):  # for people to look at
        windows[window].page.screenshot(path=folder / "page.png", full_page=True)


@pytest.mark.parametrize(
    "planted", [(name, window) for name in PLANTED for window in WINDOWS], indirect=True
)
def test_planted_documents_are_drawn_readably_in_every_window(planted: Opened) -> None:
    assert planted.said == []
    assert planted.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert planted.page.evaluate(CONTRAST) == []
    drawn = planted.page.evaluate(
        "[...document.querySelectorAll('.chart svg')].map(s => s.querySelectorAll('path').length)"
    )
    assert min(drawn) > 3


@pytest.mark.parametrize("planted", [("search", "light")], indirect=True)
def test_search_shows_levels_what_failed_and_the_trial_of_each(planted: Opened) -> None:
    page = planted.page
    section = page.locator("section", has=page.locator("#search"))
    assert "p99 < 1000 ms, loss = 0" in section.inner_text()
    assert "142,000" in section.locator(".chart").inner_text()
    rows = section.locator("tbody tr")
    assert rows.count() == 25
    failed = rows.filter(has_text="✗ 160,000").first.inner_text()
    assert "p99 < 1000 ms: was 1740 ms (from 31\u00a0s on)" in failed
    assert rows.filter(has_text="does not count").count() == 1
    assert rows.filter(has_text="confirmation at 105 %").filter(has_text="✗ 149,100").count() == 3
    assert page.locator("#variants").count() == 0, "levels are no variants to be compared"
    link = rows.nth(20).get_by_role("link")
    name = link.inner_text()
    assert page.inner_text("#trials ~ p strong") != name
    link.click()
    page.wait_for_function(
        "name => document.querySelector('#trials ~ p strong').textContent === name", arg=name
    )
    assert planted.said == []


@pytest.mark.parametrize("planted", [("scale", "light")], indirect=True)
def test_scale_shows_law_peak_and_residuals(planted: Opened) -> None:
    section = planted.page.locator("section", has=planted.page.locator("#scale"))
    charts = section.locator(".chart")
    assert charts.count() == 2
    assert "peak at 15.3 users" in charts.first.inner_text()
    table = section.get_by_role("region", name="Table of the fit").inner_text()
    assert "13.6 to 17.4" in table
    assert section.get_by_role("region", name="Table of points").locator("tbody tr").count() == 7


@pytest.mark.parametrize("planted", [("scale without a fit", "light")], indirect=True)
def test_scale_without_a_fit_says_why(planted: Opened) -> None:
    section = planted.page.locator("section", has=planted.page.locator("#scale"))
    assert section.locator(".chart").count() == 1
    assert "No law is fitted: 2 points are too few for the law" in section.inner_text()


@pytest.mark.parametrize("planted", [("held", "light")], indirect=True)
def test_what_was_held_has_a_row_and_a_graph_for_each_configuration(planted: Opened) -> None:
    section = planted.page.locator("section", has=planted.page.locator("#held"))
    rows = section.get_by_role("region", name="What each configuration held").locator("tbody tr")
    assert rows.count() == 2
    cost = planted.page.locator("section", has=planted.page.locator("#power"))
    dense = cost.get_by_role("region", name="Cost, power and height")
    assert dense.locator("tbody tr").count() == 1
    assert "stated: two nodes" in dense.inner_text()
    assert "stated by the owner, not measured" in cost.inner_text()
    parts = section.get_by_role("region", name="Parts of each configuration").inner_text()
    assert "98.0 %" in parts.replace("\u202f", " ")
    assert section.locator(".chart").count() == 2
    assert section.get_by_role("region", name="Response by transaction").is_visible()


@pytest.mark.parametrize("planted", [("held", "light")], indirect=True)
def test_published_growth_stands_beside_a_curve(planted: Opened) -> None:
    section = planted.page.locator("section", has=planted.page.locator("#scale"))
    assert section.locator(".chart").count() == 2
    assert "published: dashboard users elsewhere" in section.locator(".chart").nth(1).inner_text()


@pytest.mark.parametrize("planted", [("graduated", "light")], indirect=True)
def test_load_power_graph_goes_from_idle_at_the_bottom_to_the_whole_load(planted: Opened) -> None:
    page = planted.page
    section = page.locator("section", has=page.locator("#graduated"))
    graphs = section.get_by_role("img", name="Load-power graph")
    assert graphs.count() == 2
    texts = graphs.first.locator("text")
    idle, whole = (texts.get_by_text(name, exact=True) for name in ("active idle", "100 %"))
    low, high = idle.bounding_box(), whole.bounding_box()
    assert low is not None
    assert high is not None
    assert low["y"] > high["y"]
    assert texts.get_by_text("1,141", exact=True).count() == 1, "the bar of 100 %"
    marked = graphs.nth(1).locator("text").all_text_contents()
    assert {"W (simulated)", "operations/s per watt (simulated)"} <= set(marked)
    times = section.get_by_role("img", name="Response time by load")
    assert times.count() == 2
    assert times.first.locator("text").get_by_text("no steady state").count() == 1
    levels = section.get_by_role("region", name="Levels of").first
    rows = levels.locator("tbody tr")
    assert rows.count() == 11
    assert rows.first.inner_text().count("*") == 3, "percentiles at 100 % are marked"
    assert "*" not in rows.nth(1).inner_text()
    assert "*" not in rows.last.inner_text()
    assert planted.said == []


@pytest.mark.parametrize("planted", [("jobs", "light")], indirect=True)
def test_jobs_have_relative_throughput_by_load_and_a_chart_over_nodes(planted: Opened) -> None:
    page = planted.page
    section = page.locator("section", has=page.locator("#jobs"))
    curves = section.get_by_role("img", name="Relative throughput per job by load")
    shown = curves.locator("text").all_text_contents()
    assert {"flow, compact (1x2)", "flow, distributed (2x1)"} <= set(shown)
    rows = section.get_by_role("region", name="Relative throughput per job").locator("tbody tr")
    assert rows.count() == 3
    assert "1.28 to 1.36" in rows.first.inner_text()
    last = rows.last.locator("td")
    assert [last.nth(at).inner_text().strip() for at in range(2)] == ["2", "2"]
    assert last.nth(3).inner_text().strip() == "none", "a load that was not reached"
    assert "4 asked, 2 ran at a time (reason: Resources)" in section.inner_text()
    took = section.get_by_role("region", name="What a job took")
    assert took.locator("tbody tr").count() == 6
    over_nodes = page.get_by_role("img", name="jobs over 4 slots")
    texts = over_nodes.locator("text").all_text_contents()
    assert {"n1, slot 1", "n2, slot 2", "flow", "pstm", "gate opens"} <= set(texts)
    jobs = page.get_by_role("region", name="Jobs of the trial")
    assert jobs.locator("tbody tr").count() == 3
    assert "exit code 3" in jobs.inner_text()
    assert "pstm-9: held (JobHeldUser)" in page.inner_text("main")
    links = page.get_by_role("img", name="by each node over its link")
    assert links.count() == 2
    assert planted.said == []


@pytest.mark.parametrize("planted", [("graduated", "light")], indirect=True)
def test_every_figure_of_a_simulated_meter_says_so(planted: Opened) -> None:
    page = planted.page
    section = page.locator("section", has=page.locator("#power"))
    meters = section.get_by_role("region", name="Power by meter").locator("tbody tr")
    simulated = [meters.nth(at).inner_text().count("(simulated)") for at in range(meters.count())]
    assert simulated == [0, 0, 2, 2], "watts and joules of each configuration"
    dense = section.get_by_role("region", name="Cost, power and height").locator("tbody tr")
    assert [dense.nth(at).inner_text().count("(simulated)") for at in range(2)] == [0, 4]
    assert "measured: pdu, wall" in dense.first.inner_text()
    over_time = page.get_by_role("img", name="Power over time by")
    names = [over_time.nth(at).get_attribute("aria-label") for at in range(2)]
    assert names == [
        "Power over time by pdu total, W",
        "Power over time by rapl package-0, W (simulated)",
    ]
    trial = page.get_by_role("region", name="Power of the trial").inner_text()
    assert "91.50 (simulated)" in trial
    assert "211.5" in trial
    assert planted.said == []


@pytest.mark.parametrize("planted", [("baseline", "light")], indirect=True)
def test_baseline_and_database_stand_side_by_side_with_their_ranks(planted: Opened) -> None:
    section = planted.page.locator("section", has=planted.page.locator("#baseline"))
    figures = section.get_by_role("region", name="Figures and ranks").locator("tbody tr")
    assert figures.count() == 5
    ranks = [figures.nth(at).locator(".rank").all_inner_texts() for at in range(5)]
    assert sorted(each[1] for each in ranks[:4]) == ["1", "2", "3", "4"]
    assert "no valid baseline" in figures.nth(4).inner_text()
    agreement = section.get_by_role("region", name="Agreement").locator("tbody tr")
    assert "+1.00" in agreement.first.inner_text()
    assert "shown to agree less" in agreement.nth(1).inner_text()
    assert "no order" in agreement.nth(2).inner_text()
    assert planted.said == []


@pytest.mark.parametrize("planted", [("requests", "light")], indirect=True)
def test_requests_stand_side_by_side_and_below_the_operations_of_a_trial(planted: Opened) -> None:
    page = planted.page
    section = page.locator("section", has=page.locator("#requests"))
    table = section.get_by_role("region", name="Requests of the variants")
    assert table.locator("thead tr").first.locator("th").count() == 1 + 4
    assert table.locator("tbody tr").count() == 3
    first = table.locator("tbody tr").first.inner_text()
    assert "order form with a long name" in first
    assert f"12 {TIMES} status_500" in first
    assert f"sent once more: 4 {TIMES} closed" in first
    trial = page.get_by_role("region", name="Requests of the trial")
    assert trial.locator("tbody tr").count() == 3
    assert f"12 {TIMES} status_500, 3 {TIMES} connect_refused" in trial.inner_text()
    phases = page.get_by_role("region", name="Phases that are not measured").inner_text()
    assert "1,234" in phases
    assert f"7 {TIMES} status_503" in phases
    assert planted.said == []


@pytest.mark.parametrize("planted", [("requests", "light")], indirect=True)
def test_a_transaction_goes_by_as_a_waterfall(planted: Opened) -> None:
    page = planted.page
    section = page.get_by_role("region", name="How a transaction went by")
    assert "new-order took 523\u202fms" in section.inner_text().replace(" ms", "\u202fms")
    rows = section.locator("tbody tr")
    assert rows.count() == 6
    bars = [_bar(rows.nth(at)) for at in range(6)]
    begins, ends = zip(*bars, strict=True)
    assert begins[0] < begins[1] < begins[2], "a request after the other"
    assert begins[2] == begins[3] == begins[4], "three at the same time"
    assert max(ends) == ends[3] == pytest.approx(1, abs=0.01), "the slow one is the longest bar"
    assert begins[5] == pytest.approx(ends[4], abs=0.01), "sent once more"
    script = rows.nth(3)
    assert "3.2" in script.inner_text()
    assert script.locator(".piece").count() == 6
    assert "TLS handshake 30" in (script.get_by_role("img").get_attribute("aria-label") or "")
    section.get_by_role("button", name="typical").click()
    rows.nth(1).wait_for(state="detached")
    assert section.get_by_role("button", pressed=True).inner_text().startswith("typical")
    section.get_by_role("button", name="failed").click()
    section.get_by_text("3 more requests of it are not kept").wait_for()
    assert "first_byte_timeout" in rows.nth(1).inner_text()
    section.get_by_label("Operation").select_option("payment")
    section.get_by_text("payment took").wait_for()
    assert section.get_by_role("button").count() == 2
    assert planted.said == []


def _bar(row: Locator) -> tuple[float, float]:
    """Where the bar of a row begins and ends, as shares of its track."""
    found = row.evaluate(
        """row => {
            const track = row.querySelector('.track').getBoundingClientRect();
            const parts = [...row.querySelectorAll('.piece')].map(p => p.getBoundingClientRect());
            const place = x => (x - track.left) / track.width;
            const edges = parts.flatMap(p => [place(p.left), place(p.right)]);
            return [Math.min(...edges), Math.max(...edges)];
        }"""
    )
    return round(found[0], 3), round(found[1], 3)


@pytest.mark.parametrize("planted", [("archive", "light")], indirect=True)
def test_execution_times_have_threshold_marks_and_losses(planted: Opened) -> None:
    page = planted.page
    times = page.get_by_role("img", name=EXECUTION)
    shown = times.locator("text").all_text_contents()
    assert "threshold of insert: 1,000 ms" in shown
    assert {"stations", "operators", "attendants"} <= set(shown), "a line for each group"
    assert {"segment switch 2", "segment switch 3", "segment switch 4"} <= set(shown)
    assert shown.count("checkpoint") == 2
    assert "segment create 2" not in shown, "only what the workload names is drawn at first"
    assert page.get_by_text("Events buffered, and events lost, /s").is_visible()
    page.get_by_label("segment create").check()
    times.locator("text", has_text="segment create 2").wait_for()
    hundred = times.locator("text").get_by_text("100", exact=True)
    assert hundred.count() == 1, "a decade of the logarithmic axis"
    page.get_by_label("logarithmic").uncheck()
    hundred.wait_for(state="detached")
    page.get_by_text("What happened when: 12 marks").click()
    table = page.get_by_role("region", name="Marks of the trial").inner_text()
    assert "segment switch 3" in table
    assert "switch 12.0 ms" in table
    assert "lasted 4.00 s" in table
    assert planted.said == []


@pytest.mark.parametrize("planted", [("archive", "light")], indirect=True)
def test_an_outage_is_a_band_on_every_chart_over_time(planted: Opened) -> None:
    page = planted.page
    over_time = page.locator(".chart").filter(has_text="seconds since the first phase began")
    banded = over_time.filter(has_text=OUTAGE)
    assert banded.count() == over_time.count() > 5
    page.get_by_label(OUTAGE).uncheck()
    page.wait_for_function(
        "said => ![...document.querySelectorAll('.chart')]"
        ".some(chart => chart.textContent.includes(said))",
        arg=OUTAGE,
    )
    assert page.get_by_role("img", name=EXECUTION).is_visible()
    assert planted.said == []
