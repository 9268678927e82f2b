"""Frames of the driver protocol: one JSON object a line, read into values.

The protocol is versioned, so an unknown kind or version is refused; a field that is not known is
left alone, because a driver may say more than this Loadstone asks for.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from loadstone.errors import DriverError
from loadstone.protocol.traces import Traces

PROTOCOL_VERSION = 4
READABLE_VERSIONS = frozenset({2, 3, PROTOCOL_VERSION})
"""Stored frames of version 3 lack `requests`; those of version 2 also lack `monotonic_s`,
`counters`, `gauges`, `name` and `data`."""


@dataclass(frozen=True)
class DriverProcess:
    """One of several driver processes; `nofile` is how many files it may open."""

    pid: int
    threads: int
    nofile: int


@dataclass(frozen=True, slots=True)
class ProcessTick:
    """What one of several processes says of itself in a tick; `process` is its number, from 0."""

    process: int
    cpu_s: float
    lag: str | None


@dataclass(frozen=True)
class Hello:
    """The first frame: who the driver is; `engine` is an engine within it, with its version.

    `monotonic_s` is CLOCK_MONOTONIC of the driver's machine at its `t_s` 0.
    """

    t_s: float
    version: int
    driver: str
    pid: int
    threads: int
    workload: str
    operations: tuple[str, ...]
    unix_time_s: float
    nofile: int
    clock_resolution_ns: float
    engine: str | None = None
    monotonic_s: float | None = None
    processes: tuple[DriverProcess, ...] = ()
    """All, if the load is shared by several; `pid` is then that of the first."""
    requests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Operation: the requests that it is made of, if they have figures of their own."""


@dataclass(frozen=True)
class Event:
    """Something that happened: the beginning of a phase, a lost connection, a stall.

    One of kind `workload` is told by the workload: `name` says what, `data` figures and texts.
    """

    t_s: float
    kind: str
    detail: str = ""
    phase: str = ""
    phase_kind: str = ""
    drained: int = 0
    discarded: int = 0
    name: str = ""
    data: Mapping[str, float | str] = field(default_factory=dict)
    spread_s: float = 0.0
    """Between the first and the last of several processes, at the border of a phase."""
    drain_s: float = 0.0
    """Of the end of a phase: how long after the end of the arrivals it ended."""


@dataclass(frozen=True, slots=True)
class RequestTick:
    """One request of an operation during one tick.

    `resent` counts those that were sent once more, by what was wrong with the connection, `retried`
    further tries, by the class that caused each. `service` holds those that ended well, as the
    histograms of operations. `marks` counts of these the ones that had each mark.
    """

    count: int
    errors: Mapping[str, int]
    resent: Mapping[str, int]
    service: str | None
    retried: Mapping[str, int] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperationTick:
    """One operation during one tick. Histograms are HdrHistogram V2, base64, in nanoseconds."""

    count: int
    rolled_back: int
    errors: Mapping[str, int]
    retries: Mapping[str, int]
    response: str | None
    service: str | None
    requests: Mapping[str, RequestTick] = field(default_factory=dict)
    """By name; one without events in the tick is left out."""


