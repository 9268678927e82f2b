"""Slurm by commands that answer as they are told: what is asked of them, and how often."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.schedulers.base import Request, SchedulerError, SchedulerSpec, SubmissionError
from loadstone.schedulers.slurm import Slurm
from loadstone.spec.target import TargetSpec
from loadstone.targets.slurm import Slurm as OwnedSlurm
from loadstone.targets.slurm import SlurmAtAddress

_JOB = "7|ls-a|COMPLETED|2026-11-28T00:10:00|2026-11-28T00:10:00|2026-11-28T00:10:09|00:01|||n1"
_TYPES = 'echo "MPI plugin types are..."; printf "\\tnone\\n\\tpmix\\n"'


def _slurm(folder: Path, launcher: str = "mpirun", **scripts: str) -> Slurm:
    """Its commands are scripts; each call of one is a line of the file `calls`."""
    for name, script in scripts.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\necho {name} >> "{folder}/calls"\n{script}\n')
        path.chmod(0o755)
    environment = {"PATH": str(folder)}
    spec = SchedulerSpec(kind="slurm", environment=environment, launcher=launcher)
    return Slurm(spec)


def _request(folder: Path, ranks: int = 4) -> Request:
    return Request("ls-a", folder / "job.sh", folder, ranks, 2, ranks // 2, 60)


def test_the_accounting_is_asked_once(tmp_path: Path) -> None:
    slurm = _slurm(tmp_path, sacct=f"echo '{_JOB}'")
    assert slurm.accounting("ls-")["ls-a"].state == "ended"
    assert (tmp_path / "calls").read_text().splitlines() == ["sacct"]


def test_no_accounting_is_no_failure_and_one_that_does_not_answer_is(tmp_path: Path) -> None:
    disabled = 'echo "Slurm accounting storage is disabled" >&2; exit 1'
    slurm = _slurm(tmp_path, sacct=disabled)
    assert slurm.accounting("ls-") == {}
    assert slurm.accounting_missing() == "sacct says: Slurm accounting storage is disabled"
    silent = _slurm(tmp_path, sacct='echo "sacct: error: Connection refused" >&2; exit 1')
    with pytest.raises(SchedulerError, match="Connection refused"):
        silent.accounting("ls-")


def test_a_queue_that_stays_full_is_a_refusal(tmp_path: Path) -> None:
    said = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying"
    slurm = _slurm(tmp_path, sbatch=f'echo "{said}" >&2; /bin/sleep 600')
    brief = slurm.spec.model_copy(update={"call_timeout_s": 0.5})
    with pytest.raises(SubmissionError, match=r"its queue was full for 0\.5 s") as refused:
        Slurm(brief).submit(_request(tmp_path))
    assert not refused.value.doubtful
    assert "ask for fewer jobs" in str(refused.value.advice)


def test_the_ranks_of_a_world_are_started_by_the_launcher_that_was_chosen(tmp_path: Path) -> None:
    request = _request(tmp_path)
    assert _slurm(tmp_path).launcher(request, "mpi")[0] == "mpirun"
    site = _slurm(tmp_path, "srun").launcher(request, "mpi")
    assert site[:3] == ["srun", "--nodes=2", "--ntasks=4"]
    assert not any(word.startswith("--mpi=") for word in site)
    named = _slurm(tmp_path, "srun:pmix").launcher(request, "mpi")
    assert {"--mpi=pmix", "--kill-on-bad-exit=1"} <= set(named)
    assert "--mpi=none" in _slurm(tmp_path, "srun:pmix").launcher(request, "plain")


def test_ranks_that_srun_starts_give_way_as_those_of_mpirun(tmp_path: Path) -> None:
    spec = SchedulerSpec(kind="slurm", launcher="srun:pmix", yield_when_idle=True)
    words = Slurm(spec).launcher(_request(tmp_path), "mpi")
    assert words[-2:] == ["env", "OMPI_MCA_mpi_yield_when_idle=1"]


def test_a_type_of_mpi_that_this_slurm_does_not_have_is_refused(tmp_path: Path) -> None:
    _slurm(tmp_path, "srun:pmix", srun=_TYPES).check_launcher()
    with pytest.raises(WrongInputError, match="this Slurm has no pmi2") as refused:
        _slurm(tmp_path, "srun:pmi2", srun=_TYPES).check_launcher()
    assert "srun:none, srun:pmix" in str(refused.value.advice)
    with pytest.raises(SchedulerError, match="tells no type of MPI: srun: fatal"):
        _slurm(tmp_path, "srun:pmix", srun="echo 'srun: fatal: x' >&2; exit 1").check_launcher()


@pytest.mark.parametrize("target", [OwnedSlurm, SlurmAtAddress])
def test_a_launcher_is_a_setting_of_every_slurm(
    target: type[OwnedSlurm] | type[SlurmAtAddress],
) -> None:
    spec = TargetSpec(engine="slurm")
    assert target.setting(spec, "launcher", "srun:pmix_v4").default == "mpirun"
    for wrong in ("aprun", "srun:", "srun --mpi=pmix", "srun:pmix;id"):
        with pytest.raises(LoadstoneError, match=r"target\.launcher is"):
            target.setting(spec, "launcher", wrong)
