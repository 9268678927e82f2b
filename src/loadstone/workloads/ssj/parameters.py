"""The parameters of server-side Java, and its six transactions."""

from __future__ import annotations

import os
from typing import Any, Literal

from pydantic import Field, field_validator

from loadstone.spec.base import Spec
from loadstone.workloads.mix import Mix, check_mix

NEW_ORDER, PAYMENT, REPORT = "new-order", "payment", "customer-report"
ORDER_STATUS, DELIVERY, STOCK_LEVEL = "order-status", "delivery", "stock-level"
DECK = {NEW_ORDER: 10, PAYMENT: 10, REPORT: 10, ORDER_STATUS: 1, DELIVERY: 1, STOCK_LEVEL: 1}
"""Of 33 transactions, how many there are of each (SPECpower_ssj2008, design document of ssj)."""
OPERATIONS = tuple(DECK)
ORDERS_OF_DELIVERY = 10
"""A delivery takes so many orders away: their number is level if there is one for each ten."""
MOST_BATCH, MOST_WAREHOUSES = 100_000, 1024


def processors() -> int:
    """That a process of Loadstone's may run on."""
    return len(os.sched_getaffinity(0))


class SsjParameters(Spec):
    """Parameters of `ssj`."""

    warehouses: int = Field(
        default_factory=processors,
        ge=1,
        le=MOST_WAREHOUSES,
        description="Of all JVMs together, divided among them evenly; each has a thread that does "
        "its work. Default: one for each processor.",
    )
    batch: int = Field(
        default=100,
        ge=1,
        le=MOST_BATCH,
        description="Transactions that become due at one moment, of an open load.",
    )
    mix: Mix = Field(
        default_factory=lambda: dict(DECK),
        description="Weight by name of transaction. `new-order` has ten times that of `delivery`, "
        "so that as many orders are delivered as are made.",
    )
    bare: bool = Field(
        default=False,
        description="Closed load only: transactions are called in a plain loop, counted and not "
        "timed. It shows what the load generator costs.",
    )
    fault: Literal["none", "wrong-balance"] = Field(
        default="none",
        description="A planted fault: one payment books a cent too many. It shows that the check "
        "finds it.",
    )

    @field_validator("mix")
    @classmethod
    def _level(cls, mix: dict[str, int]) -> dict[str, int]:
        check_mix(mix, OPERATIONS, "transaction")
        whole = {name: mix.get(name, 0) for name in OPERATIONS}
        if whole[NEW_ORDER] != ORDERS_OF_DELIVERY * whole[DELIVERY]:
            raise ValueError(
                f"new-order = {whole[NEW_ORDER]} and delivery = {whole[DELIVERY]}: orders would "
                f"pile up or run out; give new-order {ORDERS_OF_DELIVERY} times the weight of "
                "delivery"
            )
        return whole

    def program(self) -> dict[str, Any]:
        """The parameters as a plan has them."""
        told: dict[str, Any] = {"batch": self.batch, "mix": self.mix}
        if self.bare:
            told["bare"] = True
        if self.fault != "none":
            told["fault"] = self.fault
        return told
