"""The parameters of order entry, its five transactions and the waits of its terminals."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from loadstone.limits import MOST_WAREHOUSES
from loadstone.spec.base import Spec
from loadstone.workloads.mix import Mix, check_mix

NEW_ORDER, PAYMENT, ORDER_STATUS = "new-order", "payment", "order-status"
DELIVERY, STOCK_LEVEL = "delivery", "stock-level"


@dataclass(frozen=True)
class TerminalWait:
    """What a user at a terminal spends on one transaction besides waiting for its answer."""

    keying_s: float
    mean_think_s: float


WAITS = {
    NEW_ORDER: TerminalWait(18.0, 12.0),
    PAYMENT: TerminalWait(3.0, 12.0),
    ORDER_STATUS: TerminalWait(2.0, 10.0),
    DELIVERY: TerminalWait(2.0, 5.0),
    STOCK_LEVEL: TerminalWait(2.0, 5.0),
}
"""Keying times and mean think times by transaction (clause 5.2.5.7)."""

OPERATIONS = tuple(WAITS)

DECK = {NEW_ORDER: 10, PAYMENT: 10, ORDER_STATUS: 1, DELIVERY: 1, STOCK_LEVEL: 1}
"""The deck of 23 cards of clause 5.2.4.2."""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class OrderEntryParameters(Spec):
    """Parameters of `oltp`."""

    warehouses: int = Field(
        default=10, ge=1, le=MOST_WAREHOUSES, description="Scale; about 100 MB of data each."
    )
    style: Literal["statements", "procedures"] = Field(
        default="statements",
        description="`statements`: the client sends prepared statements. "
        "`procedures`: one call of a stored procedure per transaction.",
    )
    mix: Mix = Field(
        default_factory=lambda: dict(DECK),
        description="Weight by name of transaction, as cards in the deck that each user shuffles "
        "and deals; one that is not named is not run. Short: `new-order=45,payment=43`.",
    )
    home: Literal["per-user", "any"] = Field(
        default="per-user",
        description="`per-user`: a user belongs to one warehouse. `any`: drawn each time.",
    )
    isolation: Literal["read committed", "repeatable read", "serializable"] = Field(
        default="read committed", description="Isolation level of every transaction."
    )
    load_sessions: int = Field(
        default_factory=_cores, ge=1, le=1000, description="Sessions that load at once."
    )

    @field_validator("mix")
    @classmethod
    def _complete(cls, mix: dict[str, int]) -> dict[str, int]:
        check_mix(mix, OPERATIONS, "transaction")
        return {name: mix.get(name, 0) for name in OPERATIONS}

    def shares(self) -> dict[str, float]:
        """Each transaction's share of all, 0 to 1."""
        total = sum(self.mix.values())
        return {name: weight / total for name, weight in self.mix.items()}

    def driver(self) -> dict[str, Any]:
        """The parameters as the driver's plan has them."""
        return self.model_dump(include={"warehouses", "style", "mix", "home", "isolation"})

    def most_new_orders_per_min(self, users: int) -> float:
        """The rate that terminals with the specified waits reach when answers take no time.

        A terminal's cycle is keying, answer and think time (clause 5.2.5); with the deck's mix ten
        terminals make 12.6 new-orders a minute, with the least shares of clause 5.2.3 12.86.

        Args:
            users: Terminals.
        """
        shares = self.shares()
        cycle_s = sum(
            share * (WAITS[name].keying_s + WAITS[name].mean_think_s)
            for name, share in shares.items()
        )
        return users * shares[NEW_ORDER] * 60 / cycle_s
