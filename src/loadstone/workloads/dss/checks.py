"""Are the answers right, and are the rows there that must be there?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from loadstone.protocol.steps import ANSWERS, StepRun
from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.answers import Row, difference
from loadstone.workloads.dss.published import TIED, published
from loadstone.workloads.dss.queries import NUMBERS, operation
from loadstone.workloads.dss.rounds import POWER, REFRESH, VALIDATION_STREAM, answer_name

PUBLISHED = "answers are the published ones"


def check_published(folder: Path, steps: Sequence[StepRun]) -> CheckResult:
    """The answers of the validation are those that were published for scale 1.

    Args:
        folder: Of the trial.
        steps: All that ended; a query that did not end well has no answer to be checked. Without
            any answer nothing was shown, and the check has failed.
    """
    wrong, right = [], 0
    for query in NUMBERS:
        name = operation(query)
        if not answered(steps, VALIDATION_STREAM, name):
            continue
        found = read_answer(folder, VALIDATION_STREAM, name)
        differs = difference(published(query), found, TIED.get(name, ()))
        right += differs is None
        if differs is not None:
            wrong.append(f"{name} {differs}")
    unanswered = len(NUMBERS) - right - len(wrong)
    left = f"; {unanswered} had no answer" if unanswered else ""
    return CheckResult(
        name=PUBLISHED,
        passed=right > 0 and not wrong,
        detail="; ".join(wrong)
        or f"{right} of 22 queries have the answer published for scale 1{left}",
    )


def check_rows(
    target: Database, loaded: Mapping[str, int], steps: Sequence[StepRun]
) -> list[CheckResult]:
    """Refreshes inserted and deleted what they should, and nothing else.

    Args:
        target: Running, without load.
        loaded: Rows of each table before the load began.
        steps: All that ended.
    """
    made = [step for step in steps if step.stream in {POWER, REFRESH} and step.kind == "change"]
    inserted, deleted = _pairs(made, refresh.INSERT), _pairs(made, refresh.DELETE)
    rows_of = {"orders": "count(*)", "lineitem": "coalesce(sum(l_lines), 0)"}
    found = []
    for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        came = _number(target, f"SELECT count(*) FROM refresh_{table} WHERE {inserted}")
        went = _number(target, f"SELECT {rows_of[table]} FROM refresh_delete WHERE {deleted}")
        left = _number(
            target,
            f"SELECT count(*) FROM {table} WHERE {key} IN "
            f"(SELECT o_orderkey FROM refresh_delete WHERE {deleted})",
        )
        present = _number(target, f"SELECT count(*) FROM {table}")
        expected = loaded[table] + came - went
        found.append(
            CheckResult(
                name=f"{table} holds what was loaded and refreshed",
                passed=present == expected and left == 0,
                detail=f"{present:,} rows, {expected:,} expected: {came:,} inserted, {went:,} "
                f"deleted; of these {left:,} are still there",
            )
        )
    return found


def read_answer(folder: Path, stream: str, name: str) -> list[Row]:
    """An answer that the runner kept.

    Args:
        folder: Of the trial.
        stream: That asked.
        name: Of the query.
    """
    table = pq.ParquetFile(answer_file(folder, stream, name)).read()
    columns = [[value or "" for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


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


def _number(target: Database, sql: str) -> int:
    ((number,),) = target.query(sql)
    return int(number)
