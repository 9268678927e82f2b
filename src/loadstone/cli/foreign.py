"""What `loadstone import` does with figures of other programs: read a file, keep a reference."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

from loadstone.cli.console import out, plain_table, say, say_document
from loadstone.cli.options import Output
from loadstone.errors import WrongInputError
from loadstone.report.text import number
from loadstone.results.references.foreign import Foreign
from loadstone.results.references.imported import keep_reference
from loadstone.units import format_size

_MOST_BYTES = 64 << 20


def content(file: Path | None) -> bytes:
    """Of a file, or what is pasted.

    Raises:
        WrongInputError: If it cannot be read, or is larger than any such text.
    """
    try:
        if file is None:
            raw = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with file.open("rb") as stream:
                raw = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise WrongInputError(f"{file} cannot be read: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise WrongInputError(
            f"{shown(file)} is larger than {format_size(_MOST_BYTES)}: no text of a test is"
        )
    return raw


def shown(file: Path | None) -> str:
    """How a file is called in messages."""
    return "standard input" if file is None else str(file)


def keep(
    foreign: Foreign, file: Path | None, name: str | None, system: str | None, output: Output
) -> None:
    """Writes the reference, and says what was understood and what was not.

    Args:
        foreign: What was read.
        file: Of what.
        name: Of the reference; None: that of the file.
        system: What was measured, if its owner says it.
        output: Where results lie and how to answer.

    Raises:
        WrongInputError: If there is no figure in it, or the name is taken or none.
    """
    plain = (
        re.sub(r"[^a-z0-9]+", "-", (name or (file.stem if file else "pasted")).lower()).strip("-")
        or "pasted"
    )
    if name is not None and name != plain:
        raise WrongInputError(
            f"{name!r} is no name of a reference",
            advice=f"small letters, digits and dashes, as {plain}",
        )
    read_of = file.name if file else shown(file)
    reference = foreign.reference(plain, read_of, system)
    path = keep_reference(output.results, reference)
    if output.json:
        left_out = [asdict(each) for each in foreign.left_out]
        document = {"version": 1, "reference": reference.model_dump(), "left_out": left_out}
        say_document(json.dumps(document, indent=2))
        return
    table = plain_table("test", "MB/s", "IO/s", "us", "", title=reference.title)
    for figure in foreign.figures:
        cells = (figure.mb_per_s, figure.ios_per_s, figure.latency_us)
        told = ["" if each is None else number(each) for each in cells]
        apart = f"not compared: {figure.apart}" if figure.apart else ""
        table.add_row(figure.label, *told, apart)
    out().print(table)
    for each in foreign.left_out:
        out().print(f"Left out, {each.where}: {each.text}: {each.reason}", markup=False)
    say(f"the reference is {reference.name}, in {path}: reports of storage show it")
