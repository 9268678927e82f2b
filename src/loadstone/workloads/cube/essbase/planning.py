"""Dimensions as Oracle Planning imports them: a line is a member, with properties by their names.

Planning takes a file of its own for a dimension. The line of the root has no valid parent and is
rejected: that is normal, and nothing is lost by it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.model import Dimension, Member, Storage
from loadstone.workloads.cube.outline.sparse import ENTITY

STORAGE = "Data Storage (Plan1)"
_STORAGES: Mapping[Storage, str] = {
    "stored": "store",
    "dynamic": "dynamic calc",
    "label-only": "label only",
    "shared": "shared",
}
_NEVER_SHARE = "never share"
_MORE = {
    ACCOUNT: ["Account Type", "Data Type", "Exchange Rate Type", "Two Pass Calculation"],
    ENTITY: ["Base Currency"],
}
"""Further properties of a dimension. The type of an account decides what a period of periods shows:
of an asset the last one, of revenue the sum."""


def write_metadata(dimension: Dimension, path: Path) -> None:
    """Writes all members of a dimension, the root first."""
    header = [dimension.name, "Parent", STORAGE, "Aggregation (Plan1)", "Formula (Plan1)"]
    header += _MORE.get(dimension.name, [])
    rows = (
        [
            member.name,
            _parent(dimension, member),
            _storage(member, bool(dimension.children[number])),
            member.consolidation,
            f"{member.formula};" if member.formula else "",
            *_more(dimension.name, member),
        ]
        for number, member in enumerate(dimension.members)
    )
    _write(path, header, rows)


def write_hybrid(dimension: Dimension, path: Path) -> None:
    """Writes the lines that make a cube hybrid: its stored parents become dynamic."""
    rows = (
        [member.name, _parent(dimension, member), _STORAGES["dynamic"]]
        for member in dimension.with_children()
        if member.storage == "stored"
    )
    _write(path, [dimension.name, "Parent", STORAGE], rows)


def _parent(dimension: Dimension, member: Member) -> str:
    return "" if member.parent is None else dimension.members[member.parent].name


def _storage(member: Member, has_children: bool) -> str:
    if member.storage == "stored" and has_children:
        return _NEVER_SHARE
    return _STORAGES[member.storage]


def _more(dimension: str, member: Member) -> list[str]:
    if dimension == ACCOUNT:
        kind = "asset" if member.balance == "last" else "revenue"
        rate = member.rate or "none"
        data = "non-currency" if rate == "none" else "currency"
        return [kind, data, rate, str(int(member.two_pass))]
    return [member.currency or ""] if dimension == ENTITY else []


def _write(path: Path, header: list[str], rows: Iterable[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
