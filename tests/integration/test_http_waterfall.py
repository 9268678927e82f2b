"""How transactions went by: a real nginx, one of whose files is slow, and the commands of users."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import loadstone
from nginx_server import PARTS, SLOW, SLOW_S, NginxServer, running_nginx

from loadstone.errors import ExitCode
from loadstone.protocol.traces import Trace, TraceRow
from loadstone.results.record import TrialResult

ENDED = {ExitCode.OK, ExitCode.INVALID_TRIAL}
"""On a busy machine the generator may be late, which marks a trial."""
ROUNDED_S = 1e-6
APART_S = 0.1
"""The times of a phase are the mean over its processes, which are that far apart at most."""
HISTOGRAM = 2e-3
"""Relative error of a time that comes from a histogram."""


@pytest.fixture(scope="module")
def nginx() -> Iterator[NginxServer]:
    with running_nginx() as server:
        yield server


pytestmark = pytest.mark.usefixtures("own_places")


def get(name: str, path: str, **fields: Any) -> dict[str, Any]:
    return {"request": name, "get": path, **fields}


SCENARIO = {
    "order": "in-turn",
    "think_time": {"distribution": "constant", "mean_s": 0.02},
    "transactions": [
        {
            "name": "home",
            "steps": [
                get("page", "/"),
                {"pause_s": 0.03},
                {
                    "parallel": [
                        get("first part", f"/{PARTS[0]}"),
                        get("slow part", f"/{SLOW}"),
                        get("moved", "/moved.html"),
                        get("last part", f"/{PARTS[1]}"),
                    ]
                },
            ],
        },
        {"name": "missing", "steps": [get("nothing", "/nothing.html")]},
    ],
}
SHAPE = [
    ("page", 1, None, "asked"),
    ("first part", 3, 1, "asked"),
    ("slow part", 3, 2, "asked"),
    ("moved", 3, 3, "asked"),
    ("moved", 3, 3, "redirect"),
    ("last part", 3, 4, "asked"),
]


def run(nginx: NginxServer, **profile: Any) -> TrialResult:
    Path("scenario.yaml").write_text(json.dumps(SCENARIO))
    Path("web.yaml").write_text(
        json.dumps(
            {
                "version": 1,
                "name": "web",
                "workload": {
                    "name": "http",
                    "parameters": {"scenario": "scenario.yaml", "errors_allowed": 100.0},
                },
                "target": {"engine": "http", "url": nginx.url},
                "profile": {"users": 4, "warm_up": "300ms", "measure": "3s", **profile},
                "disturbance": 1000,
                "extra_trials": 0,
            }
        )
    )
    done = loadstone("run", "web.yaml", "--json", "--quiet")
    assert done.returncode in ENDED, done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    return TrialResult.model_validate(trial["result"])


def assert_went_by(trace: Trace, result: TrialResult) -> None:
    """The requests of a home page follow each other as the scenario has them."""
    shape = [(each.request, each.step, each.lane, each.cause) for each in trace.rows]
    assert shape == SHAPE
    page, first, slow, moved, redirect, last = trace.rows
    for row in (first, slow, moved, last):
        assert row.at_s >= page.end_s + 0.03 - ROUNDED_S, "after the page and the pause"
    assert redirect.at_s >= moved.end_s - ROUNDED_S
    assert [row.status for row in trace.rows] == [200, 200, 200, 302, 200, 200]
    assert 0 <= trace.begun_s <= page.at_s
    assert max(row.end_s for row in trace.rows) <= trace.took_s + ROUNDED_S
    assert slow.receive_s >= SLOW_S
    assert slow.end_s == max(row.end_s for row in trace.rows), "the slow request ends last"
    assert all(took_in(row) for row in trace.rows)
    (phase,) = [each for each in result.phases if each.kind == "measure"]
    assert trace.phase == phase.name
    assert phase.from_s - APART_S <= trace.due_s <= phase.to_s + APART_S


def took_in(row: TraceRow) -> bool:
    """A request on a connection that was open has no time in which it was opened."""
    opening = row.resolve_s + row.connect_s + row.tls_s
    return (opening > 0) == (row.connection == "new") and row.tls_s == 0


def test_the_slow_request_is_the_long_bar(nginx: NginxServer, tmp_path: Path) -> None:
    result = run(nginx)
    home = result.traces["home"]
    assert home.slowest is not None
    assert home.failed is None
    (summary,) = [each for each in result.operations if each.name == "home"]
    assert summary.response is not None
    assert home.slowest.took_s == pytest.approx(summary.response.max_s, rel=HISTOGRAM)
    assert len(home.sample) == min(3, summary.count)
    for trace in (home.slowest, *home.sample):
        assert_went_by(trace, result)
        assert trace.took_s <= home.slowest.took_s
    missing = result.traces["missing"]
    assert missing.failed is not None
    assert (missing.slowest, missing.sample) == (None, [])
    assert missing.failed.error == "status_404"
    assert [(row.status, row.error) for row in missing.failed.rows] == [(404, "status_404")]

    assert '"slow part"' in Path("results/web/report.html").read_text()
    shown = loadstone("show", f"web/{result.trial}")
    assert "Slowest transaction" in shown.stdout
    assert "3.2 slow part" in shown.stdout
    assert "status_404" in shown.stdout
    exported = loadstone("export", "web", "--transactions", "waterfall.csv")
    assert exported.returncode == ExitCode.OK, exported.stderr
    with (tmp_path / "waterfall.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    slow = [row for row in rows if row["request"] == "slow part"]
    assert len(slow) == 1 + len(home.sample)
    assert all(float(row["receive_s"]) >= SLOW_S for row in slow)


def test_two_processes_tell_transactions_of_one_load(nginx: NginxServer) -> None:
    result = run(nginx, processes=2)
    assert result.generator is not None
    assert len(result.generator.processes) == 2
    home = result.traces["home"]
    (summary,) = [each for each in result.operations if each.name == "home"]
    assert home.slowest is not None
    assert summary.response is not None
    assert home.slowest.took_s == pytest.approx(summary.response.max_s, rel=HISTOGRAM)
    assert len(home.sample) == min(3, summary.count)
    for trace in (home.slowest, *home.sample):
        assert_went_by(trace, result)
