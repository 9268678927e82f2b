"""Calls of client libraries: what one raises is an error of the target, whatever its class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loadstone.errors import LoadstoneError, TargetError


@contextmanager
def calling(told: Callable[[Exception], TargetError]) -> Iterator[None]:
    """Turns what a library raises within the block into an error of the target.

    Libraries raise more than their own classes: PyMySQL a RuntimeError for an account whose log-in
    it lacks, sqlite3 a ValueError for a zero byte. So the block holds calls of the library alone.

    Args:
        told: Tells the error in the words of the system.
    """
    try:
        yield
    except LoadstoneError:
        raise
    except Exception as error:
        raise told(error) from error


def shortened(sql: str, limit: int = 200) -> str:
    """The begin of a statement, in one line."""
    line = " ".join(sql.split())
    return line if len(line) <= limit else line[:limit] + "…"
