"""What a benchmark says: lines of a table, and the sentence that reads it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Aim:
    """A figure beside what was aimed at."""

    what: str
    value: float
    unit: str
    aim: str
    reached: bool


@dataclass(frozen=True)
class Report:
    """One benchmark's outcome, written as a section of `docs/benchmarks.md`."""

    title: str
    how: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    aims: Sequence[Aim]

    def markdown(self) -> str:
        """The section."""
        lines = [f"## {self.title}", "", self.how, ""]
        lines += table(self.header, self.rows)
        if self.aims:
            lines += ["", "| figure | measured | aim | |", "|---|---|---|---|"]
        lines += [
            f"| {aim.what} | {aim.value:.3g} {aim.unit} | {aim.aim} | "
            f"{'reached' if aim.reached else 'missed'} |"
            for aim in self.aims
        ]
        return "\n".join(lines) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table, as lines."""
    return [
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def median(values: Sequence[float]) -> float:
    """The median of a benchmark's rounds."""
    return statistics.median(values)


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Median with the range: `12.1 (11.8-12.6)`."""
    low, high = min(values), max(values)
    return f"{median(values):.{digits}g} ({low:.{digits}g}-{high:.{digits}g})"
