"""The target `local`: what it refuses before anything is begun, and what it says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from target_context import context_in

from loadstone.errors import TargetError, WrongInputError
from loadstone.journal import open_journals
from loadstone.schedulers.base import JobState, Request, SchedulerError, SchedulerSpec
from loadstone.schedulers.plain import Plain
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets import cluster
from loadstone.targets.cluster import ClusterSetting, cancel_announced
from loadstone.targets.plain import Local
from loadstone.targets.plain.target import processors


def spec(**fields: Any) -> TargetSpec:
    return TargetSpec(engine="local", **fields)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"server": "slurm://debug"}, "this machine, and has no server"),
        ({"process": {"cpus": "0"}}, "starts no server"),
        ({"storage": {"data": "tmpfs"}}, "starts no server"),
        ({"data": "/no/such/folder"}, "data: there is no folder"),
        ({"settings": {"scratch": "/no/such/folder"}}, "target.scratch: there is no folder"),
        ({"settings": {"slots": 0}}, "target.slots is 0"),
        ({"settings": {"slots": 1.5}}, "target.slots is 1.5"),
        ({"settings": {"slot": 1}}, "no setting 'slot'; .*slots"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(WrongInputError, match=told):
        Local.describe(spec(**fields))


def test_it_has_a_slot_for_each_processor_unless_told_otherwise() -> None:
    assert Local.describe(spec())["slots"] == str(processors())
    assert Local.describe(spec(settings={"slots": 1}))["slots"] == "1"
    assert Local.cautions(spec(), ProfileSpec()) == []


def test_more_slots_than_processors_are_functional_only(tmp_path: Path) -> None:
    crowded = spec(settings={"slots": processors() + 1})
    (notice,) = Local.cautions(crowded, ProfileSpec())
    assert notice.code == "functional-only"
    target = Local(crowded, context_in(tmp_path))
    assert "share" in target.functional_only()
    with pytest.raises(TargetError, match="not open"):
        target.scheduler_spec()
    target.context.journal.close()


@pytest.mark.parametrize(
    ("setting", "level", "told"),
    [
        (ClusterSetting("", 1, least=1, most=8, whole=True), 9, "a whole number from 1 to 8"),
        (ClusterSetting("", 1, least=0.5), "x", "a number from 0.5"),
        (ClusterSetting("", "a", levels=("a", "b")), "c", "one of a, b"),
    ],
)
def test_a_level_out_of_range_is_told_with_the_range(
    setting: ClusterSetting, level: Any, told: str
) -> None:
    with pytest.raises(WrongInputError) as refused:
        setting.check("x", level)
    assert refused.value.advice is not None
    assert told in refused.value.advice


def test_several_mpi_ranks_without_mpirun_are_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Plain(SchedulerSpec(kind="plain", state=str(tmp_path), environment={}))
    monkeypatch.setattr(scheduler._commands, "find", lambda _program: None)
    request = Request("ls-1", tmp_path / "x", tmp_path, 2, 1, 2, 60)
    with pytest.raises(WrongInputError, match="mpirun is not installed") as refused:
        scheduler.launcher(request, "mpi")
    assert "openmpi-bin" in str(refused.value.advice)
    assert scheduler.launcher(request, "plain")[1:3] == ["-m", "loadstone.job.spawn"]
    assert scheduler.launcher(Request("ls-1", tmp_path, tmp_path, 1, 1, 1, 60), "mpi") == []


def test_a_scheduler_that_does_not_cancel_stays_in_the_journal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cluster, "_GONE_S", 0.0)
    monkeypatch.setattr(cluster, "_LOOK_S", 0.0)
    monkeypatch.setattr(Plain, "cancel_all", lambda _self, _prefix: ["7"])
    data = {"scheduler": {"kind": "plain", "state": str(tmp_path)}, "prefix": "ls-"}
    with pytest.raises(TargetError, match=r"1 job ls-\* did not end") as left:
        cancel_announced(data)
    assert "recover" in str(left.value.advice)


def test_a_scheduler_that_is_silent_is_given_up_and_tried_again_before_the_next_trial(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second try is shorter; the end of the run tells what is left, and asks no more."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(cluster, "_LOOK_S", 0.0)
    asked: list[float] = []

    def silent(self: Plain, _prefix: str) -> dict[str, JobState]:
        asked.append(self.spec.call_timeout_s)
        raise SchedulerError("squeue did not answer")

    context = context_in(tmp_path)
    target = Local(spec(), context)
    target.open()
    impatient = target.scheduler_spec().model_copy(update={"call_timeout_s": 0.001})
    monkeypatch.setattr(Local, "scheduler_spec", lambda _self: impatient)
    monkeypatch.setattr(cluster, "_AGAIN_CALL_S", 0.0005)
    target.announce("ls-")
    with monkeypatch.context() as hung:
        hung.setattr(Plain, "jobs", silent)
        for _ in range(2):
            with pytest.raises(TargetError, match=r"jobs ls-\* could not be cancelled") as left:
                target.forget_all()
        assert "loadstone recover" in str(left.value.advice)
        assert {asked[0], asked[-1]} == {0.001, 0.0005}
        with pytest.raises(TargetError, match="squeue did not answer"):
            target.close()
        asked.clear()
        with pytest.raises(ExceptionGroup) as told:
            context.journal.close()
        assert asked == []
    assert "run jobs ls-* by" in str(told.value.exceptions[0])
    (journal,) = open_journals()
    assert journal.recover(lambda _entry, _error: None)
