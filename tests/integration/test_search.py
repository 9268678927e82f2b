"""Searches and curves with the real driver, on limits that were planted or set."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import process, start
from lengths import LONG
from warm import Running

from loadstone.errors import ExitCode
from loadstone.results.frames import read_frames

CAPACITY = 400.0
"""40 servers of 100 ms."""
PLANTED = ("--param", "service_time_us=100000", "--param", "servers=40", "--sessions", "400")
SHORT = ("--warm-up", "300ms", "--measure", "1s")


pytestmark = pytest.mark.usefixtures("own_places")


def reported(*arguments: str) -> dict[str, Any]:
    """The report of an experiment whose machine may do what it likes: what it finds is planted."""
    code, text, err = process("plan", "noop", *arguments, "--as-file")
    assert code == ExitCode.OK, err
    Path("x.yaml").write_text(text + "disturbance: 1000\n")
    code, out, err = process("run", "x.yaml", "--json")
    # On a busy machine a trial may be marked, or a level fail because the generator was late.
    assert code in {ExitCode.OK, ExitCode.INVALID_TRIAL}, err
    document: dict[str, Any] = json.loads(out)
    assert document["status"] == "complete"
    assert (document["search"] or document["scale"])["text"] == document["headline"]
    return document


@pytest.mark.parametrize(
    ("start", "measure", "precision", "tries"),
    [
        pytest.param(195, "1500ms", 50, 2 * (2 + 1), id="coarse", marks=LONG),
        pytest.param(100, "4s", 2, 2 * (4 + 6), id="fine", marks=LONG),
    ],
)
def test_a_planted_capacity_is_found_in_a_stated_number_of_trials(
    start: int, measure: str, precision: int, tries: int
):
    """The tries: so many doublings and halvings, each made twice if it fails."""
    document = reported(
        *PLANTED, "--rate", str(start), "--arrival", "uniform", "--objective", "p99 < 400 ms",
        "--precision", str(precision), "--warm-up", "1s", "--measure", measure, "--longest", "8s",
        "--window", "4s", "--confirm", "1", "--at-most", "1600",
    )  # fmt: skip
    search = document["search"]
    if search["status"] == "cut short":  # a busy machine may keep the generator from a level
        assert all(trial["result"]["status"] != "failed" for trial in document["trials"])
        assert (search["level"] or 0) <= CAPACITY * (1 + precision / 100)
        return
    assert search["status"] == "found"
    # However coarse the ascent is: a confirmation holds 5 % below the level, and fails 5 % above.
    assert search["level"] == pytest.approx(CAPACITY, rel=min(precision, 10) / 100)
    assert search["low"] <= search["level"] < search["high"]
    assert search["first_failure"]["level"] == search["high"]
    assert search["first_failure"]["reason"]
    # Besides the tries: the first level, and two confirmations of each level at most.
    assert len(search["levels"]) <= 1 + tries + 3 + 1
    kinds = [level["kind"] for level in search["levels"]]
    assert kinds == sorted(kinds)
    above = [level for level in search["levels"] if level["level"] > 1.05 * CAPACITY]
    assert above
    assert not any(level["holds"] for level in above)


def test_where_there_is_no_limit_it_says_so():
    document = reported(
        "--param", "service_time_us=1000", "--users", "2", "--at-most", "8", *SHORT,
        "--confirm", "1", "--objective", "p99 < 500 ms",
    )  # fmt: skip
    search = document["search"]
    assert (search["status"], search["level"], search["high"]) == ("no limit found", 8, None)
    assert search["text"].startswith("At least 8 users are sustained: no limit was found")
    ascent = [level["level"] for level in search["levels"] if level["kind"] == "ascent"]
    assert ascent == [2, 4, 8]


@pytest.mark.parametrize(
    ("users", "after_s", "slower_per_min", "soak"),
    [
        pytest.param(1, 3, 20, "13s", id="one"),
        pytest.param(2, 4, 6, "15s", id="two", marks=LONG),
    ],
)
def test_what_degrades_after_a_while_is_caught_by_the_soak(
    users: int, after_s: int, slower_per_min: int, soak: str
):
    """Short trials end before the service times begin to grow."""
    document = reported(
        "--param", "service_time_us=5000", "--param", f"slower_after_s={after_s}",
        "--param", f"slower_per_min={slower_per_min}", "--users", str(users),
        "--at-most", str(users), *SHORT, "--objective", "p99 < 500 ms", "--soak", soak,
        "--confirm", "0",
    )  # fmt: skip
    search = document["search"]
    assert (search["status"], search["level"]) == ("not sustained", None)
    soaks = [level for level in search["levels"] if level["kind"] == "soak"]
    assert [level["level"] for level in soaks] == list(range(users, 0, -1))
    for level in soaks:
        assert not level["holds"]
        assert "the median response time rises" in level["reason"]
        assert level["at_s"] >= 2
    assert all(level["holds"] for level in search["levels"] if level["kind"] == "ascent")


def test_the_load_of_one_trial_can_be_raised_until_a_level_fails():
    document = reported(
        *PLANTED, "--rate", "170", "--arrival", "uniform", "--objective", "p99 < 400 ms",
        "--warm-up", "500ms", "--measure", "2s", "--failures", "1", "--precision", "50",
        "--confirm", "0", "--approach", "raise",
    )  # fmt: skip
    search = document["search"]
    raised = [level for level in search["levels"] if level["raised"]]
    assert [(level["level"], level["holds"]) for level in raised] == [
        (170, True),
        (340, True),
        (680, False),
    ]
    assert len({level["trial"] for level in raised}) == 1
    assert (search["status"], search["level"]) == ("found", 340)


SLOW = ("--users", "1", "--param", "service_time_us=1000", "--at-most", "2", "--name", "stopped")


def measured(folder: Path) -> bool:
    """Whether a tick of the trial's load was written."""
    return any(frame["frame"] == "tick" for frame in read_frames(folder))


