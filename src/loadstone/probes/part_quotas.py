"""How the parts of a system use up their quotas of processor time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.cgroup import CpuGroup
from loadstone.host.cpu_group import held_by


@dataclass(frozen=True)
class PartQuota:
    """Of a part that has one: processors, and the share of the time in which it was used up."""

    cpus: float
    throttled_percent: float


@dataclass(frozen=True)
class _Groups:
    """The groups of a part, as they are at a time of the trial."""

    t_s: float
    cpus: float
    count: int
    used_up_s: float
    """Of all of them together, counted from any origin."""

    def percent_since(self, before: _Groups) -> float:
        """Share of the time since then in which a group was used up, on average."""
        elapsed_s = (self.t_s - before.t_s) * self.count
        return 100.0 * (self.used_up_s - before.used_up_s) / elapsed_s if elapsed_s > 0 else 0.0


class PartQuotas:
    """Follows the control groups of the processes that parts begin with.

    A part that is started again has a group that counts from zero: what it uses up is added to
    what the one before it did.
    """

    def __init__(self) -> None:
        self._of_process: dict[int, CpuGroup | None] = {}
        self._counters_s: dict[Path, float] = {}
        self._known: dict[str, list[_Groups]] = {}

    def sample(self, t_s: float, pids: Mapping[str, Sequence[int]]) -> dict[str, float]:
        """Reads the counters of all groups.

        Args:
            t_s: On the trial's clock.
            pids: Of the first processes of each part.

        Returns:
            Part: percent of the time since the sample before in which its quota was used up.
        """
        present = {pid for own in pids.values() for pid in own}
        self._of_process = {
            pid: self._of_process[pid] if pid in self._of_process else held_by(pid)
            for pid in present
        }
        grown_s = self._count()
        found = {}
        for part, own in pids.items():
            groups = {group.folder: group for pid in own if (group := self._of_process[pid])}
            if not groups:
                continue
            known = self._known.setdefault(part, [])
            before_s = known[-1].used_up_s if known else 0.0
            cpus = sum(group.cpus for group in groups.values())
            used_up_s = before_s + sum(grown_s[each] for each in groups)
            known.append(_Groups(t_s, cpus, len(groups), used_up_s))
            if len(known) > 1:
                found[part] = known[-1].percent_since(known[-2])
        return found

    def over(self, part: str, from_s: float, to_s: float) -> PartQuota | None:
        """How a part used its quota in an interval of the trial; None of one without a quota."""
        known = [each for each in self._known.get(part, ()) if each.t_s <= to_s]
        if not known:
            return None
        begin = next((each for each in reversed(known) if each.t_s <= from_s), known[0])
        return PartQuota(known[-1].cpus, known[-1].percent_since(begin))

    def _count(self) -> dict[Path, float]:
        """Seconds in which each group was used up since it was last looked at."""
        now_s = {
            group.folder: group.periods()[1] * group.period_s
            for group in self._of_process.values()
            if group is not None
        }
        before_s = self._counters_s
        self._counters_s = {**before_s, **now_s}  # the group outlives a server that was killed
        return {each: max(0.0, now_s[each] - before_s.get(each, 0.0)) for each in now_s}
