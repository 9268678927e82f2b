"""How often an operation is tried, and how long to wait in between."""

from __future__ import annotations

import random
from dataclasses import dataclass

from loadstone.runner.clock import to_ns
from loadstone.runner.plan import Retry


@dataclass(frozen=True)
class BackOff:
    """A limit that doubles with each failure in a row, up to a cap."""

    base_ns: int
    cap_ns: int

    def limit_ns(self, failures: int) -> int:
        """The limit after `failures` failures in a row, of which there is at least one."""
        return min(self.base_ns << min(failures - 1, 63), self.cap_ns)


def back_off_of(retry: Retry) -> BackOff:
    """The limits of the pauses between attempts."""
    return BackOff(to_ns(retry.backoff_base_s), to_ns(retry.backoff_cap_s))


def pause_ns(back_off: BackOff, failures: int, draw: random.Random) -> int:
    """The pause after `failures` failed attempts: uniform from 0 to the limit.

    Operations that failed because of each other must not meet again ("full jitter" of M. Brooker,
    "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    """
    return int(back_off.limit_ns(failures) * draw.random())
