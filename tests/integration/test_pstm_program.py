"""The migration itself: its image against known diffractors, against sums by hand, over ranks."""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import LONG, long_but

pytest.importorskip("numba", reason="numba is not installed (loadstone[jobs])")
pytest.importorskip("segyio", reason="segyio is not installed (loadstone[jobs])")

from loadstone.applications.base import FinishedJob
from loadstone.applications.pstm.application import FRESH, IMAGE, SUM, WORLD, Pstm
from loadstone.applications.pstm.configuration import (
    CONFIGURATION_FILE,
    Configuration,
    read_configuration,
)
from loadstone.applications.pstm.image import read_image, read_progress
from loadstone.applications.pstm.parameters import PstmParameters
from loadstone.applications.pstm.program import words
from loadstone.applications.pstm.survey import Positions, Survey, open_survey
from loadstone.applications.pstm.synthetic import IBM, write_segy
from loadstone.applications.pstm.velocity import velocity_field
from loadstone.errors import WrongInputError
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


@pytest.fixture(scope="module", autouse=True)
def _compiled_once() -> None:
    """What Numba compiles is kept for the next run of the tests, as for users."""
    from loadstone.applications.pstm.program import COMPILED_FOLDER
    from loadstone.cache import cache_folder

    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / COMPILED_FOLDER))


@dataclass(frozen=True)
class Case:
    """An application with its input and its serial image."""

    application: Pstm
    given: Path
    reference: Path


def made(folder: Path, seed: int = SEED, **changes: Any) -> Case:
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


def problems(case: Case, job: FinishedJob) -> dict[str, str]:
    return {each.name: each.detail for each in case.application.check(job) if not each.passed}


def test_a_right_job_passes_every_check(case: Case, job: FinishedJob) -> None:
    found = case.application.check(job)
    assert [each.name for each in found] == list(case.application.claims)
    assert problems(case, job) == {}
    assert case.application.progress(job.output) == 1.0


def test_the_same_seed_makes_the_same_bytes(case: Case, tmp_path: Path) -> None:
    facts = case.application.make_input(tmp_path, SEED)
    (tmp_path / "other").mkdir()
    other = case.application.make_input(tmp_path / "other", SEED + 1)
    for name in facts.sums:
        assert (tmp_path / name).read_bytes() == (case.given / name).read_bytes()
    assert facts.sums["survey.sgy"] != other.sums["survey.sgy"]
    assert {each.name for each in facts.files} == {"survey.sgy", "pstm.json", "velocities.csv"}


@pytest.mark.parametrize("seed", long_but([0], range(5)))
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"antialias": False},
        {"antialias": False, "interpolation": "cubic"},
        {"weights": False, "taper": 0.0},
        {"velocity_m_s": 2200.0, "dip_deg": 35.0},
        {"antialias_spacing_m": 60.0},
    ],
    ids=lambda changes: "-".join(map(str, changes)) or "usual",
)
def test_diffractors_are_where_they_must_be(
    tmp_path: Path, changes: dict[str, Any], seed: int
) -> None:
    own = made(tmp_path, seed, **changes)
    verdict = own.application.check(
        FinishedJob(own.reference, _record(), 1, own.given, own.reference)
    )[0]
    assert verdict.name == IMAGE
    assert verdict.passed, verdict.detail


def test_a_diffractor_moved_by_a_sample_is_caught(tmp_path: Path) -> None:
    own = made(tmp_path, fault="moved-diffractor")
    finished = FinishedJob(own.reference, _record(), 1, own.given, own.reference)
    assert (
        "diffractor 1 is seen 0 and 0 columns and 1 samples away" in problems(own, finished)[IMAGE]
    )
    assert SUM not in problems(own, finished)


def test_an_image_of_yesterday_is_caught(case: Case, job: FinishedJob) -> None:
    later = replace(job, record=replace(job.record, name="job-2"))
    assert problems(case, later) == {FRESH: "the image is of job job-1, not of job-2"}
    again = replace(job, record=replace(job.record, began_epoch_s=time.time() + 3600))
    assert list(problems(case, again)) == [FRESH]


def test_single_jobs_in_the_place_of_ranks_are_caught(case: Case, job: FinishedJob) -> None:
    assert problems(case, replace(job, ranks=4)) == {
        WORLD: "4 ranks asked, 4 worlds of 1 rank seen"
    }


def test_a_job_without_output_is_no_error(case: Case, job: FinishedJob, tmp_path: Path) -> None:
    found = problems(case, replace(job, output=tmp_path / "nothing"))
    assert list(found) == list(case.application.claims)


