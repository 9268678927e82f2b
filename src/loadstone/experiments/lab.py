"""What the trials of an experiment share: the target, its data, and the start state they make."""

from __future__ import annotations

from dataclasses import dataclass, field

from loadstone.experiments.data import DataStates
from loadstone.experiments.findings import Findings
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.journal import Journal
from loadstone.experiments.observer import Observer
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
    speeds: list[dict[str, float]] = field(default_factory=list)
    """The machine's own speed, at every time it was measured so far."""

    def reset(self, folder: TrialFolder, findings: Findings) -> None:
        """Brings the target into the start state of a trial, and records what that is."""
        plan, workload, target = findings.plan, findings.workload, self.target
        findings.step = "reset"
        obtain = self.data.reloaded if plan.reload else self.data.restored
        findings.readings, findings.data = obtain(workload, plan.data_seed, plan.target)
        workload.prepare(target)
        findings.fingerprint = target.fingerprint(workload.fingerprint_tables())
        target.settle(plan.cache)
        folder.write_inventory({"host": host_inventory(folder.path), "target": target.inventory()})
        findings.counters = workload.observe(target)
