"""Several things at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


def at_once(tasks: Sequence[Callable[[], None]], threads: int) -> None:
    """Does all tasks, so many at a time; the first failure is raised once all have ended."""
    with ThreadPoolExecutor(min(threads, len(tasks)) or 1) as pool:
        ended = [pool.submit(task) for task in tasks]
    for each in ended:
        each.result()
