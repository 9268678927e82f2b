"""Did each step do what it must?"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import ExitCode, LoadstoneError
from loadstone.protocol.steps import StepRun
from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.targets.schema import Table
from loadstone.workloads.cube import cycle as names
from loadstone.workloads.cube.data.provide import CubeData, first_lines
from loadstone.workloads.cube.metrics import Answer, read_answer
from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED, POOLS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import CONVERTED, CURRENCY, LOCAL, YEARS
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.cube.rates import RATE_KINDS, Rates
from loadstone.workloads.cube.sql import questions
from loadstone.workloads.cube.sql.load import rejected
from loadstone.workloads.cube.sql.questions import CLOSE
from loadstone.workloads.cube.sql.tables import BASE, UPPER

_MOST_SAID = 3
_FIELDS = {"entity": "Entity", "account": "Account", "period": "Period", "number": "Data"}
"""Column of the file of cells in which each kind of fault is."""
_Row = tuple[str | None, ...]


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


class FailedCheckError(LoadstoneError):
    """The cube that was made with the data is not what it must be."""

    exit_code = ExitCode.FAILED_CHECK


_Question = Callable[[Trial, int], Iterator[str]]


def check_steps(steps: Sequence[StepRun]) -> CheckResult:
    """Every step and every question ended well."""
    failed = [step for step in steps if not step.ended_well]
    said = [f"{step.operation} ({step.error_class}: {step.error})" for step in failed]
    return CheckResult(
        name="every step ended well",
        passed=not failed,
        detail="; ".join(said[:_MOST_SAID]) or f"{len(steps)} steps and questions",
    )


def check_cycles(trial: Trial) -> list[CheckResult]:
    """Each step of each cycle, by what was asked after it."""
    stored = not trial.parameters.hybrid
    asked = {
        "a reset leaves no cell, and the outline whole": _reset,
        "native files: their cells and sums": _native,
        "lines: accepted and rejected": _lines,
        **({"the root is the sum of level 0": _root} if stored else {}),
        "pools are allocated whole": _allocated,
        "converted by the rates, there and back": _converted,
        "the restructure keeps every cell": _restructured,
    }
    cycles = range(1, trial.parameters.cycles + 1)
    each = f"{len(cycles)} cycle{'s' if len(cycles) > 1 else ''}"
    data, rows = trial.data, sum(map(len, trial.tables.values()))
    right = data.lines - len(data.injected)
    facts = {
        _reset: f"{rows:,} rows of the outline",
        _lines: f"{right:,} lines accepted and {len(data.injected):,} rejected",
    }
    found = []
    for name, question in asked.items():
        problems = [
            f"cycle {cycle}: {said}" for cycle in cycles for said in _asked(question, trial, cycle)
        ]
        fact = facts.get(question)
        found.append(_result(name, problems, f"{fact}, in {each}" if fact else each))
    if len(cycles) > 1:
        found.append(_result("cycles end alike", _alike(trial, cycles), each))
    return found


def check_made(trial: Trial, unmade: Sequence[str]) -> list[CheckResult]:
    """The one cycle that made the cube with the data.

    Args:
        trial: Of one cycle.
        unmade: Steps that did not end well.
    """
    problems = [f"{step} did not end well" for step in unmade]
    return [_result("every step ended well", problems, "1 cycle"), *check_cycles(trial)]


def refuse_failed(checks: Sequence[CheckResult]) -> None:
    """Stops before trials of a cube that was made wrong.

    Raises:
        FailedCheckError: It names the first check that failed.
    """
    for check in checks:
        if not check.passed:
            raise FailedCheckError(
                f"the cube that was made with the data is wrong: {check.name}: {check.detail}",
                advice="run it with cycles: 1, which shows every step and check",
            )


def check_held(target: Database, outline: Outline, data: CubeData) -> CheckResult:
    """Level 0 still has the cells of the files.

    Args:
        target: Running, without load.
        outline: After the restructure.
        data: The files.
    """
    found = {str(row[0]): _cells_and_sum(row[1:]) for row in target.query(questions.held(outline))}
    expected = {
        "lines": (data.lines - len(data.injected), data.accepted_sum),
        "native": (sum(own.cells for own in data.native), sum(own.sum for own in data.native)),
    }
    problems = [
        f"of {whence} there are {found.get(whence, (0, 0.0))}, not {own} (cells, sum)"
        for whence, own in expected.items()
        if found.get(whence) != own
    ]
    cells = sum(own for own, _ in expected.values())
    return _result("level 0 holds the cells of the files", problems, f"{cells:,} cells")


def _asked(question: _Question, trial: Trial, cycle: int) -> list[str]:
    try:
        return list(question(trial, cycle))
    except LookupError as error:
        return [str(error)]


def _result(name: str, problems: Sequence[str], fine: str) -> CheckResult:
    more = f"; and {len(problems) - _MOST_SAID} more" if len(problems) > _MOST_SAID else ""
    return CheckResult(
        name=name,
        passed=not problems,
        detail="; ".join(problems[:_MOST_SAID]) + more if problems else fine,
    )


def _reset(trial: Trial, cycle: int) -> Iterator[str]:
    found = {str(name): int(many or 0) for name, many in trial.answer(cycle, names.ROWS)}
    for name in (BASE, UPPER):
        if found.get(name) != 0:
            yield f"{name} has {found.get(name, 'no count of')} rows, not 0"
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


def _native(trial: Trial, cycle: int) -> Iterator[str]:
    found = {int(row[0] or 0): row[1:] for row in trial.answer(cycle, names.FILES)}
    for place, file in enumerate(trial.data.native):
        cells, total = _cells_and_sum(found.get(place, ("0", "0")))
        if (cells, total) != (file.cells, file.sum):
            yield (
                f"of {file.name} there are {cells:,} cells with sum {total:,.0f}, not "
                f"{file.cells:,} with {file.sum:,}"
            )


def _lines(trial: Trial, cycle: int) -> Iterator[str]:
    data = trial.data
    cells, total = _cells_and_sum(trial.answer(cycle, names.SOLD)[0])
    rejects = set(_rejects(trial, cycle))
    injected = {(own.line, _FIELDS[own.fault]) for own in data.injected}
    if cells + len(rejects) != data.lines:
        yield f"{cells:,} cells accepted and {len(rejects):,} rejected, of {data.lines:,} lines"
    if total != data.accepted_sum:
        yield f"the sum of the accepted is {total:,.0f}, not {data.accepted_sum:,}"
    for wrong, said in ((injected - rejects, "not rejected"), (rejects - injected, "rejected")):
        for line, field in sorted(wrong)[:1]:
            yield f"{len(wrong)} lines are {said}, the first is {line} for its {field}"


def _cells_and_sum(row: _Row) -> tuple[int, float]:
    return int(row[0] or 0), float(row[1] or 0.0)


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


def _root(trial: Trial, cycle: int) -> Iterator[str]:
    sides: dict[str, dict[_Row, _Row]] = {BASE: {}, UPPER: {}}
    for side, *rest in trial.answer(cycle, names.TOTALS):
        sides[str(side)][tuple(rest[:3])] = tuple(rest[3:])
    for key in sides[BASE].keys() | sides[UPPER].keys():
        below, above = sides[BASE].get(key, ()), sides[UPPER].get(key, ())
        if not _same(below, above):
            yield f"of year {key[0]}, currency {key[1]}, account {key[2]} the root is not the sum"


def _allocated(trial: Trial, cycle: int) -> Iterator[str]:
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
    ((rows, expected, wrong),) = trial.answer(cycle, names.DRIVERS)
    if rows != expected or int(wrong or 0):
        yield f"{rows} rows allocated, not {expected}; {wrong} without the units they follow"


def _converted(trial: Trial, cycle: int) -> Iterator[str]:
    ((local, pairs, own, trips),) = trial.answer(cycle, names.CONVERSION)
    if pairs != local:
        yield f"{pairs} of {local} rows are converted"
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


def _restructured(trial: Trial, cycle: int) -> Iterator[str]:
    before = sorted(trial.answer(cycle, names.BEFORE), key=str)
    after = sorted(trial.answer(cycle, names.AFTER), key=str)
    if before != after:
        yield f"rows and hash were {before}, and are {after}"


def _alike(trial: Trial, cycles: range) -> list[str]:
    """Level 0 has the same cells after each cycle; sums of quotients may differ in a last bit."""
    try:
        found = {
            cycle: [row for row in trial.answer(cycle, names.AFTER) if row[0] == BASE]
            for cycle in cycles
        }
    except LookupError as error:
        return [str(error)]
    return [
        f"cycle {cycle} ends with other cells than cycle 1"
        for cycle, rows in found.items()
        if rows != found[1]
    ]


def _same(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    """Whether two rows of amounts are the same, with missing kept apart from zero."""
    return len(one) == len(other) and all(map(close, one, other))


def close(one: str | float | None, other: str | float | None) -> bool:
    """Whether two amounts are the same; a missing one is like nothing but another."""
    if one is None or other is None:
        return one is other
    first, second = float(one), float(other)
    return abs(first - second) <= CLOSE * max(abs(first), abs(second))
