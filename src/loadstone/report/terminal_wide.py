"""Tables whose rows have long names, at any width: names break after their commas only.

Where the figures leave no room for that, the rows have numbers, which a list explains, and columns
that do not fit are set below the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_PIECE = re.compile(r"[^,\s]+,?\s*|\s+")
_GAP = 2
"""Blanks between two columns."""


@dataclass(frozen=True)
class WideColumn:
    """A column of figures, one for each row; a cell may have several lines."""

    heading: str
    cells: Sequence[Text]

    def width(self, *, tight: bool) -> int:
        """Of its widest cell and its heading; if that is tight, of the heading's longest word."""
        heads = self.heading.split() if tight else [self.heading]
        lines = [line for cell in self.cells for line in cell.plain.splitlines()]
        return max(map(len, [*heads, *lines]), default=0)


@dataclass(frozen=True)
class WidePart:
    """Columns under a title of their own."""

    title: str
    columns: Sequence[WideColumn]


@dataclass(frozen=True)
class WideTables:
    """One table for each part, all with the same rows.

    Attributes:
        names: Of the rows.
        parts: Their figures.
        marks: What is said below a name, by the number of its row.
        first: Heading of the names.
    """

    names: Sequence[str]
    parts: Sequence[WidePart]
    marks: dict[int, str] = field(default_factory=dict)
    first: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        room = min(width - self._of_figures(part, tight=True) for part in self.parts)
        longest = max(map(len, [self.first, *chain.from_iterable(map(pieces, self.names))]))
        numbered = room < longest
        if numbered:
            yield from self._legend(width)
        for at, part in enumerate(self.parts):
            if at:
                yield Text("")
            if part.title:
                yield Text(part.title, style="bold")
            for columns in self._fitting(part, width) if numbered else [part.columns]:
                yield self._table(columns, width, numbered=numbered)

    def _legend(self, width: int) -> Iterator[Text]:
        indent = len(f"#{len(self.names)} ")
        for row, name in enumerate(self.names):
            lines = broken(f"{name} {self.marks.get(row, '')}".rstrip(), width - indent)
            text = f"\n{'':{indent}}".join(lines)
            line = Text(f"#{row + 1}".ljust(indent) + text, style="bold")
            line.highlight_words([self.marks[row]] if row in self.marks else [], "yellow")
            yield line
        yield Text("")

    def _of_figures(self, part: WidePart, *, tight: bool) -> int:
        return sum(_GAP + column.width(tight=tight) for column in part.columns)

    def _fitting(self, part: WidePart, width: int) -> Iterator[list[WideColumn]]:
        """Columns side by side, as many as fit beside the numbers of the rows."""
        first = used = len(f"#{len(self.names)}")
        found = list[WideColumn]()
        for column in part.columns:
            own = _GAP + column.width(tight=True)
            if found and used + own > width:
                yield found
                used, found = first, []
            used += own
            found.append(column)
        yield found

    def _table(self, columns: Sequence[WideColumn], width: int, *, numbered: bool) -> Table:
        part = WidePart("", columns)
        names = [f"#{row + 1}" for row in range(len(self.names))] if numbered else self.names
        tight = self._of_figures(part, tight=False) + max(map(len, names)) > width
        room = width - self._of_figures(part, tight=tight)
        table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
        table.add_column("" if numbered else self.first, no_wrap=True)
        for column in columns:
            table.add_column(column.heading, justify="right", width=column.width(tight=tight))
        for row, name in enumerate(names):
            said = Text("\n".join(broken(name, room)), style="bold")
            if row in self.marks and not numbered:
                for line in broken(self.marks[row], room - 1):
                    said.append(f"\n {line}", style="not bold yellow")
            table.add_row(said, *(column.cells[row] for column in columns))
        return table


def pieces(name: str) -> list[str]:
    """What is kept together of a name: up to a comma or a blank, which stays with it."""
    return [each.strip() for each in _PIECE.findall(name) if each.strip()]


def broken(name: str, room: int) -> list[str]:
    """A name in lines of at most `room` characters, if its pieces are no longer."""
    lines = [""]
    for piece in _PIECE.findall(name):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
