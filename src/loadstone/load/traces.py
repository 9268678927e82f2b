"""Whole transactions of several driver processes, and what of them a record keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loadstone.protocol.traces import Trace, Traces
from loadstone.results.record import OperationSummary

SAMPLE = 3
"""Transactions that the driver draws of each operation."""
MOST_ROWS = 2000
"""Rows of all transactions in the record of a trial."""

Told = Mapping[str, Any]
"""What a frame says of the transactions of one operation."""


def moved(traces: Mapping[str, Told], offset_s: float) -> dict[str, Any]:
    """The transactions of a process whose clock began so much later than the common one."""

    def later(trace: Told) -> dict[str, Any]:
        return {**trace, "due_s": trace["due_s"] + offset_s}

    return {
        operation: {
            kind: [later(each) for each in kept] if kind == "sample" else later(kept)
            for kind, kept in told.items()
        }
        for operation, told in traces.items()
    }


def merged(parts: Iterable[Mapping[str, Told]]) -> dict[str, Any]:
    """The transactions of all processes: the slowest of all, and a sample of all.

    Each transaction has drawn a key, and a sample has those of the least keys: so has the sample of
    samples, in which every transaction has had the same chance, however many each process made
    (Cohen and Kaplan, Summarizing data using bottom-k sketches, PODC 2007).
    """
    by_operation: dict[str, list[Told]] = {}
    for part in parts:
        for operation, told in part.items():
            by_operation.setdefault(operation, []).append(told)
    return {operation: _merged(told) for operation, told in by_operation.items()}


def _merged(parts: Sequence[Told]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in ("slowest", "failed"):
        kept = [part[kind] for part in parts if kind in part]
        found |= {kind: max(kept, key=lambda trace: trace["took_s"])} if kept else {}
    sample = [trace for part in parts for trace in part.get("sample", ())]
    sample.sort(key=lambda trace: trace["key"])
    return found | ({"sample": sample[:SAMPLE]} if sample else {})


def kept(
    traces: Mapping[str, Traces],
    operations: Iterable[OperationSummary],
    most_rows: int = MOST_ROWS,
) -> dict[str, Traces]:
    """What the record of a trial keeps.

    The first of a sample is the one nearest to the median of its operation: a typical one. Where
    all are too many, the slowest go before the failed, and these before samples.

    Args:
        traces: By operation, as the driver told them.
        operations: Those of the trial, for their medians.
        most_rows: In all.
    """
    medians = {each.name: each.response.p50_s for each in operations if each.response is not None}
    ordered = {
        operation: told.model_copy(
            update={"sample": _nearest(told.sample, medians.get(operation, 0.0))}
        )
        for operation, told in traces.items()
    }
    rows, chosen = 0, set[int]()
    for trace in _by_weight(ordered.values()):
        if rows + len(trace.rows) <= most_rows:
            rows += len(trace.rows)
            chosen.add(id(trace))
    return {
        operation: only
        for operation, told in ordered.items()
        if (only := _only(told, chosen)) != Traces()
    }


def _nearest(sample: Sequence[Trace], median_s: float) -> list[Trace]:
    return sorted(sample, key=lambda trace: abs(trace.took_s - median_s))


def _by_weight(traces: Iterable[Traces]) -> list[Trace]:
    told = list(traces)
    slowest = [each.slowest for each in told if each.slowest is not None]
    failed = [each.failed for each in told if each.failed is not None]
    places = range(max((len(each.sample) for each in told), default=0))
    drawn = [each.sample[at] for at in places for each in told if at < len(each.sample)]
    return [*slowest, *failed, *drawn]


def _only(told: Traces, chosen: set[int]) -> Traces:
    return Traces(
        slowest=told.slowest if id(told.slowest) in chosen else None,
        failed=told.failed if id(told.failed) in chosen else None,
        sample=[trace for trace in told.sample if id(trace) in chosen],
    )