_IDLE = OperationTick(0, 0, errors={}, retries={}, response=None, service=None)


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened from `from_s` to `to_s`, within one phase.

    A `late` one holds operations that were due in its phase and done after the phase's end.
    `engine_cpu_s` is the part of the driver's processor time that an engine within it used; None
    when the engine is a process of its own. `counters` are counts of the workload's own since the
    last tick, `gauges` figures of its own at this tick.
    """

    t_s: float
    seq: int
    phase: str
    phase_kind: str
    from_s: float
    to_s: float
    operations: Mapping[str, OperationTick]
    lag: str | None
    late_starts: int
    dropped: int
    due: int
    users: int
    in_flight: int
    queued: int
    reconnects: int
    cpu_user_s: float
    cpu_system_s: float
    rss_bytes: int
    late: bool = False
    engine_cpu_s: float | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    processes: tuple[ProcessTick, ...] = ()
    """Of each process that told this tick, if the load is shared by several."""

    @property
    def duration_s(self) -> float:
        """Length of the tick."""
        return self.to_s - self.from_s


@dataclass(frozen=True)
class RequestTotal:
    """A request of an operation over the whole run, as the driver counted it."""

    count: int
    errors: int


@dataclass(frozen=True)
class OperationTotal:
    """An operation over the whole run, as the driver counted it."""

    count: int
    errors: int
    requests: Mapping[str, RequestTotal] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    """The last frame: why the driver ended."""

    t_s: float
    reason: Literal["completed", "stopped", "failed"]
    error: str | None
    operations: Mapping[str, OperationTotal]
    cpu_user_s: float
    cpu_system_s: float
    max_rss_bytes: int
    facts: Mapping[str, float]
    engine_cpu_s: float | None = None
    traces: Mapping[str, Traces] = field(default_factory=dict)
    """Operation: whole transactions of it; only of those that have requests below them."""


Frame = Hello | Event | Tick | End


class FrameError(DriverError):
    """A line that is no frame of this protocol."""


def parse_line(line: str | bytes) -> dict[str, Any]:
    """Decodes one line into the JSON object of a frame.

    Raises:
        FrameError: If the line is no JSON object.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise FrameError(f"the driver wrote a line that is not JSON: {_short(line)}") from error
    if not isinstance(value, dict):
        raise FrameError(f"the driver wrote a line that is no object: {_short(line)}")
    return value


