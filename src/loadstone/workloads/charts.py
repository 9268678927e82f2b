"""What of a workload's operations is judged and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Flow:
    """Where the driver's ticks tell what was offered and what became of it."""

    offered: str
    """Counter: items that became due."""
    stored: str
    """Counter: those that arrived."""
    lost: str
    """Counter: those that never will."""
    backlog: str
    """Gauge: those that wait."""


@dataclass(frozen=True)
class Charts:
    """What levels of a search, stalls and graphs are about; by default all operations alike."""

    judged: tuple[str, ...] = ()
    """Operations that a term of an objective without a name is about; none: all."""
    flow: Flow | None = None
    """Counters of what is offered, where they say more than the arrivals of an open load."""
    queue: str | None = None
    """Gauge: operations of an open load that were begun, and that the system itself keeps waiting.
    They belong to the backlog. What is under way when the arrivals end is then nothing that a level
    lacks: operations are long, and their number follows from that."""
    live: Mapping[str, str] = field(default_factory=dict)
    """Gauges that a terminal shows while the load runs, with their words, in the place of the rate:
    operations are so long that none ends in most seconds."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Groups of clients and their operations, whose times are drawn as a line each."""
    slow_after_s: float | None = None
    """A response that takes longer is a stall by the workload's own rule. What stands out from the
    rest of the trial is one in any case."""
    marks: tuple[str, ...] = ()
    """What its sessions tell that a graph of response times shows at first."""

    @property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """The groups; without any, each operation that is judged is one of its own."""
        return self.groups or {operation: (operation,) for operation in self.judged}
