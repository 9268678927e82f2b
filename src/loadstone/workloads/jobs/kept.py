"""What the load of a trial was, kept in its folder: figures are made of it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from loadstone.job.record import RECORD_FILE, JobRecord, read_record
from loadstone.results.base import Record
from loadstone.results.jobs import ClusterNode
from loadstone.results.trial_files import read_model, write_model

LOAD_FILE = "jobs.json"


class PlannedJobs(Record):
    """The jobs of an application, which are all alike."""

    application: str
    count: int
    ranks: int
    nodes: int
    per_node: int
    placement: str
    one_world: bool = Field(description="Its ranks are to be one MPI world.")
    physics: str = Field(default="", description="What it computes, in a few words.")

    @property
    def names(self) -> list[str]:
        """What follows the prefix in the name of each; replacements have other names."""
        return [f"{number}-{self.application}" for number in range(1, self.count + 1)]


class JobsLoad(Record):
    """What the jobs of a trial were to do, and what their cluster was."""

    prefix: str = Field(description="Of the names of all its jobs.")
    desk: str
    asked: int = Field(description="Jobs that were to run at once; 0: an open arrival.")
    replaced: bool
    jobs: list[PlannedJobs]
    nodes: list[ClusterNode]
    storage: str
    functional_only: str = ""
    unaccounted: str = Field(
        default="", description="Why the scheduler has no accounting; empty: it has one."
    )

    @property
    def first(self) -> frozenset[str]:
        """The names of the jobs that are no replacements."""
        return frozenset(f"{self.prefix}{name}" for each in self.jobs for name in each.names)

    def of(self, application: str) -> PlannedJobs:
        """The jobs of an application.

        Raises:
            KeyError: If there were to be none.
        """
        return {each.application: each for each in self.jobs}[application]


def write_load(folder: Path, load: JobsLoad) -> None:
    """Keeps the load of a trial."""
    write_model(folder / LOAD_FILE, load)


def read_load(folder: Path) -> JobsLoad | None:
    """The load of a trial; None if it did not come so far.

    Raises:
        WrongInputError: If the file is damaged.
    """
    path = folder / LOAD_FILE
    return read_model(path, JobsLoad) if path.is_file() else None


def records_of(load: JobsLoad) -> Mapping[str, JobRecord]:
    """What the jobs told of themselves, by name; one that told nothing readable is missing."""
    found: dict[str, JobRecord] = {}
    for path in sorted(Path(load.desk).glob(f"{load.prefix}*/{RECORD_FILE}")):
        try:
            record = read_record(path)
        except (OSError, ValueError):
            continue
        found[path.parent.name] = record
    return found
