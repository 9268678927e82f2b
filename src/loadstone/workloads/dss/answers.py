"""Answers of queries: as they are kept, and whether two are the same.

The specification (clause 2.1.3.5) takes sums within 100 dollars and averages and ratios within 1 %
of its own; that would not notice a changed row. Here counts, keys and texts must be equal, and
sums be the same to the cent, as they are printed. Half a cent is a tenth of a market share: small
numbers must agree to five digits, or to the four decimals that ClickHouse divides decimals to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import groupby, zip_longest

Row = tuple[str | None, ...]
"""A row of an answer, each value as text; None is NULL, which no empty text equals."""

HALF_A_CENT = Decimal("0.005")
"""The most by which two numbers may differ."""
FOUR_DECIMALS = Decimal("0.0001")
FIVE_DIGITS = Decimal("1e-5")
"""MariaDB's averages of hundredths have six decimals, and ClickHouse cuts quotients off at four."""
LAST_DIGITS = Decimal("1e-12")
"""Sums of doubles (ClickHouse's averages, for one) differ in their last digits."""
MOST_OF_LAST_DIGITS = Decimal("1e-5")
"""Large sums are decimals, and exact: a cent more or less in 60 billion is another answer."""


@dataclass(frozen=True)
class Difference:
    """The first place in which two answers differ."""

    row: int
    """From 1."""
    column: int
    """From 1; 0: the row is missing in one of them, or has more columns."""
    expected: str
    found: str

    def __str__(self) -> str:
        if self.column == 0:
            return f"row {self.row}: expected {self.expected}, found {self.found}"
        return f"row {self.row}, column {self.column}: expected {self.expected}, found {self.found}"


def difference(
    expected: Sequence[Row], found: Sequence[Row], tied: Sequence[int] = ()
) -> Difference | None:
    """Where an answer differs from the expected one.

    Args:
        expected: Rows in their order.
        found: Likewise.
        tied: Columns (from 0) that the query sorts by. Rows equal in all of them may come in any
            order; of rows that the query's limit divides, both must have the same. Without any, the
            order of all rows counts.

    Returns:
        The first difference, or None.
    """
    if tied:
        expected, found = _settled(expected, tied), _settled(found, tied)
    for number, (wanted, given) in enumerate(zip_longest(expected, found), start=1):
        if wanted is None or given is None:
            return Difference(number, 0, _or_nothing(wanted), _or_nothing(given))
        if len(wanted) != len(given):
            return Difference(number, 0, _or_nothing(wanted), _or_nothing(given))
        for column, (one, other) in enumerate(zip(wanted, given, strict=True), start=1):
            if not same(one, other):
                return Difference(number, column, _shown(one), _shown(other))
    return None


def same(one: str | None, other: str | None) -> bool:
    """Whether two values are the same: sums to the cent, small numbers to five digits."""
    if one == other:
        return True
    if one is None or other is None:
        return False
    try:
        first, second = Decimal(one), Decimal(other)
    except InvalidOperation:
        return False
    if not (first.is_finite() and second.is_finite()):
        return False
    size = abs(first)
    small = max(FOUR_DECIMALS, FIVE_DIGITS * size)
    last_digits = min(LAST_DIGITS * size, MOST_OF_LAST_DIGITS)
    return abs(first - second) <= min(HALF_A_CENT, small) + last_digits


def _settled(rows: Sequence[Row], tied: Sequence[int]) -> list[Row]:
    """The rows with those that the query leaves in any order sorted among themselves."""
    groups = groupby(rows, key=lambda row: tuple(_rounded(row[column]) for column in tied))
    return [row for _, group in groups for row in sorted(group, key=_by_text)]


def _by_text(row: Row) -> list[tuple[bool, str]]:
    return [(value is not None, value or "") for value in row]


def _rounded(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        return str(Decimal(value).quantize(Decimal("0.01")))
    except InvalidOperation:
        return value


def _or_nothing(row: Row | None) -> str:
    return "no row" if row is None else " | ".join(map(_shown, row))


def _shown(value: str | None) -> str:
    """An empty text is shown as such."""
    return "NULL" if value is None else value or "''"
