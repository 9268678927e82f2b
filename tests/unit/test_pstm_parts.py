"""The migration without its libraries: forms of files, parameters, and what a check says."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from loadstone.applications.pstm import checking
from loadstone.applications.pstm.configuration import (
    Configuration,
    Grid,
    Operator,
    read_configuration,
)
from loadstone.applications.pstm.diffractors import Known
from loadstone.applications.pstm.form import METRES_OF_FOOT, form_of
from loadstone.applications.pstm.image import (
    IMAGE_FILE,
    Image,
    Told,
    read_image,
    read_progress,
    write_image,
    write_progress,
)
from loadstone.applications.pstm.parameters import PstmParameters
from loadstone.applications.pstm.program import PROGRAM
from loadstone.applications.pstm.ranks import Ranks, joined
from loadstone.applications.pstm.velocity import velocity_field, write_table
from loadstone.errors import WrongInputError
from loadstone.job.record import JobRecord

GRID = Grid(0.0, 0.0, 25.0, 9, 40, 0.004)
OPERATOR = Operator(500.0, 0.2, 60.0, True, True, 25.0, "linear")
CONFIGURATION = Configuration("survey.sgy", 100, "2000", GRID, OPERATOR)
TOLD = Told("job-1", 1, 100, 2, 1000, 0.5, 0.1, "", 1000.0)
RECORD = JobRecord("job-1", "pstm", "n1", "boot", 990.0, 1.0, began_epoch_s=995.0, run_s=8.0)


def segy(
    path: Path, *, traces: int = 3, samples: int = 10, format_: int = 5, system: int = 1
) -> Path:
    header = bytearray(400)
    for at, value in ((3217, 4000), (3221, samples), (3225, format_), (3255, system)):
        struct.pack_into(">H", header, at - 3201, value)
    path.write_bytes(b"\x40" * 3200 + header + bytes(traces * (240 + 4 * samples)))
    return path


@pytest.mark.parametrize("format_", [1, 5])
def test_the_form_of_a_file_is_read(tmp_path: Path, format_: int) -> None:
    form = form_of(segy(tmp_path / "a.sgy", format_=format_))
    assert (form.traces, form.samples, form.format) == (3, 10, format_)
    assert form.interval_s == pytest.approx(0.004)
    assert form.metres == 1.0


def test_feet_are_known(tmp_path: Path) -> None:
    assert form_of(segy(tmp_path / "a.sgy", system=2)).metres == METRES_OF_FOOT


def test_textual_headers_behind_the_first_are_passed_over(tmp_path: Path) -> None:
    path = segy(tmp_path / "a.sgy")
    data = bytearray(path.read_bytes())
    struct.pack_into(">H", data, 3504, 1)
    path.write_bytes(bytes(data[:3600]) + b"\x40" * 3200 + bytes(data[3600:]))
    assert form_of(path).traces == 3


@pytest.mark.parametrize("lost", [1, 40, 240, 279])
def test_a_truncated_file_is_refused_by_name(tmp_path: Path, lost: int) -> None:
    path = segy(tmp_path / "line.sgy")
    path.write_bytes(path.read_bytes()[:-lost])
    with pytest.raises(WrongInputError, match=r"line\.sgy is truncated: 2 whole traces"):
        form_of(path)


@pytest.mark.parametrize(
    ("format_", "told"),
    [(2, "4-byte integers"), (8, "1-byte integers"), (0x0500, "little-endian"), (77, "unknown")],
)
def test_forms_that_are_not_read_are_named(tmp_path: Path, format_: int, told: str) -> None:
    with pytest.raises(WrongInputError, match=told):
        form_of(segy(tmp_path / "a.sgy", format_=format_))


def test_what_is_no_segy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sgy"
    with pytest.raises(WrongInputError, match="cannot be read"):
        form_of(path)
    path.write_bytes(b"x" * 3000)
    with pytest.raises(WrongInputError, match="3000 bytes, and SEG-Y headers have 3600"):
        form_of(path)
    with pytest.raises(WrongInputError, match="0 samples"):
        form_of(segy(path, samples=0))
    with pytest.raises(WrongInputError, match="no traces"):
        form_of(segy(path, traces=0))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"segy": "a.sgy", "lines": 10}, "lines is of a made survey"),
        ({"origin_x_m": 5.0}, "origin_x_m needs segy"),
        ({"velocities": "v.csv", "velocity_m_s": 2000.0}, "give one of them"),
        ({"interpolation": "cubic"}, "cubic needs antialias: false"),
        ({"diffractors": 17}, "17 diffractors have no room"),
        ({"frequency_hz": 60.0}, "60 is too high for samples of 4 ms: 25 at most"),
        ({"columns": 5000, "samples": 1000}, "too large"),
    ],
)
def test_parameters_that_do_not_fit_together(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        PstmParameters.model_validate(given)


def test_a_configuration_comes_back(tmp_path: Path) -> None:
    path = CONFIGURATION.write(tmp_path)
    assert read_configuration(path) == CONFIGURATION
    path.write_text("{}")
    with pytest.raises(WrongInputError, match="no configuration"):
        read_configuration(path)


def test_velocities_have_three_forms(tmp_path: Path) -> None:
    assert velocity_field("2000", tmp_path, GRID).values.tolist() == [[2000.0] * 40]
    write_table(tmp_path / "v.csv", np.array([0.0, 0.156]), np.array([1800.0, 2580.0]))
    table = velocity_field("v.csv", tmp_path, GRID)
    assert table.values[0] == pytest.approx(1800 + 5000 * GRID.times_s())
    assert set(table.row) == {0}
    cube = np.random.default_rng(1).uniform(1500, 3000, (9, 9, 40))
    np.save(tmp_path / "v.npy", cube)
    field = velocity_field("v.npy", tmp_path, GRID)
    assert field.values[field.row[9 * 2 + 5]].tolist() == cube[2, 5].tolist()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("v.csv", "t,v\n0,1\n", "first line must be time_s,velocity_m_s"),
        ("v.csv", "time_s,velocity_m_s\n1,2000\n0,2000\n", "a later time"),
        ("v.csv", "time_s,velocity_m_s\n0,fast\n", "no table of numbers"),
        ("v.csv", "time_s,velocity_m_s\n0,1.8\n", "1.8 to 1.8 m/s"),
        ("v.npy", "", "no npy file"),
        ("v.txt", "", "neither metres a second nor a file"),
    ],
)
def test_velocities_that_cannot_be_used(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(WrongInputError, match=told):
        velocity_field(name, tmp_path, GRID)


def test_a_cube_of_another_size_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.full((9, 9, 39), 2000.0))
    with pytest.raises(WrongInputError, match=r"\(9, 9, 39\)"):
        velocity_field("v.npy", tmp_path, GRID)


def image_with(*points: tuple[int, int, float]) -> np.ndarray:
    values = np.zeros((GRID.count, GRID.samples))
    for column, sample, value in points:
        values[column, sample] = value
    return values


def test_a_diffractor_at_its_place_passes() -> None:
    known = [Known(40, 20, 3.0), Known(20, 12, -2.0)]
    found = checking.against_diffractors(image_with((40, 20, 3.03), (20, 12, -1.99)), GRID, known)
    assert found.problem == ""
    assert "1.00% off at most" in found.detail


@pytest.mark.parametrize(
    ("column", "sample", "told"),
    [
        (40, 21, "0 and 0 columns and 1 samples away"),
        (40, 19, "0 and 0 columns and -1 samples away"),
        (41, 20, "0 and 1 columns and 0 samples away"),
        (31, 20, "-1 and 0 columns and 0 samples away"),
    ],
)
def test_a_moved_diffractor_is_caught(column: int, sample: int, told: str) -> None:
    image = image_with((40, 20, 2.9), (column, sample, 3.0))
    found = checking.against_diffractors(image, GRID, [Known(40, 20, 3.0)])
    assert told in found.problem


@pytest.mark.parametrize("value", [2.8, 3.2, -3.0, float("nan")])
def test_a_wrong_amplitude_is_caught(value: float) -> None:
    found = checking.against_diffractors(image_with((40, 20, value)), GRID, [Known(40, 20, 3.0)])
    assert "times as strong" in found.problem


def test_images_may_differ_by_the_order_of_sums_only() -> None:
    image = image_with((40, 20, 3.0))
    assert checking.against_image(image * (1 + 1e-13), image).problem == ""
    assert "not that of one rank" in checking.against_image(image * (1 + 1e-11), image).problem
    assert "not that of one rank" in checking.against_image(image * np.nan, image).problem
    assert "values" in checking.against_image(image[:-1], image).problem


def test_an_image_of_a_users_survey_is_not_empty() -> None:
    assert checking.against_nothing(image_with((40, 20, 3.0))).problem == ""
    assert "empty" in checking.against_nothing(image_with()).problem
    assert "no numbers" in checking.against_nothing(image_with((1, 1, np.inf))).problem


def test_wholeness() -> None:
    image = Image(image_with(), TOLD, is_whole=True)
    assert checking.wholeness(image, CONFIGURATION).problem == ""
    less = replace(image, told=replace(TOLD, traces=99))
    assert "99 of 100 traces" in checking.wholeness(less, CONFIGURATION).problem
    assert "SHA-256" in checking.wholeness(replace(image, is_whole=False), CONFIGURATION).problem
    small = replace(image, values=image.values[1:])
    assert "asked" in checking.wholeness(small, CONFIGURATION).problem


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (TOLD, ""),
        (replace(TOLD, job="job-0"), "of job job-0, not of job-1"),
        (replace(TOLD, job=""), "of job none"),
        (replace(TOLD, written_epoch_s=900.0), "-95 s after the job began"),
        (replace(TOLD, written_epoch_s=1010.0), "15 s after the job began"),
    ],
)
def test_freshness(told: Told, problem: str) -> None:
    found = checking.freshness(Image(image_with(), told, is_whole=True), RECORD)
    assert problem in found.problem
    assert bool(found.problem) == bool(problem)


def test_an_image_that_was_changed_is_not_whole(tmp_path: Path) -> None:
    told = {name: value for name, value in vars(TOLD).items() if name != "sha256"}
    write_image(tmp_path, image_with((1, 2, 3.0)), **told)
    assert read_image(tmp_path).is_whole
    np.save(tmp_path / IMAGE_FILE, image_with((1, 2, 3.5)))
    assert not read_image(tmp_path).is_whole
    np.save(tmp_path / IMAGE_FILE, np.zeros(3))
    with pytest.raises(ValueError, match="no image"):
        read_image(tmp_path)


def test_progress_is_a_share(tmp_path: Path) -> None:
    assert read_progress(tmp_path) is None
    write_progress(tmp_path, 30, 40)
    assert read_progress(tmp_path) == 0.75


class World:
    """What is asked of an MPI communicator, without the others."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def Get_rank(self) -> int:  # noqa: N802 - as of mpi4py
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        return self.size