def test_a_truncated_survey_is_refused(case: Case, tmp_path: Path) -> None:
    survey = tmp_path / "survey.sgy"
    whole = (case.given / "survey.sgy").read_bytes()
    survey.write_bytes(whole[:-1000])
    with pytest.raises(WrongInputError, match="truncated"):
        Pstm(PstmParameters(segy=str(survey))).examine()
    with Survey(case.given / "survey.sgy") as file:
        trace_bytes = file.form.trace_bytes
    survey.write_bytes(whole[:-trace_bytes])
    with pytest.raises(WrongInputError, match="1599 traces, 1600 expected"):
        migrated(case.given, tmp_path / "out", survey)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_images_agree_over_ranks(case: Case, size: int) -> None:
    from loadstone.applications.pstm.ranks import Ranks
    from loadstone.applications.pstm.running import Migration

    class Member:
        def __init__(self, rank: int) -> None:
            self.rank = rank

        def Get_rank(self) -> int:  # noqa: N802 - as of mpi4py
            return self.rank

        def Get_size(self) -> int:  # noqa: N802
            return size

    configuration = read_configuration(case.given / CONFIGURATION_FILE)
    total = np.zeros((configuration.grid.count, configuration.grid.samples))
    with open_survey(case.given / configuration.survey, configuration.traces) as survey:
        for rank in range(size):
            part = Migration(configuration, case.given, survey)
            for portion in survey.portions(*Ranks(Member(rank)).share(configuration.traces), 64):
                part.add(portion)
            total += part.image
    one = read_image(case.reference).values
    assert np.abs(total - one).max() <= 1e-12 * np.abs(one).max()


@pytest.mark.parametrize("mode", ["filter", "linear", "cubic"])
def test_the_sum_is_that_of_the_formulas(case: Case, mode: str) -> None:
    """A few traces, each sample by hand."""
    from loadstone.applications.pstm.running import Migration

    configuration = read_configuration(case.given / CONFIGURATION_FILE)
    operator = replace(
        configuration.operator,
        antialias=mode == "filter",
        interpolation="cubic" if mode == "cubic" else "linear",
    )
    configuration = replace(configuration, operator=operator)
    with open_survey(case.given / configuration.survey, configuration.traces) as survey:
        migration = Migration(configuration, case.given, survey)
        (portion,) = survey.portions(780, 783, 3)
        migration.add(portion)
    grid = configuration.grid
    for column, sample in itertools.product((0, 7 * 15 + 7, 224), (40, 90, 150)):
        x, y = (float(each[column]) for each in grid.places())
        by_hand = sum(_share(portion, number, x, y, sample, configuration) for number in range(3))
        assert migration.image[column, sample] == pytest.approx(by_hand, rel=1e-9, abs=1e-12)


def _share(  # noqa: PLR0917 - one place of one trace
    portion: Any, number: int, x: float, y: float, sample: int, configuration: Configuration
) -> float:
    from loadstone.applications.pstm.preparing import derivative

    grid, operator = configuration.grid, configuration.operator
    tau = sample * grid.interval_s
    v = 1800 + 500 * tau
    at = portion.positions
    sx, sy = at.source_x[number], at.source_y[number]
    gx, gy = at.group_x[number], at.group_y[number]
    far = math.hypot(x - (sx + gx) / 2, y - (sy + gy) / 2)
    if far >= operator.aperture_m or far > v * tau / 2 * operator.cone:
        return 0.0
    ts = math.sqrt(tau**2 / 4 + ((x - sx) ** 2 + (y - sy) ** 2) / v**2)
    tr = math.sqrt(tau**2 / 4 + ((x - gx) ** 2 + (y - gy) ** 2) / v**2)
    gain = min(1.0, (operator.aperture_m - far) / (operator.taper * operator.aperture_m))
    weight = tau / 8 * (ts + tr) * (1 / ts**2 + 1 / tr**2)
    trace = derivative(portion.values[number : number + 1], grid.interval_s)[0]
    steepest = max(abs((x - sx) / ts + (x - gx) / tr), abs((y - sy) / ts + (y - gy) / tr)) / v**2
    half = max(1.0, operator.antialias_spacing_m * steepest / grid.interval_s)
    return gain * weight * _value(trace, (ts + tr) / grid.interval_s, half, operator)


