"""The verdict over the crashes of a configuration: what was acknowledged survives, or does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from loadstone.results.base import Record
from loadstone.results.record import DurabilityRecord, Notice

CrashOutcome = Literal["survived", "lost commits", "corrupt", "did not recover"]

_NOUNS = {"kill": ("kill", "kills"), "power-loss": ("power loss", "power losses")}
_MOST_CONDITIONS = 3


class DurabilityVerdict(Record):
    """What the crashes of a configuration showed."""

    failure: Literal["kill", "power-loss"]
    crashes: int
    survived: int = Field(description="Crashes after which all that was acknowledged was there.")
    outcome: CrashOutcome = Field(description="The gravest of all crashes.")
    ended_so: int = Field(description="Crashes with that outcome.")
    acknowledged: int = Field(description="Commits acknowledged before the failures, together.")
    most_lost: int = Field(description="Acknowledged commits lost in one crash, at most.")
    longest_span_s: float | None = Field(
        description="From a lost commit's acknowledgement to the failure, at most."
    )
    loss_probability_upper: float | None = Field(
        description="If all survived: the chance of a loss is below this, at the confidence given."
    )
    confidence: float
    text: str = Field(description="The verdict in words.")


def verdict(
    records: Sequence[DurabilityRecord], confidence: float = 0.95
) -> DurabilityVerdict | None:
    """The verdict over the crashes of one configuration, or None if there were none.

    Args:
        records: Of crashes before which something was acknowledged.
        confidence: Of the upper bound.
    """
    if not records:
        return None
    outcomes = [record.outcome for record in records]
    survived = outcomes.count("survived")
    gravest = max(outcomes, key=GRAVITY.index)
    spans = [record.lost_span_s for record in records if record.lost_span_s is not None]
    all_survived = survived == len(records)
    return DurabilityVerdict(
        failure=records[0].failure,
        crashes=len(records),
        survived=survived,
        outcome=gravest,
        ended_so=outcomes.count(gravest),
        acknowledged=sum(record.acknowledged for record in records),
        most_lost=max(record.lost for record in records),
        longest_span_s=max(spans, default=None),
        loss_probability_upper=upper_bound(len(records), confidence) if all_survived else None,
        confidence=confidence,
        text=_text(records),
    )


GRAVITY: tuple[CrashOutcome, ...] = ("survived", "lost commits", "corrupt", "did not recover")
"""Outcomes, the gravest last."""


def upper_bound(crashes: int, confidence: float) -> float:
    """The largest chance of a loss that still lets all crashes be survived with 1 - confidence.

    1 - (1 - confidence)^(1/n), the exact form of the rule of three, 3/n at 95 % (Hanley and
    Lippman-Hand 1983, If nothing goes wrong, is everything all right?, JAMA 249).
    """
    return float(1.0 - (1.0 - confidence) ** (1.0 / crashes))


def crash_text(record: DurabilityRecord) -> str:
    """What one crash showed, in a line."""
    if record.outcome == "survived":
        return f"survived: {record.acknowledged:,} acknowledged commits, none lost"
    if record.outcome == "did not recover":
        return f"did not recover: {record.problem}"
    lost = f"lost {record.lost:,} of {record.acknowledged:,} acknowledged commits"
    if record.lost_span_s is not None:
        lost += f", up to {milliseconds(record.lost_span_s)} before the failure"
    if record.outcome == "lost commits":
        return lost
    wrong = record.problem or ", ".join(record.conditions_failed)
    return f"corrupt: {wrong}" + (f"; {lost}" if record.lost else "")


def crash_notices(record: DurabilityRecord, unsafe: Sequence[str]) -> list[Notice]:
    """What a reader must know of a crash; loud where a configuration that should survive did not.

    Args:
        record: Of the crash.
        unsafe: Unsafe settings in force, which explain a loss.
    """
    if record.acknowledged == 0:
        return [
            Notice(
                code="nothing-acknowledged",
                severity="error",
                message="no commit was acknowledged before the failure: the crash shows nothing",
                advice="see why the load made no commits; lengthen the warm-up",
            )
        ]
    if record.outcome == "survived":
        return []
    because = f" with {', '.join(unsafe)}" if unsafe else ""
    return [
        Notice(
            code=f"crash-{record.outcome.replace(' ', '-')}",
            severity="warning" if unsafe else "error",
            message=f"after a {_NOUNS[record.failure][0]}{because}: {crash_text(record)}",
            advice="`loadstone show` of that trial lists the first lost commits; the target's own "
            "log is in its folder",
        )
    ]


def milliseconds(seconds: float) -> str:
    """A span of time in milliseconds, as people read it."""
    return f"{seconds * 1e3:,.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.1f} ms"


def _text(records: Sequence[DurabilityRecord]) -> str:
    count, noun = len(records), _NOUNS[records[0].failure]
    of = f"of {count} {noun[count != 1]}"
    survived = sum(record.outcome == "survived" for record in records)
    if survived == count:
        return f"survived {count} {of}"
    parts = []
    if dead := [each for each in records if each.outcome == "did not recover"]:
        parts.append(f"did not recover in {len(dead)} {of}")
    if corrupt := [each for each in records if each.outcome == "corrupt"]:
        parts.append(f"corrupt in {len(corrupt)} {of}: {_wrong(corrupt)}")
    if lost := [each for each in records if each.lost]:
        most = max(each.lost for each in lost)
        span = milliseconds(max(each.lost_span_s or 0.0 for each in lost))
        commits = "commit" if most == 1 else "commits"
        parts.append(
            f"lost up to {most:,} acknowledged {commits} (up to {span} before the failure) "
            f"in {len(lost)} {of}"
        )
    return "; ".join(parts)


def _wrong(corrupt: Sequence[DurabilityRecord]) -> str:
    """What is wrong with the data, the first few things."""
    names = list(dict.fromkeys(name for each in corrupt for name in each.conditions_failed))
    names += list(dict.fromkeys(each.problem for each in corrupt if each.problem))
    more = len(names) - _MOST_CONDITIONS
    return ", ".join(names[:_MOST_CONDITIONS]) + (f" and {more} more" if more > 0 else "")
