"""Other Loadstones on this machine: two at once measure each other."""

from __future__ import annotations

import os

from loadstone.journal import open_journals
from loadstone.probes.base import Probe
from loadstone.results.record import Notice
from loadstone.results.sample import Sample

OTHERS = "other_loadstones"


class OtherRunsProbe(Probe):
    """Counts the other runs of this user once a second, by their open journals."""

    name = "host.loadstone"

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        """Process: in how many samples it was seen."""
        self._taken = 0

    def start(self) -> None:
        """Nothing is opened."""

    def sample(self, t_s: float) -> list[Sample]:
        """Those that run now."""
        pids = other_runs()
        self._taken += 1
        for pid in pids:
            self._seen[pid] = self._seen.get(pid, 0) + 1
        return [Sample(t_s, self.name, OTHERS, float(len(pids)))]

    def stop(self) -> None:
        """Nothing is left open."""

    def notices(self) -> list[Notice]:
        """Each that ran during the load."""
        return [
            other_run(pid, f"ran during {count} of {self._taken} s of the load")
            for pid, count in self._seen.items()
        ]


def other_runs() -> list[int]:
    """Processes of the other runs that have not ended."""
    own = os.getpid()
    return [each.pid for each in open_journals() if each.alive and each.pid != own]


def other_run(pid: int, what: str) -> Notice:
    """That another run shares the machine.

    Args:
        pid: Its process.
        what: It does, with a verb.
    """
    return Notice(
        code="another-loadstone",
        severity="warning",
        message=f"another Loadstone (process {pid}) {what}: both load this machine, and each "
        "measures the other",
        advice="run one after the other",
    )
