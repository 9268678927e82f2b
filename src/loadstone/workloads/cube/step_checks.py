"""Did a step do what it must? The problems of a cycle, by what was asked after its steps."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.targets.schema import Table
from loadstone.workloads.cube import cycle as names
from loadstone.workloads.cube.data.provide import CubeData, first_lines
from loadstone.workloads.cube.metrics import Answer, read_answer
from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED, POOLS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.outline.sparse import CONVERTED, CURRENCY, LOCAL, YEARS
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.cube.rates import RATE_KINDS, Rates
from loadstone.workloads.cube.sql.levels import PARTS, names_at
from loadstone.workloads.cube.sql.load import rejected
from loadstone.workloads.cube.sql.questions import CLOSE
from loadstone.workloads.cube.sql.tables import BASE, UPPER

_FIELDS = {"entity": "Entity", "account": "Account", "period": "Period", "number": "Data"}
"""Column of the file of cells in which each kind of fault is."""
Row = Sequence[str | None]
Tally = tuple[int, float, float]
"""Cells, their sum, and their sum by place."""


@dataclass(frozen=True)
class Trial:
    """What a trial left, and what it should have left."""

    folder: Path
    outline: Outline
    data: CubeData
    rates: Rates
    parameters: CubeParameters
    tables: Mapping[Table, Sequence[tuple[object, ...]]]
    """The rows of each table of the outline."""

    def answer(self, cycle: int, what: str) -> Answer:
        """An answer of a cycle.

        Raises:
            LookupError: The question was not answered.
        """
        found = read_answer(self.folder, names.answer_name(cycle, what))
        if found is None:
            raise LookupError(f"there is no answer {what!r}")
        return found


def reset(trial: Trial, cycle: int) -> Iterator[str]:
    """There is no row of cells."""
    found = {str(name): int(many or 0) for name, many in trial.answer(cycle, names.ROWS)}
    for name in (BASE, UPPER):
        if found.get(name) != 0:
            yield f"{name} has {found.get(name, 'no count of')} rows, not 0"


def whole(trial: Trial, cycle: int) -> Iterator[str]:
    """The tables of the outline, by which the cycle was made, have their rows at its end."""
    for table, rows in trial.tables.items():
        there = Counter(trial.answer(cycle, names.outline_answer(table)))
        expected = Counter(tuple(map(_text, row)) for row in rows)
        for which, said in ((expected - there, "lacks"), (there - expected, "should not have")):
            if which:
                row = ", ".join(map(str, min(which, key=str)))
                yield f"{table.name} {said} {which.total():,} rows, as ({row})"


def _text(value: object) -> str | None:
    """As answers have it: numbers in full."""
    if value is None:
        return None
    return repr(float(value)) if isinstance(value, float) else str(value)


def tallies(rows: Sequence[Sequence[object]]) -> dict[str, Tally]:
    """Of each name in a first column, what follows it."""
    return {str(row[0]): _tally(row[1:]) for row in rows}


def _tally(row: Sequence[object]) -> Tally:
    cells, total, placed = (float(str(own or 0)) for own in row)
    return int(cells), total, placed


def _otherwise(of: str, found: Tally, expected: Tally) -> Iterator[str]:
    if found != expected:
        yield f"of {of} there are {_shown(found)}, not {_shown(expected)}"


def _shown(tally: Tally) -> str:
    cells, total, placed = tally
    return f"{cells:,} cells (sum {total:,.0f}, by place {placed:,.0f})"


_NOTHING: Tally = (0, 0.0, 0.0)


def native(trial: Trial, cycle: int) -> Iterator[str]:
    """Each native file has brought its cells."""
    found = tallies(trial.answer(cycle, names.FILES))
    for place, file in enumerate(trial.data.native):
        expected = file.cells, file.sum, file.placed_sum
        yield from _otherwise(file.name, found.get(str(place), _NOTHING), expected)


def lines(trial: Trial, cycle: int) -> Iterator[str]:
    """The right lines of the file of cells are taken, and the wrong ones are not."""
    data = trial.data
    found = _tally(trial.answer(cycle, names.SOLD)[0])
    rejects = set(_rejects(trial, cycle))
    injected = {(own.line, _FIELDS[own.fault]) for own in data.injected}
    if found[0] + len(rejects) != data.lines:
        yield f"{found[0]:,} cells accepted and {len(rejects):,} rejected, of {data.lines:,} lines"
    yield from _otherwise("the lines", found, _of_lines(data))
    for wrong, said in ((injected - rejects, "not rejected"), (rejects - injected, "rejected")):
        for line, field in sorted(wrong)[:1]:
            yield f"{len(wrong)} lines are {said}, the first is {line} for its {field}"


def _of_lines(data: CubeData) -> Tally:
    return data.lines - len(data.injected), data.accepted_sum, data.placed_sum


def held(trial: Trial, cycle: int) -> Iterator[str]:
    """All that was loaded is where it was loaded, at the end of the cycle."""
    return held_otherwise(tallies(trial.answer(cycle, names.HELD)), trial.data)


def held_otherwise(found: Mapping[str, Tally], data: CubeData) -> Iterator[str]:
    """What level 0 has of the files, where it is not theirs."""
    native = [(own.cells, own.sum, own.placed_sum) for own in data.native]
    cells, total, placed = (sum(column) for column in zip(*native, strict=True))
    yield from _otherwise("the lines", found.get("lines", _NOTHING), _of_lines(data))
    yield from _otherwise("native files", found.get("native", _NOTHING), (cells, total, placed))


def held_cells(data: CubeData) -> int:
    """Cells that are loaded."""
    return _of_lines(data)[0] + sum(own.cells for own in data.native)


def _rejects(trial: Trial, cycle: int) -> Iterator[tuple[int, str]]:
    """Line in the whole file and column of each line that was not taken."""
    parts = trial.data.parts(trial.parameters.csv_parts)
    firsts = first_lines(trial.data, trial.parameters.csv_parts)
    whole = names.rejects_path(trial.folder, cycle)
    for place, (part, first) in enumerate(zip(parts, firsts, strict=True)):
        own = rejected(whole, place)
        path = own if own.is_file() else whole
        if not path.is_file():
            raise LookupError(f"there is no file {own.name} or {whole.name}")
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if Path(row.get("file") or part).name == part.name:
                    yield int(row["line"]) - 2 + first, str(row["field"])


def levels(trial: Trial, cycle: int) -> Iterator[str]:
    """Each upper row is the sum of the rows directly below it."""
    after = restructure(trial.outline).outline
    for part in range(PARTS):
        ((rows, wrong, first),) = trial.answer(cycle, names.levels_answer(part))
        if int(wrong or 0):
            yield f"{wrong} of {rows} rows, the first of {names_at(after, int(first or 0))}"


def root(trial: Trial, cycle: int) -> Iterator[str]:
    """The root has the sums of level 0, with missing kept apart from 0."""
    sides: dict[str, dict[Row, Row]] = {BASE: {}, UPPER: {}}
    for side, *rest in trial.answer(cycle, names.TOTALS):
        sides[str(side)][tuple(rest[:3])] = tuple(rest[3:])
    for key in sides[BASE].keys() | sides[UPPER].keys():
        below, above = sides[BASE].get(key, ()), sides[UPPER].get(key, ())
        if not _same(below, above):
            yield f"of year {key[0]}, currency {key[1]}, account {key[2]} the root is not the sum"


def allocated(trial: Trial, cycle: int) -> Iterator[str]:
    """Nothing of a pool is lost, and each row has the share of its units."""
    accounts = trial.outline[ACCOUNT].numbers
    local = trial.outline[CURRENCY].numbers[LOCAL]
    totals = {
        (int(year or 0), int(account or 0)): amounts
        for side, year, currency, account, *amounts in trial.answer(cycle, names.TOTALS)
        if side == BASE and int(currency or 0) == local
    }
    for (year, account), spent in totals.items():
        for pool, to in zip(POOLS, ALLOCATED, strict=True):
            if account == accounts[pool] and not _same(spent, totals.get((year, accounts[to]), ())):
                yield f"{to} of year {year} is not what {pool} has"
    ((rows, expected, compared, wrong),) = trial.answer(cycle, names.DRIVERS)
    if not rows == expected == compared:
        yield f"{rows} rows allocated, not {expected}; {compared} have units and a pool"
    if int(wrong or 0):
        yield f"{wrong} of {compared} rows are not the share of their units"


def converted(trial: Trial, cycle: int) -> Iterator[str]:
    """Each row has one of the other currency, by its rate."""
    ((local, all_rows, pairs, own, trips),) = trial.answer(cycle, names.CONVERSION)
    if pairs != local:
        yield f"{pairs} of {local} rows are converted"
    if int(all_rows or 0) != 2 * int(local or 0):
        yield f"level 0 has {all_rows} rows, not two of each of {local}"
    if int(own or 0):
        yield f"{own} rows of {CONVERTED} entities have changed"
    if int(trips or 0):
        yield f"{trips} rows are not what they were when they are converted back"
    currencies, years = trial.outline[CURRENCY], trial.outline[YEARS]
    sums: dict[tuple[str, str, str], dict[str, Sequence[str | None]]] = {}
    for code, kind, currency, year, *amounts in trial.answer(cycle, names.CURRENCIES):
        side = currencies.members[int(currency or 0)].name
        name = years.members[int(year or 0)].name
        sums.setdefault((str(code), str(kind), name), {})[side] = amounts
    for told, sides in sums.items():
        rates = _rates(trial.rates, *told)
        expected = [
            None if amount is None else str(float(amount) * rate)
            for amount, rate in zip(sides.get(LOCAL, ()), rates, strict=False)
        ]
        if not _same(expected, sides.get(CONVERTED, ())):
            yield f"{', '.join(told)}: not the sum at its rates"


def _rates(rates: Rates, code: str, kind: str, year: str) -> Sequence[float]:
    for known in RATE_KINDS:
        if kind == known:
            return list(map(float, rates.of(code, known, year)))
    return [1.0] * rates.values.shape[-1]


def restructured(trial: Trial, cycle: int) -> Iterator[str]:
    """Rows and hashes are those from before, with each account told by its number then."""
    before = sorted(trial.answer(cycle, names.BEFORE), key=str)
    after = sorted(trial.answer(cycle, names.AFTER), key=str)
    if before != after:
        yield f"rows and hash were {before}, and are {after}"


def alike(trial: Trial, cycle: int) -> Iterator[str]:
    """A cycle ends with the cells of the first; sums of quotients may differ in a last bit."""

    def cells(of: int) -> dict[str, Row]:
        rows = trial.answer(of, names.AFTER)
        return {
            f"{name}{', quotients' if int(quotient or 0) else ''}": (many,)
            if name == UPPER and int(quotient or 0)
            else (many, told)
            for name, quotient, many, told in rows
        }

    first, own = cells(1), cells(cycle)
    for name in first.keys() | own.keys():
        if first.get(name) != own.get(name):
            yield f"cycle {cycle} ends with other cells of {name} than cycle 1"


def _same(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    """Whether two rows of amounts are the same, with missing kept apart from zero."""
    return len(one) == len(other) and all(map(close, one, other))


def close(one: str | float | None, other: str | float | None) -> bool:
    """Whether two amounts are the same; a missing one is like nothing but another."""
    if one is None or other is None:
        return one is other
    first, second = float(one), float(other)
    return abs(first - second) <= CLOSE * max(abs(first), abs(second))
