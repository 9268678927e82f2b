"""What happened during a trial, read once: for the marks on its charts and for its stalls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
from loadstone.results.trial_files import target_log_file
from loadstone.targets.happenings import ServerLog
from loadstone.targets.walk import Known, each_in

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
        self._trial = trial
        self._systems = _systems(trial)
        self._host, self._target = _tables(samples)
        # Steps are what is measured, not what happened to it.
        events = (frame for frame in frames if isinstance(frame, Event))
        self.events = [event for event in events if event.name != TOLD]
        hello = next((frame for frame in frames if isinstance(frame, Hello)), None)
        self._start_unix_s = hello.unix_time_s - hello.t_s if hello else None
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
        """What the engine, or those of its parts, did in the background, in order."""
        seen = self._target.between(*span)
        found = [mark for system in self._systems for mark in self._of_system(system, seen)]
        return _touching(found, span)

    def _of_system(self, system: Known, seen: SampleTable) -> Iterator[Mark]:
        """What a part did says which it was: two of them may be of one engine."""
        own = seen.below(f"{system.name}.") if system.name else seen
        for mark in system.kind.happenings(own, self._log_of(system.name)):
            detail = ", ".join(filter(None, (system.name, mark.detail)))
            yield replace(mark, detail=detail)

    def _log_of(self, part: str) -> ServerLog:
        if self._start_unix_s is None:
            return ServerLog(None, 0.0)
        return ServerLog(self._trial.path / target_log_file(part), self._start_unix_s)


def _systems(trial: RecordedTrial) -> list[Known]:
    """The system and its parts; nothing for one that this Loadstone does not know."""
    try:
        return list(each_in(trial.plan.target))
    except WrongInputError:
        return []


def _outage(record: OutageRecord) -> Mark:
    """Until the server answered again."""
    whose = f"{record.part} " if record.part else ""
    return Mark(f"outage: {whose}{record.state}", record.from_s, record.to_s + record.back_s)


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
