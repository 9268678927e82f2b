"""What limits a system is named with its evidence, or it is said that it was not found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ended_trials import ended, plan_for
from sample_frames import tick

from loadstone.experiments.outcome import ProbeFindings
from loadstone.host.cgroup import Bounds
from loadstone.probes.base import Probe
from loadstone.probes.bounds import BoundsProbe
from loadstone.probes.host_fullness import HostFullness
from loadstone.probes.part_processors import CpuReading, processor_uses
from loadstone.probes.part_quotas import PartQuota
from loadstone.report.limiting import limit_report
from loadstone.report.terminal_limits import sentence
from loadstone.results import limits
from loadstone.results.record import TrialResult, Wait
from loadstone.results.sample import Sample
from loadstone.results.usage import PartUsage, ResourceUse
from loadstone.spec.target import TargetSpec
from loadstone.targets.part_probe import PartProbe
from loadstone.targets.registry import target_for
from loadstone.targets.superset.busy import Busy, busy_uses
from loadstone.targets.superset.pool_use import Taken, pool_uses
from loadstone.targets.waiting import waiting_uses

SECOND = {"cpu_iowait_percent": 0.0, "cpu_steal_percent": 0.0}
REFUSALS = [
    ("postgresql", "53300", limits.SESSIONS),
    ("mariadb", "1040", limits.SESSIONS),
    ("superset", "rate_limited", limits.RATE_LIMIT),
    ("superset", "pool_exhausted", limits.POOL),
    ("sql-dashboards", "53300", limits.SESSIONS),
    ("http", "status_429", limits.RATE_LIMIT),
]


def use(resource: str, used: float, part: str = "", *, full: bool | None = None) -> ResourceUse:
    return limits.use_of(resource, used, f"{used:g} was used", part, full=full)


def by_resource(uses: list[ResourceUse]) -> dict[str, ResourceUse]:
    return {each.resource: each for each in uses}


# -- which of several --------------------------------------------------------------------------
@pytest.mark.parametrize("resource", limits.RESOURCES)
def test_a_resource_is_full_from_its_own_share_on(resource: str) -> None:
    enough = limits.RESOURCES[resource].enough
    assert use(resource, enough).full
    assert not use(resource, enough * 0.99).full
    assert limits.limiting([use(resource, enough * 0.99)]) is None


def test_causes_come_before_what_comes_of_them_and_the_full_before_the_rest() -> None:
    uses = [
        use(limits.THREADS, 1.0, "balancer"),
        use(limits.POOL, 0.5),
        use(limits.DISK, 0.2),
        use(limits.PART_PROCESSORS, 0.98, "nodes"),
        use(limits.HOST_PROCESSORS, 0.89),
    ]
    found = limits.in_order(uses)
    names = [each.resource for each in found]
    assert names[:3] == [limits.PART_PROCESSORS, limits.POOL, limits.THREADS]
    assert limits.limiting(found) is found[0]
    assert limits.title_of(found[0]) == "the processors of nodes"
    assert limits.title_of(found[2]) == "the threads behind balancer"


def test_of_two_parts_the_fuller_is_named_and_a_tie_has_one_order() -> None:
    full, fuller = (use(limits.PART_PROCESSORS, share, part) for share, part in
                    ((0.93, "cache"), (0.99, "nodes")))  # fmt: skip
    assert limits.in_order([full, fuller]) == limits.in_order([fuller, full]) == [fuller, full]
    tie = [use(limits.LOCKS, 0.7, "database"), use(limits.LOCKS, 0.7, "archive")]
    assert limits.in_order(tie) == limits.in_order(tie[::-1])


def test_the_generator_comes_before_the_system() -> None:
    found = limits.in_order([use(limits.RATE_LIMIT, 0.5), use(limits.GENERATOR, 0.95)])
    assert found[0].resource == limits.GENERATOR


# -- the machine -------------------------------------------------------------------------------
def fullness(*seconds: dict[str, float]) -> list[ResourceUse]:
    host = HostFullness(processors=2)
    for number, values in enumerate(seconds):
        host.note(float(number), values)
    return host.over(0.0, len(seconds) - 1.0)


def test_the_processors_are_full_when_they_are_not_idle() -> None:
    (found,) = fullness({**SECOND, "cpu_idle_percent": 5.0}, {**SECOND, "cpu_idle_percent": 1.0})
    assert (found.resource, found.full) == (limits.HOST_PROCESSORS, True)
    assert found.evidence == "1.94 of 2 processors were busy"


def test_waiting_for_a_disk_is_no_use_of_a_processor() -> None:
    (found,) = fullness({"cpu_idle_percent": 5.0, "cpu_iowait_percent": 60.0})
    assert found.used == pytest.approx(0.35)
    assert not found.full


def test_other_guests_are_named() -> None:
    (found,) = fullness({**SECOND, "cpu_idle_percent": 2.0, "cpu_steal_percent": 30.0})
    assert found.evidence.endswith("0.60 of them with other guests")


def test_memory_and_disk_are_told_where_the_kernel_tells_them() -> None:
    found = by_resource(
        fullness({"data_disk_busy_percent": 97.0, "pressure_memory_full_percent": 12.0})
    )
    assert found.keys() == {limits.DISK, limits.MEMORY}
    assert found[limits.DISK].full
    assert found[limits.MEMORY].full
    assert fullness() == fullness({}) == []


def test_seconds_outside_the_interval_do_not_count() -> None:
    host = HostFullness(processors=2)
    for t_s, idle in ((0.0, 0.0), (1.0, 90.0), (2.0, 0.0)):
        host.note(t_s, {**SECOND, "cpu_idle_percent": idle})
    assert host.over(0.5, 1.5)[0].used == pytest.approx(0.1)
    assert host.over(5.0, 6.0) == []


def test_a_machine_without_a_quota_has_none_that_is_used_up() -> None:
    assert BoundsProbe(Bounds()).uses(0.0, 10.0) == []


# -- parts -------------------------------------------------------------------------------------
def parts(
    quotas: dict[str, PartQuota], most: dict[str, float], **processors: float
) -> dict[str, ResourceUse]:
    """Parts that used so many processors for ten seconds."""
    names = {name.replace("_", "."): used for name, used in processors.items()}
    end = CpuReading(10.0, {name: 10.0 * used for name, used in names.items()})
    readings = [CpuReading(0.0, dict.fromkeys(names, 0.0)), end]
    found = processor_uses(readings, lambda part, *_: quotas.get(part), most)
    return {each.part: each for each in found}


def test_a_part_at_its_quota_is_full_with_its_figures() -> None:
    found = parts({"nodes": PartQuota(0.5, 61.0)}, {"nodes": 2.0}, nodes=0.49)["nodes"]
    assert found.full
    assert found.evidence == (
        "0.49 of 0.50 processors of its quota were used, and it stood still for want of them in "
        "61 % of the time"
    )


def test_a_quota_that_stops_bursts_is_full_though_its_average_is_not() -> None:
    assert parts({"nodes": PartQuota(1.0, 55.0)}, {}, nodes=0.6)["nodes"].full
    assert not parts({"nodes": PartQuota(1.0, 30.0)}, {}, nodes=0.6)["nodes"].full


def test_processes_that_use_one_processor_each_are_full_below_a_larger_quota() -> None:
    found = parts({"nodes": PartQuota(4.0, 0.0)}, {"nodes": 2.0}, nodes=1.9)["nodes"]
    assert found.full
    assert "1.90 of the 2 processors that its processes can use" in found.evidence


def test_a_part_without_any_bound_is_not_listed() -> None:
    assert parts({}, {}, database=1.9) == {}
    assert processor_uses([], lambda *_: None, {"nodes": 1.0}) == []


def test_a_member_is_told_only_where_it_is_full_and_the_others_are_not() -> None:
    quotas = {
        name: PartQuota(0.5 if "." in name else 1.0, 0.0)
        for name in ("nodes", "nodes.1", "nodes.2")
    }
    uneven = parts(quotas, {}, nodes=0.6, nodes_1=0.5, nodes_2=0.1)
    assert set(uneven) == {"nodes", "nodes.1"}
    assert set(parts(quotas, {}, nodes=0.98, nodes_1=0.49, nodes_2=0.49)) == {"nodes"}


# -- waits -------------------------------------------------------------------------------------
def waits(**samples: int) -> list[Wait]:
    total = sum(samples.values())
    return [
        Wait(kind=name.split("__")[0], event=name.split("__")[1].replace("_", "/"),
             samples=count, share=count / total)
        for name, count in samples.items()
    ]  # fmt: skip


def test_sessions_that_wait_for_locks_are_found_with_the_event() -> None:
    found = by_resource(waiting_uses(waits(Lock__row=700, CPU__CPU=300), looks=100))
    assert found[limits.LOCKS].full
    assert "70 % of the time" in found[limits.LOCKS].evidence
    assert found[limits.LOCKS].evidence.endswith("most at row")
    assert not found[limits.DISK_WAITS].full


def test_an_idle_server_that_waits_is_not_limited_by_it() -> None:
    assert not by_resource(waiting_uses(waits(Lock__row=9), looks=100))[limits.LOCKS].full
    assert waiting_uses([], looks=0) == []


@pytest.mark.parametrize(
    ("wait", "resource"),
    [
        ("IO__WALSync", limits.DISK_WAITS),
        ("LWLock__WALWrite", limits.DISK_WAITS),
        ("LWLock__BufferContent", limits.LATCHES),
        ("io__file_innodb", limits.DISK_WAITS),
        ("synch__rwlock_innodb", limits.LATCHES),
        ("io__socket_client", None),
        ("Client__ClientRead", None),
    ],
)
def test_a_wait_is_of_the_resource_that_it_is_for(wait: str, resource: str | None) -> None:
    found = waiting_uses(waits(**{wait: 500}), looks=100)
    assert [each.resource for each in found if each.full] == ([resource] if resource else [])


class Locked(Probe):
    """It saw sessions that waited for locks."""

    name = "locked"

    def start(self) -> None: ...

    def sample(self, t_s: float) -> list[Sample]:
        return []

    def stop(self) -> None: ...

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        return [use(limits.LOCKS, to_s - from_s)]


def test_the_probe_of_a_part_has_the_name_of_the_part_before_it() -> None:
    (found,) = PartProbe("database", Locked()).uses(1.0, 2.0)
    assert limits.title_of(found) == "database: locks"
    assert found.full


# -- threads and connections -------------------------------------------------------------------
def test_all_threads_busy_for_half_of_the_time_may_limit() -> None:
    seen = [Busy(float(t_s), requests, 10.0) for t_s, requests in enumerate((8.0, 12.0, 3.0, 9.0))]
    threads, connections = busy_uses(seen, threads=8, connections=2000)
    assert threads.full
    assert threads.evidence == (
        "all 8 had a request in 75 % of the time; 8.0 requests at a time on average"
    )
    assert not connections.full
    assert busy_uses(seen, threads=0, connections=0) == busy_uses([], 8, 2000) == []


def test_a_balancer_at_its_limit_of_connections_is_found() -> None:
    (found,) = busy_uses([Busy(0.0, 1.0, 2000.0)], threads=0, connections=2000)
    assert found.full
    assert found.evidence.startswith("all 2,000 (maxconn) were open in 100 %")


def test_pools_whose_connections_are_all_in_use_may_limit_without_an_error() -> None:
    seen = [Taken(float(t_s), taken) for t_s, taken in enumerate((1.0, 1.0, 0.0, 2.0))]
    (found,) = pool_uses(seen, most=1)
    assert found.full
    assert found.evidence == (
        "all 1 connections to the catalogue were in use in 75 % of the time; 1.0 on average"
    )
    assert not pool_uses(seen, most=15)[0].full
    assert pool_uses([], most=1) == []


# -- a trial -----------------------------------------------------------------------------------
def trial(folder: Path, seen: list[ResourceUse], **fields: Any) -> TrialResult:
    """A trial of ten seconds with nine operations each."""
    watched = ProbeFindings({}, [], uses=lambda *_: seen)
    ticks = [tick([("noop", 10**6, 10, None)] * 9, second) for second in range(10)]
    return ended(plan_for("noop", {}, **fields), folder, [*ticks], watched)


def test_a_trial_whose_machine_is_full_says_who_used_it(tmp_path: Path) -> None:
    host = limits.use_of(limits.HOST_PROCESSORS, 1.0, "2.00 of 2 processors were busy")
    result = trial(tmp_path, [host])
    first = limits.limiting(result.limits)
    assert first is not None
    assert first.resource == limits.HOST_PROCESSORS
    assert "the load generator 0.50" in first.evidence


def test_nothing_full_is_said_as_not_found_with_what_was_looked_at(tmp_path: Path) -> None:
    result = trial(tmp_path, [use(limits.HOST_PROCESSORS, 0.3), use(limits.DISK, 0.1)])
    assert limits.limiting(result.limits) is None
    said = sentence(limit_report([result.limits], "baseline"))
    assert said.startswith("not found. None of these was full: ")
    assert "the processors of this machine" in said
    assert "the disk of the data" in said


@pytest.mark.parametrize(("engine", "error", "resource"), REFUSALS)
def test_what_an_engine_refuses_for_want_of_something_is_known(
    engine: str, error: str, resource: str
) -> None:
    spec = TargetSpec(engine=engine)
    assert target_for(spec).exhaustions(spec)[error] == resource


def test_operations_that_failed_for_a_full_pool_are_counted(tmp_path: Path) -> None:
    operations = [("new-order", 10**6, 10, None)] * 9 + [("new-order", 1, 1, "53300")]
    ticks = [tick(operations, second) for second in range(10)]
    result = ended(plan_for("oltp", {"warehouses": 1}), tmp_path, ticks)
    (found,) = [each for each in result.limits if each.resource == limits.SESSIONS]
    assert found.full
    assert found.evidence == "10 of 100 operations failed for it (53300)"


def test_only_a_level_that_does_not_hold_has_a_limit(tmp_path: Path) -> None:
    full = [use(limits.PART_PROCESSORS, 0.99, "nodes")]
    search = {"profile": {"warm_up": "0s", "measure": "10s"}}
    held, missed = (
        trial(tmp_path, full, design={"kind": "search", "objective": [objective]}, **search)
        for objective in ("p95 < 1 s", "p95 < 0.5 ms")
    )
    assert [level.holds for level in (*held.levels, *missed.levels)] == [True, False]
    assert held.levels[0].limits == []
    assert missed.levels[0].limits[0].part == "nodes"
    assert held.limits == missed.limits == []


# -- several trials ----------------------------------------------------------------------------
def test_the_limit_of_most_trials_is_told_with_how_many_they_are() -> None:
    nodes = limits.in_order([use(limits.PART_PROCESSORS, 0.99, "nodes"), use(limits.THREADS, 1.0)])
    disk = limits.in_order([use(limits.DISK, 0.99), use(limits.THREADS, 0.0)])
    report = limit_report([nodes, disk, nodes], "two nodes")
    assert (report.limit, report.times, report.trials) == ("the processors of nodes", 2, 3)
    assert [each.full for each in report.uses] == [True, True]
    assert sentence(report).endswith("So in 2 of 3 trials.")


def test_older_results_are_read_and_say_nothing() -> None:
    usage = PartUsage(name="nodes", cpu_s=1.0, cpu_percent=10.0)
    assert TrialResult.model_validate(
        {
            "experiment": "e", "trial": "t", "variant": "v", "block": 1, "order": 1,
            "status": "valid", "started_at": "2026-11-23T00:00:00Z",
            "parts": [usage.model_dump()],
        }
    ).limits == []  # fmt: skip
