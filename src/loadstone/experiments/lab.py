"""What the trials of an experiment share: targets, their data, and the start state they make."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from loadstone.experiments.data import DataStates
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.metering import Metering
from loadstone.experiments.observer import Observer
from loadstone.experiments.outcome import RestoredTarget, StartState
from loadstone.experiments.step_clock import StepClock
from loadstone.host.state import HostState
from loadstone.journal import Journal
from loadstone.load.locate import version_of
from loadstone.probes.inventory import Standing, host_inventory
from loadstone.results.folder import TrialFolder
from loadstone.results.record import TrialResult
from loadstone.spec.plans import TrialPlan
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.workloads.base import AnyWorkload


@dataclass(frozen=True)
class Site:
    """A system under test, and its data."""

    target: Target
    data: DataStates


@dataclass
class Lab:
    """What the trials of an experiment share."""

    sites: Sequence[Site]
    """All that its trials use; one of them runs at a time."""
    journal: Journal
    interrupts: Interrupts
    observer: Observer
    host: HostState
    metering: Metering = field(default_factory=Metering)
    """The power meters of the experiment."""
    judge: Callable[[TrialResult], TrialResult] = lambda result: result
    """Gives a result the status that it has among those of the experiment so far."""
    speeds: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    """The machine's own speed, at every time it was measured, by the host's settings."""
    standing: Standing = field(default_factory=dict)
    """Facts of the host that are asked for once."""
    _present: Site | None = None

    @property
    def target(self) -> Target:
        """The target of the present trial."""
        return self._site.target

    @property
    def data(self) -> DataStates:
        """Its data."""
        return self._site.data

    @property
    def _site(self) -> Site:
        return self.sites[0] if self._present is None else self._present

    def speeds_of(self, plan: TrialPlan) -> list[dict[str, float]]:
        """The speeds measured under the host settings of a trial: others change the machine."""
        return self.speeds.setdefault(json.dumps(plan.host, sort_keys=True), [])

    def restored(self, plan: TrialPlan, workload: AnyWorkload, clock: StepClock) -> RestoredTarget:
        """Puts the data of the trial into the present target, with its settings in force."""
        of_trial = (workload, plan.data_seed, plan.target)
        if plan.reload or workload.rebuilds:
            with clock.step("load the data"):
                return RestoredTarget(*self.data.reloaded(*of_trial))
        with clock.step("load the data"):
            key = self.data.keep(*of_trial)
        with clock.step("restore"):
            return RestoredTarget(*self.data.restored(key, plan.target))

    def start_state(
        self, plan: TrialPlan, workload: AnyWorkload, folder: TrialFolder, clock: StepClock
    ) -> StartState:
        """Makes the target ready for load, and records what the trial starts from."""
        workload.prepare(self.target)
        with clock.step("fingerprint"), self.target.reading_all():
            fingerprint = workload.fingerprint(self.target)
        with clock.step("settle"):
            self.target.settle(plan.cache)
        with clock.step("inventory"):
            connection = self.target.connection()
            program = workload.program(connection)
            programs = {program.name: lambda: version_of(program), **workload.tools(connection)}
            host = host_inventory(folder.path, programs=programs, standing=self.standing)
            folder.write_inventory({"host": host, "target": self.target.inventory()})
        return StartState(fingerprint, workload.observe(self.target))

    def enter(self, spec: TargetSpec) -> Target:
        """Makes the target of a trial the present one; all others stand still.

        What another system has left in the page cache goes to the disk first, not under the load.
        """
        before = self._site
        for site in self.sites:
            if site.target.spec.site == spec.site:
                self._present = site
            else:
                site.target.stop()
        if self._site is not before:
            os.sync()
        return self.target