def second_trial(started: Running) -> None:
    """Waits until the second trial measures."""
    plans = Path("results/stopped")
    while started.poll() is None and not any(
        measured(plan.parent) for plan in plans.glob("b02-*/plan.json")
    ):
        time.sleep(0.05)
    assert started.poll() is None, started.communicate()


def test_after_ctrl_c_the_report_says_how_far_the_search_came():
    started = start("search", "noop", *SLOW, "--warm-up", "0", "--measure", "3s")
    second_trial(started)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert started.returncode == ExitCode.INTERRUPTED, err
    _, out, _ = process("show", "stopped", "--json")
    document = json.loads(out)
    assert document["status"] == "partial"
    assert (document["search"]["status"], document["search"]["level"]) == ("unfinished", 1)


def test_after_kill_9_the_search_is_made_again_from_its_files():
    started = start("search", "noop", *SLOW, "--warm-up", "0", "--measure", "3s")
    second_trial(started)
    started.kill()
    started.communicate(timeout=60)
    code, _, err = process("recover")
    assert code == ExitCode.OK, err
    code, out, err = process("show", "stopped", "--json")
    assert code == ExitCode.OK, err
    search = json.loads(out)["search"]
    assert (search["status"], search["level"]) == ("unfinished", 1)
    assert [level["holds"] for level in search["levels"]] == [True]
    _, out, _ = process("show", "stopped")
    assert "The search did not end: 1 user held." in out
    assert "✓ holds" in out
    code, _, err = process("report", "stopped")
    assert code == ExitCode.OK, err
    assert (Path("results") / "stopped" / "report.html").is_file()


def test_a_curve_has_points_and_the_law():
    document = reported(
        "--over", "users", "--levels", "1,2,3,4,6,8", "--param", "service_time_us=20000",
        "--warm-up", "200ms", "--measure", "1s",
    )  # fmt: skip
    scale = document["scale"]
    assert [point["n"] for point in scale["points"]] == [1, 2, 3, 4, 6, 8]
    medians = [point["median"] for point in scale["points"]]
    assert medians == sorted(medians)
    assert scale["fit"]["rate"] == pytest.approx(50, rel=0.2)
    assert max(point["n"] for point in scale["fit"]["curve"]) == 8
    assert (scale["over"], scale["label"]) == ("profile.users", "users")


def test_a_curve_of_few_points_has_no_law():
    options = ("--over", "users", "--levels", "1-2", "--param", "service_time_us=20000")
    scale = reported(*options, *SHORT)["scale"]
    assert scale["fit"] is None
    assert "2 points are too few" in scale["problem"]
    _, out, _ = process("show", "noop-scale")
    assert "2 points are too few" in out


@LONG
def test_a_search_that_meets_the_limit_of_sessions_goes_on_and_names_it():
    code, out, err = process(
        "search", "oltp", "--param", "warehouses=1", "--users", "8", "--at-most", "64",
        "--set", "max_connections=12", "--objective", "p99 < 20 s", "--precision", "50",
        "--failures", "1", "--confirm", "0", *SHORT, "--json",
    )  # fmt: skip
    assert code in {ExitCode.OK, ExitCode.INVALID_TRIAL}, err
    search = json.loads(out)["search"]
    assert (search["status"], search["level"], search["high"]) == ("cut short", 8, None)
    assert any("the limit of its max_connections" in remark for remark in search["remarks"])


@LONG
def test_a_server_lets_all_stations_of_an_archive_in():
    code, out, err = process(
        "run", "archive", "--rate", "2900", "--param", "events_per_s=10", *SHORT, "--json"
    )
    assert code in {ExitCode.OK, ExitCode.INVALID_TRIAL}, err
    (trial, *_) = json.loads(out)["trials"]
    readings = {each["factor"]: each["read_back"] for each in trial["result"]["factors"]}
    assert readings["target.max_connections"] == "400"
    assert all(check["passed"] for check in trial["result"]["checks"])
