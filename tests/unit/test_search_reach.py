"""How high a search can go: what its highest level takes is known before anything begins."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
import sample_web
from command_line import right, wrong
from hypothesis import given
from hypothesis import strategies as st
from test_search_design import made, outcome, search

from loadstone.errors import RefusedError
from loadstone.experiments.designs import design_of, stages_of
from loadstone.experiments.designs.ascent import Ascent, next_level
from loadstone.experiments.designs.search import MOST_RAISED, rules_of
from loadstone.experiments.preflight import loads, reach
from loadstone.experiments.preflight.check import check_experiment
from loadstone.experiments.preflight.reach import bound_notices, bound_of
from loadstone.experiments.searching import outcome_of
from loadstone.experiments.session_limit import wanted_by
from loadstone.host.tcp import PortRules
from loadstone.load.ports import Network
from loadstone.load.resources import Machine
from loadstone.report.reading import read_experiment
from loadstone.report.searching import search_report
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import LevelBound
from loadstone.spec.model import Experiment
from loadstone.workloads.registry import workload_of
from loadstone.workloads.search import SearchIncrements

ELSEWHERE = "http://192.0.2.1:8080"
"""Of a network that nobody has (RFC 5737): one address, and nothing is connected to it."""
PORTS = 30_000
BEYOND_ANY = 70_000
"""No range of ports has as many."""
CLOSED = {"load": "closed", "think_time": "10s"}
FEW = LevelBound(level=700, unit="users", reason="701 users need 701 ports")


@pytest.fixture(autouse=True)
def of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with so many ports, of which nobody has any."""
    rules = PortRules(range(30_000, 30_000 + PORTS))
    network = Network(rules, lambda *_: (), lambda _: (), lambda _: "192.0.2.7")
    monkeypatch.setattr(loads.Machine, "present", lambda _host=None: Machine(network, 40_000, 1))


def of_users(**design: Any) -> Experiment:
    """A search over users of an application that is not on this machine."""
    return sample_web.experiment(
        None,
        {"url": ELSEWHERE},
        profile=CLOSED,
        design={"kind": "search", "over": "users", **design},
    )


# -- what this machine can make ----------------------------------------------------------------


def test_the_bound_is_the_last_user_who_has_a_port() -> None:
    bound = bound_of(of_users())
    assert bound is not None
    assert (bound.level, bound.unit) == (PORTS, "users")
    assert f"{PORTS + 1:,} connections to 192.0.2.1" in bound.reason


def test_a_search_that_ends_below_has_no_bound() -> None:
    assert bound_of(of_users(at_most=PORTS)) is None
    assert check_experiment(of_users(at_most=PORTS)) == []


def test_a_named_level_that_cannot_be_made_is_refused() -> None:
    (problem,) = check_experiment(of_users(at_most=PORTS + 1))
    assert problem.path == ("design", "at_most")
    assert f"{PORTS + 1:,} connections" in problem.message
    assert f"{PORTS:,} users at most" in problem.message


def test_a_first_level_that_cannot_be_made_is_told_as_that_of_a_load() -> None:
    (problem,) = check_experiment(of_users(**{"from": PORTS + 1}))
    assert problem.path == ("profile",)


def test_sessions_of_the_generator_bound_a_search_as_well() -> None:
    """Whatever the target is."""
    many = search({"load": "closed"}, over="users")
    bound = bound_of(many)
    assert bound is not None
    assert bound.level == 1_000_000


def test_data_that_would_not_fit_bound_a_search_and_refuse_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Small:
        def refuse(self, parts: Any) -> None:
            if parts.profile.rate_per_s > 3000:
                raise RefusedError("a trial needs about 9 GB, and 8 GB are free")

    monkeypatch.setattr(reach, "Space", Small)
    experiment = search(at_most=10_000)
    bound = bound_of(experiment)
    assert bound is not None
    assert bound.level == pytest.approx(3000, rel=0.001)
    assert "8 GB are free" in bound.reason
    assert check_experiment(experiment) == []


