"""The objective of a search: terms such as `p99 < 1000 ms`, read and judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from loadstone.errors import WrongInputError

Relation = Literal["<", "<=", "=", ">="]

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
"""Units of a time."""
SHARES = ("errors", "loss")
"""Figures that are a number of operations, or with `%` a share of those that were due."""
RELATIVE, OF_REFERENCE = "throughput", "of reference"
"""What trials are judged by, as a share of what it is at the first level of the search."""
_FORM = re.compile(
    r"(?:(?P<operation>[^\s<=>](?:[^<=>]*[^\s<=>])?)\.)?"
    r"(?P<figure>p\d{1,2}(?:\.\d+)?|mean|max|errors|loss|throughput)"
    r"\s*(?P<relation><=|>=|<|=)\s*"
    r"(?P<limit>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|%|of\s+reference)?"
)


@dataclass(frozen=True)
class Term:
    """One figure and its limit."""

    text: str
    operation: str | None
    """None: all operations that are judged, together."""
    figure: str
    """`p99`, `mean`, `max` of the response time; `errors`; `loss`; `throughput`."""
    relation: Relation
    limit: float
    unit: str
    """`us`, `ms` or `s`; `%`; `of reference`; or nothing, of a number."""

    @property
    def is_relative(self) -> bool:
        """Whether it is about the whole trial, held against the first level of the search."""
        return self.figure == RELATIVE

    @property
    def is_time(self) -> bool:
        """Whether it is about response times."""
        return self.unit in SECONDS

    @property
    def percentile(self) -> float | None:
        """The percentile, 0 to 100, where it is one; `max` is the last."""
        if self.figure.startswith("p"):
            return float(self.figure[1:])
        return 100.0 if self.figure == "max" else None

    def holds(self, value: float) -> bool:
        """Whether a value in the unit of the term keeps to it."""
        if self.relation == "<":
            return value < self.limit
        if self.relation == ">=":
            return value >= self.limit
        return value <= self.limit if self.relation == "<=" else value == self.limit


def parse_term(text: str) -> Term:
    """Reads one term.

    Raises:
        WrongInputError: If it is none, or its unit is not of its figure.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise WrongInputError(
            f"{text!r} is no term of an objective",
            advice="write for example p99 < 1000 ms, new-order.p95 < 500 ms, loss = 0 or "
            "errors < 0.1 %",
        )
    figure, unit = match["figure"], " ".join((match["unit"] or "").split())
    if len({figure == RELATIVE, match["relation"] == ">=", unit == OF_REFERENCE}) > 1:
        raise WrongInputError(
            f"{text!r}: throughput, >= and 'of reference' belong together",
            advice="write for example throughput >= 0.95 of reference, or p99 < 1000 ms",
        )
    if figure in SHARES and unit in SECONDS:
        raise WrongInputError(f"{text!r}: {figure} are counted: write a number, or a share with %")
    if figure not in (*SHARES, RELATIVE) and unit not in SECONDS:
        raise WrongInputError(f"{text!r}: {figure} is a time: write its limit in ms, us or s")
    if figure in ("loss", RELATIVE) and match["operation"]:
        why = "had not become an operation yet" if figure == "loss" else "is of the whole trial"
        what = "what is lost" if figure == "loss" else "throughput"
        raise WrongInputError(f"{text!r}: {what} {why}: write {figure}")
    return Term(
        " ".join(text.split()),
        match["operation"],
        figure,
        _relation(match["relation"]),
        float(match["limit"]),
        unit,
    )


def parse_objective(texts: Iterable[str]) -> list[Term]:
    """Reads all terms of an objective.

    Raises:
        WrongInputError: If one is none.
    """
    return [parse_term(text) for text in texts]


def tightest_limit_s(terms: Sequence[Term]) -> float | None:
    """The least limit of a response time, in seconds; None if no term is about one."""
    return min((term.limit * SECONDS[term.unit] for term in terms if term.is_time), default=None)


def _relation(text: str) -> Relation:
    known: tuple[Relation, ...] = ("<", "<=", ">=", "=")
    return next(each for each in known if each == text)
