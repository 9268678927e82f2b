"""Room for the sessions of a trial, and searches that meet a server without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loadstone.experiments.designs import design_of, stages_of
from loadstone.experiments.designs.search import rules_of
from loadstone.experiments.levels import refusals
from loadstone.experiments.outcome import TrialOutcome
from loadstone.experiments.record import record_of
from loadstone.experiments.searching import outcome_of
from loadstone.experiments.series import _hopeless
from loadstone.experiments.session_limit import MOST_AHEAD, sessions_named, with_session_limit
from loadstone.load.driver import DriverFailedError, Failure
from loadstone.protocol.frames import Event
from loadstone.results.record import NO_MORE_SESSIONS, LevelRecord, Status, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.registry import workload_of

SERVERS = pytest.mark.parametrize("engine", ["postgresql", "mariadb"])


def experiment(engine: str = "postgresql", **fields: Any) -> Experiment:
    target = {"engine": engine, **fields.pop("target", {})}
    given = {"name": "x", "workload": {"name": "oltp"}, "target": target, **fields}
    return Experiment.model_validate(given)


def allowed(given: Experiment) -> list[object]:
    """The `max_connections` of each planned trial; None where the server's base has it."""
    named = sessions_named(given)
    plans = stages_of(given, allow_unsafe=False).next([])
    return [
        with_session_limit(plan, named).target.settings.get("max_connections") for plan in plans
    ]


@SERVERS
@pytest.mark.parametrize(
    ("users", "connections"), [(8, None), (280, None), (281, 400), (512, 600), (980, 1000)]
)
def test_an_owned_server_lets_all_sessions_of_the_load_in(
    engine: str, users: int, connections: int | None
) -> None:
    assert allowed(experiment(engine, profile={"users": users})) == [connections]


@SERVERS
@pytest.mark.parametrize("name", ["max_connections", "MAX_CONNECTIONS"])
def test_a_setting_of_the_user_stays(engine: str, name: str) -> None:
    own = {name: 50, **({"max_prepared_stmt_count": 1} if engine == "mariadb" else {})}
    given = experiment(engine, target={"settings": own}, profile={"users": 1000})
    (plan,) = stages_of(given, allow_unsafe=False).next([])
    assert with_session_limit(plan, 1000).target.settings == own


def test_a_server_lets_all_sessions_prepare_their_statements() -> None:
    """MariaDB has a limit of 16,382 for all sessions; a session of order entry has 33."""
    for users, statements in ((8, None), (163, None), (164, 16_400), (512, 51_200)):
        (plan,) = stages_of(
            experiment("mariadb", profile={"users": users}), allow_unsafe=False
        ).next([])
        room = with_session_limit(plan, users).target.settings
        assert room.get("max_prepared_stmt_count") == statements
    own = {"max-prepared-stmt-count": 1000}
    given = experiment("mariadb", target={"settings": own}, profile={"users": 200})
    (plan,) = stages_of(given, allow_unsafe=False).next([])
    assert with_session_limit(plan, 200).target.settings == own


def test_a_server_at_an_address_stays_as_it_is() -> None:
    address = {"server": "postgresql://user@host/db"}
    assert allowed(experiment(target=address, profile={"users": 1000})) == [None]


def test_an_engine_in_the_process_needs_no_room() -> None:
    assert allowed(experiment("sqlite", profile={"users": 1000})) == [None]


def test_sessions_of_an_open_load_count() -> None:
    profile = {"load": "open", "rate_per_s": 10, "sessions": 700}
    assert allowed(experiment(profile=profile)) == [800]


def test_configurations_that_are_compared_get_the_same() -> None:
    design = {"kind": "compare", "factor": "profile.users", "levels": [8, 500]}
    assert set(allowed(experiment(design=design))) == {600}


def test_stations_of_an_archive_count() -> None:
    given = experiment(workload={"name": "archive", "parameters": {"rate": 500_000}})
    assert allowed(given) == [600]


