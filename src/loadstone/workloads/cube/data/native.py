"""Native files: blocks of cells as an Essbase server exports and loads them.

Line 1 names the members of a dense dimension, the columns. A line of sparse members says where the
lines below it belong; each of these begins with a member of the other dense dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from loadstone.results.columns import of_numpy
from loadstone.workloads.cube.data import values
from loadstone.workloads.cube.data.placed import placed_sum, weights
from loadstone.workloads.cube.data.text import (
    concatenated,
    constant,
    data_of,
    joined,
    numbers,
    texts,
)
from loadstone.workloads.cube.data.volume import SLICE, YEARS_LOADED, Volume
from loadstone.workloads.cube.outline.accounts import ACCOUNT, EXPENSES, POOLS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CORPORATE,
    ENTITY,
    LOADED_PERIODS,
    NO_PRODUCT,
    PRODUCT,
    YEARS,
)

FILES = 8
_MISSING = "#Mi"
HEADER = " ".join(f'"{period}"' for period in LOADED_PERIODS)


@dataclass(frozen=True)
class NativeFile:
    """What was written."""

    name: str
    cells: int
    sum: int
    placed_sum: int
    """`placed.placed_sum` of its cells."""
    rows: int
    """Lines of an account: with their block, the rows of a table."""
    last_entity: int
    """Number of the entity of its last block; blocks are in the order of the outline."""
    last_year: int
    """Number of the year of its last block."""


def write_native(folder: Path, outline: Outline, volume: Volume, seed: int) -> list[NativeFile]:
    """Writes the files, cut between blocks: a block is an entity in a year.

    Args:
        folder: Of the files.
        outline: With the names.
        volume: Entities and accounts with data.
        seed: Of the amounts.
    """
    blocks = [(entity, year) for entity in volume.booked.tolist() for year in YEARS_LOADED]
    cuts = np.linspace(0, len(blocks), FILES + 1).astype(int)
    written = []
    for number in range(FILES):
        draw = np.random.default_rng(np.random.SeedSequence([seed, 4, number]))
        own = blocks[cuts[number] : cuts[number + 1]]
        flows = sum(account in _FLOWS for account in volume.accounts)
        amounts = values.booked(len(own), flows, len(volume.accounts) - flows, draw)
        parts = [_Part(outline, own, volume.accounts, amounts)]
        if number == FILES - 1:
            pools = _with_opening(values.pooled(len(POOLS), draw))
            corporate = outline[ENTITY].numbers[CORPORATE]
            parts.append(_Part(outline, [(corporate, year) for year in YEARS_LOADED], POOLS, pools))
        entity, year = blocks[cuts[number + 1] - 1] if cuts[number + 1] else (-1, "")
        last = (entity, outline[YEARS].numbers.get(year, -1))
        written.append(_write(folder / f"native_{number + 1}.txt", parts, last))
    return written


_FLOWS = frozenset(EXPENSES)


@dataclass(frozen=True)
class _Part:
    """Blocks that follow each other in a file."""

    outline: Outline
    blocks: list[tuple[int, str]]
    """Entity and year of each."""
    accounts: tuple[str, ...]
    amounts: values.Amounts
    """Shape (blocks, accounts, periods)."""

    @property
    def text(self) -> pa.Array:
        """The text of each block."""
        return _text(self._views(), self.accounts, self.amounts)

    def _views(self) -> pa.Array:
        members = self.outline[ENTITY].members
        return texts(
            [
                " ".join(f'"{name}"' for name in (members[entity].name, NO_PRODUCT, year, *SLICE))
                + "\n"
                for entity, year in self.blocks
            ]
        )

    @property
    def placed_sum(self) -> int:
        """Of its cells."""
        years, numbers = self.outline[YEARS].numbers, self.outline[ACCOUNT].numbers
        of_rows = weights(
            self.outline,
            np.array([[entity] for entity, _ in self.blocks]),
            self.outline[PRODUCT].numbers[NO_PRODUCT],
            np.array([[years[year]] for _, year in self.blocks]),
            np.array([numbers[account] for account in self.accounts]),
        )
        return placed_sum(np.where(self.amounts == values.MISSING, 0, self.amounts), of_rows, 0)


def _with_opening(amounts: values.Amounts) -> values.Amounts:
    """With an opening balance before the months, which is missing."""
    opening = np.full((*amounts.shape[:-1], 1), values.MISSING)
    return np.concatenate([opening, amounts], axis=-1)


def _text(views: pa.Array, accounts: tuple[str, ...], amounts: values.Amounts) -> pa.Array:
    """The text of each block."""
    blocks = len(amounts)
    columns = [
        pc.if_else(
            of_numpy(amounts[:, :, period].ravel() == values.MISSING),
            constant(_MISSING),
            numbers(amounts[:, :, period]),
        )
        for period in range(amounts.shape[2])
    ]
    names = texts([f'"{account}"' for account in accounts])
    which = of_numpy(np.tile(np.arange(len(accounts)), blocks))
    lines = joined([joined([names.take(which), *columns], " "), constant("\n")])
    return joined([views, concatenated(lines, len(accounts))])


def _write(path: Path, parts: list[_Part], last: tuple[int, int]) -> NativeFile:
    parts = [part for part in parts if part.blocks]
    with path.open("wb") as file:
        file.write(f"{HEADER}\n".encode())
        for part in parts:
            file.write(data_of(part.text))
    there = [part.amounts[part.amounts != values.MISSING] for part in parts]
    return NativeFile(
        name=path.name,
        cells=sum(len(own) for own in there),
        sum=int(sum(own.sum() for own in there)),
        placed_sum=sum(part.placed_sum for part in parts),
        rows=sum(part.amounts.shape[0] * part.amounts.shape[1] for part in parts),
        last_entity=last[0],
        last_year=last[1],
    )
