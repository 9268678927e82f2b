"""Lists experiments: what the index knows of the folders that are there, the others as they lie.

Nothing is written: results may lie on a medium that is read-only, or be somebody else's.
"""

from __future__ import annotations

from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.results.finding import experiment_folders
from loadstone.results.record import Status, TrialResult
from loadstone.results.store import ExperimentEntry, entry_of, indexed, newest_first
from loadstone.results.trial_files import is_running, read_result


def listed(results: Path) -> tuple[list[ExperimentEntry], list[str]]:
    """Every experiment of a folder, newest first, and what was left out and why."""
    known, found, left_out = indexed(results), [], []
    for folder in experiment_folders(results):
        try:
            found.append(known.get(folder.name) or entry_of(folder, _as_it_lies))
        except WrongInputError as error:
            left_out.append(error.message)
    return newest_first(found), left_out


def _as_it_lies(trial: Path) -> TrialResult:
    """A record that nobody writes any more is one of a killed run."""
    result = read_result(trial)
    if result.status is Status.RUNNING and not is_running(trial):
        return result.model_copy(update={"status": Status.INTERRUPTED})
    return result
