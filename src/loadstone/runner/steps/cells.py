"""Files of cells on their way into an engine: the driver's parser encodes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO

from loadstone.errors import DriverError
from loadstone.load.locate import find_driver
from loadstone.runner.engines.base import CellsChannel, Channel
from loadstone.runner.engines.cells import ROW_BYTES
from loadstone.runner.session import FailureError
from loadstone.runner.steps.parameters import CellLoad

UNPARSED = "cells"
"""Class of a file that the parser does not take."""
_CHUNK_BYTES = ROW_BYTES * 16384


@dataclass(frozen=True)
class Parsed:
    """What was in a file."""

    file: str
    lines: int
    """Without its header."""
    cells: int
    """Those that were taken."""
    rows: int
    rejected: int
    sum: float
    """Of the cells."""
    cpu_s: float
    """Of the parser."""

    def row(self) -> tuple[object, ...]:
        """As it is kept."""
        return (self.file, self.lines, self.cells, self.rows, self.rejected, self.sum)


def load(channel: Channel, cells: CellLoad) -> Parsed:
    """Parses a file and adds its rows to a table.

    Raises:
        FailureError: The parser does not take the file, or the engine not its rows.
    """
    if not isinstance(channel, CellsChannel):
        raise FailureError(UNPARSED, "this engine takes no encoded cells")
    with Popen(_command(cells, channel), stdout=PIPE, stderr=PIPE) as parser:
        try:
            assert parser.stdout is not None and parser.stderr is not None  # noqa: S101 - both are pipes
            told: list[str] = []
            channel.load_cells(cells.table, _chunks(parser, parser.stdout, parser.stderr, told))
        except BaseException:
            parser.kill()
            raise
    return Parsed(file=Path(cells.file).name, **json.loads(told[0]))


def _command(cells: CellLoad, channel: CellsChannel) -> list[str]:
    try:
        driver = find_driver()
    except DriverError as error:
        raise FailureError(UNPARSED, str(error)) from error
    rejects = [] if cells.rejects is None else ["--rejects", cells.rejects]
    options = ["--names", cells.names, "--source", cells.source, "--form", channel.form]
    return [str(driver), "cells", *options, *rejects, cells.file]


def _chunks(
    parser: Popen[bytes], output: IO[bytes], error: IO[bytes], told: list[str]
) -> Iterator[bytes]:
    """The parser's output, and what it says at its end; a failure if the parser failed."""
    while chunk := output.read(_CHUNK_BYTES):
        yield chunk
    said = error.read().decode(errors="replace").strip()
    if parser.wait() != 0:
        raise FailureError(UNPARSED, said or f"the parser ended with {parser.returncode}")
    told.append(said)
