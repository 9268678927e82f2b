"""What Loadstone itself takes: whether it could run on for hours, and its share of the watts."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable, Sequence

import psutil

from loadstone.probes.base import Probe
from loadstone.probes.counted import Counted
from loadstone.results.machine_state import LabCost
from loadstone.results.sample import Sample

OWN_PROBE = "loadstone"
MEMORY = "memory_bytes"
CPU = "cpu_s"
WAKEUPS = "wakeups"


class OwnProbe(Probe):
    """Reads the process that runs the experiment, once a second: memory, processor time, wake-ups.

    Args:
        helpers: Gives the programs that run beside it for its meters, by their process ids. What
            they use counts as its own.
        starts_others: Whether it starts and ends systems under test while load runs: then programs
            that have ended are not counted, as it cannot be told whose they were.
    """

    name = OWN_PROBE

    def __init__(
        self, helpers: Callable[[], Sequence[int]] = tuple, *, starts_others: bool = False
    ) -> None:
        self._helpers = helpers
        self._ended = not starts_others
        self._used = Counted()

    def start(self) -> None:
        """Finds itself."""
        self._process = psutil.Process()

    def sample(self, t_s: float) -> list[Sample]:
        """As it is now, and what it used since the time before."""
        self._used.add(t_s, self._read())
        values = {MEMORY: float(self._process.memory_info().rss)}
        rates = self._used.last_rates()
        if CPU in rates:
            values |= {"cpu_percent": 100.0 * rates[CPU], "wakeups_per_s": rates[WAKEUPS]}
        return [Sample(t_s, self.name, metric, value) for metric, value in values.items()]

    def stop(self) -> None:
        """Nothing was opened."""

    def cost(self, from_s: float, to_s: float) -> LabCost | None:
        """What it took in an interval of the trial; None if too little of it was seen.

        Args:
            from_s: Begin on the trial's clock.
            to_s: Its end.
        """
        rates = self._used.rates(from_s, to_s)
        if CPU not in rates or WAKEUPS not in rates:
            return None
        return LabCost(cpu_share=rates[CPU], wakeups_per_s=rates[WAKEUPS])

    def _read(self) -> dict[str, float]:
        """Seconds and voluntary context switches (getrusage(2)) since it began."""
        own = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s, wakeups = own.ru_utime + own.ru_stime, float(own.ru_nvcsw)
        if self._ended:
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu_s += ended.ru_utime + ended.ru_stime
            wakeups += ended.ru_nvcsw
        for pid in self._helpers():
            with contextlib.suppress(psutil.Error):
                helper = psutil.Process(pid)
                times = helper.cpu_times()
                cpu_s += times.user + times.system + times.children_user + times.children_system
                wakeups += helper.num_ctx_switches().voluntary
        return {CPU: cpu_s, WAKEUPS: wakeups}
