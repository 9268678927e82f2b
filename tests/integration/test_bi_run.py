"""People at dashboards, by the commands of users, on the embedded PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, loadstone
from lengths import LONG

from loadstone.errors import ExitCode
from loadstone.results.answers import read_answers
from loadstone.spec.dashboards import ACTIONS

ENDED = {ExitCode.OK, ExitCode.INVALID_TRIAL}
"""On a busy machine the generator may be late, which marks a trial."""
SMALL = ("--param", "scale=0.001", "--param", "think_time=50ms", "--param", "accounts=12")
SHORT = ("--users", "4", "--ramp", "100/s", "--warm-up", "100ms", "--measure", "1500ms")


pytestmark = pytest.mark.usefixtures("own_places")


def run(*options: str, verb: str = "run") -> Done:
    return loadstone(verb, "bi", *SMALL, *SHORT, "--json", "--quiet", *options)


def results(done: Done) -> list[dict[str, Any]]:
    assert done.returncode in ENDED, done.stderr
    return [trial["result"] for trial in json.loads(done.stdout)["trials"]]


def operations(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in result["operations"]}


def metrics(result: dict[str, Any]) -> dict[str, float]:
    return {each["name"]: each["value"] for each in result["metrics"]}


def test_people_list_open_filter_drill_and_go_back() -> None:
    (result,) = results(run())
    checks = {each["name"]: each for each in result["checks"]}
    assert set(checks) == {"answers are as expected", "charts show the warehouse"}
    assert [each["detail"] for each in checks.values() if not each["passed"]] == []
    made = operations(result)
    assert set(ACTIONS) < set(made)
    assert [name for name, each in made.items() if each["errors"]] == []
    opened = {each["name"]: each["count"] for each in made["open"]["requests"]}
    assert len(opened) == 3 * 7
    assert made["open"]["count"] > 0
    assert sum(opened.values()) == 7 * made["open"]["count"]
    found = metrics(result)
    assert found["transactions_per_s"] > 0
    assert found["errors_percent"] == 0
    assert result["data"]["rows"] > 6000
    (folder,) = Path("results").glob("*/b01-1-baseline*")
    kept = read_answers(folder)
    assert {answer.username for answer in kept} <= {f"user{n:06}" for n in range(1, 5)}
    assert {answer.request.partition("/")[0] for answer in kept} <= {
        "sales-by-region",
        "products",
        "customers",
    }


def test_what_is_measured_begins_when_the_last_has_logged_in_and_made_a_transaction() -> None:
    (result,) = results(run("--param", "sample=0"))
    assert "users-absent" not in {notice["code"] for notice in result["notices"]}
    assert [phase["kind"] for phase in result["phases"]][:2] == ["ramp", "warm-up"]


@LONG
def test_a_setting_of_the_database_is_compared() -> None:
    done = run(
        *("--factor", "target.database.work_mem", "--levels", "1MB,8MB", "--param", "sample=5"),
        verb="compare",
    )
    levels = [
        {each["factor"]: each["requested"] for each in result["factors"]}
        for result in results(done)
    ]
    assert {each["target.database.work_mem"] for each in levels} == {"1MB", "8MB"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "work_mem=8MB"), "settings of its parts are named database."),
        (("--set", "database.work_mm=8MB"), "work_mm"),
        (("--param", "first_visit=true"), "does not offer first-visits"),
        (("--param", "next=often"), "next"),
        (("--target", "postgresql"), "does not offer bi"),
        (("--think-time", "none"), "would have no effect"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options: tuple[str, ...], words: str) -> None:
    done = loadstone("plan", "bi", *options)
    assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("results").exists()


@LONG
def test_the_same_dashboards_are_on_mariadb() -> None:
    Path("bi.yaml").write_text(
        json.dumps(
            {
                "version": 1,
                "name": "bi",
                "workload": {
                    "name": "bi",
                    "parameters": {"scale": 0.001, "think_time": "50ms", "accounts": 12},
                },
                "target": {
                    "engine": "sql-dashboards",
                    "parts": {"database": {"engine": "mariadb"}},
                },
                "profile": {"users": 4, "warm_up": "200ms", "measure": "2s"},
            }
        )
    )
    (result,) = results(loadstone("run", "bi.yaml", "--json", "--quiet"))
    assert [each["detail"] for each in result["checks"] if not each["passed"]] == []
    assert [each for each in result["operations"] if each["errors"]] == []


@LONG
def test_the_most_users_are_found_with_a_limit_for_each_action() -> None:
    done = loadstone(
        *("search", "bi", *SMALL, "--users", "2", "--warm-up", "100ms", "--measure", "1s"),
        *("--objective", "list.p95 < 10 s", "--objective", "open.p95 < 10 s"),
        *("--objective", "errors = 0", "--at-most", "4", "--window", "1s", "--confirm", "1"),
        *("--json", "--quiet"),
    )
    assert done.returncode in ENDED, done.stderr
    levels = [level for result in results(done) for level in result["levels"]]
    assert levels[0]["holds"], levels[0]["reasons"]
    judged = {worst["term"] for level in levels for worst in level["worst"]}
    assert judged == {"list.p95 < 10 s", "open.p95 < 10 s", "errors = 0"}
