"""Looks at the scheduler for all jobs at once, again and again, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from loadstone.errors import LoadstoneError
from loadstone.schedulers.base import JobState, Scheduler


@dataclass(frozen=True)
class View:
    """What the scheduler said last."""

    number: int = 0
    """Of looks that it has answered."""
    at_s: float = 0.0
    """When the last answer came, or the watch began; seconds of the watch's clock."""
    jobs: Mapping[str, JobState] = field(default_factory=dict)
    problem: str = ""
    """Why it did not answer the look after that; empty: it did."""


class Watch:
    """Sees the jobs of a prefix. Every look is one bounded call."""

    def __init__(
        self, scheduler: Scheduler, prefix: str, every_s: float, clock: Callable[[], float]
    ) -> None:
        """Looks at nothing before `start`.

        Args:
            scheduler: That is asked.
            prefix: Of the jobs' names.
            every_s: Seconds between an answer and the next look.
            clock: Seconds, of which only differences count.
        """
        self._scheduler = scheduler
        self._prefix = prefix
        self._every_s = every_s
        self._clock = clock
        self._view = View(at_s=clock())
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def view(self) -> View:
        """The last one."""
        return self._view

    def start(self) -> None:
        """Begins to look; called again it does nothing."""
        with self._changed:
            if self._thread is None:
                self._view = View(at_s=self._clock())
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Looks no more; a call that is under way may go on."""
        self._stopped.set()

    def look(self) -> None:
        """Looks once."""
        try:
            jobs = self._scheduler.jobs(self._prefix)
        except LoadstoneError as error:
            before = self._view
            view = View(before.number, before.at_s, before.jobs, error.message)
        else:
            view = View(self._view.number + 1, self._clock(), jobs)
        with self._changed:
            self._view = view
            self._changed.notify_all()

    def silent_s(self) -> float:
        """For how long the scheduler has not answered."""
        return self._clock() - self._view.at_s

    def await_look(self, after: int, timeout_s: float) -> View:
        """Waits for an answer that came after another.

        Args:
            after: Number of that one.
            timeout_s: At most so long.

        Returns:
            The last view, whether or not it is newer.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._view.number > after, timeout_s)
            return self._view

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(self._every_s)
