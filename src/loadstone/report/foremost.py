"""Which of many requests are shown: those that went wrong, and those that took the most time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from loadstone.report.model.requests import RequestFigures, RequestRow
from loadstone.results.record import RequestSummary

MOST_ROWS = 12
"""After a run; `loadstone show` has all."""
Asked = tuple[str, RequestSummary]
"""An operation of a trial, and one of its requests."""
RowT = TypeVar("RowT")


def foremost_of_trial(rows: Sequence[Asked]) -> list[Asked]:
    """Of the requests of a trial."""
    return _foremost(rows, lambda row: went_wrong(row[1]), lambda row: _took_s(row[1]))


def foremost_of_variants(rows: Sequence[RequestRow]) -> list[RequestRow]:
    """Of the requests of several variants, by those of all of them together."""
    return _foremost(
        rows,
        lambda row: sum(went_wrong(each) for each in row.figures),
        lambda row: sum(each.count * (each.mean_ms or 0.0) for each in row.figures),
    )


def went_wrong(request: RequestSummary | RequestFigures) -> int:
    """How often it failed, or was made again."""
    counts = (request.errors, request.retried, request.resent)
    return sum(sum(each.values()) for each in counts)


def _took_s(request: RequestSummary) -> float:
    """All of its answers together."""
    at = request.service
    return 0.0 if at is None else at.count * at.mean_s


def _foremost(
    rows: Sequence[RowT], wrong: Callable[[RowT], int], took: Callable[[RowT], float]
) -> list[RowT]:
    """Those with most of the time, first; a half of the places is for what went wrong most often.

    Args:
        rows: All of them.
        wrong: How often one went wrong.
        took: How long all answers of one took.
    """
    if len(rows) <= MOST_ROWS:
        return list(rows)
    places = range(len(rows))
    failed = sorted(
        (place for place in places if wrong(rows[place])),
        key=lambda place: wrong(rows[place]),
        reverse=True,
    )
    by_time = sorted(places, key=lambda place: took(rows[place]), reverse=True)
    chosen = failed[: MOST_ROWS // 2]
    rest = [place for place in by_time if place not in chosen]
    chosen += rest[: MOST_ROWS - len(chosen)]
    return [rows[place] for place in by_time if place in chosen]
