"""The file of cells: one a line, members by name; a few lines are wrong.

`Entity,Product,Years,Scenario,Version,Currency,Account,Period,Data`
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from os import cpu_count
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from loadstone.results.columns import of_numpy
from loadstone.workloads.cube.data import values
from loadstone.workloads.cube.data.placed import placed_sum, weights
from loadstone.workloads.cube.data.text import (
    constant,
    data_of,
    joined,
    numbers,
    texts,
)
from loadstone.workloads.cube.data.volume import SLICE, YEARS_LOADED, Volume
from loadstone.workloads.cube.outline.accounts import ACCOUNT, SOLD
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CURRENCY,
    ENTITY,
    MONTHS,
    PERIOD,
    PRODUCT,
    SCENARIO,
    VERSION,
    YEARS,
)

HEADER = ",".join((ENTITY, PRODUCT, YEARS, SCENARIO, VERSION, CURRENCY, "Account", PERIOD, "Data"))
LINES_PER_PAIR = len(YEARS_LOADED) * len(SOLD) * len(MONTHS)
RIGHT_PER_WRONG = 10_000
_PAIRS_AT_ONCE = 5_000

Fault = Literal["entity", "account", "period", "number"]
"""What a wrong line has: a member that is not in the outline, or no number."""
_FAULTS: tuple[Fault, ...] = ("entity", "account", "period", "number")
_PLACES: dict[Fault, tuple[int, tuple[str, ...]]] = {
    "entity": (0, ("Dept_0000", "Dpt_0815", "Department 12")),
    "account": (6, ("GrossRevenu", "Unit", "4711")),
    "period": (7, ("Month13", "January", "P01")),
    "number": (8, ("n/a", "unknown", "1.234.5", "12O")),
}
"""Of each fault, the field and what may stand there."""


@dataclass(frozen=True)
class Injected:
    """A line that was made wrong."""

    line: int
    """From 1, which is the header."""
    fault: Fault


@dataclass(frozen=True)
class CellsFile:
    """What was written."""

    lines: int
    """Without the header."""
    injected: tuple[Injected, ...]
    accepted_sum: int
    """Of the cells of all right lines."""
    placed_sum: int
    """`placed.placed_sum` of them."""


def write_cells(path: Path, outline: Outline, volume: Volume, seed: int) -> CellsFile:
    """Writes the file, a chunk after the other; chunks are made at the same time.

    Args:
        path: Of the file.
        outline: With the names.
        volume: Pairs with data.
        seed: Of amounts and faults.
    """
    lines = len(volume.entities) * LINES_PER_PAIR
    injected = _faults(lines, seed)
    total = placed = 0
    with path.open("wb") as file:
        file.write(f"{HEADER}\n".encode())
        for data, accepted, at_places in _in_order(outline, volume, injected, seed):
            file.write(data)
            total += accepted
            placed += at_places
    return CellsFile(lines, injected, total, placed)


def _faults(lines: int, seed: int) -> tuple[Injected, ...]:
    """One line in `RIGHT_PER_WRONG`, anywhere in the file; at least one of each fault."""
    draw = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    many = min(lines, max(len(_FAULTS), round(lines / RIGHT_PER_WRONG)))
    places = np.sort(draw.choice(lines, size=many, replace=False))
    kinds = draw.permutation(np.arange(many) % len(_FAULTS))
    return tuple(
        Injected(int(place) + 2, _FAULTS[kind]) for place, kind in zip(places, kinds, strict=True)
    )


def _in_order(
    outline: Outline, volume: Volume, injected: tuple[Injected, ...], seed: int
) -> Iterator[tuple[memoryview, int, int]]:
    at = np.array([own.line - 2 for own in injected], dtype=np.int64)
    suffixes = texts(
        [
            ",".join((year, *SLICE, account, month)) + ","
            for year in YEARS_LOADED
            for account in SOLD
            for month in MONTHS
        ]
    )

    def chunk(first: int) -> tuple[memoryview, int, int]:
        behind = min(first + _PAIRS_AT_ONCE, len(volume.entities))
        low, high = np.searchsorted(at, [first * LINES_PER_PAIR, behind * LINES_PER_PAIR])
        draw = np.random.default_rng(np.random.SeedSequence([seed, 3, first]))
        amounts = values.sales(behind - first, draw)
        places = at[low:high] - first * LINES_PER_PAIR
        prefixes = texts(_names(outline, volume, first, behind))
        lines = _lines(prefixes, suffixes, amounts)
        if len(places):
            lines = _spoilt(lines, places, injected[low:high])
        np.put(amounts, places, 0)
        of_rows = _weights(outline, volume, first, behind)
        return data_of(lines), int(amounts.sum()), placed_sum(amounts, of_rows, 1)

    with ThreadPoolExecutor(cpu_count()) as pool:
        starts = iter(range(0, len(volume.entities), _PAIRS_AT_ONCE))
        waiting = [pool.submit(chunk, first) for first in islice(starts, 2 * (cpu_count() or 1))]
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(chunk, first) for first in islice(starts, 1)]


def _names(outline: Outline, volume: Volume, first: int, behind: int) -> list[str]:
    entities, products = outline[ENTITY].members, outline[PRODUCT].members
    return [
        f"{entities[entity].name},{products[product].name},"
        for entity, product in zip(
            volume.entities[first:behind].tolist(),
            volume.products[first:behind].tolist(),
            strict=True,
        )
    ]


def _weights(outline: Outline, volume: Volume, first: int, behind: int) -> NDArray[np.int64]:
    """Of each pair's years and accounts. Shape (pairs, years, accounts)."""
    years, accounts = outline[YEARS].numbers, outline[ACCOUNT].numbers
    return weights(
        outline,
        volume.entities[first:behind, None, None],
        volume.products[first:behind, None, None],
        np.array([[years[year]] for year in YEARS_LOADED]),
        np.array([accounts[account] for account in SOLD]),
    )


def _lines(prefixes: pa.Array, suffixes: pa.Array, amounts: values.Amounts) -> pa.Array:
    pairs = np.repeat(np.arange(len(prefixes)), LINES_PER_PAIR)
    places = np.tile(np.arange(LINES_PER_PAIR), len(prefixes))
    columns = [prefixes.take(of_numpy(pairs)), suffixes.take(of_numpy(places)), numbers(amounts)]
    return joined([*columns, constant("\n")])


def _spoilt(lines: pa.Array, places: NDArray[np.int64], faults: tuple[Injected, ...]) -> pa.Array:
    wrong = []
    for place, own in zip(places.tolist(), faults, strict=True):
        fields = lines[place].as_py().removesuffix("\n").split(",")
        field, choices = _PLACES[own.fault]
        fields[field] = choices[own.line % len(choices)]
        wrong.append(",".join(fields) + "\n")
    mask = np.zeros(len(lines), dtype=bool)
    mask[places] = True
    return pc.replace_with_mask(lines, of_numpy(mask), texts(wrong))
