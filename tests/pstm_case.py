"""A small migration for tests: its input, its image by one rank, and a job that made it."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loadstone.applications.base import FinishedJob
from loadstone.applications.pstm.application import Pstm
from loadstone.applications.pstm.configuration import CONFIGURATION_FILE
from loadstone.applications.pstm.parameters import PstmParameters
from loadstone.applications.pstm.program import COMPILED_FOLDER
from loadstone.cache import cache_folder
from loadstone.job.record import JobRecord, RankRecord

SMALL = {
    "columns": 15,
    "samples": 151,
    "lines": 40,
    "aperture_m": 400.0,
    "offset_m": 400.0,
    "diffractors": 2,
}
SEED = 5


@dataclass(frozen=True)
class Case:
    """An application with its input and its serial image."""

    application: Pstm
    given: Path
    reference: Path


def made(folder: Path, seed: int = SEED, **changes: Any) -> Case:
    """What Numba compiles is kept for the next run of the tests, as for users."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / COMPILED_FOLDER))
    application = Pstm(PstmParameters.model_validate({**SMALL, **changes}))
    given, reference = folder / "given", folder / "reference"
    given.mkdir(parents=True)
    application.make_input(given, seed)
    reference.mkdir()
    migrated(given, reference)
    return Case(application, given, reference)


def migrated(given: Path, output: Path, survey: Path | None = None) -> None:
    """A rank alone, in this process."""
    from loadstone.applications.pstm.ranks import Ranks
    from loadstone.applications.pstm.running import migrate_survey

    shutil.copytree(given, output, dirs_exist_ok=True)
    if survey is not None:
        shutil.copyfile(survey, output / "survey.sgy")
    migrate_survey(output / CONFIGURATION_FILE, Ranks(None), time.monotonic())


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return made(tmp_path_factory.mktemp("pstm"))


@pytest.fixture
def job(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FinishedJob:
    """A job of one rank that ended well."""
    output = tmp_path / "desk" / "job-1" / "output"
    monkeypatch.setenv("LOADSTONE_OUTPUT", str(output))
    began_s = time.time()
    migrated(case.given, output)
    rank = RankRecord(0, "n1", [0], 1, 10)
    record = JobRecord(
        "job-1",
        "pstm",
        "n1",
        "boot",
        began_s,
        1.0,
        began_epoch_s=began_s,
        run_s=time.time() - began_s,
        ranks=[rank],
    )
    return FinishedJob(output, record, 1, case.given, case.reference)


def record() -> JobRecord:
    return JobRecord("job", "pstm", "n1", "boot", 0.0, 0.0)


def problems(case: Case, job: FinishedJob) -> dict[str, str]:
    return {each.name: each.detail for each in case.application.check(job) if not each.passed}
