"""Counters that were read now and then: by how much each rose between two times."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

LEAST_SPAN = 0.5
"""Share of an interval that must lie between readings: else nothing is known of it."""


class Counted:
    """Readings of counters that only rise, in order of time; between two of them each rises evenly.

    A counter that falls was reset, and one that is missing stands still: there it has no rate.
    """

    def __init__(self) -> None:
        self._times: list[float] = []
        self._values: list[Mapping[str, float]] = []

    def add(self, t_s: float, values: Mapping[str, float]) -> None:
        """Takes a reading, later than the one before."""
        self._times.append(t_s)
        self._values.append(values)

    def last_rates(self) -> dict[str, float]:
        """Rises a second between the last two readings; empty before there are two."""
        return self._rates(self._times[-2], self._times[-1]) if len(self._times) > 1 else {}

    def rates(self, from_s: float, to_s: float) -> dict[str, float]:
        """Rises a second over an interval, of the counters that are known at both its ends.

        Args:
            from_s: Begin, on the clock of the readings.
            to_s: Its end.

        Returns:
            Empty if less than half of the interval lies between readings.
        """
        if len(self._times) < 2 or to_s <= from_s:
            return {}
        first, last = max(from_s, self._times[0]), min(to_s, self._times[-1])
        return self._rates(first, last) if last - first >= LEAST_SPAN * (to_s - from_s) else {}

    def _rates(self, from_s: float, to_s: float) -> dict[str, float]:
        if to_s <= from_s:
            return {}
        begin, end = self._at(from_s), self._at(to_s)
        return {
            name: (value - begin[name]) / (to_s - from_s)
            for name, value in end.items()
            if name in begin and value >= begin[name]
        }

    def _at(self, t_s: float) -> dict[str, float]:
        """The counters at a time between the first reading and the last."""
        after = max(1, min(bisect_left(self._times, t_s), len(self._times) - 1))
        before_s, after_s = self._times[after - 1], self._times[after]
        old, new = self._values[after - 1], self._values[after]
        share = (t_s - before_s) / (after_s - before_s) if after_s > before_s else 1.0
        return {name: old[name] + share * (new[name] - old[name]) for name in old if name in new}