def _value(trace: np.ndarray, place: float, half: float, operator: Any) -> float:
    padded = np.concatenate((np.zeros(50), trace, np.zeros(50)))
    place += 50
    if operator.antialias:
        twice = np.concatenate(([0.0], np.cumsum(np.cumsum(padded))[:-1]))
        around = [
            np.interp(at, np.arange(len(twice)), twice)
            for at in (place - half, place, place + half)
        ]
        return float((around[0] - 2 * around[1] + around[2]) / half**2)
    whole = int(place)
    if operator.interpolation == "linear":
        return float(np.interp(place, np.arange(len(padded)), padded))
    p, t = padded[whole - 1 : whole + 3], place - whole
    return float(
        p[1]
        + 0.5
        * t
        * (
            p[2]
            - p[0]
            + t * (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3] + t * (3 * (p[1] - p[2]) + p[3] - p[0]))
        )
    )


def test_ibm_floats_give_the_same_image(case: Case, tmp_path: Path) -> None:
    with Survey(case.given / "survey.sgy") as file:
        (portion,) = file.portions(0, file.form.traces, file.form.traces)
    survey = tmp_path / "ibm.sgy"
    write_segy(survey, portion.positions, portion.values, 0.004, IBM)
    migrated(case.given, tmp_path / "out", survey)
    ours, theirs = read_image(tmp_path / "out").values, read_image(case.reference).values
    assert np.abs(ours - theirs).max() <= 1e-6 * np.abs(theirs).max()


def test_dead_traces_are_left_out_and_counted(case: Case, tmp_path: Path) -> None:
    survey = tmp_path / "survey.sgy"
    data = bytearray((case.given / "survey.sgy").read_bytes())
    struct.pack_into(">h", data, 3600 + 28, 2)
    survey.write_bytes(data)
    migrated(case.given, tmp_path / "out", survey)
    told = read_image(tmp_path / "out").told
    assert (told.traces, told.skipped) == (1600, 1)


@pytest.mark.parametrize(
    ("at", "value", "told"),
    [
        (88, 3, "degrees"),
        (108, 40, "traces begin at 0 to 40 ms"),
        (114, 7, "a trace has 7 samples"),
    ],
)
def test_headers_that_are_not_read_are_refused(
    case: Case, tmp_path: Path, at: int, value: int, told: str
) -> None:
    data = bytearray((case.given / "survey.sgy").read_bytes())
    struct.pack_into(">h", data, 3600 + at, value)
    (tmp_path / "a.sgy").write_bytes(data)
    with pytest.raises(WrongInputError, match=told), Survey(tmp_path / "a.sgy") as survey:
        survey.positions()


@pytest.mark.parametrize(
    ("scalar", "system", "factor"),
    [
        (-100, 1, 1.0),
        (-10, 1, 10.0),
        (1, 1, 100.0),
        (0, 1, 100.0),
        (10, 1, 1000.0),
        (-100, 2, 0.3048),
    ],
)
def test_coordinates_are_in_metres(
    case: Case, tmp_path: Path, scalar: int, system: int, factor: float
) -> None:
    data = bytearray((case.given / "survey.sgy").read_bytes())
    struct.pack_into(">h", data, 3254, system)
    struct.pack_into(">h", data, 3600 + 70, scalar)
    (tmp_path / "a.sgy").write_bytes(data)
    with Survey(case.given / "survey.sgy") as survey, Survey(tmp_path / "a.sgy") as scaled:
        right, found = survey.positions(), scaled.positions()
    for name in ("source_x", "source_y", "group_x", "group_y"):
        assert getattr(found, name)[0] == pytest.approx(factor * getattr(right, name)[0])


def test_a_cube_of_velocities_may_be_segy(tmp_path: Path) -> None:
    grid = PstmParameters.model_validate(SMALL).grid(0.0, 0.0)
    nowhere = Positions(*np.zeros((4, grid.count)))
    # Samples twice as far apart as those of the image: what is between is linear.
    values = np.linspace(1500, 3000, 76) + np.arange(grid.count)[:, np.newaxis]
    write_segy(tmp_path / "v.sgy", nowhere, values.astype(np.float32), 2 * grid.interval_s)
    field = velocity_field("v.sgy", tmp_path, grid)
    assert field.values.shape == (grid.count, grid.samples)
    assert field.values[field.row[17], 3] == pytest.approx(1500 + 3 * 10 + 17, rel=1e-6)
    write_segy(
        tmp_path / "v.sgy", Positions(*np.zeros((4, 9))), values[:9].astype(np.float32), 0.004
    )
    with pytest.raises(WrongInputError, match="9 traces; the image has 225 columns"):
        velocity_field("v.sgy", tmp_path, grid)


