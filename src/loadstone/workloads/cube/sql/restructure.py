"""Step 8: accounts are added, moved and deleted, and all cells written anew in the new order."""

from __future__ import annotations

from itertools import pairwise

from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import ENTITY
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.flavours import Flavour
from loadstone.workloads.cube.sql.load import NEW
from loadstone.workloads.cube.sql.tables import AMOUNTS, BASE, KEYS, RENUMBERED, UPPER
from loadstone.workloads.cube.sql.work import Work, at_once, one_by_one

_LEAST_RANGES = 16
"""Of entities: what is sorted at a time fits into memory."""


def restructured(flavour: Flavour, outline: Outline, threads: int, *, hybrid: bool) -> Work:
    """Writes the tables anew, in the order of the outline, and drops the old ones.

    Args:
        flavour: The engine's way.
        outline: With the entities.
        threads: `restructure_threads`.
        hybrid: Only level 0 is there.
    """
    work = Work()
    for table in (BASE,) if hybrid else (BASE, UPPER):
        statements = [
            _moved(table, f"c.entity BETWEEN {first} AND {last}")
            for first, last in _ranges(outline, max(_LEAST_RANGES, threads))
        ]
        if flavour.shares_work:
            jobs = [(*flavour.threads(threads), *statements)]
        else:
            jobs = [(*flavour.threads(1), *statements[job::threads]) for job in range(threads)]
        new = NEW[table]
        done = (flavour.dropped(table), flavour.renamed(new, table), *flavour.finished(table))
        work += one_by_one(flavour.cells(new)) + at_once(jobs)
        work += one_by_one(*flavour.threads(threads), *done)
    return work + one_by_one(*flavour.checkpoint)


def _ranges(outline: Outline, ranges: int) -> list[tuple[int, int]]:
    """First and last of about as many entities each; the top of the tree, which is full, alone."""
    many = len(outline[ENTITY])
    cuts = [1 + (many - 1) * number // (ranges - 1) for number in range(ranges)]
    return [(0, 0), *((first, behind - 1) for first, behind in pairwise(cuts))]


def _moved(table: str, condition: str) -> str:
    columns = [f"c.{own}" for own in KEY[:-1]]
    amounts = [f"c.{amount}" for amount in AMOUNTS]
    return (
        f"INSERT INTO {NEW[table]} SELECT {', '.join([*columns, 'n.after AS account', *amounts])} "
        f"FROM {table} c JOIN {RENUMBERED} n ON n.before = c.account WHERE {condition} "
        f"ORDER BY {KEYS}"
    )
