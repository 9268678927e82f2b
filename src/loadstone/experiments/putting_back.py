"""The end of a run: everything is put back, and what cannot be is told in one error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadstone.errors import LeftBehindError, LoadstoneError, TargetError
from loadstone.journal import Journal


def put_back(
    steps: Sequence[Callable[[], None]], journal: Journal, first: Sequence[Exception]
) -> None:
    """Takes each step, whatever becomes of the others; the journal undoes what they could not.

    Args:
        steps: In their order.
        journal: Of the run, which is closed.
        first: What ended the run before, if anything did: the cause comes first.

    Raises:
        LeftBehindError: If something is left for `loadstone recover`.
        TargetError: If nothing is left, but more than one thing failed.
        Exception: What a step raised, if that is all.
    """
    failures = [error for step in steps for error in _failures_of(step)]
    left = _failures_of(journal.close)
    lines = _lines([*first, *failures, *left])
    if left:
        raise LeftBehindError(lines) from left[0]
    if first and failures:
        raise TargetError("\n  ".join(lines), advice=getattr(first[0], "advice", None)) from first[
            0
        ]
    if failures:
        raise failures[0]


def _failures_of(step: Callable[[], None]) -> Sequence[Exception]:
    try:
        step()
    except ExceptionGroup as group:
        return group.exceptions
    except Exception as error:  # one failure must not stop the rest
        return [error]
    return []


def _lines(errors: Sequence[Exception]) -> list[str]:
    """Each in a line, once: what a step could not do is often what cannot be undone either."""
    told = [
        str(each)
        if isinstance(each, LoadstoneError | OSError)
        else f"{type(each).__name__}: {each}"
        for each in errors
    ]
    lines = list(dict.fromkeys(" ".join(each.split()) for each in told))
    return [each for each in lines if not any(each in other for other in lines if other != each)]
