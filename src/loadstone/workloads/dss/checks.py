"""Are the answers right, and are the rows there that must be there?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from loadstone.load.steps import ANSWERS, StepRun
from loadstone.results.record import CheckResult
from loadstone.targets.base import Target
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.answers import Row, difference
from loadstone.workloads.dss.published import TIED, published
from loadstone.workloads.dss.queries import NUMBERS, operation
from loadstone.workloads.dss.rounds import POWER, REFRESH, VALIDATION_STREAM, answer_name


def check_published(folder: Path, steps: Sequence[StepRun]) -> CheckResult:
    """The answers of the validation are those that were published for scale 1.

    Args:
        folder: Of the trial.
        steps: All that ended; a query that did not end well has no answer to be checked.
    """
    wrong, right = [], 0
    for query in NUMBERS:
        name = operation(query)
        if not _answered(steps, VALIDATION_STREAM, name):
            continue
        found = read_answer(folder, VALIDATION_STREAM, name)
        differs = difference(published(query), found, TIED.get(name, ()))
        right += differs is None
        if differs is not None:
            wrong.append(f"{name} {differs}")
    unanswered = len(NUMBERS) - right - len(wrong)
    left = f"; {unanswered} had no answer" if unanswered else ""
    return CheckResult(
        name="answers are the published ones",
        passed=not wrong,
        detail="; ".join(wrong)
        or f"{right} of 22 queries have the answer published for scale 1{left}",
    )


def check_equal(folder: Path, steps: Sequence[StepRun]) -> CheckResult | None:
    """The answers equal those of the first trial of the experiment that asked the same.

    The validation asks the same in all trials of a scale, before anything is changed; the power run
    in those that drew the same load.

    Returns:
        None if there is no such trial.
    """
    wrong, equal = [], 0
    others = {stream: _first_like(folder, stream) for stream in (VALIDATION_STREAM, POWER)}
    for stream, other in others.items():
        if other is None:
            continue
        for name in map(operation, NUMBERS):
            theirs = _file(other, stream, name)
            if not _answered(steps, stream, name) or not theirs.is_file():
                continue
            expected, found = read_answer(other, stream, name), read_answer(folder, stream, name)
            differs = difference(expected, found, TIED.get(name, ()))
            equal += differs is None
            if differs is not None:
                wrong.append(f"{name} ({stream}) {differs}")
    names = dict.fromkeys(other.name for other in others.values() if other is not None)
    if not names:
        return None
    return CheckResult(
        name="answers equal those of other trials",
        passed=not wrong,
        detail="; ".join(wrong) or f"{equal} answers equal those of {' and '.join(names)}",
    )


def check_rows(
    target: Target, loaded: Mapping[str, int], steps: Sequence[StepRun]
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
    table = pq.read_table(_file(folder, stream, name))
    columns = [[value or "" for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def _file(folder: Path, stream: str, name: str) -> Path:
    return folder / ANSWERS / f"{answer_name(stream, name)}.parquet"


def _answered(steps: Sequence[StepRun], stream: str, name: str) -> bool:
    return any(
        (step.stream, step.operation, step.kind) == (stream, name, "query") and step.ended_well
        for step in steps
    )


def _first_like(folder: Path, stream: str) -> Path | None:
    """The first trial of the experiment, before this one, in which a stream asked the same."""
    own = _asked(folder, stream)
    for other in sorted(folder.parent.iterdir()):
        if other != folder and (other / ANSWERS).is_dir() and (other / "result.json").is_file():
            theirs = _asked(other, stream)
            if theirs["order"] < own["order"] and theirs["asked"] == own["asked"]:
                return other
    return None


def _asked(folder: Path, stream: str) -> dict[str, Any]:
    plan = json.loads((folder / "plan.json").read_text())
    scale = plan["workload"]["parameters"].get("scale")
    drawn = () if stream == VALIDATION_STREAM else (plan["seed"], plan["data_seed"])
    return {"order": plan["order"], "asked": (scale, *drawn)}


def _pairs(steps: Sequence[StepRun], function: str) -> str:
    """A condition on the pairs whose function was made; a failed one has changed nothing."""
    made = [step for step in steps if step.operation == function]
    power = [step for step in made if step.stream == POWER]
    beside = [step for step in made if step.stream == REFRESH]
    pairs = [1 for step in power if step.ended_well]
    pairs += [pair for pair, step in enumerate(beside, start=2) if step.ended_well]
    return f"pair IN ({', '.join(map(str, pairs))})" if pairs else "pair < 0"


def _number(target: Target, sql: str) -> int:
    ((number,),) = target.query(sql)
    return int(number)