@pytest.mark.parametrize(("count", "size"), [(10, 3), (7, 7), (100, 1), (3, 4)])
def test_shares_are_all_and_each_once(count: int, size: int) -> None:
    shares = [Ranks(World(rank, size)).share(count) for rank in range(size)]
    assert [each for begin, end in shares for each in range(begin, end)] == list(range(count))
    sizes = [end - begin for begin, end in shares]
    assert max(sizes) - min(sizes) <= 1


def test_without_a_launcher_a_rank_is_alone() -> None:
    ranks = joined({"SLURM_NTASKS": "4", "SLURM_PROCID": "2"})
    assert (ranks.rank, ranks.size) == (0, 1)
    image = image_with((1, 2, 3.0))
    assert ranks.sum(image) is image


def test_several_ranks_without_mpi4py_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(WrongInputError, match="one of 4 ranks, and mpi4py cannot be used"):
        joined({"OMPI_COMM_WORLD_SIZE": "4"})
    assert joined({"OMPI_COMM_WORLD_SIZE": "1"}).size == 1


@pytest.mark.parametrize("name", ["numpy", "numba"])
def test_a_node_without_a_library_says_so_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(f"raise ImportError('No module named {name}')")
    done = subprocess.run(
        [sys.executable, "-m", PROGRAM, "pstm.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"pstm: No module named {name}: on each node: pip install 'loadstone[jobs]'\n"
    )
