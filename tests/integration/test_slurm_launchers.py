"""What starts the ranks of an MPI world on a real Slurm, and what is found if it does not fit."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from lengths import LONG
from packages import do_without
from session import Session

from loadstone.errors import ExitCode, LoadstoneError
from loadstone.spec.target import TargetSpec
from loadstone.targets.slurm import Slurm

_WORDS = (
    *("run", "jobs", "--target", "slurm", "--param", "jobs=1", "--param", "ranks=4"),
    *("--param", "placement=distributed", "--param", "poll=100ms"),
    *("--param", "applications.pstm.columns=32", "--param", "applications.pstm.samples=64"),
)
_PARTED = "4 ranks asked, 4 worlds of 1 rank seen"


def _failed_checks(user: Session, launcher: str, code: ExitCode) -> dict[str, str]:
    """Detail of each check that failed, by name, of a migration with 4 ranks on two nodes."""
    done = user.run(*_WORDS, "--set", f"launcher={launcher}", "--json", "--quiet")
    assert done.returncode == code, done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    checks = trial["result"]["checks"]
    assert {"pstm-image", "pstm-sum", "placement is proved"} <= {each["name"] for each in checks}
    return {each["name"]: each["detail"] for each in checks if not each["passed"]}


@LONG
def test_an_mpi_job_that_is_four_single_jobs_is_invalid_though_its_image_is_right(
    tmp_path: Path,
) -> None:
    """Case 1, by the real srun: `--mpi=none` starts four worlds, `--mpi=pmix` one."""
    if find_spec("mpi4py") is None:
        do_without("mpi4py is not installed")
    try:
        Slurm.describe(TargetSpec(engine="slurm", settings={"launcher": "srun:pmix"}))
    except LoadstoneError as error:
        do_without(error.message)
    folder = tmp_path / "user"
    folder.mkdir()
    with Session(folder) as user:
        failed = _failed_checks(user, "srun:none", ExitCode.FAILED_CHECK)
        assert failed.keys() == {"placement is proved", "pstm-world"}
        assert all(_PARTED in detail for detail in failed.values())
        assert _failed_checks(user, "srun:pmix", ExitCode.OK) == {}
        refused = user.run(*_WORDS, "--set", "launcher=srun:pmi9")
        assert refused.returncode == ExitCode.WRONG_INPUT
        assert "this Slurm has no pmi9 (write one that it has: mpirun, " in refused.stderr
        user.assert_nothing_left()
