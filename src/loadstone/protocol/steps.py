"""What became of each step of a workload that goes step by step, as the runner told it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from loadstone.protocol.frames import Event

TOLD = "step"
"""Name of the event that tells one."""
ANSWERS, PLANS, SHAPES = "answers", "plans", "shapes"
"""Folders of a trial: answers of steps; plans as the engine shows them, and without figures."""


@dataclass(frozen=True)
class StepRun:
    """A step as it went. Figures that are not known are None."""

    stream: str
    """Steps of one stream follow each other in one session."""
    operation: str
    kind: str
    """`query`, `change`, `explain` or `work`."""
    from_s: float
    """On the trial's clock."""
    to_s: float
    rows: int | None = None
    error_class: str | None = None
    error: str | None = None
    cpu_s: float | None = None
    """Of the engine, only where no other step ran at the same time; so are those below."""
    parser_cpu_s: float | None = None
    """Of the parsers of the step's files, which are none of the engine."""
    peak_bytes: int | None = None
    """Most memory of the engine."""
    read_bytes: int | None = None
    """From disks."""
    written_bytes: int | None = None
    """To disks, or on their way there."""
    spilled_bytes: int | None = None
    """To temporary files."""
    spilled_beside_bytes: int | None = None
    """What the engine spilled while others ran too: of whichever."""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.to_s - self.from_s

    @property
    def ended_well(self) -> bool:
        """Whether it did."""
        return self.error_class is None


def steps_of(events: Iterable[Event]) -> list[StepRun]:
    """The steps that ended, in the order in which they did."""
    return [_step(event) for event in events if event.name == TOLD]


def _step(event: Event) -> StepRun:
    data = event.data

    def text(name: str) -> str | None:
        return None if name not in data else str(data[name])

    def count(name: str) -> int | None:
        return None if name not in data else int(data[name])

    def seconds(name: str) -> float | None:
        return None if name not in data else float(data[name])

    return StepRun(
        stream=str(data["stream"]),
        operation=str(data["operation"]),
        kind=str(data["step"]),
        from_s=float(data["from_s"]),
        to_s=float(data["to_s"]),
        rows=count("rows"),
        error_class=text("class"),
        error=text("error"),
        cpu_s=seconds("cpu_s"),
        parser_cpu_s=seconds("parser_cpu_s"),
        peak_bytes=count("peak_bytes"),
        read_bytes=count("read_bytes"),
        written_bytes=count("written_bytes"),
        spilled_bytes=count("spilled_bytes"),
        spilled_beside_bytes=count("spilled_beside_bytes"),
    )


def as_text(value: object) -> str | None:
    """A value as text: numbers in full, dates as ISO 8601, `char` without its padding."""
    match value:
        case None:
            return None
        case datetime():
            return value.date().isoformat()
        case date():
            return value.isoformat()
        case float():
            return repr(value)
        case _:
            return str(value).rstrip()
