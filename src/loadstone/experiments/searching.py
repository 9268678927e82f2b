"""What a search found, from the records of its trials alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from loadstone.experiments.designs.search_state import (
    MOST_CONFIRMATIONS,
    Rules,
    SearchState,
    counted,
)
from loadstone.results.record import (
    NO_MORE_SESSIONS,
    LevelReason,
    LevelRecord,
    Status,
    TrialResult,
)
from loadstone.units import format_duration

_TICK_S = 1.0
"""The driver tells once a second what was done."""

_FEW_ARRIVALS = 400
"""Fewer in a sample vary by more than 5 % by chance alone (the deviation of a Poisson count)."""
_ALL_AT_WORK = 0.9
"""Of the sessions' time. Arrivals come unevenly, so few are free before all are at work."""

SearchStatus = Literal[
    "found", "no limit found", "cut short", "no level holds", "not sustained", "unfinished"
]


@dataclass(frozen=True)
class SearchOutcome:
    """The end of a search, or how far it came."""

    status: SearchStatus
    level: float | None
    """The highest level that is sustained; of an unfinished search the highest that held yet."""
    low: float | None
    """The highest level that held in all its trials."""
    high: float | None
    """The lowest above it that the system did not hold."""
    first_failure: tuple[str, LevelRecord] | None
    """Trial and record of what failed first at `high`, or of what cut the search short."""
    remarks: tuple[str, ...]
    text: str


def outcome_of(rules: Rules, results: Sequence[TrialResult]) -> SearchOutcome:
    """Derives the outcome of a search.

    Args:
        rules: Of the search.
        results: Of all its trials, in order; those that never ended are left out.
    """
    ended = [each for each in results if each.status not in (Status.RUNNING, Status.INTERRUPTED)]
    tried = [(each.trial, record) for each in counted(ended) for record in each.levels]
    state = SearchState.of(rules, (record for _, record in tried))
    judged = [each for each in tried if each[1].of_system]
    unfinished = bool(state.next()) and (bool(judged) or not tried)
    level = state.low if unfinished else state.sustained
    low, high = _interval(judged, state, level)
    barred = _barred(tried, state, level, high)
    status = "cut short" if barred and not unfinished else _status(state, rules)
    failure = barred or _first_failure(judged, high)
    failed = next((each for each in ended if failure and each.trial == failure[0]), None)
    return SearchOutcome(
        status=status,
        level=level,
        low=low,
        high=high,
        first_failure=failure,
        remarks=(
            *_remarks(state, judged, rules, level),
            *_crowded(failed),
            *_all_at_work(failed, rules),
        ),
        text=_text(status, rules, state, (level, low, high), failure),
    )


def first_reason(record: LevelRecord) -> LevelReason | None:
    """Why a level does not hold: what was seen first."""
    return record.reasons[0] if record.reasons else None


def level_text(level: float) -> str:
    """A level as people read it: `145,000`, `12.5`."""
    return f"{level:,.0f}" if level == int(level) else f"{level:,.6g}"


def amount(level: float, unit: str) -> str:
    """A level with its unit: `1 user`, `145,000 events/s`."""
    return (
        f"{level_text(level)} {unit.removesuffix('s') if level == 1 and '/' not in unit else unit}"
    )


def reason_text(reason: LevelReason) -> str:
    """A reason with its time: `p99 < 50 ms: was 80 ms (from 20 s on)`."""
    return reason.text if reason.at_s is None else f"{reason.text} (from {reason.at_s:.0f} s on)"


def _status(state: SearchState, rules: Rules) -> SearchStatus:
    if state.next():
        return "unfinished"
    if state.low is None and not state.soaks_failed:
        return "no level holds"
    if state.sustained is None:
        return "not sustained"
    at_top = state.sustained >= rules.ascent.top * (1 - 1e-9)
    return "no limit found" if at_top else "found"


