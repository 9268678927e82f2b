"""The image of the migration: against known diffractors, against sums by hand, over ranks."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import long_but

pytest.importorskip("numba", reason="numba is not installed (loadstone[jobs])")
pytest.importorskip("segyio", reason="segyio is not installed (loadstone[jobs])")

from pstm_case import SEED, Case, case, job, made, problems, record

from loadstone.applications.base import FinishedJob
from loadstone.applications.pstm.application import FRESH, IMAGE, SUM, WORLD
from loadstone.applications.pstm.configuration import (
    CONFIGURATION_FILE,
    Configuration,
    read_configuration,
)
from loadstone.applications.pstm.image import read_image, read_progress
from loadstone.applications.pstm.survey import open_survey

__all__ = ["case", "job"]


def test_a_right_job_passes_every_check(case: Case, job: FinishedJob) -> None:
    found = case.application.check(job)
    assert [each.name for each in found] == list(case.application.claims)
    assert problems(case, job) == {}
    assert read_progress(job.output) == 1.0


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
        FinishedJob(own.reference, record(), 1, own.given, own.reference)
    )[0]
    assert verdict.name == IMAGE
    assert verdict.passed, verdict.detail


def test_a_diffractor_moved_by_a_sample_is_caught(tmp_path: Path) -> None:
    own = made(tmp_path, fault="moved-diffractor")
    finished = FinishedJob(own.reference, record(), 1, own.given, own.reference)
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
