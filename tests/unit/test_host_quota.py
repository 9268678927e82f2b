"""Quotas of processor time: where a group can be made, its period, and what levels there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.factors.registry import apply_changes, examine
from loadstone.host import cpu_group, process
from loadstone.host.cgroup import quota_in
from loadstone.host.machine import Absent, Machine
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change
from loadstone.spec.target import ProcessSpec

QUOTA = "host.server.quota"


def experiment(**options: object) -> Experiment:
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "postgresql", "process": options},
        }
    )


@pytest.mark.parametrize(
    ("quota", "period"),
    [(0.01, 100_000), (0.05, 20_000), (0.1, 10_000), (0.25, 10_000), (2, 10_000)],
)
def test_the_period_is_short_and_never_too_short_for_the_kernel(quota: float, period: int) -> None:
    assert cpu_group.period_us(quota) == period
    assert quota * period >= 1_000


def test_v1_and_v2_tell_quota_and_period(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1/cpu.cfs_quota_us").write_text("2500\n")
    (tmp_path / "v1/cpu.cfs_period_us").write_text("10000\n")
    (tmp_path / "v2").mkdir()
    (tmp_path / "v2/cpu.max").write_text("5000 20000\n")
    (tmp_path / "none").mkdir()
    (tmp_path / "none/cpu.max").write_text("max 100000\n")
    first, second = quota_in(tmp_path / "v1"), quota_in(tmp_path / "v2")
    assert first is not None
    assert (first.cpus, first.period_s) == (0.25, 0.01)
    assert second is not None
    assert (second.cpus, second.period_s) == (0.25, 0.02)
    assert quota_in(tmp_path / "none") is None


def test_only_the_group_that_a_process_is_in_itself_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/mountinfo").write_text("32 1 0:29 / /cg rw - cgroup cgroup rw,cpu\n")
    for name, quota in (("pod", "5000"), ("pod/own", "-1")):
        (tmp_path / "cg" / name).mkdir(parents=True)
        (tmp_path / "cg" / name / "cpu.cfs_quota_us").write_text(quota)
        (tmp_path / "cg" / name / "cpu.cfs_period_us").write_text("10000")
    machine = Machine(tmp_path)
    (tmp_path / "proc/7/cgroup").write_text("1:cpu:/pod\n")
    held = cpu_group.held_by(7, machine)
    assert held is not None
    assert held.cpus == 0.5
    (tmp_path / "proc/7/cgroup").write_text("1:cpu:/pod/own\n")
    assert cpu_group.held_by(7, machine) is None
    assert cpu_group.held_by(8, machine) is None


def test_where_no_group_can_be_made_the_factor_says_so(tmp_path: Path) -> None:
    found = cpu_group.place(Machine(tmp_path))
    assert isinstance(found, Absent)
    option = process.setting(process.SERVER_QUOTA, Machine(tmp_path))
    assert (option.unavailable(0.5) or "").startswith("absent: no control group above this process")
    assert option.unavailable(process.NO_QUOTA) is None


@pytest.mark.parametrize("level", [0, 0.009, -1, 1e9, True, "half", "nan"])
def test_a_level_that_is_no_quota_is_refused(level: Level) -> None:
    with pytest.raises(WrongInputError, match=r"host\.server\.quota takes a number from 0\.01 to"):
        examine(experiment(), Change(factor=QUOTA, level=level))


def test_a_quota_is_a_start_option_and_none_takes_it_away() -> None:
    parts = apply_changes(experiment(), [Change(factor=QUOTA, level="0.25")])
    assert parts.target.process == ProcessSpec(quota=0.25)
    parts = apply_changes(experiment(quota=0.5), [Change(factor=QUOTA, level="none")])
    assert parts.target.process == ProcessSpec()


def test_an_engine_without_a_server_has_no_quota() -> None:
    sqlite = experiment().model_copy(
        update={"target": experiment().target.model_copy(update={"engine": "sqlite"})}
    )
    refused = examine(sqlite, Change(factor=QUOTA, level=0.5)).refused or ""
    assert "runs in the driver" in refused


def test_a_process_with_another_quota_is_an_error() -> None:
    with pytest.raises(TargetError, match=r"was asked to be 0\.013, but the process runs with"):
        process.cpu_quota(0.013, 1)
