"""Drives the probes of a trial: one thread each, on the trial's clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from loadstone.errors import DiskFullError, LoadstoneError
from loadstone.probes.base import Probe
from loadstone.results.record import Notice, Wait
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse

GIVE_UP_AFTER = 5
"""Failures in a row after which a probe is left alone for the rest of the trial."""
LATE_SHARE = 0.05
"""Of the samples; when more were missed, a reader should know."""
JOIN_LIMIT_S = 10.0

_IN_THE_PROBE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

Answer = TypeVar("Answer")
Put = Callable[[Iterable[Sample]], None]
"""Writes samples; must be safe to call from several threads."""


class Sampler:
    """Samples all probes while the block runs.

    A probe that fails becomes a notice and never ends the trial.

    Args:
        probes: Of host, target, power.
        clock_s: The trial's clock: seconds since the driver's start.
        put: Where samples go.
    """

    def __init__(self, probes: Sequence[Probe], clock_s: Callable[[], float], put: Put) -> None:
        self._stop = threading.Event()
        self._runners = [_Runner(probe, clock_s, put, self._stop) for probe in probes]

    def __enter__(self) -> Self:
        for runner in self._runners:
            runner.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends sampling; waits for readings that are under way."""
        self._stop.set()
        give_up_at = time.monotonic() + JOIN_LIMIT_S
        for runner in self._runners:
            runner.join(max(0.0, give_up_at - time.monotonic()))

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        """The top waits in an interval of the trial, of the probes that know them."""
        waits = [wait for runner in self._runners for wait in runner.waits(from_s, to_s)]
        return sorted(waits, key=lambda wait: -wait.samples)

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """How far what can run out was used in an interval of the trial, by all probes."""
        return [use for runner in self._runners for use in runner.uses(from_s, to_s)]

    def notices(self) -> list[Notice]:
        """What the probes found, and what went wrong with them."""
        return [notice for runner in self._runners for notice in runner.notices()]


class _Runner(threading.Thread):
    """One probe in its thread."""

    def __init__(
        self, probe: Probe, clock_s: Callable[[], float], put: Put, ended: threading.Event
    ) -> None:
        super().__init__(name=f"probe-{probe.name}", daemon=True)
        self._probe = probe
        self._clock_s = clock_s
        self._put = put
        self._ended = ended
        self._problems: list[Notice] = []
        self._taken = 0
        self._missed = 0

    def run(self) -> None:
        try:
            self._probe.start()
            self._sample_until_ended()
        except Exception as error:
            self._problem("probe-failed", f"could not go on: {_text(error)}")
        finally:
            try:
                self._probe.stop()
            except Exception as error:
                self._problem("probe-failed", f"could not be closed: {_text(error)}")

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        """Nothing from a probe that hangs or fails."""
        return self._asked(lambda: self._probe.waits(from_s, to_s))

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """Nothing from a probe that hangs or fails."""
        return self._asked(lambda: self._probe.uses(from_s, to_s))

    def notices(self) -> list[Notice]:
        """What the probe found, and what went wrong with it."""
        found = self._asked(self._probe.notices)
        if self.is_alive():
            self._problem("probe-hangs", f"did not end within {JOIN_LIMIT_S:g} s")
        if self._missed > LATE_SHARE * (self._taken + self._missed):
            self._problem(
                "samples-missed",
                f"missed {self._missed} of {self._taken + self._missed} samples: "
                "the host had no time for it, or the target did not answer",
            )
        return found + self._problems

    def _sample_until_ended(self) -> None:
        """Due times are multiples of the interval; those that passed unused are counted."""
        interval_s, failures = self._probe.interval_s, 0
        due_s = time.monotonic() + interval_s
        while not self._ended.wait(max(0.0, due_s - time.monotonic())):
            try:
                self._put(self._probe.sample(self._clock_s()))
                self._taken, failures = self._taken + 1, 0
            except DiskFullError:
                raise
            except Exception as error:
                failures += 1
                if failures == 1:
                    self._problem("probe-failed", f"failed once or more: {_text(error)}")
                if failures == GIVE_UP_AFTER:
                    raise
            due_s += interval_s
            behind = int((time.monotonic() - due_s) / interval_s)
            if behind > 0:
                self._missed += behind
                due_s += behind * interval_s

    def _asked(self, question: Callable[[], list[Answer]]) -> list[Answer]:
        if self.is_alive():
            return []
        try:
            return question()
        except Exception as error:
            self._problem("probe-failed", f"has no answer: {_text(error)}")
            return []

    def _problem(self, code: str, what: str) -> None:
        self._problems.append(
            Notice(
                code=code,
                severity="warning",
                message=f"probe {self._probe.name} {what}",
                advice="its series has gaps; the figures of the load are not touched by it",
            )
        )


def _text(error: Exception) -> str:
    """What a person can read of it; of an error in a probe itself also what its report needs."""
    if isinstance(error, LoadstoneError):
        return error.message
    if isinstance(error, _IN_THE_PROBE):
        return f"this is an error in it ({type(error).__name__}: {error}): please report it"
    return " ".join(str(error).split()) or type(error).__name__
