"""What crosses the links of a cluster's nodes, on the trial's clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadstone.cluster.network import LinkCounters
from loadstone.probes.base import Probe
from loadstone.results import limits
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse

TO, FROM = "to_bytes_per_s:", "from_bytes_per_s:"
"""How the series of a node begin, seen from the network: what it was sent, and what it sent."""
_TO, _FROM = "reached it", "left it"


@dataclass(frozen=True)
class _Crossed:
    """Bytes that crossed a link one way between two readings; `t_s` is of the second one."""

    t_s: float
    node: str
    way: str
    """`reached it` or `left it`."""
    count: int


class LinkProbe(Probe):
    """Reads the counters at the far end of each node's link once a second.

    A node whose counters began anew has no sample of that second.
    """

    name = "links"

    def __init__(
        self,
        read: Callable[[], Mapping[str, LinkCounters]],
        rates: Mapping[str, float] | None = None,
    ) -> None:
        """Reads nothing yet.

        Args:
            read: Reads the counters of all nodes that are up.
            rates: Node: million bits a second, each way, of a link that is no faster.
        """
        self._read = read
        self._rates = rates or {}
        self._crossed: list[_Crossed] = []
        self._before: Mapping[str, LinkCounters] = {}
        self._before_s = 0.0

    def start(self) -> None:
        """Takes the first reading."""
        self._before, self._before_s = self._read(), time.monotonic()

    def sample(self, t_s: float) -> list[Sample]:
        """Bytes a second since the last time, each way."""
        now, now_s = self._read(), time.monotonic()
        passed_s = max(now_s - self._before_s, 1e-6)
        found = []
        for node, counters in now.items():
            before = self._before.get(node)
            if before is None or counters.both < before.both:
                continue
            to, sent = counters.to_node - before.to_node, counters.from_node - before.from_node
            self._crossed += [_Crossed(t_s, node, _TO, to), _Crossed(t_s, node, _FROM, sent)]
            found.append(Sample(t_s, self.name, f"{TO}{node}", to / passed_s))
            found.append(Sample(t_s, self.name, f"{FROM}{node}", sent / passed_s))
        self._before, self._before_s = now, now_s
        return found

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """Of each link that has a rate, the way that carried more: how long that took it."""
        return [
            _use(node, rate, self._carried(node, from_s, to_s), to_s - from_s)
            for node, rate in self._rates.items()
        ]

    def _carried(self, node: str, from_s: float, to_s: float) -> Mapping[str, int]:
        """By way."""
        found = {_TO: 0, _FROM: 0}
        for each in self._crossed:
            if each.node == node and from_s < each.t_s <= to_s:
                found[each.way] += each.count
        return found

    def stop(self) -> None:
        """Nothing is left open."""


def _use(node: str, mbit: float, carried: Mapping[str, int], length_s: float) -> ResourceUse:
    way = max(carried, key=lambda each: carried[each])
    needed_s = carried[way] * 8 / (mbit * 1e6)
    evidence = (
        f"{carried[way] / 2**20:.3g} MiB {way} at {mbit:g} Mbit/s, which takes {needed_s:.3g} of "
        f"{length_s:.3g} s"
    )
    return limits.use_of(limits.LINK, min(1.0, needed_s / max(length_s, 1e-9)), evidence, node)
