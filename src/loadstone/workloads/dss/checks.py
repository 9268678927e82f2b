"""Are the answers right, and are the rows there that must be there?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from loadstone.cache import altered
from loadstone.protocol.steps import ANSWERS, StepRun
from loadstone.results.record import CheckResult, Fingerprint
from loadstone.targets.database import Database
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.answers import Row, difference
from loadstone.workloads.dss.data import DataSet
from loadstone.workloads.dss.published import TIED, published
from loadstone.workloads.dss.queries import NUMBERS, operation
from loadstone.workloads.dss.reference import reference_answers
from loadstone.workloads.dss.rounds import POWER, REFRESH, VALIDATION_STREAM, answer_name
from loadstone.workloads.dss.sums import summed

PUBLISHED = CheckSpec(
    "answers are the published ones",
    "at scale 1, with warm_up: each row and value, in order, of each of the 22 queries that ended "
    "well; one must have",
)
REFERENCE = CheckSpec(
    "answers equal a second reading",
    "at other scales up to 10, with warm_up: each row and value, in order, of the queries that "
    "ended well, against what a DuckDB of its own answers from the generated files",
)
ORDERS_HOLD, LINES_HOLD = (
    CheckSpec(
        f"{table} holds what was loaded and refreshed",
        "as many rows as were loaded and inserted and not deleted, with the sum by place of their "
        "numbers and dates; no deleted order is there",
    )
    for table in ("orders", "lineitem")
)
OTHERS = CheckSpec(
    "the other tables are as they were loaded",
    "rows, and the sum by place of their numbers and dates",
)


def check_published(folder: Path, steps: Sequence[StepRun]) -> CheckResult:
    """The answers of the validation are those that were published for scale 1.

    Args:
        folder: Of the trial.
        steps: All that ended; a query that did not end well has no answer to be checked. Without
            any answer nothing was shown, and the check has failed.
    """
    answers = {query: published(query) for query in NUMBERS}
    return _expected(PUBLISHED, answers, "published for scale 1", folder, steps)


def check_reference(folder: Path, data: DataSet, steps: Sequence[StepRun]) -> CheckResult:
    """The answers of the validation are those of a second reading of the files.

    Args:
        folder: Of the trial.
        data: The files; one that was altered since they were made shows nothing.
        steps: All that ended.
    """
    changed = [path for folder in data.folders for path in altered(folder)]
    if changed:
        return REFERENCE.of(passed=False, detail=f"{changed[0]} is not what Loadstone wrote")
    return _expected(REFERENCE, reference_answers(data), "of the second reading", folder, steps)


def _expected(
    spec: CheckSpec,
    expected: Mapping[int, Sequence[Row]],
    whose: str,
    folder: Path,
    steps: Sequence[StepRun],
) -> CheckResult:
    wrong, right = [], 0
    for query in NUMBERS:
        name = operation(query)
        if not answered(steps, VALIDATION_STREAM, name):
            continue
        found = read_answer(folder, VALIDATION_STREAM, name)
        differs = difference(expected[query], found, TIED.get(name, ()))
        right += differs is None
        if differs is not None:
            wrong.append(f"{name} {differs}")
    unanswered = len(NUMBERS) - right - len(wrong)
    left = f"; {unanswered} had no answer" if unanswered else ""
    return spec.of(
        passed=right > 0 and not wrong,
        detail="; ".join(wrong) or f"{right} of 22 queries have the answer {whose}{left}",
    )


def check_tables(
    target: Database,
    loaded: Fingerprint,
    steps: Sequence[StepRun],
) -> list[CheckResult]:
    """Refreshes inserted and deleted what they should, and nothing else has changed.

    Args:
        target: Running, without load.
        loaded: Rows and sums of the tables before the load began.
        steps: All that ended.
    """
    now = target.fingerprint(summed(target.dialect))
    made = [step for step in steps if step.stream in {POWER, REFRESH} and step.kind == "change"]
    found = [_refreshed(target, refreshed, made, loaded, now) for refreshed in _BOTH]
    others = sorted(loaded.rows.keys() - {refreshed.table for refreshed in _BOTH})
    wrong = [
        f"{table} holds {now.rows[table]:,} rows with sum {now.sums[table]}, not "
        f"{loaded.rows[table]:,} with {loaded.sums[table]}"
        for table in others
        if (now.rows[table], now.sums[table]) != (loaded.rows[table], loaded.sums[table])
    ]
    rows = sum(loaded.rows[table] for table in others)
    detail = "; ".join(wrong) or f"{rows:,} rows of {len(others)} tables"
    return [*found, OTHERS.of(passed=not wrong, detail=detail)]


@dataclass(frozen=True)
class _Refreshed:
    """A table that refreshes change."""

    spec: CheckSpec
    table: str
    key: str
    gone: str
    """Rows of it that `refresh_delete` lists, as an aggregate."""
    gone_sum: str


_BOTH = (
    _Refreshed(ORDERS_HOLD, "orders", "o_orderkey", "count(*)", "sum(o_sum)"),
    _Refreshed(LINES_HOLD, "lineitem", "l_orderkey", "sum(l_lines)", "sum(l_sum)"),
)


def _refreshed(
    target: Database,
    of: _Refreshed,
    made: Sequence[StepRun],
    loaded: Fingerprint,
    now: Fingerprint,
) -> CheckResult:
    inserted, deleted = _pairs(made, refresh.INSERT), _pairs(made, refresh.DELETE)
    row = summed(target.dialect)[of.table]
    came, came_sum = _numbers(
        target, f"SELECT count(*), sum({row}) FROM refresh_{of.table} WHERE {inserted}"
    )
    went, went_sum = _numbers(
        target, f"SELECT {of.gone}, {of.gone_sum} FROM refresh_delete WHERE {deleted}"
    )
    (left,) = _numbers(
        target,
        f"SELECT count(*) FROM {of.table} WHERE {of.key} IN "
        f"(SELECT o_orderkey FROM refresh_delete WHERE {deleted})",
    )
    present, expected = now.rows[of.table], loaded.rows[of.table] + came - went
    total = int(now.sums[of.table])
    expected_sum = int(loaded.sums[of.table]) + came_sum - went_sum
    sums = "with their sum" if total == expected_sum else f"sum {total}, not {expected_sum}"
    return of.spec.of(
        passed=present == expected and left == 0 and total == expected_sum,
        detail=f"{present:,} rows, {expected:,} expected: {came:,} inserted, {went:,} "
        f"deleted; of these {left:,} are still there; {sums}",
    )


def read_answer(folder: Path, stream: str, name: str) -> list[Row]:
    """An answer that the runner kept.

    Args:
        folder: Of the trial.
        stream: That asked.
        name: Of the query.
    """
    table = pq.ParquetFile(answer_file(folder, stream, name)).read()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def answer_file(folder: Path, stream: str, name: str) -> Path:
    """Where the runner keeps an answer, if the query ended well."""
    return folder / ANSWERS / f"{answer_name(stream, name)}.parquet"


def answered(steps: Sequence[StepRun], stream: str, name: str) -> bool:
    """Whether a query of a stream ended well."""
    return any(
        (step.stream, step.operation, step.kind) == (stream, name, "query") and step.ended_well
        for step in steps
    )


def _pairs(steps: Sequence[StepRun], function: str) -> str:
    """A condition on the pairs whose function was made; a failed one has changed nothing."""
    made = [step for step in steps if step.operation == function]
    power = [step for step in made if step.stream == POWER]
    beside = [step for step in made if step.stream == REFRESH]
    pairs = [1 for step in power if step.ended_well]
    pairs += [pair for pair, step in enumerate(beside, start=2) if step.ended_well]
    return f"pair IN ({', '.join(map(str, pairs))})" if pairs else "pair < 0"


def _numbers(target: Database, sql: str) -> list[int]:
    (row,) = target.query(sql)
    return [int(number or 0) for number in row]
