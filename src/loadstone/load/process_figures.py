"""Each process of the load generator on its own.

Of several processes the worst one decides: the mean of a busy and an idle one looks healthy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadstone.protocol.frames import Hello, Tick
from loadstone.results.generator import GeneratorProcess
from loadstone.results.latency import merge, summarize_latency
from loadstone.results.record import LatencySummary


def generator_processes(
    hello: Hello, ticks: Sequence[Tick], duration_s: float
) -> list[GeneratorProcess]:
    """The processes that shared a load; none if it was a single one.

    Args:
        hello: Of all of them.
        ticks: Of the measured phase.
        duration_s: Its length.
    """
    lags = lags_by_process(ticks) if hello.processes else {}
    return [
        GeneratorProcess(
            pid=process.pid,
            cpu_share=_cpu_s(number, ticks) / (duration_s * max(1, process.threads)),
            lag_p99_s=lags[number].p99_s if number in lags else None,
        )
        for number, process in enumerate(hello.processes)
    ]


def lags_by_process(ticks: Iterable[Tick]) -> dict[int, LatencySummary]:
    """Schedule lag of each process by its number; a single one has number 0."""
    texts: dict[int, list[str]] = {}
    for tick in ticks:
        for own in tick.processes:
            if own.lag:
                texts.setdefault(own.process, []).append(own.lag)
        if not tick.processes and tick.lag:
            texts.setdefault(0, []).append(tick.lag)
    summaries = {number: summarize_latency(merge(own)) for number, own in texts.items()}
    return {number: lag for number, lag in summaries.items() if lag is not None}


def _cpu_s(number: int, ticks: Iterable[Tick]) -> float:
    return sum(own.cpu_s for tick in ticks for own in tick.processes if own.process == number)
