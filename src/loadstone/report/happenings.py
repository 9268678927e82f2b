"""What happened during a trial, read once: for the marks on its charts and for its stalls."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from loadstone.errors import WrongInputError
from loadstone.probes.host_marks import host_marks
from loadstone.probes.marks import Mark, SampleTable
from loadstone.protocol.frames import Event, Frame, Hello
from loadstone.protocol.steps import TOLD
from loadstone.report.probe_series import is_host, is_target
from loadstone.report.reading import RecordedTrial
from loadstone.results.record import OutageRecord
from loadstone.results.statistics.coincidence import Span
from loadstone.results.trial_files import TARGET_LOG_FILE
from loadstone.targets.base import Target
from loadstone.targets.happenings import ServerLog
from loadstone.targets.registry import target_for

_TOOK = "took_s"
"""In the data of a workload's event: how long that took which ends with it."""


class Happenings:
    """All that a trial's folder tells of what happened, as spans on the trial's clock."""

    def __init__(
        self, trial: RecordedTrial, frames: Sequence[Frame], samples: pa.Table | None
    ) -> None:
        """Reads the samples; the target's log is read when it is asked for.

        Args:
            trial: Its plan names the target; its folder holds the target's log.
            frames: What the driver said.
            samples: Of the probes: `t_s`, `probe`, `metric`, `value`.
        """
        self._engine = _engine(trial)
        self._host, self._target = _tables(samples)
        # Steps are what is measured, not what happened to it.
        events = (frame for frame in frames if isinstance(frame, Event))
        self.events = [event for event in events if event.name != TOLD]
        hello = next((frame for frame in frames if isinstance(frame, Hello)), None)
        start_unix_s = hello.unix_time_s - hello.t_s if hello else 0.0
        self._log = ServerLog(trial.path / TARGET_LOG_FILE if hello else None, start_unix_s)
        self.outages = [_outage(record) for record in trial.result.outages]

    def within(self, span: Span) -> list[Mark]:
        """Everything that touches an interval of time, in order.

        What stands out does so from the rest of that interval.
        """
        from_s, to_s = span
        found = [
            *_told(self.events),
            *self.outages,
            *self.of_engine(span),
            *host_marks(self._host.between(from_s, to_s)),
        ]
        return _touching(found, span)

    def of_engine(self, span: Span) -> list[Mark]:
        """What the engine did in the background in an interval of time, in order."""
        if self._engine is None:
            return []
        return _touching(self._engine.happenings(self._target.between(*span), self._log), span)


def _engine(trial: RecordedTrial) -> type[Target] | None:
    """None for one that this Loadstone does not know."""
    try:
        return target_for(trial.plan.target)
    except WrongInputError:
        return None


def _outage(record: OutageRecord) -> Mark:
    """Until the server answered again."""
    return Mark(f"outage: {record.state}", record.from_s, record.to_s + record.back_s)


def _told(events: Sequence[Event]) -> list[Mark]:
    """What the driver told: events of the workload, and connections that broke."""
    marks = []
    for event in events:
        if event.kind == "workload":
            took = event.data.get(_TOOK, 0.0)
            took_s = took if isinstance(took, float) else 0.0
            marks.append(Mark(event.name, event.t_s - took_s, event.t_s, event.detail))
        elif event.kind == "connection-lost":
            marks.append(Mark("connection lost", event.t_s, event.t_s, event.detail))
    return marks


def _touching(marks: Sequence[Mark], span: Span) -> list[Mark]:
    from_s, to_s = span
    touching = [mark for mark in marks if mark.to_s >= from_s and mark.from_s <= to_s]
    return sorted(touching, key=lambda mark: (mark.from_s, mark.kind))


def _tables(samples: pa.Table | None) -> tuple[SampleTable, SampleTable]:
    """The samples of the host, and those of the target."""
    columns = samples.to_pydict() if samples is not None else {}
    rows = list(
        zip(
            *(columns.get(name, []) for name in ("probe", "t_s", "metric", "value")),
            strict=True,
        )
    )
    return (
        SampleTable.of((t, metric, value) for probe, t, metric, value in rows if is_host(probe)),
        SampleTable.of((t, metric, value) for probe, t, metric, value in rows if is_target(probe)),
    )