def _interval(
    judged: Sequence[tuple[str, LevelRecord]], state: SearchState, level: float | None
) -> tuple[float | None, float | None]:
    """The highest level that held in all its trials, and the lowest above it that failed."""
    by_level: dict[float, list[bool]] = {}
    for _, record in judged:
        by_level.setdefault(record.level, []).append(record.holds)
    failed = [each for each in by_level if state.fails(each) and (level is None or each > level)]
    high = min(failed, default=None)
    if level is None:
        return None, high
    held = [each for each, trials in by_level.items() if all(trials) and each <= level]
    return max(held, default=None), high


def _barred(
    tried: Sequence[tuple[str, LevelRecord]],
    state: SearchState,
    level: float | None,
    high: float | None,
) -> tuple[str, LevelRecord] | None:
    """What cut the search short of the limit of the system: trial and record.

    Args:
        tried: All levels, those that told nothing of the system included.
        state: After them.
        level: That is sustained, if any.
        high: The lowest above it that the system did not hold.
    """
    broken = [each for each in tried if not each[1].of_system]
    above = [
        each
        for each in broken
        if state.blocked(each[1].level)
        and (level is None or each[1].level > level)
        and (high is None or each[1].level < high)
    ]
    if above:
        return min(above, key=lambda each: each[1].level)
    return next((each for each in broken if each[1].level == state.given_up), None)


def _first_failure(
    tried: Sequence[tuple[str, LevelRecord]], high: float | None
) -> tuple[str, LevelRecord] | None:
    return next(((t, each) for t, each in tried if each.level == high and not each.holds), None)


def _remarks(
    state: SearchState,
    tried: Sequence[tuple[str, LevelRecord]],
    rules: Rules,
    level: float | None,
) -> list[str]:
    unit = rules.unit
    remarks = [
        f"{amount(low, unit)} failed although {level_text(high)} held: the limit is not "
        "sharp, or something beside the load made it fail"
        for low, high in state.contradictions()
    ]
    mixed = {
        record.level: [each.holds for _, each in tried if each.level == record.level]
        for _, record in tried
    }
    remarks += [
        f"{amount(each, unit)} held in {sum(held)} of {len(held)} trials"
        for each, held in sorted(mixed.items())
        if any(held) and not all(held)
    ]
    if len(state.soaks_failed):
        soaked = ", ".join(level_text(each) for each in state.soaks_failed)
        remarks.append(f"held in short trials, and did not last in the soak: {soaked} {unit}")
    if state.confirmations >= MOST_CONFIRMATIONS:
        remarks.append(
            "the limit moved from one confirmation to the next, and the search was ended: "
            "look for what changes on the machine, or lengthen the samples"
        )
    if level is not None:
        remarks += _untested([each for _, each in tried if each.level == level], rules)
    return remarks


def _untested(records: Sequence[LevelRecord], rules: Rules) -> list[str]:
    """What was not asked of the level that was found.

    Args:
        records: Of that level.
        rules: Of the search.
    """
    from loadstone.results.statistics.hold import FEWEST_TICKS

    longest = max((each for each in records if each.holds), key=lambda each: each.duration_s)
    level, lasted_s = amount(longest.level, rules.unit), longest.duration_s
    remarks = []
    if not rules.confirm:
        remarks.append("not confirmed by fresh trials: confirm is 0")
    if not rules.soak_s:
        lasted = format_duration(round(lasted_s, 1))
        remarks.append(f"not soaked: soak is 0, and {level} held for {lasted} at most")
    offered = (longest.offered_per_s or 0.0) * lasted_s
    if rules.by_chance and 0 < offered < _FEW_ARRIVALS:
        remarks.append(
            f"{offered:.0f} arrivals in the longest sample at {level}: chance moves such a number "
            f"by {1 / sqrt(offered):.0%}, and no limit is known better than that; let samples last "
            "longer (--measure), or let arrivals come evenly (--arrival uniform)"
        )
    if rules.looks_for_rise and lasted_s < FEWEST_TICKS * _TICK_S:
        remarks.append(
            f"whether anything rises at {level} was not tested: that takes samples of "
            f"{format_duration(FEWEST_TICKS * _TICK_S)} or more"
        )
    return remarks