def test_the_sessions_that_do_a_step_of_the_cube_together_count() -> None:
    threads = ("load_threads", "calc_threads", "alloc_tasks", "restructure_threads")
    cube = {"name": "cube", "parameters": {**dict.fromkeys(threads, 2), "calc_threads": 100}}
    assert (
        workload_of(experiment(workload=cube).workload).sessions(
            experiment(profile={"users": 10}).profile
        )
        == 10 + 99
    )


def search_plan(level: float, **design: Any) -> TrialPlan:
    given = experiment(design={"kind": "search", "from": level, **design})
    (plan,) = stages_of(given, allow_unsafe=False).next([])
    return plan


def test_each_level_of_a_search_gets_its_own() -> None:
    assert with_session_limit(search_plan(512), 8).target.settings == {"max_connections": 600}


@pytest.mark.parametrize(("at_most", "connections"), [(1024, 1100), (1_000_000, MOST_AHEAD + 100)])
def test_a_load_that_is_raised_has_room_for_its_levels(at_most: int, connections: int) -> None:
    plan = search_plan(16, approach="raise", at_most=at_most)
    assert with_session_limit(plan, 8).target.settings == {"max_connections": connections}


# -- without room -------------------------------------------------------------------------------


def result(level: float, *, holds: bool, crowded: bool = False) -> TrialResult:
    plan = search_plan(level)
    assert plan.level is not None
    outcome = TrialOutcome(plan, workload_of(plan.workload), Path(), "2026-01-01T00:00:00+00:00")
    if crowded:
        said = "the driver gave up: cannot open session 300: sorry, too many clients already"
        outcome.fail(DriverFailedError(Failure.CROWDED, said))
    found = record_of(outcome, [])
    if not holds:
        return found
    record = LevelRecord(
        over="users", unit="users", level=level, kind="ascent", from_s=0.0, duration_s=60.0,
        holds=True, achieved_per_s=1.0, windows=6,
    )  # fmt: skip
    return found.model_copy(update={"levels": [record]})


def test_a_search_goes_on_above_a_level_that_held() -> None:
    failed = [result(level, holds=False, crowded=True) for level in (512, 512, 384)]
    assert {each.status for each in failed} == {Status.FAILED}
    assert _hopeless(failed)
    assert _hopeless(failed[:2])
    assert not _hopeless([result(256, holds=True), *failed])


def test_an_outcome_says_that_the_limit_is_that_of_the_sessions() -> None:
    given = experiment(design={"kind": "search", "from": 256, "failures": 1, "confirm": 0})
    assert design_of(given).problems(given) == []
    crowded = result(512, holds=False, crowded=True)
    assert [notice.code for notice in crowded.notices] == [NO_MORE_SESSIONS]
    seen = outcome_of(rules_of(given), [result(256, holds=True), crowded])
    assert "too many clients already" in crowded.notices[0].message
    again = result(512, holds=False, crowded=True)
    seen = outcome_of(rules_of(given), [result(256, holds=True), crowded, again])
    assert any("the limit of its max_connections" in remark for remark in seen.remarks)
    other = outcome_of(rules_of(given), [result(256, holds=True), result(512, holds=False)])
    assert not any("max_connections" in remark for remark in other.remarks)


def test_a_load_that_could_not_be_raised_does_not_hold_its_level() -> None:
    plan = search_plan(16, approach="raise", at_most=64)
    outcome = TrialOutcome(plan, workload_of(plan.workload), Path(), "2026-01-01T00:00:00+00:00")
    assert refusals(outcome.load.log) == []
    outcome.load.log.add(Event(t_s=1.0, kind="refused", detail="cannot open session 20: too many"))
    (level,) = record_of(outcome, []).levels
    assert not level.holds
    assert level.reasons[0].text == "the load could not be raised: cannot open session 20: too many"
