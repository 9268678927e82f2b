"""The file of people: a CSV whose rows are the users' own values, as their names."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import read_lines

_OTHERS = {";": "a semicolon", "\t": "a tab", "|": "a bar"}
"""What other programs separate columns by."""


@dataclass(frozen=True)
class People:
    """What a file of people has. Its cells are read by the driver alone: they may be passwords."""

    columns: tuple[str, ...]
    rows: int


def read_people(path: Path) -> People:
    """Reads the header of a file of people, and counts its rows.

    Raises:
        WrongInputError: If it cannot be read, has no header, no row, or a row of another length.
    """
    rows, columns = 0, tuple[str, ...]()
    reader = csv.reader(read_lines(path), strict=True)
    try:
        for cells in reader:
            if not cells:
                continue
            if not columns:
                columns = tuple(cell.strip() for cell in cells)
            elif len(cells) != len(columns):
                raise WrongInputError(
                    f"{path}:{reader.line_num}: has {len(cells)} fields, and the header "
                    f"{len(columns)}"
                )
            else:
                rows += 1
    except csv.Error as error:
        raise WrongInputError(f"{path}:{reader.line_num}: is no CSV: {error}") from None
    if not columns:
        raise WrongInputError(f"{path} is empty", advice="its first line names the columns")
    if len(columns) == 1 and (other := next(filter(columns[0].count, _OTHERS), None)):
        raise WrongInputError(
            f"{path}: its header is one column, with {_OTHERS[other]} in its name",
            advice="separate columns by commas",
        )
    twice = [name for name in columns if columns.count(name) > 1]
    if twice or "" in columns:
        raise WrongInputError(f"{path}: its header does not give each column a name of its own")
    if not rows:
        raise WrongInputError(f"{path} has a header and no rows", advice="give at least one")
    return People(columns, rows)