def _crowded(failed: TrialResult | None) -> list[str]:
    """That the limit is how many sessions the server allows, if the trial failed for that."""
    if failed is None or all(each.code != NO_MORE_SESSIONS for each in failed.notices):
        return []
    return [
        "the server let no more sessions in: this is the limit of its max_connections; raise "
        "that, and search again"
    ]


def _all_at_work(failed: TrialResult | None, rules: Rules) -> list[str]:
    """That the load had no session left, and another number of them may sustain more."""
    if failed is None or rules.sessions is None or len(failed.levels) != 1:
        return []
    (record,) = failed.levels
    served = [each.service for each in failed.operations if each.service is not None]
    share = sum(each.count * each.mean_s for each in served) / (
        rules.sessions * max(record.duration_s, 1e-9)
    )
    if share < _ALL_AT_WORK:
        return []
    return [
        f"all {rules.sessions} sessions of the load were at work at "
        f"{amount(record.level, rules.unit)}: that may be the limit, and not the system's; search "
        f"again with more ({rules.sessions_option})"
    ]


def _text(
    status: SearchStatus,
    rules: Rules,
    state: SearchState,
    levels: tuple[float | None, float | None, float | None],
    failure: tuple[str, LevelRecord] | None,
) -> str:
    level, low, high = levels
    unit = rules.unit
    if status == "unfinished":
        so_far = "no level has held yet" if level is None else f"{amount(level, unit)} held"
        return f"The search did not end: {so_far}."
    if status == "cut short":
        assert failure is not None  # noqa: S101 - it is what cut it short
        return _cut_short(level, failure, rules)
    if status == "no level holds":
        first = f" {_failed(failure)}." if failure else ""
        return f"No level holds.{first}"
    if status == "not sustained":
        return f"No level is sustained{_not_sustained(state, unit)}."
    assert level is not None  # noqa: S101 - the other states have none
    if status == "no limit found":
        return _no_limit(rules, level)
    between = (
        f" (between {level_text(low)} and {level_text(high)})"
        if low is not None and high is not None
        else ""
    )
    first = f" {_failed(failure)}." if failure else ""
    return f"{_sustained(rules, level)}{between}.{first}"


def _sustained(rules: Rules, level: float) -> str:
    verb = "are" if rules.over == "users" and level != 1 else "is"
    return f"{amount(level, rules.unit)} {verb} sustained"


def _no_limit(rules: Rules, level: float) -> str:
    bound = rules.bound
    if bound is not None and bound.filled and bound.level <= rules.ascent.top:
        return f"{_sustained(rules, level)}: {bound.filled}, and the objective holds there."
    return f"At least {_sustained(rules, level)}: no limit was found. {_why_no_higher(rules)}"


def _why_no_higher(rules: Rules) -> str:
    bound = rules.bound
    if bound is None or bound.level > rules.ascent.top:
        return "The highest level that the search may try holds."
    return (
        f"This machine can make no higher level than {amount(bound.level, bound.unit)}: "
        f"{bound.reason}."
    )


def _cut_short(level: float | None, failure: tuple[str, LevelRecord], rules: Rules) -> str:
    ended = f"the search ended at {amount(failure[1].level, rules.unit)}"
    if level is None:
        return (
            f"No answer: {ended}, before a level held. {_failed(failure)}. This says nothing of "
            "what the system sustains."
        )
    return (
        f"At least {_sustained(rules, level)}: {ended}. {_failed(failure)}. This is not what the "
        "system sustains."
    )


def _failed(failure: tuple[str, LevelRecord]) -> str:
    record = failure[1]
    reason = first_reason(record)
    where = f"At {level_text(record.level)}"
    return f"{where}: {reason_text(reason)}" if reason else f"{where} it did not hold"


def _not_sustained(state: SearchState, unit: str) -> str:
    if state.soaks_failed:
        highest = amount(max(state.soaks_failed), unit)
        return f": {highest} held in short trials, and no soak held"
    confirmation = state.confirmation
    return (
        f": {amount(confirmation.of, unit)} was not confirmed by fresh trials"
        if confirmation
        else ""
    )
