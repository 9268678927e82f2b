"""Finds the result that a word on the command line means."""

from __future__ import annotations

from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.results.folder import EXPERIMENT_FILE, PLAN_FILE
from loadstone.results.store import Found, Store


def find_result(results: Path, reference: str) -> Found:
    """The experiment, and the trial if one is meant.

    Args:
        results: Folder of all results.
        reference: An experiment, `experiment/trial`, a unique beginning of it, or a path.

    Raises:
        WrongInputError: If nothing or several things are meant.
    """
    path = Path(reference)
    if (path / PLAN_FILE).is_file():
        return Found(path.parent, path)
    if (path / EXPERIMENT_FILE).is_file():
        return Found(path)
    if not results.is_dir():
        raise WrongInputError(
            f"there are no results in {results}",
            advice="name their folder with --results, or make some: loadstone run",
        )
    with Store(results) as store:
        return store.find(reference)
