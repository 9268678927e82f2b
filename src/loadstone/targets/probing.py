"""What probes of servers have in common: rates of counters, samples of waits, a lost server."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.results.record import Notice, Wait
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse
from loadstone.targets.waiting import waiting_uses

_T = TypeVar("_T")


class ServerProbe(Probe):
    """A probe with a connection of its own, which is silent while the server is lost."""

    def __init__(self) -> None:
        self._lost = ""
        self._away = False
        self._connected = False

    @abstractmethod
    def connect(self) -> None:
        """Opens the connection."""

    @abstractmethod
    def disconnect(self) -> None:
        """Closes the connection; nothing if there is none."""

    def start(self) -> None:
        """Connects."""
        self.connect()
        self._connected = True

    def stop(self) -> None:
        """Disconnects."""
        self._connected = False
        self.disconnect()

    def notices(self) -> list[Notice]:
        """Says that the server was lost, if it was."""
        if not self._lost:
            return []
        until = "samples are missing from then on" if self._away else "some samples are missing"
        return [
            Notice(
                code="probe-lost-server",
                severity="warning",
                message=f"{self.name} lost the server: {self._lost}",
                advice=f"see the server's log; {until}",
            )
        ]

    def tried(self, read: Callable[[], _T]) -> _T | None:
        """What `read` gives, or None while the server is lost; each try looks whether it is back.

        Args:
            read: Raises a TargetError if the server does not answer.
        """
        try:
            if self._away:
                self.connect()
                self._connected, self._away = True, False
            return read() if self._connected else None
        except TargetError as error:
            self._lost, self._away = self._lost or error.message, True
            self.stop()
            return None


class CountersProbe(ServerProbe):
    """Cumulative counters of a server, as rates per second."""

    interval_s = 1.0
    rare: frozenset[str] = frozenset()
    """Counters of rare events: shown as a count of the interval."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}
        self._last_at_s = 0.0
        self._first: dict[str, float] = {}

    @abstractmethod
    def read_counters(self) -> dict[str, float]:
        """Every counter now.

        Raises:
            TargetError: If the server does not answer.
        """

    def derived(self, moved: Mapping[str, float]) -> dict[str, float]:
        """Further metrics, from what the counters moved by since the last sample."""
        return {}

    def start(self) -> None:
        """Connects and takes the first reading."""
        super().start()
        self._first = self._last = self.tried(self.read_counters) or {}
        self._last_at_s = time.monotonic()

    def sample(self, t_s: float) -> list[Sample]:
        """The rates since the last sample."""
        now = self.tried(self.read_counters)
        if now is None:
            return []
        at_s = time.monotonic()
        length_s = max(at_s - self._last_at_s, 1e-3)
        # Counters go backwards when somebody resets them: then there is no rate.
        moved = {
            name: value - self._last[name]
            for name, value in now.items()
            if name in self._last and value >= self._last[name]
        }
        self._last, self._last_at_s = now, at_s
        metrics = dict(self._metric(name, by, length_s) for name, by in moved.items())
        metrics |= self.derived(moved)
        return [Sample(t_s, self.name, name, value) for name, value in metrics.items()]

    def moved(self, name: str) -> float:
        """By how much a counter moved since the start."""
        return self._last.get(name, 0.0) - self._first.get(name, 0.0)

    def _metric(self, name: str, by: float, length_s: float) -> tuple[str, float]:
        if name in self.rare:
            return f"{name}_count", by
        return f"{name}_per_s", by / length_s


class WaitsProbe(ServerProbe):
    """Counts active sessions by what they wait for; no wait means that they run, or want to.

    Each look is a snapshot, as in Oracle's active session history: a share of samples is a share of
    the time of the active sessions.
    """

    interval_s = 0.1

    def __init__(self) -> None:
        super().__init__()
        self._seen: list[tuple[float, str, str, int]] = []
        self._looks: list[float] = []

    @abstractmethod
    def look(self) -> list[tuple[str, str, int]]:
        """Kind of wait, event, and number of active sessions in it.

        Raises:
            TargetError: If the server does not answer.
        """

    def sample(self, t_s: float) -> list[Sample]:
        """Looks once; one series per wait, `active_sessions` for all."""
        rows = self.tried(self.look)
        if rows is None:
            return []
        self._looks.append(t_s)
        self._seen += [(t_s, kind, event, count) for kind, event, count in rows]
        active = sum(count for _, _, count in rows)
        samples = [Sample(t_s, self.name, "active_sessions", float(active))]
        samples += [
            Sample(t_s, self.name, f"waiting_sessions:{kind}:{event}", float(count))
            for kind, event, count in rows
        ]
        return samples

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        """Over an interval of the trial's clock, such as its measured phase."""
        counts: Counter[tuple[str, str]] = Counter()
        for t_s, kind, event, count in self._seen:
            if from_s <= t_s < to_s:
                counts[kind, event] += count
        total = counts.total()
        return [
            Wait(kind=kind, event=event, samples=samples, share=samples / total)
            for (kind, event), samples in counts.most_common()
        ]

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """What of the time of active sessions was spent in locks, in latches and at the disk."""
        looks = sum(from_s <= t_s < to_s for t_s in self._looks)
        return waiting_uses(self.waits(from_s, to_s), looks)
