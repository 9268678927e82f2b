"""The state of a search: what its trials said of each level, and which trials come next.

Everything follows from the records in their order, so the state of a search can be made again from
its files: ascent, soak at the level that was found, confirmation around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from loadstone.experiments.designs.ascent import (
    DOUBLING,
    MOST_DOUBLINGS,
    ONWARD,
    Ascent,
    level_below,
    narrowness,
    next_level,
    share_of,
)
from loadstone.load.objective import parse_objective
from loadstone.results.record import LevelBound, LevelRecord, Status, TrialResult
from loadstone.spec.design import LoadedBy
from loadstone.spec.plans import LevelKind

SHARES = (95.0, 100.0, 105.0)
"""Percent of the level found at which it is confirmed."""
MOST_SOAKS = 3
MOST_CONFIRMATIONS = 6
"""A limit that moves from one confirmation to the next is no limit; a search ends all the same."""
MOST_BROKEN = 2
"""So many trials of a level that tell nothing of the system are enough."""
_DOWN = 90.0
"""Percent of the lowest level that was not confirmed, where none was: the next to be confirmed."""


@dataclass(frozen=True)
class Rules:
    """A search, resolved: nothing is left to defaults."""

    over: LoadedBy
    unit: str
    ascent: Ascent
    objective: tuple[str, ...]
    window_s: float
    failures: int
    shortest_s: float
    longest_s: float
    soak_s: float
    confirm: int
    raises: bool
    """The first levels are approached in one trial whose load is raised."""
    raised_to: float = inf
    """The highest level of that trial, if the search goes on."""
    bound: LevelBound | None = None
    """Of this machine."""
    sessions: int | None = None
    """That serve the arrivals of every level; None if a level is their number."""
    sessions_option: str = "--sessions"
    """What says how many there are."""
    by_chance: bool = False
    """Arrivals come at random: their number in a sample does, too."""
    looks_for_rise: bool = True
    """Whether a level could rise: not if its work just runs to its end."""

    @property
    def is_relative(self) -> bool:
        """Whether a level is held against the first one."""
        return any(term.is_relative for term in parse_objective(self.objective))


@dataclass(frozen=True)
class PlannedLevel:
    """A trial to be made."""

    level: float
    kind: LevelKind
    measure_s: float
    of: float | None = None
    raised: tuple[float, ...] = ()


@dataclass(frozen=True)
class Confirmation:
    """A confirmation, as far as it was made."""

    of: float
    shares: dict[float, float]
    """Level: percent of `of`."""
    held: dict[float, list[bool]]

    def all_held(self, percent: float) -> bool:
        """Whether every trial at that share held."""
        levels = [level for level, share in self.shares.items() if share == percent]
        return all(all(self.held.get(level) or [False]) for level in levels)


@dataclass
class SearchState:
    """What is known of the levels."""

    rules: Rules
    _fails: dict[float, int] = field(default_factory=dict)
    _verdicts: dict[float, bool] = field(default_factory=dict)
    _lasting: dict[float, bool] = field(default_factory=dict)
    """Verdicts of soaks and confirmations."""
    _soaks: dict[float, bool] = field(default_factory=dict)
    _confirmations: dict[float, Confirmation] = field(default_factory=dict)
    _missed: set[float] = field(default_factory=set)
    """Levels that the system did not hold in a trial at least."""
    _broken: Counter[tuple[LevelKind, float]] = field(default_factory=Counter)
    """Soaks and confirmations of a level that told nothing of the system."""
    _started: bool = False

    @classmethod
    def of(cls, rules: Rules, records: Iterable[LevelRecord]) -> SearchState:
        """The state after these records."""
        state = cls(rules)
        for record in records:
            state.note(record)
        return state

    def note(self, record: LevelRecord) -> None:
        """Takes the next record."""
        self._started = True
        level, holds = record.level, record.holds
        if not holds and record.of_system:
            self._missed.add(level)
        if record.kind == "confirm" and record.of is not None:
            begun = Confirmation(record.of, self._shares(record.of), {})
            self._confirmations.setdefault(record.of, begun)
        if record.kind != "ascent" and not record.of_system:
            self._broken[record.kind, level] += 1
        elif record.kind == "soak":
            self._soaks[level] = holds
            self._lasting[level] = self._verdicts[level] = holds
        elif record.kind == "confirm" and record.of is not None:
            held = self._confirmations[record.of].held.setdefault(level, [])
            held.append(holds)
            self._lasting[level] = self._verdicts[level] = all(held)
        elif holds:
            self._verdicts[level] = True
        else:
            self._fails[level] = self._fails.get(level, 0) + 1
            enough = self.rules.failures if record.of_system else MOST_BROKEN
            if self._fails[level] >= enough:
                self._verdicts[level] = False

    # -- what is known -------------------------------------------------------------------------
    @property
    def low(self) -> float | None:
        """The highest level that holds, below all that did not last."""
        unsound = [level for level, holds in self._lasting.items() if not holds]
        return max(
            (
                level
                for level, holds in self._verdicts.items()
                if holds and all(level < other for other in unsound)
            ),
            default=None,
        )

    @property
    def high(self) -> float | None:
        """The lowest level above `low` that failed."""
        low = self.low
        return min(
            (
                level
                for level, holds in self._verdicts.items()
                if not holds and (low is None or level > low)
            ),
            default=None,
        )

    @property
    def confirmation(self) -> Confirmation | None:
        """The last confirmation."""
        return list(self._confirmations.values())[-1] if self._confirmations else None

    @property
    def confirmations(self) -> int:
        """How many there were, the last one included."""
        return len(self._confirmations)

    def fails(self, level: float) -> bool:
        """Whether a level was found to fail."""
        return self._verdicts.get(level) is False

    def blocked(self, level: float) -> bool:
        """Whether a level failed, and never by the system's doing."""
        return self.fails(level) and level not in self._missed

    @property
    def given_up(self) -> float | None:
        """The level whose soak or confirmation could not be made."""
        most = self.confirmation.of if self.confirmation else inf
        spent = [level for kind, level in self._broken if self._spent(kind, level)]
        return next((level for level in spent if level <= most), None)

    @property
    def soaks_failed(self) -> list[float]:
        """Levels that held in short trials and not in a soak."""
        return [level for level, holds in self._soaks.items() if not holds]

    @property
    def sustained(self) -> float | None:
        """The level that the search ends with; None if none lasted."""
        if not self._lasting:
            return self.low
        unsound = min((each for each, holds in self._lasting.items() if not holds), default=inf)
        sound = [each for each, holds in self._lasting.items() if holds and each < unsound]
        confirmation = self.confirmation
        if confirmation is not None:  # its 105 % may hold: it is no level that was found
            sound = [each for each in sound if each <= confirmation.of]
        return max(sound, default=None)

    def contradictions(self) -> list[tuple[float, float]]:
        """Levels that failed, each with the lowest higher level that held."""
        held = sorted(level for level, holds in self._verdicts.items() if holds)
        found = []
        for level in sorted(level for level, holds in self._verdicts.items() if not holds):
            above = [other for other in held if other > level]
            if above:
                found.append((level, above[0]))
        return found

    def _spent(self, kind: LevelKind, level: float) -> bool:
        """Whether a soak or confirmation of a level was tried in vain as often as it may be."""
        return self._broken[kind, level] >= MOST_BROKEN

    def _shares(self, level: float) -> dict[float, float]:
        """Levels at which one is confirmed, with their percent, as far as they can be tried.

        Between a level that was confirmed and one that was not, it is confirmed alone.
        """
        found: dict[float, float] = {level: 100.0}
        above = any(level < other for other, holds in self._lasting.items() if not holds)
        if above and any(other < level for other, holds in self._lasting.items() if holds):
            return found
        barred = min(filter(self.blocked, self._verdicts), default=inf)
        for percent in (95.0, 105.0):
            share = share_of(self.rules.ascent, level, percent)
            if share <= self.rules.ascent.top and share < barred:
                found.setdefault(share, percent)
        return dict(sorted(found.items()))

    # -- what comes next -----------------------------------------------------------------------
    def next(self) -> list[PlannedLevel]:
        """The next trials; several only of a confirmation. None when the search is done."""
        confirmation = self.confirmation
        if confirmation is None:
            return self._ascend(DOUBLING)
        if lacking := self._lacking(confirmation):
            return lacking
        if self.confirmations >= MOST_CONFIRMATIONS:
            return []
        if self._goes_on(confirmation):
            return self._ascend(ONWARD)
        return self._confirmed_lower(confirmation)

    def measure_s(self, kind: LevelKind) -> float:
        """How long a sample is: the longer, the narrower the bracket."""
        rules = self.rules
        if kind == "soak":
            return rules.soak_s
        if kind == "confirm":
            return rules.longest_s
        share = narrowness(rules.ascent, self.low, self.high)
        length_s = rules.shortest_s * (rules.longest_s / rules.shortest_s) ** share
        return float(round(length_s)) if length_s >= 10 else round(length_s, 1)

    def _ascend(self, growth: float) -> list[PlannedLevel]:
        if self.soaks_failed:
            return self._after_failed_soak()
        level = next_level(self.rules.ascent, self.low, self.high, growth)
        if level is not None:
            raised = self._raised(level) if self.rules.raises and not self._started else ()
            return [PlannedLevel(level, "ascent", self.measure_s("ascent"), raised=raised)]
        found = self.low
        if found is None:
            return []
        if self.rules.soak_s and found not in self._soaks:
            return self._soak(found)
        return self._confirmation(found)

    def _after_failed_soak(self) -> list[PlannedLevel]:
        below = level_below(self.rules.ascent, min(self.soaks_failed))
        if below is not None and self._soaks.get(below):
            return self._confirmation(below)
        if below is None or len(self.soaks_failed) >= MOST_SOAKS:
            return []
        return self._soak(below)

    def _soak(self, level: float) -> list[PlannedLevel]:
        spent = self._spent("soak", level)
        return [] if spent else [PlannedLevel(level, "soak", self.rules.soak_s)]

    def _lacking(self, confirmation: Confirmation) -> list[PlannedLevel]:
        """Trials of a confirmation that told nothing of the system, once more."""
        return [
            PlannedLevel(level, "confirm", self.measure_s("confirm"), of=confirmation.of)
            for level in confirmation.shares
            if self._broken["confirm", level] and not self._spent("confirm", level)
            if len(confirmation.held.get(level, [])) < self.rules.confirm
        ]

    def _goes_on(self, confirmation: Confirmation) -> bool:
        """Whether the level that was found is too low: 105 % of it holds every time."""
        above = max(confirmation.shares)
        if confirmation.shares[above] != 105.0 or self.soaks_failed:
            return False
        return all(confirmation.all_held(percent) for percent in SHARES)

    def _confirmed_lower(self, confirmation: Confirmation) -> list[PlannedLevel]:
        """Where the level that was found is not confirmed: the next one below it."""
        unsound = [level for level, holds in self._lasting.items() if not holds]
        if not unsound or min(unsound) > confirmation.of:
            return []
        sound = self.sustained
        if sound is None:
            below = share_of(self.rules.ascent, min(unsound), _DOWN)
            return self._confirmation(below) if self.rules.ascent.bottom <= below else []
        lower = level_below(self.rules.ascent, min(unsound))
        return self._confirmation(lower) if lower is not None and lower > sound else []

    def _confirmation(self, level: float) -> list[PlannedLevel]:
        """Fresh trials at each share, block by block."""
        if level in self._confirmations:
            return []
        length_s = self.measure_s("confirm")
        return [
            PlannedLevel(share, "confirm", length_s, of=level)
            for _ in range(self.rules.confirm)
            for share in self._shares(level)
        ]

    def _raised(self, first: float) -> tuple[float, ...]:
        """The levels above the first one, while none fails."""
        levels = [first]
        while len(levels) <= MOST_DOUBLINGS:
            above = next_level(self.rules.ascent, levels[-1], None)
            if above is None or above > self.rules.raised_to:
                break
            levels.append(above)
        return tuple(levels[1:])


def counted(results: Sequence[TrialResult]) -> list[TrialResult]:
    """The trials that count: one that the machine disturbed does not if it was made again."""
    last = {(result.variant, result.block): result.trial for result in results}
    return [
        result
        for result in results
        if result.status is not Status.DISTURBED
        or last[result.variant, result.block] == result.trial
    ]


def records_of(results: Sequence[TrialResult]) -> list[LevelRecord]:
    """What those that count say of the levels, in order."""
    return [record for result in counted(results) for record in result.levels]
