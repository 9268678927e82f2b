"""What each part of a system takes: read from a table of processes and their control groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from loadstone.experiments.outcome import LoadRun, PartsReading, Reading
from loadstone.experiments.parts import generator_share, quota_notices, usages
from loadstone.host.census import Counted, Key
from loadstone.host.cgroup import CpuGroup
from loadstone.host.process_memory import memory_bytes
from loadstone.probes import part_quotas, parts
from loadstone.probes.marks import SampleTable
from loadstone.probes.part_quotas import PartQuotas
from loadstone.probes.parts import PartsProbe
from loadstone.results.generator import GeneratorHealth
from loadstone.results.record import Notice, Wait
from loadstone.results.sample import Sample
from loadstone.results.usage import PartUsage
from loadstone.targets.part_probe import PartProbe
from loadstone.workloads.measured import Observation


class Machine:
    """Processes with their seconds, and what they hold."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.children: dict[int, list[int]] = {}
        self.cpu_s: dict[int, float] = {}
        self.held: dict[int, int] = {}
        self.pids: dict[str, list[int]] = {}
        monkeypatch.setattr(parts, "census", self.census)
        monkeypatch.setattr(
            parts, "memory_bytes", lambda pids: sum(self.held.get(pid, 0) for pid in pids)
        )
        monkeypatch.setattr(part_quotas, "held_by", lambda _pid: None)

    def census(self, *, disk: bool) -> dict[Key, Counted]:
        assert not disk, "a second file of each process is read for nothing"
        parents = {child: pid for pid, children in self.children.items() for child in children}
        return {
            (pid, 0): Counted((pid, 0), parents.get(pid, 0), "", False, cpu_s, 0.0, None)
            for pid, cpu_s in self.cpu_s.items()
        }

    def find(self) -> Mapping[str, Sequence[int]]:
        return self.pids


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def process(proc: Path, pid: int, **files: str) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


# -- the machine -------------------------------------------------------------------------------
def test_shared_memory_counts_once_where_that_can_be_told(tmp_path: Path) -> None:
    process(tmp_path, 10, smaps_rollup="x\nRss: 900 kB\nPss:  100 kB\n")
    process(tmp_path, 11, statm="500 7 3")
    page = memory_bytes([11], tmp_path) // 7
    assert page in (4096, 16384, 65536)
    assert memory_bytes([10, 11, 99], tmp_path) == 100 * 1024 + 7 * page


# -- the probe ---------------------------------------------------------------------------------
def test_each_part_has_its_processor_time_and_its_memory(machine: Machine) -> None:
    machine.children = {1: [2]}
    machine.cpu_s = {1: 5.0, 2: 1.0, 3: 2.0}
    machine.held = {1: 100, 2: 20, 3: 7}
    machine.pids = {"database": [1], "nodes": [3]}
    probe = PartsProbe(machine.find)
    probe.start()
    machine.cpu_s = {1: 5.5, 2: 1.5, 3: 2.0}
    found = {each.metric: each.value for each in probe.sample(1.0)}
    assert found["cpu_percent:database"] > 0
    assert found["cpu_percent:nodes"] == 0
    assert found["memory_bytes:database"] == 120
    assert found["memory_bytes:nodes"] == 7
    assert not any(name.startswith("throttled") for name in found)


def test_seconds_of_a_part_only_grow_though_its_server_starts_again(machine: Machine) -> None:
    machine.cpu_s, machine.pids = {1: 100.0}, {"a": [1]}
    probe = PartsProbe(machine.find)
    begin = probe.cpu_s()["a"]
    machine.cpu_s = {1: 103.0}
    assert probe.cpu_s()["a"] - begin == pytest.approx(3.0)
    machine.cpu_s, machine.pids = {}, {"a": []}
    assert probe.cpu_s()["a"] - begin == pytest.approx(3.0)
    machine.cpu_s, machine.pids = {9: 0.5}, {"a": [9]}
    assert probe.cpu_s()["a"] - begin == pytest.approx(3.5)


def test_memory_is_that_of_the_interval_or_what_was_seen_before(machine: Machine) -> None:
    machine.cpu_s, machine.pids = {1: 0.0}, {"a": [1]}
    probe = PartsProbe(machine.find)
    probe.start()
    for t_s, held in ((1.0, 10), (2.0, 20), (3.0, 60)):
        machine.held = {1: held}
        probe.sample(t_s)
    between, before = probe.memory("a", 2.0, 3.0), probe.memory("a", 1.2, 1.8)
    assert between is not None
    assert (between.mean, between.most) == (40, 60)
    assert before is not None
    assert before.mean == 10
    assert probe.memory("b", 0.0, 9.0) is None


