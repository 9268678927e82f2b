"""Whether the answers were what the scenario expects, and whether everybody left who had come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.results.frames import read_frames
from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.http.classes import is_overload
from loadstone.workloads.http.metrics import errors_of
from loadstone.workloads.http.scenario import LOG_IN, LOG_OUT
from loadstone.workloads.measured import Measured

EXPECTED = CheckSpec(
    "answers are as expected",
    "of the transactions, log-ins and log-outs of the measured load no larger share than "
    "errors_allowed failed by what was answered: a status, text, value or header that is not "
    "expected, a value that is missing, an answer that is not whole or breaks HTTP; statuses of an "
    "overload (408, 429, 5xx) and connections that failed are errors, not answers",
)
LEFT = CheckSpec(
    "who logged in has logged out",
    "where users leave in a drain phase: the log-ins that ended well, of all phases, are as many "
    "as the log-outs, those that failed among them, and the sessions that died (log_in_again)",
)
CHECKS = (EXPECTED, LEFT)
SESSIONS_LOST = "sessions_lost"
"""Fact and counter: users whose session has died."""

_WRONG = frozenset(
    {
        *("check", "no_value", "answers", "short_body", "bad_header", "bad_length", "bad_chunk"),
        *("bad_encoding", "header_too_large", "body_too_large", "inflated_too_large"),
        *("too_many_interim", "unexpected_upgrade", "too_many_redirects", "bad_redirect"),
        *("foreign_host", "bad_url"),
    }
)
"""Classes of errors that tell of what an answer was."""
_NO_CLASSES: Mapping[str, bool] = {}


def is_wrong(error: str, own: Mapping[str, bool] = _NO_CLASSES) -> bool:
    """Whether an error of this class is about what an answer was, not about getting one.

    Args:
        error: The class.
        own: Those of the scenario, each with whether it is.
    """
    status = error.removeprefix("status_")
    if status != error:
        return not is_overload(int(status))
    return own.get(error, error in _WRONG)


def check_answers(
    measured: Measured,
    operations: Collection[str],
    allowed_percent: float,
    own: Mapping[str, bool] = _NO_CLASSES,
) -> CheckResult:
    """The answers of the measured load.

    Args:
        measured: All of it.
        operations: Names of those that the scenario has, log-ins and log-outs among them.
        allowed_percent: Of them, whose answers may be wrong.
        own: Classes of errors of the scenario, each with whether it tells of a wrong answer.
    """
    errors = errors_of(measured.ticks, operations)
    wrong = Counter({name: count for name, count in errors.items() if is_wrong(name, own)})
    ended = errors.total() + sum(measured.operations.get(name, 0) for name in operations)
    percent = 100.0 * wrong.total() / ended if ended else 0.0
    detail = f"{wrong.total():,} of {ended:,} operations ({percent:.3g} %)"
    if wrong:
        detail += ": " + ", ".join(f"{count:,} {name}" for name, count in wrong.most_common())
    detail += f"; {allowed_percent:g} % are allowed"
    return EXPECTED.of(passed=percent <= allowed_percent, detail=detail)


@dataclass(frozen=True)
class Comings:
    """How many users came and left over a whole trial."""

    logged_in: int
    logged_out: int
    failed_to: int
    """Log-outs that did not end well."""
    drained: bool
    """There was a phase in which users left."""
    lost: int = 0
    """Sessions that died: their users logged in again, if the load lasted."""


def comings_of(frames: Iterable[Mapping[str, Any]]) -> Comings:
    """What the driver's frames tell of log-ins and log-outs."""
    drained, operations, facts = False, dict[str, Any](), dict[str, Any]()
    for frame in frames:
        if frame.get("frame") == "event" and frame.get("phase_kind") == "drain":
            drained = True
        elif frame.get("frame") == "end":
            operations, facts = frame.get("operations") or {}, frame.get("facts") or {}
    into, out = operations.get(LOG_IN, {}), operations.get(LOG_OUT, {})
    errors = out.get("errors", 0)
    return Comings(
        logged_in=int(into.get("count", 0)),
        logged_out=int(out.get("count", 0)),
        failed_to=sum(errors.values()) if isinstance(errors, Mapping) else int(errors),
        drained=drained,
        lost=int(facts.get(SESSIONS_LOST, 0)),
    )


def check_left(folder: Path | None) -> list[CheckResult]:
    """Whether all who logged in have logged out; nothing where no phase has users leave.

    Args:
        folder: Of the trial, with the driver's frames.
    """
    if folder is None:
        return []
    comings = comings_of(read_frames(folder))
    if not comings.drained:
        return []
    left = comings.logged_out + comings.failed_to
    detail = (
        f"{comings.logged_in:,} log-ins; {left:,} log-outs, of which {comings.failed_to:,} failed"
    )
    if comings.lost:
        detail += f"; {comings.lost:,} sessions died"
    return [LEFT.of(passed=comings.logged_in == left + comings.lost, detail=detail)]