def test_only_searches_go_beyond_what_their_experiment_names() -> None:
    run = sample_web.experiment(None, {"url": ELSEWHERE})
    assert bound_of(run) is None
    stages = stages_of(run)
    assert stages.kept_to(FEW) is stages
    assert stages.bound is None


# -- a search that ends there ------------------------------------------------------------------


@given(limit=st.floats(1, 1e6), bound=st.floats(100, 1e6), at_most=st.none() | st.floats(100, 1e6))
def test_no_level_above_the_bound_is_tried(
    limit: float, bound: float, at_most: float | None
) -> None:
    ascent = Ascent(SearchIncrements(100.0), 0.02, at_most, bound=bound)
    low: float | None = None
    high: float | None = None
    while (level := next_level(ascent, low, high)) is not None:
        assert level <= min(bound, at_most or inf)
        low, high = (level, high) if level <= limit else (low, level)
    if limit >= ascent.top:
        assert low == pytest.approx(ascent.top)


def test_a_search_ends_at_its_bound_and_says_why() -> None:
    experiment = search({"load": "closed"}, over="users", confirm=1)
    stages = design_of(experiment).stages(experiment).kept_to(FEW)
    results = []
    while stage := stages.next(results):
        results += [outcome(plan, holds=True) for plan in stage]
    tried = [record.level for each in results for record in each.levels]
    assert max(tried) == 700
    found = outcome_of(rules_of(experiment, stages.bound), results)
    assert (found.status, found.level) == ("no limit found", 700)
    assert found.text == (
        "At least 700 users are sustained: no limit was found. This machine can make no higher "
        "level than 700 users: 701 users need 701 ports."
    )


def test_a_search_that_fills_the_system_says_so() -> None:
    experiment = search({"load": "closed"}, over="users", confirm=1)
    filled = FEW.model_copy(update={"filled": "700 users fill its 700 seats"})
    stages = design_of(experiment).stages(experiment).kept_to(filled)
    results = []
    while stage := stages.next(results):
        results += [outcome(plan, holds=True) for plan in stage]
    found = outcome_of(rules_of(experiment, stages.bound), results)
    assert found.text == (
        "700 users are sustained: 700 users fill its 700 seats, and the objective holds there."
    )


def of_jobs(design: dict[str, Any], **parameters: Any) -> Experiment:
    own = {"application": "command", "command": "true", **parameters}
    return Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "jobs", "parameters": own},
            "target": {"engine": "local", "settings": {"slots": 8}},
            "design": design,
        }
    )


def test_the_slots_of_a_cluster_bound_a_search_over_jobs() -> None:
    bound = bound_of(of_jobs({"kind": "search"}, ranks=3))
    assert bound is not None
    assert (bound.level, bound.unit) == (2, "jobs")
    assert bound.filled == "2 jobs take 6 of the cluster's 8 slots, and no other fits"
    (problem,) = check_experiment(of_jobs({"kind": "search", "at_most": 9}))
    assert problem.path == ("design", "at_most")
    assert problem.message == (
        "9 jobs at once take 9 slots, and the cluster has 8; 8 jobs fill the cluster's 8 slots: "
        "write no more, or leave it out, and the search ends there"
    )


def test_a_curve_over_more_jobs_than_slots_names_the_level() -> None:
    scale = {"kind": "scale", "over": "workload.jobs", "levels": [1, 2, 9]}
    (problem,) = check_experiment(of_jobs(scale))
    assert problem.path == ("design", "levels")
    assert problem.message == (
        "jobs=9: 9 jobs at once take 9 slots, and the cluster has 8 (give 8 jobs at most, fewer "
        "ranks, or a larger cluster)"
    )


@pytest.mark.parametrize(
    "design",
    [
        {"kind": "search"},
        {"kind": "scale", "over": "workload.jobs", "levels": [1, 2]},
        {"kind": "compare", "factor": "workload.jobs", "levels": [1, 2]},
    ],
)
def test_jobs_cannot_be_varied_where_a_mix_says_how_many_there_are(design: dict[str, Any]) -> None:
    (problem,) = check_experiment(of_jobs(design, mix="command=1,pattern=1"))
    assert "workload.jobs would have no effect: the mix says which jobs there are" in (
        problem.message
    )


