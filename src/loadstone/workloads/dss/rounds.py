"""What each stream sends: the rounds of the runner's plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadstone.targets.dialect import Dialect
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.queries import NUMBERS, operation, text
from loadstone.workloads.dss.streams import order_of
from loadstone.workloads.dss.substitution import VALIDATION, drawn

VALIDATION_STREAM, POWER, REFRESH = "validation", "power", "refresh"
_Step = dict[str, Any]
_Stream = dict[str, Any]


def stream_name(stream: int) -> str:
    """The name of a stream of the throughput run.

    Args:
        stream: From 1.
    """
    return f"stream-{stream}"


def users(parameters: DecisionSupportParameters) -> int:
    """Sessions: the power run's, the streams', and that of their refreshes."""
    streams = parameters.query_streams
    return 1 + streams + (1 if streams and parameters.refreshes else 0)


def rounds(
    parameters: DecisionSupportParameters, seed: int, dialect: Dialect
) -> list[list[_Stream]]:
    """The streams of the warm-up, if there is one, and of the measured phase.

    Args:
        parameters: Of the workload.
        seed: Of the substitution parameters.
        dialect: The engine's SQL.
    """
    measured = _measured(parameters, seed, dialect)
    if not parameters.warm_up:
        return [measured]
    validation = {
        "name": VALIDATION_STREAM,
        "steps": [
            step
            for query in NUMBERS
            for step in _validation(query, dialect, plans=parameters.plans)
        ],
    }
    idle = [{"name": f"idle-{user}", "steps": []} for user in range(1, users(parameters))]
    return [[validation, *idle], measured]


def steps_planned(parameters: DecisionSupportParameters) -> int:
    """How many steps there are in all streams of both phases."""
    planned = rounds(parameters, 0, Dialect("duckdb"))
    return sum(len(stream["steps"]) for streams in planned for stream in streams)


def _measured(parameters: DecisionSupportParameters, seed: int, dialect: Dialect) -> list[_Stream]:
    def queries(stream: int, answers: str | None = None) -> list[_Step]:
        return [
            _query(query, drawn(query, parameters.scale, seed, stream), dialect, answers)
            for query in order_of(stream)
        ]

    # Only these answers are the same each time: nothing changes the data while they are made.
    power = queries(0, POWER)
    if parameters.refreshes:
        first, last = (
            _refresh(function, 1, dialect) for function in (refresh.INSERT, refresh.DELETE)
        )
        power = [first, *power, last]
    found: list[_Stream] = [{"name": POWER, "steps": power}]
    for stream in range(1, parameters.query_streams + 1):
        steps = queries(stream)
        found.append({"name": stream_name(stream), "after": POWER, "steps": steps})
    if parameters.query_streams and parameters.refreshes:
        pairs = range(2, parameters.pairs + 1)
        steps = [
            _refresh(name, pair, dialect)
            for pair in pairs
            for name in (refresh.INSERT, refresh.DELETE)
        ]
        found.append({"name": REFRESH, "after": POWER, "steps": steps})
    return found


def _validation(query: int, dialect: Dialect, *, plans: bool) -> list[_Step]:
    step = _query(query, VALIDATION[query], dialect, VALIDATION_STREAM)
    return [step, {**step, "kind": "explain", "answer": None}] if plans else [step]


def answer_name(stream: str, query: str) -> str:
    """Under which the answer of a stream's query is kept."""
    return f"{stream}-{query}"


def _query(
    query: int, parameters: Mapping[str, str], dialect: Dialect, answers: str | None
) -> _Step:
    name = operation(query)
    return {
        "operation": name,
        "kind": "query",
        "statements": [dialect.exact(text(query, parameters))],
        "answer": None if answers is None else answer_name(answers, name),
    }


def _refresh(function: str, pair: int, dialect: Dialect) -> _Step:
    return {
        "operation": function,
        "kind": "change",
        "statements": list(refresh.statements(function, pair, dialect)),
    }
