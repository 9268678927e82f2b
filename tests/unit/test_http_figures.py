"""Figures, checks and notices of the workload `http`, from frames whose contents are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample_frames import encoded, hello, phase, tick
from sample_web import PAGE, scenario, workload

from loadstone.load.totals import LoadLog
from loadstone.protocol.frames import parse_frame
from loadstone.results.frames import FRAMES_FILE, FramesWriter
from loadstone.results.record import CheckResult
from loadstone.workloads.http.checks import is_wrong
from loadstone.workloads.measured import Measured, Observation

MS = 1_000_000
STEPS = {"steps": [{"get": "/"}]}
NAMED = {"transactions": [PAGE, {**PAGE, "name": "order"}], "log_in": STEPS, "log_out": STEPS}


def made(count: int, failed: str | None = None, resent: int = 0) -> dict[str, Any]:
    """A request of a tick."""
    return {
        "count": count,
        "errors": {failed: 1} if failed else {},
        "resent": {"closed": resent} if resent else {},
        "service": encoded([MS] * count),
    }


def second(at: int, *errors: str, **more: Any) -> dict[str, Any]:
    """8 pages of 10 ms and 2 orders of 30 ms, a log-in, and errors of orders."""
    operations = [
        *[("page", 10 * MS, 1, None)] * 8,
        *[("order", 30 * MS, 1, None)] * 2,
        *[("order", MS, 1, error) for error in errors],
        ("log-in", 500 * MS, 1, None),
    ]
    value = tick(operations, at, **more)
    value["operations"]["page"]["requests"] = {"GET /": made(16)}
    failed = errors[0] if errors else None
    value["operations"]["order"]["requests"] = {"GET /": made(2, failed, resent=1)}
    return value


def measured(*ticks: dict[str, Any], **more: Any) -> Measured:
    frames = [
        hello(),
        phase("begin", "measure", 0.0),
        *ticks,
        phase("end", "measure", float(len(ticks))),
    ]
    log = LoadLog.of(parse_frame(value) for value in frames)
    nothing = Observation(0.0, {})
    found = log.of_workload(nothing, nothing, server_cpu_s=None)
    return Measured(**{**vars(found), **more})


def values(of: Measured) -> dict[str, float]:
    return {metric.name: metric.value for metric in workload(NAMED).measure(of)}


def test_figures_are_of_transactions_and_requests_of_everything():
    found = values(measured(second(0), second(1)))
    assert found["transactions_per_s"] == 10
    assert found["errors_percent"] == 0
    assert found["response_mean_ms"] == pytest.approx(14, rel=0.01)
    assert found["requests_per_s"] == 18
    assert (found["requests_resent"], found["requests_retried"]) == (2, 0)
    assert found["driver_cpu_us"] == pytest.approx(0.5 / 10 * 1e6)
    assert (found["page per_s"], found["order per_s"]) == (8, 2)


def test_failed_transactions_count_as_errors_and_their_requests_as_requests():
    found = values(measured(second(0, "check", "reset")))
    assert found["transactions_per_s"] == 10
    assert found["errors_percent"] == pytest.approx(100 * 2 / 12)
    assert found["requests_per_s"] == 19


def test_what_has_no_meaning_is_left_out():
    found = values(measured(tick([], 0)))
    assert found["transactions_per_s"] == 0
    for name in ("errors_percent", "response_mean_ms", "driver_cpu_us"):
        assert name not in found


def test_one_transaction_has_no_rate_besides_that_of_all():
    found = [each.name for each in workload(scenario()).measure(measured(second(0)))]
    assert "page per_s" not in found


def checked(of: Measured, **parameters: Any) -> list[CheckResult]:
    return workload(NAMED, **parameters).check(None, {}, of)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "passed"),
    [
        *(("check", False), ("no_value", False), ("short_body", False), ("status_404", False)),
        *(("status_503", True), ("status_429", True), ("connect_refused", True), ("reset", True)),
        *(("timeout", True), ("tls_expired", True), ("foreign_host", False)),
    ],
)
def test_an_answer_that_is_not_as_expected_fails_the_check(error: str, passed: bool):
    (check,) = checked(measured(second(0, error)))
    assert (check.passed, is_wrong(error)) == (passed, not passed)
    assert (f"1 {error}" in check.detail) is not passed


def test_a_share_may_be_allowed():
    wrong = measured(second(0, "check"))
    (strict,) = checked(wrong)
    (lax,) = checked(wrong, errors_allowed=10)
    assert (strict.passed, lax.passed) == (False, True)
    assert strict.detail.startswith("1 of 12 operations (8.33 %)")


def test_a_log_in_that_was_answered_wrongly_fails_it_too():
    value = second(0)
    value["operations"]["log-in"]["errors"] = {"check": 3}
    (check,) = checked(measured(value))
    assert not check.passed


@pytest.mark.parametrize(
    ("out", "failed", "lost", "passed"),
    [
        *((5, 0, 0, True), (3, 2, 0, True), (4, 0, 0, False), (6, 0, 0, False)),
        *((3, 1, 1, True), (5, 0, 1, False)),
    ],
)
def test_who_came_has_left(tmp_path: Path, out: int, failed: int, lost: int, passed: bool):
    frames = [
        {"frame": "event", "kind": "phase-begin", "phase_kind": "drain"},
        {
            "frame": "end",
            "operations": {
                "log-in": {"count": 5, "errors": {"check": 1}},
                "log-out": {"count": out, "errors": {"reset": failed}},
            },
            "facts": {"sessions_lost": lost},
        },
    ]
    with FramesWriter(tmp_path / FRAMES_FILE) as writer:
        writer.write(*frames)
    _, left = checked(measured(second(0), folder=tmp_path))
    assert left.passed is passed


def test_where_nobody_leaves_nothing_is_said_of_it(tmp_path: Path):
    assert len(checked(measured(second(0), folder=tmp_path))) == 1


# -- notices -----------------------------------------------------------------------------------


def notices(of: Measured, given: dict[str, Any] = NAMED) -> str:
    return " ".join(each.message for each in workload(given).notices(of))


def test_log_ins_that_failed_are_told_with_how_long_users_held_off():
    some = [("log-in", MS, 1, "status_403")] * 3 + [("log-in", MS, 1, None)]
    said = notices(measured(tick(some, 0)))
    assert "3 log-ins failed (3 status_403)" in said
    assert "1 s at first and up to 30 s" in said
    own = {**STEPS, "back_off_s": {"first": 0.5, "longest": 8}}
    assert "0.5 s at first and up to 8 s" in notices(
        measured(tick(some, 0)), {**NAMED, "log_in": own}
    )
    assert notices(measured(tick(some[3:], 0))) == ""


def test_requests_that_were_sent_again_are_told():
    assert "2 requests were sent again" in notices(measured(second(0), second(1)))
    assert notices(measured(tick([], 0))) == ""


def test_the_addresses_of_a_name_are_told():
    facts = {"share a:80 10.0.0.1": 3.0, "share a:80 10.0.0.2": 2.0, "connections": 5.0}
    assert "3 to a:80 10.0.0.1, 2 to a:80 10.0.0.2" in notices(measured(tick([], 0), facts=facts))
    assert notices(measured(tick([], 0), facts={"share a:80 10.0.0.1": 3.0})) == ""


def test_people_for_several_users_are_told(tmp_path: Path):
    people = tmp_path / "people.csv"
    people.write_text("name\nada\ngrace\n")
    given = scenario(people=str(people))
    assert "3 users had 2 rows" in notices(measured(tick([], 0), users=3), given)
    assert notices(measured(tick([], 0), users=2), given) == ""
    people.unlink()
    assert notices(measured(tick([], 0), users=3), given) == ""