def test_a_quota_is_used_up_for_a_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {pid: CpuGroup(tmp_path / str(pid), 0.25, 0.01) for pid in (1, 2)}
    throttled = {1: 0, 2: 0}
    monkeypatch.setattr(part_quotas, "held_by", groups.get)
    monkeypatch.setattr(
        CpuGroup, "periods", lambda self: (1_000_000, throttled[int(self.folder.name)])
    )
    quotas, pids = PartQuotas(), {"nodes": [1, 2], "nodes.1": [1], "database": [3]}
    assert quotas.sample(0.0, pids) == {}
    throttled.update({1: 100, 2: 0})
    assert quotas.sample(2.0, pids) == {"nodes": pytest.approx(25.0), "nodes.1": pytest.approx(50)}
    throttled.update({1: 40, 2: 0})  # 40 is less: it has a group of its own again
    quotas.sample(4.0, pids)
    whole = quotas.over("nodes", 0.0, 4.0)
    assert whole is not None
    assert whole.cpus == 0.5
    assert whole.throttled_percent == pytest.approx(100 * 1.0 / (2 * 4.0))
    assert quotas.over("database", 0.0, 4.0) is None


def test_what_a_group_had_used_up_before_its_server_was_killed_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_quotas, "held_by", lambda _: CpuGroup(tmp_path, 0.5, 0.01))
    used = iter((100, 200, 300))
    monkeypatch.setattr(CpuGroup, "periods", lambda _: (1_000_000, next(used)))
    quotas = PartQuotas()
    for t_s, pids in ((0.0, [1]), (2.0, [1]), (4.0, []), (6.0, [2])):
        quotas.sample(t_s, {"server": pids})
    found = quotas.over("server", 0.0, 6.0)
    assert found is not None
    assert found.throttled_percent == pytest.approx(100 * 2.0 / 6.0)


# -- what is told ------------------------------------------------------------------------------
def test_a_part_takes_what_was_counted_at_the_borders_of_the_phases(machine: Machine) -> None:
    machine.pids = {"a": []}
    run = LoadRun()
    for phase, begin, end in (
        ("low", (10.0, 1.0), (20.0, 2.0)),
        ("high", (25.0, 9.0), (35.0, 19.0)),
    ):
        for readings, (t_s, cpu_s) in ((run.begins, begin), (run.ends, end)):
            readings[phase] = Reading(Observation(t_s, {}), None, PartsReading(t_s, {"a": cpu_s}))
    probe = PartsProbe(machine.find)
    (low,), (whole,) = usages(probe, run, ["low"]), usages(probe, run, ["low", "high"])
    assert (low.cpu_s, low.cpu_percent) == pytest.approx((1.0, 10.0))
    assert (whole.cpu_s, whole.cpu_percent) == pytest.approx((11.0, 55.0))
    assert (whole.memory_bytes, whole.quota) == (None, None)
    del run.ends["high"]
    assert usages(probe, run, ["low", "high"]) == []


def test_a_part_that_stood_still_for_its_quota_is_told_without_its_members() -> None:
    def part(name: str, percent: float | None) -> PartUsage:
        quota = None if percent is None else 0.5
        return PartUsage(name=name, cpu_s=1, cpu_percent=1, quota=quota, throttled_percent=percent)

    told = quota_notices([part("a", None), part("b", 63.0), part("b.1", 63.0), part("c", 2.0)])
    assert [each.message.partition(" while")[0] for each in told] == [
        "b used up its quota of 0.5 processors for 63 % of the time"
    ]


def test_the_generator_is_held_against_the_parts_each_once() -> None:
    def part(name: str, cpu_s: float) -> PartUsage:
        return PartUsage(name=name, cpu_s=cpu_s, cpu_percent=1)

    health = GeneratorHealth(cpu_user_s=0.5, cpu_system_s=0.5, cpu_share=0.1, max_rss_bytes=1)
    usages = [part("nodes", 30.0), part("nodes.1", 30.0), part("cache", 20.0)]
    (share,) = generator_share(health, usages)
    assert (share.name, share.value, share.unit) == ("generator_share_percent", 2.0, "%")
    assert generator_share(health, []) == []
    assert generator_share(health, [part("cache", 0.0)]) == []
    assert generator_share(None, usages) == []


class Inner(PartsProbe):
    """Says one of everything."""

    name = "inner"

    def __init__(self) -> None:
        super().__init__(dict)

    def sample(self, t_s: float) -> list[Sample]:
        return [Sample(t_s, self.name, "active_sessions", 3.0)]

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        return [Wait(kind="IO", event="Read", samples=1, share=1.0)]

    def notices(self) -> list[Notice]:
        return [Notice(code="x", severity="info", message="it is so")]


def test_the_series_of_a_part_are_found_below_its_name() -> None:
    probe = PartProbe("rows", PartProbe("1", Inner()))
    assert probe.name == "rows.1.inner"
    (sample,) = probe.sample(2.0)
    assert (sample.probe, sample.metric) == ("rows.1.inner", "rows.1.active_sessions")
    table = SampleTable.of([(sample.t_s, sample.metric, sample.value)])
    assert list(table.below("rows.1.")["active_sessions"].values) == [3.0]
    assert [each.part for each in probe.waits(0, 1)] == ["rows.1"]
    assert [each.message for each in probe.notices()] == ["rows.1: it is so"]
