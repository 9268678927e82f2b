"""Operations that become due by a clock, and wait for a free user."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from math import sqrt
from threading import Lock

from loadstone.runner.clock import SECOND_NS, to_ns
from loadstone.runner.plan import Open


class Moments:
    """When operations become due: a pure function of the seed.

    Arrival number i lies where the integral of the rate reaches i + 1/2 (uniform) or the sum of
    i + 1 independent exponential draws of mean 1 (Poisson; the time-change theorem for
    inhomogeneous processes, Çinlar 1975).
    """

    def __init__(self, load: Open, begin_ns: int, duration_s: float, draw: random.Random) -> None:
        """Begin with the first.

        Args:
            load: Rates and kind of arrival.
            begin_ns: Nothing is due before.
            duration_s: In which the rate changes from one end to the other; nothing is due after.
            draw: Of the gaps.
        """
        self._rate = load.rate_per_s.start
        self._slope = (load.rate_per_s.end - self._rate) / duration_s
        self._is_random = load.arrival == "poisson"
        self._begin_ns = begin_ns
        self._duration_s = duration_s
        self._end_ns = begin_ns + to_ns(duration_s)
        self._draw = draw
        self._position = 0.0 if self._is_random else -0.5
        self.next_ns: int | None = None
        """The next one; None: no more."""
        self.step()

    def step(self) -> None:
        """Goes on to the one after the next."""
        self._position += self._draw.expovariate(1.0) if self._is_random else 1.0
        after_s = self._reached_s(self._position)
        if after_s is None or after_s >= self._duration_s:
            self.next_ns = None
            return
        at_ns = self._begin_ns + int(after_s * SECOND_NS)
        self.next_ns = at_ns if at_ns < self._end_ns else None

    def _reached_s(self, position: float) -> float | None:
        """Seconds at which the integral of the rate reaches a position."""
        if self._slope == 0.0:
            return position / self._rate if self._rate > 0.0 else None
        # Solves rate t + slope t^2 / 2 = position, in the form that does not cancel.
        square = self._rate * self._rate + 2.0 * self._slope * position
        return 2.0 * position / (self._rate + sqrt(square)) if square >= 0.0 else None


@dataclass(frozen=True)
class Backlog:
    """What was due and not begun when the arrivals of a phase ended."""

    drained: int = 0
    discarded: int = 0
    ended_ns: int | None = None
    """When they ended; None: the phase had none."""


@dataclass(frozen=True)
class Arrived:
    """What became due since the last time, and how many of these were dropped."""

    due: int
    dropped: int


class Arrivals:
    """The arrivals of an open phase. Users take them; the main thread ends them."""

    def __init__(self, load: Open, begin_ns: int, duration_s: float, seed: str) -> None:
        self._load = load
        self._end_ns = begin_ns + to_ns(duration_s)
        self._draw = random.Random(f"arrivals {seed}")
        self._moments: Moments | None = Moments(load, begin_ns, duration_s, self._draw)
        self._queue: deque[int] = deque()
        self._due = 0
        self._dropped = 0
        self._lock = Lock()
        self.turn = Lock()
        """Of the one user that waits for the next arrival; the others wait for the turn."""

    def take(self, now_ns: int) -> int | None:
        """The moment of the operation that has waited longest; None if none waits."""
        with self._lock:
            self._notice(now_ns)
            return self._queue.popleft() if self._queue else None

    def next_ns(self) -> int | None:
        """When the next one is due; None: no more."""
        with self._lock:
            return self._moments.next_ns if self._moments else None

    def set_rate(self, rate_per_s: float, now_ns: int) -> None:
        """Sets a new constant rate from now on."""
        load = Open.model_validate(
            self._load.model_dump() | {"rate_per_s": {"from": rate_per_s, "to": rate_per_s}}
        )
        left_s = max(1, self._end_ns - now_ns) / SECOND_NS
        with self._lock:
            self._notice(now_ns)
            self._moments = Moments(load, now_ns, left_s, self._draw)

    def end(self, now_ns: int) -> int:
        """Ends them; returns how many are due and not begun."""
        with self._lock:
            self._notice(now_ns)
            self._moments = None
            return len(self._queue)

    def discard(self) -> int:
        """Throws away those that wait; returns how many there were."""
        with self._lock:
            count = len(self._queue)
            self._queue.clear()
            return count

    def queued(self) -> int:
        """Those that wait."""
        return len(self._queue)

    def arrived(self, now_ns: int) -> Arrived:
        """What is to be told."""
        with self._lock:
            self._notice(now_ns)
            told = Arrived(self._due, self._dropped)
            self._due = self._dropped = 0
            return told

    def _notice(self, now_ns: int) -> None:
        """Lets those wait that have become due, as far as there is room.

        Nobody took one since the last time, so it does not matter that this is late.
        """
        moments = self._moments
        while moments is not None and moments.next_ns is not None and moments.next_ns <= now_ns:
            self._due += 1
            if len(self._queue) < self._load.queue:
                self._queue.append(moments.next_ns)
            else:
                self._dropped += 1
            moments.step()
