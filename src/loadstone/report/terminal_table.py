"""A table of figures with a title, as the terminal shows it."""

from __future__ import annotations

from rich.table import Table


def figure_table(title: str, first: str, *others: str) -> Table:
    """An empty table: names on the left, columns of figures beside them.

    Args:
        title: Above it.
        first: Heading of the names.
        others: Headings of the figures.
    """
    table = Table(
        box=None, pad_edge=False, padding=(0, 1), header_style="dim", title=title,
        title_justify="left", title_style="bold",
    )  # fmt: skip
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table
