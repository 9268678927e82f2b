"""The cells that a cycle must end with, worked out from the files by another way than engines go.

The files are read by their own text, and all that follows is done in memory: whoever reads here
shares with the writers of the files and the statements of the engines nothing but the outline.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED, POOLS, UNITS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.outline.sparse import (
    CONVERTED,
    CORPORATE,
    CURRENCY,
    ENTITY,
    LOADED_PERIODS,
    NO_PRODUCT,
    PRODUCT,
    SCENARIO,
    VERSION,
    YEARS,
)
from loadstone.workloads.cube.rates import RateKind, Rates
from loadstone.workloads.cube.rollup import Amounts, Cells

_SPARSE = (ENTITY, PRODUCT, YEARS, SCENARIO, VERSION, CURRENCY)
_Key = tuple[int, ...]
_Rows = dict[_Key, Amounts]


def expected(outline: Outline, rates: Rates, native: list[Path], lines: Path) -> Cells:
    """The cells of level 0 at the end of a cycle, with the accounts as they are numbered then.

    Args:
        outline: As data are loaded into it.
        rates: Of its currencies.
        native: The native files.
        lines: The file of cells.
    """
    rows: _Rows = {}
    numbers = {name: outline[name].numbers for name in (*_SPARSE, ACCOUNT)}
    for path in native:
        _read_native(path, numbers, rows)
    _read_lines(lines, outline, numbers, rows)
    _allocate(outline, rows)
    _convert(outline, rates, rows)
    renumbered = restructure(outline).renumbered
    keys = np.array([(*key[:-1], renumbered[key[-1]]) for key in rows])
    return Cells.of(keys, np.array(list(rows.values())))


def _empty() -> Amounts:
    return np.full(len(LOADED_PERIODS), np.nan)


def _read_native(path: Path, numbers: Mapping[str, Mapping[str, int]], rows: _Rows) -> None:
    block: _Key = ()
    for line in path.read_text().splitlines()[1:]:
        members = line.split('"')[1::2]
        if len(members) == len(_SPARSE):
            block = tuple(numbers[name][own] for name, own in zip(_SPARSE, members, strict=True))
            continue
        fields = line.split()[1:]
        amounts = [np.nan if field == "#Mi" else float(field) for field in fields]
        rows[(*block, numbers[ACCOUNT][members[0]])] = np.array(amounts)


def _read_lines(
    path: Path, outline: Outline, numbers: Mapping[str, Mapping[str, int]], rows: _Rows
) -> None:
    for key, period, amount in _right(path, outline, numbers):
        if key not in rows:
            rows[key] = _empty()
        rows[key][period] = amount


def _right(
    path: Path, outline: Outline, numbers: Mapping[str, Mapping[str, int]]
) -> Iterator[tuple[_Key, int, float]]:
    leaves = {name: frozenset(outline[name].leaves()) for name in (*_SPARSE, ACCOUNT)}
    periods = {name: place for place, name in enumerate(LOADED_PERIODS)}
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            try:
                key = tuple(numbers[name][line[name]] for name in (*_SPARSE, ACCOUNT))
                period, amount = periods[line["Period"]], float(line["Data"])
            except (KeyError, ValueError):
                continue
            if all(own in leaves[name] for name, own in zip(leaves, key, strict=True)):
                yield key, period, amount


def _allocate(outline: Outline, rows: _Rows) -> None:
    """Each pool, by the share in all units of the month."""
    accounts = outline[ACCOUNT].numbers
    corporate = outline[ENTITY].numbers[CORPORATE], outline[PRODUCT].numbers[NO_PRODUCT]
    sold = {key: amounts for key, amounts in rows.items() if key[-1] == accounts[UNITS]}
    totals: dict[_Key, Amounts] = {}
    for key, units in sold.items():
        total = totals.setdefault(key[2:-1], np.zeros(len(LOADED_PERIODS)))
        total += np.nan_to_num(units)
    for pool, to in zip(POOLS, ALLOCATED, strict=True):
        for key, units in sold.items():
            spent = rows.get((*corporate, *key[2:-1], accounts[pool]))
            if spent is not None:
                shares = _empty()
                shares[1:] = spent[1:] * units[1:] / totals[key[2:-1]][1:]
                rows[(*key[:-1], accounts[to])] = shares


def _convert(outline: Outline, rates: Rates, rows: _Rows) -> None:
    """All amounts in the one currency; what is no money stays as it is."""
    entities, accounts, years = outline[ENTITY], outline[ACCOUNT], outline[YEARS]
    to = outline[CURRENCY].numbers[CONVERTED]
    ones = np.ones(len(LOADED_PERIODS))
    known: dict[tuple[str, str, int], Amounts] = {}

    def rate(code: str, kind: str, year: int) -> Amounts:
        kinds: dict[str, RateKind] = {"average": "average", "ending": "ending"}
        if kind not in kinds:
            return ones
        return rates.of(code, kinds[kind], years.members[year].name)

    for key, amounts in list(rows.items()):
        code, kind = entities.members[key[0]].currency, accounts.members[key[-1]].rate
        told = str(code), str(kind), key[2]
        if told not in known:
            known[told] = rate(*told)
        rows[(*key[:5], to, key[-1])] = amounts * known[told]