def parse_frame(value: Mapping[str, Any]) -> Frame:
    """Reads one frame.

    Raises:
        FrameError: If its kind or version is not known, or a field is missing or of a wrong type.
    """
    kind = value.get("frame")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise FrameError(
            f"the driver wrote a frame of kind {kind!r}, which protocol {PROTOCOL_VERSION} has not",
            advice="use a loadstone-driver of the same release as loadstone",
        )
    try:
        return reader(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FrameError(
            f"the driver wrote a {kind} frame that cannot be read: {error!r}"
        ) from error


def _hello(value: Mapping[str, Any]) -> Hello:
    version = int(value["version"])
    if version not in READABLE_VERSIONS:
        raise FrameError(
            f"the driver speaks protocol {version}, loadstone speaks {PROTOCOL_VERSION}",
            advice="use a loadstone-driver of the same release as loadstone",
        )
    return Hello(
        t_s=float(value["t_s"]),
        version=version,
        driver=str(value["driver"]),
        pid=int(value["pid"]),
        threads=int(value["threads"]),
        workload=str(value["workload"]),
        operations=tuple(str(name) for name in value["operations"]),
        unix_time_s=float(value["unix_time_s"]),
        nofile=int(value["nofile"]),
        clock_resolution_ns=float(value["clock_resolution_ns"]),
        engine=None if value.get("engine") is None else str(value["engine"]),
        monotonic_s=_seconds(value, "monotonic_s"),
        processes=tuple(
            DriverProcess(int(each["pid"]), int(each["threads"]), int(each["nofile"]))
            for each in value.get("processes", ())
        ),
        requests={
            str(operation): tuple(str(name) for name in names)
            for operation, names in (value.get("requests") or {}).items()
        },
    )


def _event(value: Mapping[str, Any]) -> Event:
    return Event(
        t_s=float(value["t_s"]),
        kind=str(value["kind"]),
        detail=str(value.get("detail") or ""),
        phase=str(value.get("phase") or ""),
        phase_kind=str(value.get("phase_kind") or ""),
        drained=int(value.get("drained") or 0),
        discarded=int(value.get("discarded") or 0),
        name=str(value.get("name") or ""),
        data={
            str(key): datum if isinstance(datum, str) else float(datum)
            for key, datum in (value.get("data") or {}).items()
        },
        spread_s=float(value.get("spread_s") or 0.0),
        drain_s=float(value.get("drain_s") or 0.0),
    )


def _tick(value: Mapping[str, Any]) -> Tick:
    """Those of a whole trial are kept: what is alike in all of them is kept once."""
    return Tick(
        t_s=float(value["t_s"]),
        seq=int(value["seq"]),
        phase=sys.intern(str(value["phase"])),
        phase_kind=sys.intern(str(value["phase_kind"])),
        from_s=float(value["from_s"]),
        to_s=float(value["to_s"]),
        operations={
            sys.intern(name): _operation(line) for name, line in value["operations"].items()
        },
        lag=_histogram(value, "lag"),
        late_starts=int(value.get("late_starts", 0)),
        dropped=int(value.get("dropped", 0)),
        due=int(value.get("due", 0)),
        users=int(value.get("users", 0)),
        in_flight=int(value.get("in_flight", 0)),
        queued=int(value.get("queued", 0)),
        reconnects=int(value.get("reconnects", 0)),
        cpu_user_s=float(value.get("cpu_user_s", 0.0)),
        cpu_system_s=float(value.get("cpu_system_s", 0.0)),
        rss_bytes=int(value.get("rss_bytes", 0)),
        late=bool(value.get("late", False)),
        engine_cpu_s=_seconds(value, "engine_cpu_s"),
        counters=_counts(value, "counters"),
        gauges={
            sys.intern(key): float(gauge) for key, gauge in (value.get("gauges") or {}).items()
        },
        processes=tuple(
            ProcessTick(int(each["process"]), float(each["cpu_s"]), _histogram(each, "lag"))
            for each in value.get("processes", ())
        ),
    )


def _operation(value: Mapping[str, Any]) -> OperationTick:
    told = OperationTick(
        count=int(value["count"]),
        rolled_back=int(value.get("rolled_back", 0)),
        errors=_counts(value, "errors"),
        retries=_counts(value, "retries"),
        response=_histogram(value, "response"),
        service=_histogram(value, "service"),
        requests={
            sys.intern(name): _request(line) for name, line in (value.get("requests") or {}).items()
        }
        or _IDLE.requests,
    )
    return _IDLE if told == _IDLE else told


def _request(value: Mapping[str, Any]) -> RequestTick:
    return RequestTick(
        count=int(value["count"]),
        errors=_counts(value, "errors"),
        resent=_counts(value, "resent"),
        service=_histogram(value, "service"),
        retried=_counts(value, "retried"),
        marks=_counts(value, "marks"),
    )


def _end(value: Mapping[str, Any]) -> End:
    reason = value["reason"]
    if reason not in ("completed", "stopped", "failed"):
        raise ValueError(f"reason {reason!r}")
    return End(
        t_s=float(value["t_s"]),
        reason=reason,
        error=None if value.get("error") is None else str(value["error"]),
        operations={
            name: OperationTotal(
                int(total["count"]),
                _sum(total.get("errors", 0)),
                {
                    request: RequestTotal(int(made["count"]), _sum(made.get("errors", 0)))
                    for request, made in (total.get("requests") or {}).items()
                },
            )
            for name, total in (value.get("operations") or {}).items()
        },
        cpu_user_s=float(value.get("cpu_user_s", 0.0)),
        cpu_system_s=float(value.get("cpu_system_s", 0.0)),
        max_rss_bytes=int(value.get("max_rss_bytes", 0)),
        facts={name: float(fact) for name, fact in (value.get("facts") or {}).items()},
        engine_cpu_s=_seconds(value, "engine_cpu_s"),
        traces={
            name: Traces.model_validate(told) for name, told in (value.get("traces") or {}).items()
        },
    )


_READERS: dict[str, Callable[[Mapping[str, Any]], Frame]] = {
    "hello": _hello,
    "event": _event,
    "tick": _tick,
    "end": _end,
}


def _counts(value: Mapping[str, Any], name: str) -> dict[str, int]:
    return {sys.intern(key): int(count) for key, count in (value.get(name) or {}).items()}


def _seconds(value: Mapping[str, Any], name: str) -> float | None:
    given = value.get(name)
    return None if given is None else float(given)


def _histogram(value: Mapping[str, Any], name: str) -> str | None:
    encoded = value.get(name)
    if encoded is not None and not isinstance(encoded, str):
        raise TypeError(f"{name} is no text")
    return encoded


def _sum(errors: Any) -> int:
    """A total of errors is a figure, or figures by class."""
    return sum(errors.values()) if isinstance(errors, Mapping) else int(errors)


def _short(line: str | bytes) -> str:
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    return repr(text[:120])
