"""Control groups of both versions on simulated machines: what bounds a process, what is told."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from loadstone.experiments.preflight.cautions import cautions
from loadstone.host.cgroup import Bounds, bounds_of
from loadstone.host.machine import Machine
from loadstone.probes.bounds import BoundsProbe
from loadstone.probes.other_runs import OtherRunsProbe
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.target import TargetSpec

NOTHING = Experiment(
    name="nothing", workload=WorkloadSpec(name="noop"), target=TargetSpec(engine="none")
)
GIB = 1024**3
NO_LIMIT_V1 = "9223372036854771712"
MOUNTS = {
    "v1": "31 1 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 1 0:29 / /cg/memory rw - cgroup cgroup rw,memory\n"
    "33 1 0:30 / /cg/unified rw - cgroup2 cgroup2 rw\n",
    "v2": "31 1 0:28 / /cg rw - cgroup2 cgroup2 rw\n",
    "container": "31 1 0:28 /pod /cg rw - cgroup2 cgroup2 rw\n",
}
GROUPS = {
    "v1": "2:cpu,cpuacct:/pod/own\n1:memory:/pod/own\n0::/\n",
    "v2": "0::/pod/own\n",
    "container": "0::/pod/own\n",
}
FOLDERS = {
    "v1": ("cg/cpu/pod", "cg/memory/pod"),
    "v2": ("cg/pod", "cg/pod"),
    "container": ("cg", "cg"),
}
"""Of the group above the process's own: of processor time, of memory."""


def machine(root: Path, version: str) -> Machine:
    own = root / "proc" / "self"
    own.mkdir(parents=True)
    (own / "mountinfo").write_text(MOUNTS[version])
    (own / "cgroup").write_text(GROUPS[version])
    (root / "proc" / "meminfo").write_text(f"MemTotal: {8 * GIB // 1024} kB\n")
    for folder in FOLDERS[version]:
        (root / folder / "own").mkdir(parents=True, exist_ok=True)
    return Machine(root)


def limit(root: Path, version: str, cpus: float | None, memory_bytes: int | None) -> None:
    """Writes the limits of the group above the process's own."""
    cpu, memory = (root / folder for folder in FOLDERS[version])
    quota = None if cpus is None else int(cpus * 100_000)
    if version == "v1":
        put(cpu, {"cpu.cfs_quota_us": quota or -1, "cpu.cfs_period_us": 100_000})
        put(cpu / "own", {"cpu.cfs_quota_us": -1, "cpu.cfs_period_us": 100_000})
        put(memory, {"memory.limit_in_bytes": memory_bytes or NO_LIMIT_V1})
    else:
        put(cpu, {"cpu.max": f"{quota or 'max'} 100000", "memory.max": memory_bytes or "max"})
        put(cpu / "own", {"cpu.max": "max 100000", "memory.max": "max"})


def count(
    root: Path, version: str, cpu_periods: tuple[int, int], *, reached: int, kills: int
) -> None:
    periods, throttled = cpu_periods
    cpu, memory = (root / folder for folder in FOLDERS[version])
    put(cpu, {"cpu.stat": f"nr_periods {periods}\nnr_throttled {throttled}\nthrottled_time 9"})
    if version == "v1":
        put(memory, {"memory.failcnt": reached, "memory.usage_in_bytes": GIB})
        put(memory, {"memory.oom_control": f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}"})
    else:
        put(memory, {"memory.current": GIB, "memory.events": f"max {reached}\noom_kill {kills}"})


def put(folder: Path, files: Mapping[str, object]) -> None:
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n")


@pytest.mark.parametrize("version", MOUNTS)
@pytest.mark.parametrize(
    ("cpus", "memory_bytes", "text"),
    [
        (None, None, ""),
        (None, 9 * GIB, ""),
        (0.5, None, "0.5 processors"),
        (1.0, 2_000_000_000, "1 processor, 2 GB of memory"),
        (None, 2_500_000_000, "2.5 GB of memory"),
    ],
)
def test_a_limit_above_the_own_group_bounds(
    version: str, cpus: float | None, memory_bytes: int | None, text: str, tmp_path: Path
) -> None:
    this = machine(tmp_path, version)
    limit(tmp_path, version, cpus, memory_bytes)
    assert bounds_of(machine=this).text() == text


def test_a_machine_without_control_groups_bounds_nothing(tmp_path: Path) -> None:
    assert bounds_of(machine=Machine(tmp_path)) == Bounds()


@pytest.mark.parametrize("version", MOUNTS)
def test_what_ran_into_a_limit_is_sampled_and_told(version: str, tmp_path: Path) -> None:
    this = machine(tmp_path, version)
    limit(tmp_path, version, 0.5, 2 * GIB)
    count(tmp_path, version, (1000, 900), reached=50, kills=1)
    probe = BoundsProbe(bounds_of(machine=this))
    probe.start()
    count(tmp_path, version, (1010, 908), reached=50, kills=1)
    samples = {sample.metric: sample.value for sample in probe.sample(1.0)}
    assert samples == {"cgroup_throttled_percent": 80.0, "cgroup_memory_bytes": float(GIB)}
    count(tmp_path, version, (1020, 908), reached=57, kills=3)
    probe.sample(2.0)
    probe.stop()
    told = {notice.code: notice for notice in probe.notices()}
    assert list(told) == ["bounded-machine", "throttled", "memory-limit"]
    assert "(0.5 processors) was used up in 8 of 20 periods" in told["throttled"].message
    texts = [notice.message for notice in probe.notices() if notice.code == "memory-limit"]
    assert "reached 7 times" in texts[0]
    assert "cost 2 processes killed" in texts[1]


def test_a_machine_without_limits_says_nothing() -> None:
    probe = BoundsProbe(Bounds())
    probe.start()
    assert probe.sample(1.0) == []
    assert probe.notices() == []


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Another process, which has a journal open."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path))
    pid = os.getppid()
    for number, process in enumerate((pid, os.getpid())):
        started = psutil.Process(process).create_time()
        line = {"journal": str(tmp_path), "pid": process, "process_started": started}
        (tmp_path / "open").mkdir(exist_ok=True)
        (tmp_path / "open" / f"{number}.json").write_text(json.dumps(line))
    return pid


def test_another_run_is_named_before_and_during_the_load(other: int) -> None:
    probe = OtherRunsProbe()
    probe.start()
    assert [sample.value for sample in probe.sample(1.0)] == [1.0]
    probe.stop()
    (during,) = probe.notices()
    before = cautions(NOTHING, [])[-1]
    assert f"another Loadstone (process {other}) ran during 1 of 1 s of the load" in during.message
    assert f"another Loadstone (process {other}) is running" in before.message
