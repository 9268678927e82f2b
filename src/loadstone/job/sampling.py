"""Samples of a rank's file I/O while its application runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from loadstone.job.record import IoSample

_MOST = 4000
"""Samples that are kept: beyond it every second one goes, and the rest come half as often."""

Counts = Callable[[], "tuple[int, ...] | None"]


class Samples:
    """Samples at an even distance, however long it takes."""

    def __init__(self, every_s: float, most: int = _MOST) -> None:
        self.every_s = every_s
        self._most = most
        self._samples: list[IoSample] = []

    def add(self, t_s: float, counts: tuple[int, ...]) -> None:
        """Keeps one.

        Args:
            t_s: After the application began.
            counts: As `system.io_counts`.
        """
        self._samples.append(IoSample(t_s, *counts))
        if len(self._samples) >= self._most:
            del self._samples[::2]
            self.every_s *= 2

    def all(self) -> list[IoSample]:
        """Those that were kept, in order."""
        return list(self._samples)


class Sampler:
    """A thread that samples until it is stopped."""

    def __init__(self, samples: Samples, counts: Counts, clock: Callable[[], float]) -> None:
        """Starts it.

        Args:
            samples: Takes them up.
            counts: What is sampled; None: it cannot be read now.
            clock: Seconds since the application began.
        """
        self._samples = samples
        self._counts = counts
        self._clock = clock
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self, last: tuple[int, ...] | None) -> None:
        """Ends it.

        Args:
            last: The counts at the end, if they are known.
        """
        self._stopped.set()
        self._thread.join()
        if last is not None:
            self._samples.add(self._clock(), last)

    def _run(self) -> None:
        while not self._stopped.wait(self._samples.every_s):
            counts = self._counts()
            if counts is not None:
                self._samples.add(self._clock(), counts)
