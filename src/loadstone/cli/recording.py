"""What `loadstone import har` says of a browser's recording."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from loadstone.cli.console import out, say, say_document
from loadstone.errors import WrongInputError
from loadstone.units import parse_duration

if TYPE_CHECKING:
    from loadstone.workloads.http.har.importing import Imported


def read_gap_s(text: str) -> float:
    """The pause that ends a transaction, in seconds.

    Raises:
        WrongInputError: If it is no duration, or none at all.
    """
    try:
        gap_s = parse_duration(text)
    except ValueError as error:
        raise WrongInputError(f"--think-gap: {error}") from None
    if gap_s <= 0:
        raise WrongInputError("--think-gap: a pause is longer than 0s")
    return gap_s


def tell(imported: Imported, *, as_json: bool) -> None:
    """Says what became of a recording: the scenario, and all that is not in it."""
    if as_json:
        say_document(json.dumps(_document(imported), indent=2))
        return
    console = out()
    for line in _lines(imported):
        console.print(line, markup=False, soft_wrap=True)
    say(f"the scenario is in {imported.scenario}, for the target {imported.url}")
    if imported.people:
        say(f"put the users into {imported.people}: a row each; columns are values of the scenario")
    if imported.secrets:
        say(f"a run needs {', '.join(imported.secrets)} in its environment")
    words = ["loadstone", "run", "http", "--on", imported.url]
    words += ["--param", f"scenario={imported.scenario}", "--users", "1", "--measure", "30s"]
    say(f"try it with one user: {shlex.join(words)}")


def _document(imported: Imported) -> dict[str, object]:
    found = asdict(imported)
    found["scenario"] = str(imported.scenario)
    found["people"] = str(imported.people) if imported.people else None
    return {"version": 1, **found}


def _lines(imported: Imported) -> Iterator[str]:
    many = "request" if imported.requests == 1 else "requests"
    yield f"{imported.requests} {many}: {', '.join(imported.operations)}"
    for note in imported.notes:
        yield f"Note: {note}"
    for each in imported.untraced:
        yield (
            f"Looks like a token, and no earlier answer holds it: entry {each.number}, "
            f"{each.what}, {each.where}: {each.becomes}"
        )
    for own in imported.left_out:
        yield f"Left out, entry {own.number}: {own.what}: {own.reason}"
