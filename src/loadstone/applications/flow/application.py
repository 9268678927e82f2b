"""The application `flow`: input, command, and what a result must be to count."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from loadstone.applications.base import (
    Application,
    FinishedJob,
    InputFacts,
    InputFile,
    Launch,
)
from loadstone.applications.flow import generator
from loadstone.applications.flow.deck import COMPARED, read_deck
from loadstone.applications.flow.output import (
    OutputError,
    Report,
    Summary,
    last_restart,
    read_report,
    read_summary,
)
from loadstone.applications.flow.parameters import FlowParameters
from loadstone.applications.flow.physics import PHYSICS
from loadstone.applications.flow.program import ENVIRONMENT, find_flow, find_resfo, run_serial
from loadstone.applications.flow.tolerances import (
    SMALLEST_POROSITY_CHANGE,
    TOLERANCES,
    differences,
    unlike,
)
from loadstone.applications.world import world_problem
from loadstone.counting import how_many
from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.results.record import CheckResult
from loadstone.text import readable

FRESH, COMPLETE, WORLD, RESULT = "flow-fresh", "flow-complete", "flow-world", "flow-result"
_FACTS = "deck.json"
_WRONG_ROCK = "wrong-rock"
"""Folder of the input with the planted fault."""
_CELLS_OF_RANK = 20
_NO_EOS = "no equation-of-state model"
_CLOCK_S = 2.0
"""Flow tells its start in whole seconds, and file systems keep times of their own."""


@dataclass(frozen=True)
class DeckFacts:
    """What a complete result has, kept beside the input."""

    case: str
    report_steps: int
    compared: tuple[str, ...]
    """Vectors of `COMPARED` that its summary has."""
    restarts: bool
    """It asks for a restart at each report step."""


class Flow(Application[FlowParameters]):
    """OPM Flow with a generated deck, or with the user's own."""

    name = "flow"
    title = "reservoir simulation with OPM Flow"
    Parameters = FlowParameters
    claims: ClassVar[Mapping[str, str]] = {
        FRESH: "Flow began within the job's own run, as its .PRT file tells, and every file that "
        "was brought back was written in that run; over all jobs",
        COMPLETE: "summary, .PRT file and (of generated decks) restart file reach the last report "
        "step of the deck; over all jobs",
        WORLD: "Flow counted as many MPI processes as ranks were asked for; over all jobs",
        RESULT: f"{', '.join(TOLERANCES)} at each report step are those of a serial run, each "
        f"within its tolerance (of generated decks: a porosity {SMALLEST_POROSITY_CHANGE:.0%} off "
        "is seen); over all jobs",
    }
    launch: Launch = "mpi"
    path_parameters: ClassVar[tuple[str, ...]] = ("deck",)
    has_reference: ClassVar[bool] = True
    environment: ClassVar[Mapping[str, str]] = ENVIRONMENT
    parameters: FlowParameters

    # -- before anything begins ----------------------------------------------------------------
    def physics(self) -> str:
        """The fluids and the size of the model."""
        given = self.parameters
        if given.deck is not None:
            return f"deck {Path(given.deck).name}; {_NO_EOS}"
        return (
            f"{PHYSICS[given.physics].title}; {_NO_EOS}; {given.size} cells, {given.wells} wells, "
            f"{given.report_steps} report steps of {given.step_days:g} days"
        )

    def examine(self) -> None:
        """Whether a deck of the user can be staged and compared.

        Raises:
            WrongInputError: If not.
        """
        if self.parameters.deck is not None:
            readable(Path(self.parameters.deck))
            read_deck(Path(self.parameters.deck))

    def fits(self, ranks: int) -> None:
        """Each rank of a generated deck has some cells.

        Raises:
            WrongInputError: If there are too few.
        """
        if self.parameters.deck is not None:
            return
        cells = self.parameters.cells
        if cells < _CELLS_OF_RANK * ranks:
            raise WrongInputError(
                f"flow: {cells} cells are too few for {how_many(ranks, 'rank')}",
                advice=f"give a size of {_CELLS_OF_RANK * ranks} cells at least",
            )

    def tools(self) -> Mapping[str, Callable[[], str]]:
        """Flow, and the library that reads its output."""
        return {"OPM Flow": find_flow, "resfo": find_resfo}

    def data_key(self) -> dict[str, Any]:
        """Also the version that makes the reference; none where Flow is missing."""
        try:
            version = find_flow()
        except LoadstoneError:
            version = ""
        return {**super().data_key(), "program": version}

    # -- input ---------------------------------------------------------------------------------
    def make_input(self, folder: Path, seed: int) -> InputFacts:
        """The deck with its rock, or the user's with all that it includes."""
        if self.parameters.deck is not None:
            deck = read_deck(Path(self.parameters.deck))
            ordered = tuple(name for name in COMPARED if name in deck.compared)
            _keep(folder, DeckFacts(deck.case, deck.report_steps, ordered, restarts=False))
            return InputFacts.of(deck.files)
        steps = self.parameters.report_steps
        _keep(folder, DeckFacts(generator.CASE, steps, COMPARED, restarts=True))
        deck_path = folder / f"{generator.CASE}.DATA"
        deck_path.write_text(generator.deck_text(self.parameters), encoding="ascii")
        rock = folder / generator.ROCK_FILE
        rock.write_text(generator.rock_text(self.parameters, seed), encoding="ascii")
        if self.parameters.fault == "porosity":
            rock = folder / _WRONG_ROCK / generator.ROCK_FILE
            rock.parent.mkdir()
            factor = 1.0 + SMALLEST_POROSITY_CHANGE
            rock.write_text(generator.rock_text(self.parameters, seed, factor), encoding="ascii")
        return InputFacts.of(
            (InputFile(deck_path, deck_path.name), InputFile(rock, generator.ROCK_FILE))
        )

    def make_reference(self, given: Path, folder: Path, python: str) -> None:
        """A serial run of the same deck, without the planted fault."""
        work = folder / "work"
        work.mkdir()
        for file in self._right_files(given):
            target = work / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.path, target)
        facts = _kept(given)
        run_serial(work, facts.case, folder)
        shutil.rmtree(work)
        for path in folder.iterdir():
            if path.name not in self._compared_files(facts.case):
                path.unlink()

    def _right_files(self, given: Path) -> tuple[InputFile, ...]:
        if self.parameters.deck is not None:
            return read_deck(Path(self.parameters.deck)).files
        names = (f"{generator.CASE}.DATA", generator.ROCK_FILE)
        return tuple(InputFile(given / name, name) for name in names)

    @staticmethod
    def _compared_files(case: str) -> tuple[str, ...]:
        return (f"{case}.PRT", f"{case}.SMSPEC", f"{case}.UNSMRY")

    # -- a job ---------------------------------------------------------------------------------
    @property
    def _case(self) -> str:
        deck = self.parameters.deck
        return generator.CASE if deck is None else Path(deck).stem.upper()

    def command(self, ranks: int, python: str) -> list[str]:
        """Flow, which writes into the working folder."""
        return ["flow", f"{self._case}.DATA", "--output-dir=."]

    def bring_back(self) -> tuple[str, ...]:
        """Summary, report and restart."""
        return (*self._compared_files(self._case), f"{self._case}.UNRST")

    def done_share(self, folder: Path) -> float | None:
        """Report steps that were done, as a share of all; None if nothing tells.

        Args:
            folder: With what was brought back.
        """
        try:
            report = read_report(folder, self._case)
        except OutputError:
            return None
        if report.ended:
            return 1.0
        return report.step / report.steps if report.steps else None

    # -- result --------------------------------------------------------------------------------
    def check(self, job: FinishedJob) -> list[CheckResult]:
        """Fresh, complete, of one MPI world, and right."""
        facts = _kept(job.given)
        try:
            report = read_report(job.output, facts.case)
            summary = read_summary(job.output, facts.case, facts.compared)
            restart = last_restart(job.output, facts.case)
        except OutputError as error:
            done = self.done_share(job.output)
            begun = "" if done is None else f"; {done:.0%} of its report steps were done"
            return [self.verdict(name, f"{error}{begun}", "") for name in self.claims]
        processes = report.processes[-1] if report.processes else None
        return [
            self.verdict(
                FRESH,
                self._stale(job, facts.case, report),
                f"Flow began {_since(report, job):.0f} s after the job's stamp, and all files are "
                "of its run",
            ),
            self.verdict(
                COMPLETE,
                _incomplete(facts, report, summary, restart),
                f"{summary.report_steps} of {facts.report_steps} report steps",
            ),
            self.verdict(
                WORLD,
                world_problem(job.ranks, processes, "Flow"),
                f"{processes} MPI processes counted by Flow",
            ),
            self._right(job, facts, summary),
        ]

    def _stale(self, job: FinishedJob, case: str, report: Report) -> str:
        """What was not written by this job; empty: nothing."""
        if report.started is None:
            return f"{case}.PRT does not say when the simulation started"
        if not -_CLOCK_S <= _since(report, job) <= job.record.run_s + _CLOCK_S:
            began = datetime.fromtimestamp(job.record.began_epoch_s, UTC)
            return (
                f"{case}.PRT is of a simulation that started at {report.started:%F %T}, the job's "
                f"own ran for {job.record.run_s:.0f} s from {began:%F %T}"
            )
        # Both times are of one file system: clocks of storage and node may differ.
        latest = (job.output / f"{case}.PRT").stat().st_mtime
        for name in (*self._compared_files(case), f"{case}.UNRST"):
            path = job.output / name
            if path.exists() and path.stat().st_mtime < latest - job.record.run_s - _CLOCK_S:
                return f"{name} was written before this run: it is of another one"
        return ""

    def _right(self, job: FinishedJob, facts: DeckFacts, summary: Summary) -> CheckResult:
        if job.reference is None:
            return self.verdict(RESULT, "there is no serial run to compare with", "")
        try:
            reference = read_summary(job.reference, facts.case, facts.compared)
        except OutputError as error:
            return self.verdict(RESULT, f"the serial run: {error}", "")
        problem = unlike(summary, reference)
        if problem:
            return self.verdict(RESULT, problem, "")
        tolerances = dict(PHYSICS[self.parameters.physics].tolerances)
        tolerances.update(self.parameters.tolerances)
        worst = max(differences(summary, reference, tolerances), key=lambda each: each.share)
        detail = f"{len(reference.vectors)} vectors; nearest to its bound: {worst}"
        return self.verdict(RESULT, str(worst) if worst.share > 1.0 else "", detail)


def _incomplete(facts: DeckFacts, report: Report, summary: Summary, restart: int | None) -> str:
    """Why a result is not that of the whole deck; empty: it is."""
    wanted = facts.report_steps
    if not report.ended:
        return (
            f"Flow did not come to its end: it stopped after report step {report.step} of {wanted}"
        )
    if report.steps != wanted:
        return f"Flow read {report.steps} report steps, the deck has {wanted}"
    if summary.report_steps != wanted:
        return f"the summary has {summary.report_steps} report steps, the deck has {wanted}"
    if facts.restarts and restart != wanted:
        return f"the last restart is of report step {restart or 0}, the deck has {wanted}"
    return ""


def _since(report: Report, job: FinishedJob) -> float:
    """Seconds from the job's first stamp to the start that Flow tells."""
    began = 0.0 if report.started is None else report.started.timestamp()
    return began - job.record.began_epoch_s


def _keep(folder: Path, facts: DeckFacts) -> None:
    (folder / _FACTS).write_text(json.dumps(facts.__dict__), encoding="utf-8")


def _kept(folder: Path) -> DeckFacts:
    found = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return DeckFacts(**{**found, "compared": tuple(found["compared"])})
