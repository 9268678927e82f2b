"""Events of decision support as the runner tells them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadstone.protocol.frames import Event
from loadstone.protocol.steps import TOLD
from loadstone.workloads.dss.queries import NUMBERS, operation
from loadstone.workloads.measured import Measured, Observation

REFRESHES = ("rf1", "rf2")


def step(stream: str, name: str, from_s: float, to_s: float, **more: Any) -> Event:
    kind = more.pop("step", "change" if name in REFRESHES else "query")
    data = {"stream": stream, "operation": name, "step": kind, "from_s": from_s, "to_s": to_s}
    return Event(to_s, "workload", name=TOLD, data={**data, **more})


def run_of(
    stream: str, *names: str, begin_s: float = 0.0, each_s: float = 2.0, failed: str = ""
) -> Iterator[Event]:
    """Steps one after the other, each of the same length; one of them may have failed."""
    for place, name in enumerate(names):
        from_s = begin_s + place * each_s
        more = {"class": "time-limit", "error": "broken off"} if name == failed else {}
        yield step(stream, name, from_s, from_s + each_s, **more)


def queries() -> list[str]:
    return [operation(number) for number in NUMBERS]


def measured(*events: Event, folder: Path | None = None) -> Measured:
    nothing = Observation(0.0, {})
    return Measured(
        begin=nothing,
        end=nothing,
        duration_s=100.0,
        operations={},
        rolled_back={},
        retries=0,
        errors=0,
        driver_cpu_s=0.0,
        server_cpu_s=12.5,
        total_operations={},
        total_rolled_back={},
        total_errors=0,
        events=events,
        folder=folder,
    )
