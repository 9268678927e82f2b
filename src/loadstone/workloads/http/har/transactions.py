"""The requests of a recording as transactions of steps, by the pauses of who was recorded. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median

from loadstone.workloads.http.har.entries import Exchange
from loadstone.workloads.http.har.names import Names, transaction_name
from loadstone.workloads.http.scenario import FIRST_VISIT, LOG_IN, LOG_OUT

_RESERVED = (LOG_IN, LOG_OUT, FIRST_VISIT)
_LOG_OUT = re.compile(
    r"(?<![A-Za-z])(?i:log|sign)[-_]?(?i:out|off)(?![a-z])|(?:Log|Sign)(?i:out|off)(?![a-z])"
)
"""`/logout`, `/sign-out`, `userLogout`; not `/catalogoutlet`."""
_LONG_POLL_S = 20.0
"""A request that takes so long waits for news: nobody waits for it."""
_OF_NEW_PAGE = 0.1
"""A pause before the first request of another page may be so much shorter, as a share."""

Step = tuple[Exchange, ...]
"""Requests that are made at the same time."""


@dataclass(frozen=True)
class Transaction:
    """What a user does between two pauses."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Story:
    """All that the user of a recording does, in its order."""

    log_in: tuple[Step, ...]
    """Up to the answer to the password; empty: nobody logs in."""
    transactions: tuple[Transaction, ...]
    log_out: tuple[Step, ...]
    """Empty, too, where nobody logs in: it is a transaction as others are."""
    think_s: float | None
    """Median of the pauses; None: there is none."""

    @property
    def steps(self) -> list[Step]:
        """Those of all parts."""
        of_transactions = [step for each in self.transactions for step in each.steps]
        return [*self.log_in, *of_transactions, *self.log_out]


def tell(
    exchanges: Sequence[Exchange], log_in: int | None, gap_s: float, avoid: Collection[str]
) -> Story:
    """Cuts a recording into transactions.

    Args:
        exchanges: In the order in which the browser asked.
        log_in: Number of the entry that sends the password; None: there is none.
        gap_s: A pause that is longer ends a transaction.
        avoid: Words that no name may hold.
    """
    numbers = [each.number for each in exchanges]
    first = 0 if log_in is None else numbers.index(log_in) + 1
    before, behind = exchanges[:first], exchanges[first:]
    parts, pauses_s = _parts(behind, gap_s, before[-1].ended_s if before else None)
    log_out: list[Exchange] = []
    if parts and before:
        last = parts[-1]
        leaves = [bool(_LOG_OUT.search(each.asked.path)) for each in last]
        if any(leaves):
            log_out = last[leaves.index(True) :]
            parts[-1] = last[: leaves.index(True)]
    names = Names(_RESERVED)
    transactions = tuple(
        Transaction(names.unused(transaction_name(_first(part).asked, avoid), "-"), _steps(part))
        for part in parts
        if part
    )
    think_s = median(pauses_s) if pauses_s else None
    return Story(_steps(before, log_in), transactions, _steps(log_out), think_s)


def _first(part: Sequence[Exchange]) -> Exchange:
    """What a transaction is named after: its first page, or its first request."""
    return next((each for each in part if each.asked.is_document), part[0])


def _parts(
    exchanges: Sequence[Exchange], gap_s: float, ended_s: float | None
) -> tuple[list[list[Exchange]], list[float]]:
    """The requests between pauses, and how long the pauses lasted."""
    parts: list[list[Exchange]] = []
    pauses_s = []
    page = ""
    for each in exchanges:
        pause_s = 0.0 if ended_s is None else each.started_s - ended_s
        turned = bool(page) and each.asked.page not in ("", page)
        if pause_s > (gap_s * _OF_NEW_PAGE if turned else gap_s):
            pauses_s.append(pause_s)
            parts.append([])
        elif not parts:
            parts.append([])
        parts[-1].append(each)
        page = each.asked.page or page
        waits = each.ended_s - each.started_s < _LONG_POLL_S
        last_s = each.ended_s if waits else each.started_s
        ended_s = last_s if ended_s is None else max(ended_s, last_s)
    return parts, pauses_s


def _steps(exchanges: Sequence[Exchange], alone: int | None = None) -> tuple[Step, ...]:
    """Requests that began before any other of their step had ended are made at the same time.

    A page, and the request of number `alone`, is a step of its own: others follow from it.
    """
    steps: list[list[Exchange]] = []
    free = False
    for each in exchanges:
        by_itself = each.asked.is_document or each.number == alone
        if not free or by_itself or each.started_s >= min(own.ended_s for own in steps[-1]):
            steps.append([])
        steps[-1].append(each)
        free = not by_itself
    return tuple(tuple(each) for each in steps)