def test_jobs_that_arrive_wait_with_the_scheduler() -> None:
    arriving = {"load": "open", "rate_per_s": 1.0}
    for parameters, sessions in (({}, 64), ({"jobs": 3}, 3)):
        experiment = of_jobs({"kind": "search"}, **parameters)
        profile = experiment.profile.model_validate(arriving)
        rules = rules_of(experiment.model_copy(update={"profile": profile}))
        assert (rules.sessions, rules.by_chance, rules.looks_for_rise) == (sessions, True, True)
    assert not rules_of(of_jobs({"kind": "search"})).looks_for_rise


def test_the_record_of_a_search_keeps_its_bound(tmp_path: Path) -> None:
    experiment = search({"load": "closed"}, over="users", at_most=1000)
    folder = ExperimentFolder.create(tmp_path, "x")
    folder.write_experiment(experiment)
    folder.write_design([], [], "loadstone search noop", bound=FEW)
    read = read_experiment(folder.path)
    assert read.design.bound == FEW
    report = search_report(read)
    assert report is not None
    assert report.status == "unfinished"


def test_a_bound_is_told_where_a_limit_may_lie_above_it() -> None:
    near = of_users(**{"from": 100})
    (notice,) = bound_notices(near, FEW)
    assert notice.severity == "warning"
    assert notice.message.startswith("no level above 700 users is tried")
    assert bound_notices(of_users(**{"from": 1}), replace_level(FEW, 1e6)) == []
    assert bound_notices(near, None) == []


def replace_level(bound: LevelBound, level: float) -> LevelBound:
    return bound.model_copy(update={"level": level})


# -- a load that is raised ---------------------------------------------------------------------


@pytest.mark.parametrize(("at_most", "highest"), [(None, 3200.0), (20_000, 20_000.0)])
def test_a_running_load_is_raised_as_far_as_is_named(at_most: int | None, highest: float) -> None:
    """Its processes and ports are there from its beginning on."""
    named = {} if at_most is None else {"at_most": at_most}
    experiment = of_users(approach="raise", **{"from": 100}, **named)
    (plan,) = stages_of(experiment).next([])
    assert plan.level is not None
    assert plan.level.raised[-1] == highest
    assert highest <= max(MOST_RAISED, at_most or 0)
    workload = workload_of(plan.workload)
    wanted = wanted_by(plan, workload, plan.profile, sample_web.connection(ELSEWHERE))
    assert (plan.profile.users, wanted.sessions) == (100, highest)
    alone = plan.model_copy(update={"level": None})
    assert wanted_by(alone, workload, plan.profile, sample_web.connection(ELSEWHERE)) == replace(
        wanted, sessions=100
    )


def test_a_search_goes_on_above_the_load_that_was_raised() -> None:
    experiment = search({"load": "closed"}, over="users", approach="raise", confirm=0)
    plans, _ = made(experiment, lambda level: level.level <= 9000)
    assert max(plan.level.level for plan in plans if plan.level) > MOST_RAISED


# -- as users meet it --------------------------------------------------------------------------


def test_the_command_line_says_it_before_anything_begins() -> None:
    words = ("http", "--on", ELSEWHERE, "--over", "users", "--think-time", "10s", "--from", "1000")
    said = wrong("search", *words, "--at-most", str(BEYOND_ANY))
    assert said.startswith("loadstone: --at-most: design.at_most: ")
    assert "this machine can make" in said
    assert not Path("results").exists()
    said = " ".join(right("plan", *words).split())
    assert "Note: no level above" in said
    assert "ports x 1 source address" in said
    said = " ".join(right("plan", *words, "--at-most", "5000").split())
    assert "5,000 connections at most (5,000 users)" in said
    assert "Note: no level" not in said
