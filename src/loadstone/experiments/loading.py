"""The load of a trial: the driver runs, its frames are kept, and the probes look on."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loadstone.errors import LoadstoneError
from loadstone.experiments.lab import Lab
from loadstone.experiments.metering import PowerWatch, open_meters
from loadstone.experiments.outcome import TrialOutcome
from loadstone.experiments.parts import bounded, own_processes, watched
from loadstone.experiments.ports import await_ports
from loadstone.experiments.session_limit import wanted_by
from loadstone.host.process import GENERATOR_CPUS, affinity
from loadstone.load.driver_group import Generator, generator
from loadstone.load.profiles import run_plan
from loadstone.load.totals import MEASURE, LoadLog
from loadstone.probes.bounds import BoundsProbe
from loadstone.probes.host import HostProbe
from loadstone.probes.other_runs import OtherRunsProbe
from loadstone.probes.others import OthersProbe
from loadstone.probes.parts import PartsProbe
from loadstone.probes.sampler import Sampler
from loadstone.protocol.frames import Event, parse_frame
from loadstone.results.folder import TrialFolder
from loadstone.results.sample import Sample
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import Connection
from loadstone.workloads.base import LoadContext

_LOOK_EVERY_S = 1.0
"""How often the server is looked at while load runs."""


@dataclass(frozen=True)
class Running:
    """A load generator that runs."""

    driver: Generator
    marks: queue.SimpleQueue[Event | None]
    """Events of the measured phases; None when the driver has ended."""
    ended: threading.Event
    """Set when the driver has ended."""
    connection: Connection
    """By which it reaches the system under test."""

    def next_mark(self, lab: Lab, until_s: float | None = None) -> Event | None:
        """Waits for the next event of a measured phase, with an eye on the server.

        Args:
            lab: Whose target is looked at once a second.
            until_s: Give up waiting at this time of the trial's clock.

        Returns:
            None when the driver has ended.

        Raises:
            TimeoutError: At `until_s`.
            TargetError: If the server has ended.
        """
        while True:
            left = _LOOK_EVERY_S if until_s is None else until_s - self.driver.clock_s()
            if left <= 0:
                raise TimeoutError
            try:
                return self.marks.get(timeout=min(left, _LOOK_EVERY_S))
            except queue.Empty:
                lab.target.check_alive()


@dataclass(frozen=True)
class Load(Running):
    """A load that runs, under the eyes of the probes."""

    sampler: Sampler
    parts: PartsProbe
    """Of a system without parts it sees nothing."""
    others: OthersProbe
    power: PowerWatch
    keep: Callable[[Iterable[Sample]], None]
    """Keeps samples."""

    def look_around(self) -> None:
        """Counts what others use, at a border of what is measured."""
        self.keep(self.others.look(self.driver.clock_s()))


@contextmanager
def running_load(
    outcome: TrialOutcome, folder: TrialFolder, lab: Lab, profile: ProfileSpec, **options: Any
) -> Iterator[Load]:
    """Runs the load under the eyes of the probes for as long as the block lasts.

    The first signal of the user lets the driver finish what is in flight and end.

    Args:
        outcome: Of the trial; its `load` takes up what the driver says.
        folder: Keeps frames and samples.
        lab: The target and who watches.
        profile: How load arrives.
        **options: Further fields of the driver's plan.
    """
    plan, target = outcome.plan, lab.target
    run = outcome.load
    with (
        open_meters(plan, lab.metering.root, lab.journal, lab.interrupts, lab.observer) as opened,
        running_driver(outcome, lab, profile, run.log, folder.write_frame, **options) as running,
    ):
        if profile.cpus is not None:
            pids = running.driver.pids
            run.generator = [affinity(GENERATOR_CPUS, profile.cpus, pid) for pid in pids][:1]
        parts = PartsProbe(watched(target, plan.target), bounded(target))
        others = OthersProbe(own_processes(target, running.connection), target.data_folder())
        driver, keep = running.driver, folder.samples.put
        power = PowerWatch(plan, lab.metering, opened, driver.clock_s)
        of_host = [HostProbe(target.data_folder()), BoundsProbe(), others, OtherRunsProbe()]
        probes = [*of_host, parts, *power.probes, *target.probes()]
        with Sampler(probes, driver.clock_s, keep) as sampler:
            yield Load(
                driver,
                running.marks,
                running.ended,
                running.connection,
                sampler=sampler,
                parts=parts,
                others=others,
                power=power,
                keep=keep,
            )


@contextmanager
def running_driver(
    outcome: TrialOutcome,
    lab: Lab,
    profile: ProfileSpec,
    log: LoadLog,
    keep: Callable[[dict[str, Any]], None],
    **options: Any,
) -> Iterator[Running]:
    """Runs a load for as long as the block lasts; nobody watches it.

    Args:
        outcome: Of the trial; what the load keeps goes into its folder.
        lab: The target, and who is told.
        profile: How load arrives.
        log: Takes up what the driver says.
        keep: Keeps each frame.
        **options: Further fields of the driver's plan.
    """
    plan, workload, target = outcome.plan, outcome.workload, lab.target
    profile = workload.loaded(profile)
    wanted = wanted_by(plan, workload, profile, target.connection())
    taken = await_ports(wanted, lab)
    connection = wanted.connection.coming_from(taken.sources)
    context = LoadContext(plan.seed, target, outcome.folder.resolve(), plan.data_seed)
    driver_plan = run_plan(
        profile,
        workload.plan(context),
        workload.pacing(),
        connection,
        plan.seed,
        arriving=workload.hurried(),
    )
    marks: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
    ended = threading.Event()

    def take(frame: dict[str, Any]) -> None:
        keep(frame)
        value = parse_frame(frame)
        log.add(value)
        if isinstance(value, Event) and value.phase_kind == MEASURE:
            marks.put(value)
        lab.observer.frame(frame)

    driver = generator(
        {**driver_plan, **options},
        take,
        processes=taken.processes,
        secrets=connection.secrets,
        cpus=profile.cpus,
        program=wanted.program,
    )

    def stop() -> None:
        # Called by a signal handler, whose thread may hold the driver's lock.
        threading.Thread(target=driver.stop, daemon=True).start()

    def tell_end() -> None:
        with contextlib.suppress(LoadstoneError):
            driver.wait()
        ended.set()
        marks.put(None)

    with lab.interrupts.gently(stop), driver:
        driver.wait_hello()
        threading.Thread(target=tell_end, daemon=True).start()
        yield Running(driver, marks, ended, connection)
