"""The program of the migration: what it reads of surveys and velocities, alone and over ranks."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lengths import LONG

pytest.importorskip("numba", reason="numba is not installed (loadstone[jobs])")
pytest.importorskip("segyio", reason="segyio is not installed (loadstone[jobs])")

from pstm_case import SMALL, Case, case, job, migrated, problems, record

from loadstone.applications.base import FinishedJob
from loadstone.applications.pstm.application import IMAGE, WORLD, Pstm
from loadstone.applications.pstm.configuration import CONFIGURATION_FILE, read_configuration
from loadstone.applications.pstm.image import read_image, read_progress
from loadstone.applications.pstm.parameters import PstmParameters
from loadstone.applications.pstm.program import words
from loadstone.applications.pstm.survey import Positions, Survey
from loadstone.applications.pstm.synthetic import IBM, write_segy
from loadstone.applications.pstm.velocity import velocity_field
from loadstone.errors import WrongInputError

__all__ = ["case", "job"]


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
    found = application.check(FinishedJob(output, record(), 1, given, output))
    assert {each.name: each.passed for each in found}[IMAGE]
    middle = read_configuration(given / CONFIGURATION_FILE).grid
    assert middle.x_m == pytest.approx(0.0, abs=25.0)


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
