"""The sessions that do a work together: stages of jobs, each job in a session of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from loadstone.runner.engines.base import Channel
from loadstone.runner.session import FailureError
from loadstone.runner.steps.cells import Parsed, load
from loadstone.runner.steps.parameters import CellLoad, Job, Stage


class SessionFactory(Protocol):
    """Opens and closes sessions."""

    def opened(self) -> Channel:
        """Opens one.

        Raises:
            FailureError: The engine does not.
        """

    def close(self, channel: Channel) -> None:
        """Closes it."""


class SessionPool:
    """Sessions beside the first, opened when a stage has more jobs than there are sessions."""

    def __init__(self, factory: SessionFactory) -> None:
        self._factory = factory
        self.channels: list[Channel] = []

    def work(self, first: Channel, stages: Sequence[Stage], over: threading.Event) -> list[Parsed]:
        """Does all jobs, stage after stage.

        Args:
            first: Does the first job of each stage.
            stages: Of the work.
            over: Set when it was broken off: nothing further begins.

        Returns:
            What was in the files, in the order of stages and jobs.

        Raises:
            FailureError: The first failure of a job; the others were broken off.
        """
        found: list[Parsed] = []
        for stage in stages:
            while len(self.channels) < len(stage) - 1:
                self.channels.append(self._factory.opened())
            found += _at_once([first, *self.channels], stage, over)
        return found

    def close(self) -> None:
        """Closes its sessions; the next work opens others."""
        while self.channels:
            self._factory.close(self.channels.pop())


def _at_once(channels: Sequence[Channel], stage: Stage, over: threading.Event) -> list[Parsed]:
    if len(stage) == 1:
        return _done(channels[0], stage[0], over)
    failed = threading.Event()
    failures: list[FailureError] = []

    def job(number: int) -> list[Parsed]:
        try:
            return _done(channels[number], stage[number], over, failed)
        except FailureError as failure:
            failures.append(failure)
            failed.set()
            for other, channel in enumerate(channels[: len(stage)]):
                if other != number:
                    channel.interrupt()
            return []

    with ThreadPoolExecutor(len(stage)) as pool:
        found = list(pool.map(job, range(len(stage))))
    if failures:
        raise failures[0]
    return [parsed for own in found for parsed in own]


def _done(channel: Channel, job: Job, *over: threading.Event) -> list[Parsed]:
    found = []
    for action in job:
        if any(event.is_set() for event in over):
            raise FailureError("broken-off", "another part of the work has ended it")
        if isinstance(action, CellLoad):
            found.append(load(channel, action))
        else:
            channel.run(action)
    return found
