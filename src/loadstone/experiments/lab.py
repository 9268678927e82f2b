"""What the trials of an experiment share: the target, its data, and the start state they make."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from loadstone.experiments.data import DataStates
from loadstone.experiments.findings import Findings
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.journal import Journal
from loadstone.experiments.model import TrialPlan
from loadstone.experiments.observer import Observer
from loadstone.host.state import HostState
from loadstone.probes.inventory import host_inventory
from loadstone.results.folder import TrialFolder
from loadstone.targets.base import Target


@dataclass
class Lab:
    """What the trials of an experiment share."""

    target: Target
    data: DataStates
    journal: Journal
    interrupts: Interrupts
    observer: Observer
    disturbance: float
    """Percent by which the machine's own speed may move."""
    host: HostState
    speeds: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    """The machine's own speed, at every time it was measured, by the host's settings."""

    def speeds_of(self, plan: TrialPlan) -> list[dict[str, float]]:
        """The speeds measured under the host settings of a trial: others change the machine."""
        return self.speeds.setdefault(json.dumps(plan.host, sort_keys=True), [])

    def reset(self, folder: TrialFolder, findings: Findings) -> None:
        """Brings host and target into the start state of a trial, and records what that is."""
        plan, workload, target = findings.plan, findings.workload, self.target
        findings.step = "host"
        findings.readings = self.host.apply(plan.host, plan.target)
        findings.step = "reset"
        obtain = self.data.reloaded if plan.reload else self.data.restored
        readings, findings.data = obtain(workload, plan.data_seed, plan.target)
        findings.readings += readings
        workload.prepare(target)
        findings.fingerprint = target.fingerprint(workload.fingerprint_tables(target.dialect))
        target.settle(plan.cache)
        folder.write_inventory({"host": host_inventory(folder.path), "target": target.inventory()})
        findings.counters = workload.observe(target)
        target.make_way()
