"""How long what runs on the nodes of a cluster stood still as it had used up its share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from loadstone.host.cgroup import CpuGroup
from loadstone.probes.base import Probe
from loadstone.probes.part_processors import USED_UP_SHARE
from loadstone.results import limits
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse

Periods = tuple[int, int]
"""Periods in which something ran, and those in which the quota was used up."""


class ShareProbe(Probe):
    """Reads the counters of each node's control groups once a second: its own, or its slots'."""

    name = "shares"

    def __init__(self, groups: Callable[[], Mapping[str, Sequence[CpuGroup]]]) -> None:
        """Reads nothing yet.

        Args:
            groups: Gives by node those that hold its ranks to what they may have.
        """
        self._groups = groups
        self._read: list[tuple[float, Mapping[str, Sequence[Periods]]]] = []

    def start(self) -> None:
        """Nothing is opened."""

    def sample(self, t_s: float) -> list[Sample]:
        """The share of periods in which the quota of a node was used up, since the last time."""
        now = {
            node: [group.periods() for group in groups] for node, groups in self._groups().items()
        }
        before = self._read[-1][1] if self._read else {}
        self._read.append((t_s, now))
        found = []
        for node, periods in now.items():
            share = _used_up(before.get(node, ()), periods)
            if share is not None:
                found.append(Sample(t_s, self.name, f"used_up_percent:{node}", 100.0 * share))
        return found

    def stop(self) -> None:
        """Nothing is left open."""

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """Of the node that stood still for longest."""
        within = [periods for t_s, periods in self._read if from_s <= t_s <= to_s]
        if len(within) < 2:
            return []
        shares = {
            node: share
            for node, periods in within[-1].items()
            if (share := _used_up(within[0].get(node, ()), periods)) is not None
        }
        if not shares:
            return []
        node = max(shares, key=lambda each: shares[each])
        full = shares[node] >= USED_UP_SHARE
        evidence = _evidence(self._groups().get(node, ()), shares[node])
        return [limits.use_of(limits.PART_PROCESSORS, shares[node], evidence, node, full=full)]


def _evidence(groups: Sequence[CpuGroup], share: float) -> str:
    who = "each of its slots" if len(groups) > 1 else "it"
    has = f"{who} has {groups[0].text()}" if groups else "its share"
    return f"{has}, used up in {100 * share:.0f} % of the periods in which it worked"


def _used_up(before: Sequence[Periods], now: Sequence[Periods]) -> float | None:
    """Of all groups of a node together; None where nothing ran."""
    if len(before) != len(now):
        return None
    periods = sum(each[0] for each in now) - sum(each[0] for each in before)
    used_up = sum(each[1] for each in now) - sum(each[1] for each in before)
    return used_up / periods if periods > 0 else None
