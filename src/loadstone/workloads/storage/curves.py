"""Queue-depth curves: one test at rising depths. The report draws them and marks the knee."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from loadstone.errors import WrongInputError
from loadstone.spec.problems import near
from loadstone.workloads.storage.tests import StorageTest, single

MOST_DEPTH = 4096
_MOST_DEPTHS = 64
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def depths_of(text: str) -> tuple[int, ...]:
    """Reads depths: `1..64` doubles from the first to the last, `1,3,9` names each.

    Raises:
        WrongInputError: If they are none, or do not rise.
    """
    plain = text.replace(" ", "")
    bounds = _RANGE.fullmatch(plain)
    if bounds:
        depths = _doubled(int(bounds[1]), int(bounds[2]))
    elif re.fullmatch(r"\d+(,\d+)*", plain):
        depths = tuple(int(each) for each in plain.split(","))
    else:
        depths = ()
    rising = all(low < high for low, high in pairwise(depths))
    if not depths or not rising or not 1 <= depths[0] <= depths[-1] <= MOST_DEPTH:
        raise WrongInputError(
            f"depths: {text!r} are no rising queue depths between 1 and {MOST_DEPTH}",
            advice="write for example 1..64, which doubles, or 1,4,16",
        )
    if len(depths) > _MOST_DEPTHS:
        raise WrongInputError(f"depths: {len(depths)} are more than {_MOST_DEPTHS}")
    return depths


def _doubled(first: int, last: int) -> tuple[int, ...]:
    if not 0 < first < last:
        return ()
    depths = [first]
    while 2 * depths[-1] < last:
        depths.append(2 * depths[-1])
    return (*depths, last)


def chosen(tests: Sequence[StorageTest], name: str | None) -> tuple[StorageTest, ...]:
    """The tests of a profile, or the one of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name is None:
        return tuple(tests)
    by_name = {each.name.casefold(): each for each in tests}
    found = by_name.get(name.casefold())
    if found is None:
        raise WrongInputError(
            f"the profile has no test {name!r}; {near(name, [each.name for each in tests])}"
        )
    return (found,)


def at_depths(tests: Sequence[StorageTest], depths: Sequence[int]) -> tuple[StorageTest, ...]:
    """A test at each of the depths, in the place of its own.

    Raises:
        WrongInputError: If there are several tests, or several jobs in it.
    """
    if len(tests) != 1:
        raise WrongInputError(
            f"depths are measured with one test, and the profile has {len(tests)}",
            advice=f"name one: --param test={tests[0].name!r}",
        )
    (test,) = tests
    if len(test.jobs) != 1:
        raise WrongInputError(f"depths: test {test.name!r} has several jobs, each with its own")
    (job,) = test.jobs
    return tuple(
        single(f"{job.label.rpartition(' ')[0]} Q{depth}T{job.threads}", replace(job, depth=depth))
        for depth in depths
    )
