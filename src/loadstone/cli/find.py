"""Finds the result that a word on the command line means."""

from __future__ import annotations

from pathlib import Path

from loadstone.cli.options import Output
from loadstone.errors import WrongInputError
from loadstone.results.finding import Found, at_path, named


def find_result(output: Output, reference: str) -> Found:
    """The experiment, and the trial if one is meant.

    Where `--results` was given, a name is looked for there, never in the current folder; a path
    that is written as one (`/...`, `./...`, `../...`) is a path all the same.

    Args:
        output: Where results lie.
        reference: An experiment, `experiment/trial`, a unique beginning of it, or a path.

    Raises:
        WrongInputError: If nothing or several things are meant.
    """
    is_path = Path(reference).is_absolute() or reference.startswith(".")
    found = at_path(Path(reference)) if is_path or not output.names_results else None
    if found is not None:
        return found
    if not output.results.is_dir():
        raise WrongInputError(
            f"there are no results in {output.results}",
            advice="name their folder with --results, or make some: loadstone run",
        )
    try:
        return named(output.results, reference)
    except WrongInputError as error:
        if not is_path and at_path(Path(reference)) is not None:
            advice = f"for the folder of that name write ./{reference}, or leave out --results"
            raise WrongInputError(error.message, advice=advice) from None
        raise
