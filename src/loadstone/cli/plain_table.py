"""A table that loses nothing on a narrow terminal."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

_LEAST_OF_OTHERS = 8
"""A column that may be wrapped needs so much with its margin."""


class PlainTable(Table):
    """Columns that are not to be wrapped are wrapped all the same where they leave no room."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Measures, then renders."""
        wide = options.update(width=10_000)
        whole = [
            Measurement.get(console, wide, cell).maximum
            for column in self.columns
            if column.no_wrap
            for cell in [max([str(column.header), *map(str, column.cells)], key=len)]
        ]
        others = len(self.columns) - len(whole)
        needed = sum(whole) + 2 * len(whole) + _LEAST_OF_OTHERS * others
        if needed > options.max_width:
            for column in self.columns:
                column.no_wrap = False
        yield from super().__rich_console__(console, options)
