"""Loadstone's own memory: whether it could run on for hours is asked of it too."""

from __future__ import annotations

import psutil

from loadstone.probes.base import Probe
from loadstone.results.sample import Sample

OWN_PROBE = "loadstone"
MEMORY = "memory_bytes"


class OwnProbe(Probe):
    """Reads the resident memory of the process that runs the experiment, once a second."""

    name = OWN_PROBE

    def start(self) -> None:
        """Finds itself."""
        self._process = psutil.Process()

    def sample(self, t_s: float) -> list[Sample]:
        """As it is now."""
        return [Sample(t_s, self.name, MEMORY, float(self._process.memory_info().rss))]

    def stop(self) -> None:
        """Nothing was opened."""
