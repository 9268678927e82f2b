"""What all sessions of the archive share."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Condition, Lock

from loadstone.runner.acknowledgements import Acknowledgements
from loadstone.runner.archive.parameters import Parameters
from loadstone.runner.archive.replay import Replay
from loadstone.runner.archive.station_buffer import StationBuffer, Totals
from loadstone.runner.clock import Clock, to_s
from loadstone.runner.database import Database
from loadstone.runner.session import FailureError


@dataclass(frozen=True)
class Acknowledged:
    """An event whose commit was just answered, at `at_ns`; `ts_us` since 1970."""

    element: int
    ts_us: int
    seq: int
    at_ns: int


class Latest:
    """The last event that a station stored."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._event: Acknowledged | None = None

    def publish(self, event: Acknowledged) -> None:
        """Lets those go on who wait."""
        with self._changed:
            self._event = event
            self._changed.notify_all()

    def await_next(self, patience_s: float) -> Acknowledged | None:
        """The next event that is published; None if there is none in time."""
        with self._changed:
            before = self._event
            came = self._changed.wait_for(lambda: self._event is not before, patience_s)
            return self._event if came else None


@dataclass
class Common:
    """What all sessions of the archive share.

    Attributes:
        routes: Held while routes are read or changed; see `loadstone.runner.archive`.
        bytes_sent: Bytes of all rows that were sent.
    """

    database: Database
    parameters: Parameters
    clock: Clock
    seed: int
    replay: Replay | None
    acknowledgements: Acknowledgements
    routes: Lock = field(default_factory=Lock, init=False)
    latest: Latest = field(default_factory=Latest, init=False)
    bytes_sent: int = field(default=0, init=False)
    _buffers: list[StationBuffer] = field(default_factory=list, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def now_us(self) -> int:
        """Microseconds since 1970."""
        return self.clock.unix_us(self.clock.now_ns())

    def since_s(self, begun_ns: int) -> float:
        """Seconds since a moment."""
        return to_s(self.clock.now_ns() - begun_ns)

    def add(self, buffer: StationBuffer) -> None:
        """Lets the figures of a station be told."""
        with self._lock:
            self._buffers.append(buffer)

    def sent(self, bytes_: int) -> None:
        """Counts the bytes of rows that were sent."""
        with self._lock:
            self.bytes_sent += bytes_

    def totals(self) -> Totals:
        """Sums over the stations up to now."""
        with self._lock:
            now_ns = self.clock.now_ns()
            return sum((buffer.totals(now_ns) for buffer in self._buffers), Totals())

    def deepest(self) -> int:
        """The most that one station held back since this was last asked."""
        with self._lock:
            return max((buffer.deepest() for buffer in self._buffers), default=0)


def damaged(problem: str) -> FailureError:
    """The catalogue says what it must not say."""
    return FailureError("catalogue", problem)


def whole(value: object) -> int:
    """A figure of an answer as a whole number; 0 where it is NULL."""
    if value is None:
        return 0
    try:
        return int(str(value))
    except ValueError:
        raise damaged(f"{value!r} is no whole number") from None
