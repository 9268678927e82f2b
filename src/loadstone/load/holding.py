"""Whether a level of a search holds, by the ticks of its interval of load.

It holds if the generator was healthy and offered the level, at least 99 % of what was offered was
achieved, the objective is met in every window, and neither the backlog nor the response time rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from loadstone.load.health import ACHIEVED_SHARE
from loadstone.load.objective import Term, parse_objective, tightest_limit_s
from loadstone.load.windows import LoadInterval, Window, judged_response, median_s, windows_of
from loadstone.protocol.frames import Tick
from loadstone.results.record import LevelReason, LevelRecord, WorstFigure
from loadstone.results.statistics.hold import rise_of
from loadstone.spec.plans import LevelPlan
from loadstone.workloads.charts import Flow

OFFERED_SHARE = 0.98
"""A rate was offered if at least this share of it became due."""
CHANCE_DEVIATIONS = 4.0
"""So many standard deviations of a Poisson count may be missing besides, by chance."""
LEAST_RISE_SHARE = 0.2
"""A rise of the response time below this share of where it began does not matter."""
FORESEEN_S = 3600.0
"""Nor does one that would not reach the tightest limit of the objective within this time."""
LEAST_RISE_S = 0.0005
"""Nor does one below this."""
LEAST_BACKLOG_S = 0.05
"""A backlog that rises by less than what is offered in that time does not matter."""
LEAST_BACKLOG = 5.0
"""Nor does one that rises by so few."""


@dataclass(frozen=True)
class Judge:
    """By what a level is judged."""

    level: LevelPlan
    judged: Sequence[str] = ()
    """Operations that a term without a name is about; none: all."""
    flow: Flow | None = None
    """Where the workload counts what is offered itself."""
    is_open: bool = False
    """Operations become due by a clock."""
    queue: str | None = None
    """Gauge: operations that the system itself keeps waiting."""

    def verdict(
        self,
        interval: LoadInterval,
        level: float,
        *,
        others: Sequence[LevelReason] = (),
        achieved_share: float | None = None,
    ) -> LevelRecord:
        """The record of a level.

        Args:
            interval: Its load.
            level: Which, of those that the trial tried.
            others: Reasons against it that the ticks do not show: an unhealthy generator, a failed
                check of the data.
            achieved_share: Of what was offered, where it is known better than from the windows.
        """
        terms = parse_objective(self.level.objective)
        offered = sum(each.offered(self.flow) for each in windows_of(interval, interval.duration_s))
        windows = windows_of(interval, self.level.window_s)
        if achieved_share is None:
            achieved_share = _achieved(windows, self.flow) / offered if offered else 1.0
        reasons = [
            *self._not_achieved(windows, achieved_share),
            *self._missed(windows, terms),
            *self._rising(interval, terms, offered),
        ]
        reasons.sort(key=lambda reason: inf if reason.at_s is None else reason.at_s)
        reasons = [*others, *self._not_offered(level, offered, interval.duration_s), *reasons]
        return LevelRecord(
            over=self.level.over,
            unit=self.level.unit,
            level=level,
            kind=self.level.kind,
            of=self.level.of,
            raised=bool(self.level.raised),
            from_s=interval.from_s,
            duration_s=interval.duration_s,
            holds=not reasons,
            reasons=reasons,
            offered_per_s=offered / interval.duration_s if self._offers else None,
            achieved_per_s=(
                achieved_share * offered if self._offers else _achieved(windows, self.flow)
            )
            / interval.duration_s,
            windows=len(windows),
            worst=self._worst(windows, terms),
            response=judged_response(windows, self.judged),
        )

    @property
    def _offers(self) -> bool:
        return self.is_open or self.flow is not None

    def _not_offered(self, level: float, offered: float, duration_s: float) -> list[LevelReason]:
        """A rate that was not offered has not been held; more than it does no harm."""
        if not self._offers or self.level.over != "rate":
            return []
        due = level * duration_s
        by_chance = CHANCE_DEVIATIONS * sqrt(due) if self.flow is None else 0.0
        if offered >= OFFERED_SHARE * due - by_chance:
            return []
        text = f"only {_short(offered / duration_s)} of {_short(level)} {self.level.unit} offered"
        return [LevelReason(cause="generator", text=text)]

    def _not_achieved(self, windows: Sequence[Window], share: float) -> list[LevelReason]:
        if not self._offers or self.queue or share >= ACHIEVED_SHARE:
            return []
        short = [
            w for w in windows if w.achieved(self.flow) < ACHIEVED_SHARE * w.offered(self.flow)
        ]
        return [
            LevelReason(
                cause="achieved",
                at_s=short[0].from_s if short else None,
                text=f"{100 * share:.1f} % of the offered achieved",
            )
        ]

    def _missed(self, windows: Sequence[Window], terms: Sequence[Term]) -> list[LevelReason]:
        """Each term that is missed, in the first window in which it is."""
        found = []
        for term in terms:
            missed = [(window, self._miss(window, term)) for window in windows]
            first = next(((window, text) for window, text in missed if text), None)
            if first is not None:
                count = sum(1 for _, text in missed if text)
                of = f", in {count} of {len(windows)} windows" if len(windows) > 1 else ""
                text = f"{term.text}: {first[1]}{of}"
                found.append(LevelReason(cause="objective", at_s=first[0].from_s, text=text))
        return found

    def _miss(self, window: Window, term: Term) -> str:
        """What a window has instead of what a term asks for; empty if it keeps to it."""
        value = window.value(term, self.judged, self.flow)
        if value is not None:
            return "" if term.holds(value) else f"was {_short(value)} {term.unit}".rstrip()
        ended = window.load.count + window.load.errors
        return "" if ended or not term.is_time else "no operation ended"

    def _worst(self, windows: Sequence[Window], terms: Sequence[Term]) -> list[WorstFigure]:
        found = []
        for term in terms:
            values = [(w.value(term, self.judged, self.flow), w.from_s) for w in windows]
            known = [(value, at_s) for value, at_s in values if value is not None]
            if known:
                value, at_s = max(known, key=lambda each: each[0])
                figure = WorstFigure(term=term.text, value=value, unit=term.unit, at_s=at_s)
                found.append(figure)
        return found

    def _rising(
        self, interval: LoadInterval, terms: Sequence[Term], offered: float
    ) -> list[LevelReason]:
        return [*self._backlog(interval, offered), *self._response(interval, terms)]

    def _backlog(self, interval: LoadInterval, offered: float) -> list[LevelReason]:
        ticks = interval.timed
        if not self._offers or not ticks:
            return []
        least = max(LEAST_BACKLOG, LEAST_BACKLOG_S * offered / interval.duration_s)
        waiting = [
            tick.gauges.get(self.flow.backlog, 0.0) if self.flow else self._waiting(tick)
            for tick in ticks
        ]
        found = rise_of(waiting, least)
        if not found.rising or found.from_index is None:
            return []
        at_s = ticks[found.from_index].from_s - interval.from_s
        text = f"the backlog rises by {found.rise * 60 / interval.duration_s:,.0f} a minute"
        return [LevelReason(cause="backlog", at_s=at_s, text=text)]

    def _waiting(self, tick: Tick) -> float:
        """Operations that are due and are not served yet: for a session, or by the system."""
        return tick.queued + (tick.gauges.get(self.queue, 0.0) if self.queue else 0.0)

    def _response(self, interval: LoadInterval, terms: Sequence[Term]) -> list[LevelReason]:
        ticks = [(tick, median_s(tick, self.judged)) for tick in interval.timed]
        known = [(tick, value) for tick, value in ticks if value is not None]
        if not known:
            return []
        series = [value for _, value in known]
        first = sorted(series[: max(1, len(series) // 4)])
        begin_s = first[len(first) // 2]
        limit_s = tightest_limit_s(terms)
        least_s = max(LEAST_RISE_S, LEAST_RISE_SHARE * begin_s)
        if limit_s is not None:
            least_s = max(least_s, (limit_s - begin_s) * interval.duration_s / FORESEEN_S)
        found = rise_of(series, least_s)
        if not found.rising or found.from_index is None:
            return []
        at_s = known[found.from_index][0].from_s - interval.from_s
        text = (
            f"the median response time rises, from {begin_s * 1e3:.3g} ms "
            f"by {_short(found.rise * 1e3 * 60 / interval.duration_s)} ms a minute"
        )
        return [LevelReason(cause="response time", at_s=max(0.0, at_s), text=text)]


def _achieved(windows: Sequence[Window], flow: Flow | None) -> float:
    return sum(window.achieved(flow) for window in windows)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
