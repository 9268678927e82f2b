"""A pass of a test: its job file, its run, and the figures that fio gave of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.fio.bins import BinEncoder, Bins, beyond
from loadstone.fio.figures import FigureError, JobFigures, jobs_of, limits_of, together_s, wall_s
from loadstone.fio.job_file import history_files, job_file
from loadstone.fio.output import Output, parse_output
from loadstone.fio.plan import StoragePlan, TestPlan
from loadstone.fio.process import Ended, run_fio
from loadstone.fio.slices import Slice, slices
from loadstone.runner.clock import Clock, to_s
from loadstone.workloads.storage.fio_binary import Fio

_PATIENCE_S = 30.0
"""How much longer than its time a pass may take, for requests that are in flight at its end."""
_MOST_NOTES = 20


class PassError(Exception):
    """A pass gave no figures; one line says why."""


class StoppedError(Exception):
    """The run was told to stop while fio ran."""


@dataclass(frozen=True)
class Pass:
    """A pass that was made.

    Attributes:
        test: Its operation in frames.
        number: From 1; 0 of one that does not count.
        from_s: On the clock of the run, within the tenth of a second in which fio looks.
        duration_s: Of fio's longest job.
        jobs: Their figures.
        slices: Its seconds.
        notes: What fio said besides.
        ended: How fio ended.
    """

    test: TestPlan
    number: int
    from_s: float
    duration_s: float
    jobs: Sequence[JobFigures]
    slices: Sequence[Slice]
    notes: Sequence[str]
    ended: Ended

    def data(self) -> dict[str, float | str]:
        """What the event of the pass tells."""
        parts = [part for job in self.jobs for part in job.directions.values()]
        moved, ios = sum(each.bytes for each in parts), sum(each.ios for each in parts)
        in_flight_s = sum(each.in_flight_s for each in parts)
        submitting_s = sum(each.submitting_s for each in parts)
        cpu_s = [sum(job.cpu_s[mode] for job in self.jobs) for mode in (0, 1)]
        busiest = [sum(job.cpu_s) / job.thread_s for job in self.jobs if job.thread_s]
        return {
            "test": self.test.operation,
            "pass": self.number,
            "from_s": self.from_s,
            "to_s": self.from_s + self.duration_s,
            "duration_s": self.duration_s,
            "bytes": moved,
            "ios": ios,
            "mb_per_s": moved / self.duration_s / 1e6,
            "ios_per_s": ios / self.duration_s,
            "cpu_us_per_io": sum(cpu_s) / ios * 1e6,
            "cpu_user_s": cpu_s[0],
            "cpu_system_s": cpu_s[1],
            "busiest_cpu_share": max(busiest, default=0.0),
            "depth": in_flight_s / self.duration_s,
            "submitting_share": submitting_s / in_flight_s if in_flight_s else 0.0,
            "together_share": together_s(self.jobs) / self.duration_s,
            "max_s": max(each.most_ns for each in parts) / 1e9,
            "beyond": sum(beyond(each.bins, each.most_ns) for each in parts),
            "notes": "\n".join(self.notes),
            **self._flushes(),
        }

    def _flushes(self) -> dict[str, float | str]:
        """How many there were, and their times as a histogram of a frame."""
        times: Bins = sum((job.syncs.bins for job in self.jobs), Bins())
        if not times:
            return {"syncs": 0}
        limits = limits_of([job.syncs for job in self.jobs])
        return {"syncs": times.total(), "sync": BinEncoder().encode(times, *limits) or ""}

    def limits(self, operation: str) -> tuple[int, int]:
        """The shortest and the longest time of an operation, exact."""
        return limits_of(
            [
                part
                for job in self.jobs
                if operation_of(self.test, job) == operation
                for part in job.directions.values()
            ]
        )


class PassMaker:
    """Makes passes with one fio.

    Args:
        plan: Of the run.
        fio: The program.
        engine: fio's engine.
        clock: Of the run.
        must_stop: Asked while fio runs.
    """

    def __init__(
        self,
        plan: StoragePlan,
        fio: Fio,
        engine: str,
        clock: Clock,
        must_stop: Callable[[], bool],
    ) -> None:
        self._plan, self._fio, self._engine = plan, fio, engine
        self._clock, self._must_stop = clock, must_stop
        self._made = 0

    def make(self, test: TestPlan, number: int) -> Pass:
        """Makes a pass.

        Args:
            test: What runs.
            number: From 1; 0 for one that does not count.

        Raises:
            PassError: If it gave no figures.
            StoppedError: If it was stopped.
        """
        self._made += 1
        folder = self._plan.folder / f"{self._made:03}-{test.operation}"
        folder.mkdir(parents=True)
        parameters, ground = self._plan.parameters, self._plan.ground
        seed = (self._plan.seed + self._made) % 2**32
        text = job_file(test, parameters, ground, self._engine, seed)
        (folder / "jobs.fio").write_text(text)
        began_s = self._now_s()
        longest_s = parameters.longest_s(test) + _PATIENCE_S
        group = Path(parameters.memory_group) if parameters.memory_group else None
        ended = run_fio(self._fio, ["jobs.fio"], folder, longest_s, self._must_stop, group=group)
        if ended.stopped:
            raise StoppedError
        output = parse_output(ended.text)
        document = _whole(output, ended, longest_s)
        jobs = _jobs(document, output.notes)
        duration_s = wall_s(jobs)
        end_s = min(max(self._told_s(document), began_s + duration_s), self._now_s())
        logs = [log for each in history_files(folder, test) for log in each]
        parts = slices(jobs, [operation_of(test, job) for job in jobs], logs, duration_s)
        for log in logs:
            log.unlink(missing_ok=True)  # The frames have all that is in them.
        return Pass(
            test=test,
            number=number,
            from_s=max(began_s, end_s - duration_s),
            duration_s=duration_s,
            jobs=jobs,
            slices=parts,
            notes=output.notes[:_MOST_NOTES],
            ended=ended,
        )

    def _told_s(self, document: dict[str, Any]) -> float:
        """When fio gave its figures, on the clock of the run; 0 if it does not say."""
        told_ms = document.get("timestamp_ms")
        if not isinstance(told_ms, int):
            return 0.0
        return told_ms / 1e3 - self._clock.unix_us(0) / 1e6

    def _now_s(self) -> float:
        return to_s(self._clock.now_ns())


def _whole(output: Output, ended: Ended, longest_s: float) -> dict[str, Any]:
    """Fio's document, if there is one that may be believed.

    Raises:
        PassError: If not.
    """
    if ended.stuck:
        why = "it had been stopped (SIGSTOP)" if ended.halted else "its storage does not answer"
        raise PassError(f"fio did not end within {longest_s:g} s and was killed: {why}")
    if ended.code != 0:
        raise PassError(f"fio {ended.how}{last_note(output.notes)}")
    if output.document is None:
        what = "its figures are cut short" if output.cut else "it gave no figures"
        raise PassError(f"fio {ended.how}, and {what}{last_note(output.notes)}")
    return output.document


def _jobs(document: dict[str, Any], notes: Sequence[str]) -> list[JobFigures]:
    """The jobs of a document that moved something, and ended well.

    Raises:
        PassError: If not.
    """
    try:
        jobs = jobs_of(document)
    except FigureError as error:
        raise PassError(f"fio's figures cannot be read: {error}") from error
    failed = next((job for job in jobs if job.error), None)
    if failed is not None:
        said = f"job {failed.name} failed: {os.strerror(failed.error)}"
        raise PassError(f"fio's {said}{last_note(notes)}")
    if wall_s(jobs) <= 0 or not any(part.ios for job in jobs for part in job.directions.values()):
        raise PassError(f"fio moved nothing{last_note(notes)}")
    return jobs


def last_note(notes: Sequence[str]) -> str:
    """What fio said of its end: its last error, or its last note; empty if it said nothing."""
    errors = [each for each in notes if "error" in each.lower()]
    said = [*notes, *errors][-1:]
    return f": {said[0][:300]}" if said else ""


def operation_of(test: TestPlan, job: JobFigures) -> str:
    """That of the job of the plan, which has a number in its name."""
    number = job.name.removeprefix("job")
    known = number.isdecimal() and int(number) < len(test.jobs)
    return test.operation_of(test.jobs[int(number)]) if known else test.operation_of(test.jobs[0])
