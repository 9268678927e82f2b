"""What crosses the links of a cluster's nodes, on the trial's clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from loadstone.cluster.network import LinkCounters
from loadstone.probes.base import Probe
from loadstone.results.sample import Sample

TO, FROM = "to_bytes_per_s:", "from_bytes_per_s:"
"""How the series of a node begin, seen from the network: what it was sent, and what it sent."""


class LinkProbe(Probe):
    """Reads the counters at the far end of each node's link once a second.

    A node whose counters began anew has no sample of that second.
    """

    name = "links"

    def __init__(self, read: Callable[[], Mapping[str, LinkCounters]]) -> None:
        """Reads nothing yet.

        Args:
            read: Reads the counters of all nodes that are up.
        """
        self._read = read
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
            found.append(Sample(t_s, self.name, f"{TO}{node}", to / passed_s))
            found.append(Sample(t_s, self.name, f"{FROM}{node}", sent / passed_s))
        self._before, self._before_s = now, now_s
        return found

    def stop(self) -> None:
        """Nothing is left open."""