def test_a_survey_of_the_user_is_migrated(case: Case, tmp_path: Path) -> None:
    own = {name: SMALL[name] for name in ("columns", "samples", "aperture_m")}
    survey = shutil.copyfile(case.given / "survey.sgy", tmp_path / "line.sgy")
    application = Pstm(PstmParameters.model_validate({**own, "segy": str(survey)}))
    given, output = tmp_path / "given", tmp_path / "output"
    given.mkdir()
    facts = application.make_input(given, 0)
    assert facts.files[0].path == Path(survey)
    migrated(given, output, Path(survey))
    found = application.check(FinishedJob(output, _record(), 1, given, output))
    assert {each.name: each.passed for each in found}[IMAGE]
    middle = read_configuration(given / CONFIGURATION_FILE).grid
    assert middle.x_m == pytest.approx(0.0, abs=25.0)


def _record() -> JobRecord:
    return JobRecord("job", "pstm", "n1", "boot", 0.0, 0.0)


def _run(case: Case, folder: Path, launcher: list[str]) -> subprocess.CompletedProcess[str]:
    shutil.copytree(case.given, folder)
    return subprocess.run(
        [*launcher, *words(sys.executable)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _mpirun(ranks: int) -> list[str]:
    program = shutil.which("mpirun")
    if program is None:
        pytest.skip("mpirun is not installed (Debian package openmpi-bin)")
    pytest.importorskip("mpi4py", reason="mpi4py is not installed (loadstone[jobs])")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    yielding = ["--mca", "mpi_yield_when_idle", "1"]
    return [program, *root, "--oversubscribe", "--bind-to", "none", *yielding, "-n", str(ranks)]


def test_the_program_runs_alone_and_says_what_is_wrong(case: Case, tmp_path: Path) -> None:
    reference = tmp_path / "reference"
    reference.mkdir()
    case.application.make_reference(case.given, reference, sys.executable)
    assert sorted(each.name for each in reference.iterdir()) == ["image.json", "image.npy"]
    alone, here = read_image(reference), read_image(case.reference)
    assert np.array_equal(alone.values, here.values)
    shutil.copytree(case.given, tmp_path / "cut")
    (tmp_path / "cut" / "survey.sgy").write_bytes(b"x" * 5000)
    failed = subprocess.run(
        words(sys.executable), cwd=tmp_path / "cut", capture_output=True, text=True, check=False
    )
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1
    assert failed.stderr.startswith("pstm: survey.sgy")


def _worlds(case: Case, folder: Path, ranks: int) -> None:
    done = _run(case, folder, _mpirun(ranks))
    assert done.returncode == 0, done.stderr
    world = json.loads((folder / "world.json").read_text())
    assert world["size"] == ranks
    assert len(world["hosts"]) == ranks
    image, one = read_image(folder), read_image(case.reference)
    assert image.told.traces == one.told.traces
    assert image.told.updates == one.told.updates
    assert np.abs(image.values - one.values).max() <= 1e-12 * np.abs(one.values).max()
    assert read_progress(folder) == 1.0


def test_two_ranks_are_one_world(case: Case, tmp_path: Path) -> None:
    _worlds(case, tmp_path / "work", 2)


@LONG
@pytest.mark.parametrize("ranks", [3, 4])
def test_more_ranks_are_one_world(case: Case, tmp_path: Path, ranks: int) -> None:
    _worlds(case, tmp_path / "work", ranks)


@LONG
def test_ranks_that_do_not_find_each_other_make_right_images(case: Case, job: FinishedJob) -> None:
    """As where the launcher knows nothing of the MPI library: four do the whole work each."""
    for name in ("image.json", "image.npy", "world.json"):
        (job.output / name).unlink()
    alone = [subprocess.Popen(words(sys.executable), cwd=job.output) for _ in range(4)]
    assert [process.wait(timeout=300) for process in alone] == [0, 0, 0, 0]
    record = replace(job.record, run_s=time.time() - job.record.began_epoch_s)
    found = problems(case, replace(job, ranks=4, record=record))
    assert found == {WORLD: "4 ranks asked, 4 worlds of 1 rank seen"}


@LONG
def test_a_rank_that_fails_ends_the_others(case: Case, tmp_path: Path) -> None:
    launcher = _mpirun(2)
    shutil.copytree(case.given, tmp_path / "work")
    (tmp_path / "work" / "velocities.csv").write_text("wrong\n")
    done = subprocess.run(
        [*launcher, *words(sys.executable)],
        cwd=tmp_path / "work",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert "the first line must be" in done.stderr
