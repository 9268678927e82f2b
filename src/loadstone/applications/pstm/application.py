"""The application `pstm`: input, command, and what an image must be to count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from loadstone.applications.base import Application, FinishedJob, InputFacts, InputFile, Launch
from loadstone.applications.pstm import checking
from loadstone.applications.pstm.checking import Finding
from loadstone.applications.pstm.configuration import (
    CONFIGURATION_FILE,
    Configuration,
    Grid,
    read_configuration,
)
from loadstone.applications.pstm.diffractors import read_known, write_known
from loadstone.applications.pstm.form import form_of
from loadstone.applications.pstm.image import (
    IMAGE_FILE,
    PROGRESS_FILE,
    TOLD_FILE,
    Image,
    read_image,
    read_progress,
)
from loadstone.applications.pstm.parameters import PstmParameters
from loadstone.applications.pstm.program import (
    ENVIRONMENT,
    EXTRA,
    library,
    program_sum,
    run_serial,
    words,
)
from loadstone.applications.pstm.survey import Survey
from loadstone.applications.pstm.synthetic import draw, write_segy
from loadstone.applications.pstm.velocity import VelocityField, velocity_field, write_table
from loadstone.applications.world import WORLD_FILE, told_world, world_problem
from loadstone.counting import how_many
from loadstone.errors import WrongInputError
from loadstone.results.record import CheckResult
from loadstone.text import readable

IMAGE, COMPLETE, FRESH = "pstm-image", "pstm-complete", "pstm-fresh"
WORLD, SUM = "pstm-world", "pstm-sum"
SURVEY_FILE, TABLE_FILE = "survey.sgy", "velocities.csv"
_SURFACE_M_S, _GRADIENT_M_S2 = 1800.0, 500.0
"""Velocities where none are given."""


class Pstm(Application[PstmParameters]):
    """Migration of a made survey with known diffractors, or of the user's own."""

    name = "pstm"
    title = "3D prestack Kirchhoff time migration"
    Parameters = PstmParameters
    claims: ClassVar[Mapping[str, str]] = {
        IMAGE: "each known diffractor is at its column and sample, with its amplitude to "
        f"{checking.PEAK_TOLERANCE:.0%} (a survey of yours: the image holds numbers, and is not "
        "empty); over all jobs",
        COMPLETE: "every trace of the survey was looked at, and the image's file is as it was "
        "written; over all jobs",
        FRESH: "the image bears the name of its job, and was written while that ran; over all jobs",
        WORLD: "the MPI library told as many ranks as were asked for; over all jobs",
        SUM: f"the image is that of one rank, to {checking.SUM_TOLERANCE:g} of its largest value; "
        "over all jobs",
    }
    launch: Launch = "mpi"
    path_parameters: ClassVar[tuple[str, ...]] = ("segy", "velocities")
    has_reference: ClassVar[bool] = True
    environment: ClassVar[Mapping[str, str]] = ENVIRONMENT
    parameters: PstmParameters

    # -- before anything begins ------------------------------------------------------------------
    def physics(self) -> str:
        """The size of survey and image."""
        given = self.parameters
        survey = f"{given.lines**2} traces" if given.segy is None else Path(given.segy).name
        return f"{self.title}: {survey}, {given.columns**2} columns of {given.samples} samples"

    def examine(self) -> None:
        """Whether the files of the user can be read, and the survey is whole.

        Raises:
            WrongInputError: If not.
        """
        for path in (self.parameters.segy, self.parameters.velocities):
            if path is not None:
                readable(Path(path))
        if self.parameters.segy is not None:
            form_of(Path(self.parameters.segy))

    def fits(self, ranks: int) -> None:
        """Each rank has traces, and several ranks have mpi4py.

        Raises:
            WrongInputError: If not.
        """
        given = self.parameters.segy
        traces = self.parameters.lines**2 if given is None else form_of(Path(given)).traces
        if traces < ranks:
            raise WrongInputError(
                f"pstm: {traces} traces are too few for {how_many(ranks, 'rank')}"
            )
        if ranks > 1 and find_spec("mpi4py") is None:
            raise WrongInputError(f"pstm on {ranks} ranks needs mpi4py", advice=EXTRA)

    def tools(self) -> Mapping[str, Callable[[], str]]:
        """The libraries that the program needs beside NumPy."""
        return {name: library(name) for name in ("numba", "segyio")}

    def data_key(self) -> dict[str, Any]:
        """Also the program that makes the reference."""
        return {**super().data_key(), "program": program_sum()}

    # -- input -------------------------------------------------------------------------------------
    def make_input(self, folder: Path, seed: int) -> InputFacts:
        """The survey, its velocities, and the configuration of the migration."""
        given = self.parameters
        if given.segy is None:
            grid = given.grid(0.0, 0.0)
            self._make_table(folder, grid)
            made = draw(given, grid, self._field(folder, grid), given.operator(), seed)
            write_segy(folder / SURVEY_FILE, made.positions, made.values, grid.interval_s)
            write_known(folder, made.known)
        else:
            grid = given.grid(*self._origin(Path(given.segy)))
            self._make_table(folder, grid)
            self._field(folder, grid)  # what cannot be used is refused here
        survey, velocities = self._survey(folder), self._velocities(folder)
        configuration = Configuration(
            survey=survey.name,
            traces=form_of(survey.path).traces,
            velocities=str(given.velocity_m_s) if velocities is None else velocities.name,
            grid=grid,
            operator=given.operator(),
        )
        configuration.write(folder)
        return InputFacts.of(self._files(folder))

    def make_reference(self, given: Path, folder: Path, python: str) -> None:
        """The image of one rank. What is compiled for it serves the jobs."""
        work = folder / "work"
        work.mkdir()
        for file in self._files(given):
            (work / file.name).symlink_to(file.path.absolute())
        run_serial(self.command(1, python), work)
        for name in (IMAGE_FILE, TOLD_FILE):
            (work / name).replace(folder / name)
        for path in work.iterdir():
            path.unlink()
        work.rmdir()

    # -- a job -------------------------------------------------------------------------------------
    def command(self, ranks: int, python: str) -> list[str]:
        """The program, which reads and writes in the working folder."""
        return words(python)

    def bring_back(self) -> tuple[str, ...]:
        """The image, and what is told of it."""
        return (IMAGE_FILE, TOLD_FILE, WORLD_FILE, PROGRESS_FILE)

    # -- result ------------------------------------------------------------------------------------
    def check(self, job: FinishedJob) -> list[CheckResult]:
        """Right, complete, of this job, of one MPI world, and that of one rank."""
        seen = told_world(job.output)
        told = f"{how_many(seen or 0, 'rank')} told by {WORLD_FILE}"
        world = Finding(world_problem(job.ranks, seen, WORLD_FILE), told)
        try:
            configuration = read_configuration(job.given / CONFIGURATION_FILE)
            image = read_image(job.output)
        except (OSError, ValueError, WrongInputError) as error:
            done = read_progress(job.output)
            begun = "" if done is None else f"; {done:.0%} of the first rank's traces were summed"
            lost = Finding(f"there is no image that can be read: {error}{begun}", "")
            found = dict.fromkeys(self.claims, lost) | {WORLD: world}
        else:
            whole = checking.wholeness(image, configuration)
            found = {
                IMAGE: self._right(image, configuration.grid, job.given),
                COMPLETE: whole,
                FRESH: checking.freshness(image, job.record),
                WORLD: world,
                SUM: self._as_of_one_rank(image, job.reference),
            }
        return [self.verdict(name, each.problem, each.detail) for name, each in found.items()]

    def _right(self, image: Image, grid: Grid, given: Path) -> Finding:
        if image.values.shape != (grid.count, grid.samples):
            return Finding("the image has another size than was asked for", "")
        if self.parameters.segy is not None:
            return checking.against_nothing(image.values)
        return checking.against_diffractors(image.values, grid, read_known(given))

    @staticmethod
    def _as_of_one_rank(image: Image, reference: Path | None) -> Finding:
        if reference is None:
            return Finding("there is no image of one rank to compare with", "")
        try:
            return checking.against_image(image.values, read_image(reference).values)
        except (OSError, ValueError) as error:
            return Finding(f"the image of one rank cannot be read: {error}", "")

    # -- inside ------------------------------------------------------------------------------------
    def _origin(self, path: Path) -> tuple[float, float]:
        """Of the image of the user's survey: as told, or so that it is amid the midpoints."""
        given = self.parameters
        with Survey(path) as survey:
            middles = survey.positions().midpoints()
        if not middles[0].size:
            raise WrongInputError(f"{path} holds no live traces")
        half = (given.columns - 1) * given.spacing_m / 2
        x_m, y_m = (float((each.min() + each.max()) / 2 - half) for each in middles)
        return (
            x_m if given.origin_x_m is None else given.origin_x_m,
            y_m if given.origin_y_m is None else given.origin_y_m,
        )

    def _make_table(self, folder: Path, grid: Grid) -> None:
        """The velocities, where none are given."""
        if self.parameters.velocities is None and self.parameters.velocity_m_s is None:
            times_s = np.array([0.0, grid.samples * grid.interval_s])
            write_table(folder / TABLE_FILE, times_s, _SURFACE_M_S + _GRADIENT_M_S2 * times_s)

    def _field(self, folder: Path, grid: Grid) -> VelocityField:
        file = self._velocities(folder)
        if file is None:
            return velocity_field(str(self.parameters.velocity_m_s), folder, grid)
        return velocity_field(file.path.name, file.path.parent, grid)

    def _survey(self, folder: Path) -> InputFile:
        own = self.parameters.segy
        return InputFile(folder / SURVEY_FILE if own is None else Path(own), SURVEY_FILE)

    def _velocities(self, folder: Path) -> InputFile | None:
        """Their file; None: one velocity is given."""
        if self.parameters.velocity_m_s is not None:
            return None
        if self.parameters.velocities is None:
            return InputFile(folder / TABLE_FILE, TABLE_FILE)
        path = Path(self.parameters.velocities)
        return InputFile(path, f"velocities{path.suffix.lower()}")

    def _files(self, folder: Path) -> list[InputFile]:
        """The input of a job; `folder` has been filled by `make_input`."""
        velocities = self._velocities(folder)
        configuration = InputFile(folder / CONFIGURATION_FILE, CONFIGURATION_FILE)
        files = [self._survey(folder), configuration]
        return [*files, velocities] if velocities is not None else files
