"""Whether the data of the companies add up after a run.

Each JVM tells two kinds of facts: what its workers booked while they worked, and what the data say
at the end, all of them looked at. Both are held against each other for each company by itself, and
what was counted by the load against both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.measured import Measured
from loadstone.workloads.ssj.parameters import NEW_ORDER, PAYMENT

COMPANY = "company"
"""Name of the event by which a JVM tells the facts of its company alone."""
LEVEL_SHARE = 0.05
"""By so much the live set may differ from the one before."""
SMALL_BYTES = 8 * 2**20
"""A heap that moves by less has not grown: histograms and compiled code take as much."""
WALKED = "orders_live"
"""There if the data were looked at."""

Facts = Mapping[str, float]
Side = tuple[str, tuple[str, ...], tuple[str, ...]]

ORDERS = CheckSpec(
    "orders balance",
    "every live order is looked at: those at the begin and those made, without those delivered, "
    "are there, wait for their delivery once each, have the numbers that districts gave, and are "
    "worth what was booked to the cent",
)
PAYMENTS = CheckSpec(
    "payments balance",
    "every warehouse, district and customer is looked at: each kind has taken in what the workers "
    "booked, to the cent, in as many payments",
)
BALANCES = CheckSpec(
    "customers' balances",
    "every customer is looked at: the sum of all balances has moved by what was delivered less "
    "what was paid, to the cent",
)
STOCK = CheckSpec(
    "stock balances",
    "every stock is looked at: what is there is what was there and came, without what was ordered; "
    "each stock says it sold as much",
)
COUNTED = CheckSpec(
    "transactions are in the data",
    "new orders and payments that the load counted, of all its phases, are as many as the "
    "companies booked meanwhile",
)
LIVE = CheckSpec(
    "the live set is level",
    "the objects of the company at the end are as many as at its begin within 5 %; and so "
    "is the heap in use after a full collection, before the load and after it, if it moved by more "
    "than 8 MiB",
)
CHECKS = (ORDERS, PAYMENTS, BALANCES, STOCK, COUNTED, LIVE)

_ORDERS: Sequence[Side] = (
    ("live orders", ("orders_begin", "orders_made", "-orders_delivered"), (WALKED,)),
    ("orders that wait", (WALKED,), ("orders_waiting",)),
    ("numbers of orders", ("orders_made",), ("order_numbers",)),
    (
        "value of live orders in cents",
        ("orders_begin_cents", "ordered_cents", "-delivered_cents"),
        ("orders_live_cents",),
    ),
)
_PAYMENTS: Sequence[Side] = (
    ("cents of warehouses", ("paid_cents",), ("warehouse_paid_cents",)),
    ("cents of districts", ("paid_cents",), ("district_paid_cents",)),
    ("cents of customers", ("paid_cents",), ("customer_paid_cents",)),
    ("payments", ("payments_made",), ("customer_payments",)),
)
_BALANCES: Sequence[Side] = (
    (
        "balances in cents",
        ("balance_begin_cents", "delivered_cents", "-paid_cents"),
        ("balance_cents",),
    ),
)
_STOCK: Sequence[Side] = (
    (
        "units in stock",
        ("stock_begin_units", "restocked_units", "-ordered_units"),
        ("stock_units",),
    ),
    ("units sold", ("ordered_units",), ("stock_sold_units",)),
)
_BALANCED = ((ORDERS, _ORDERS), (PAYMENTS, _PAYMENTS), (BALANCES, _BALANCES), (STOCK, _STOCK))


def check_companies(measured: Measured) -> list[CheckResult]:
    """Every check, over the companies of all JVMs.

    Args:
        measured: Its events have the facts of each company, its facts their sums.
    """
    companies = companies_of(measured)
    if not all(WALKED in facts for facts in companies):
        why = "the data were not looked at: transactions were still running when the load ended"
        return [spec.of(passed=False, detail=why) for spec in CHECKS]
    return [
        *(_balanced(spec, sides, companies) for spec, sides in _BALANCED),
        _counted(measured),
        _level(companies),
    ]


def companies_of(measured: Measured) -> list[Facts]:
    """The facts of each company, by the events that tell them; all together if none does."""
    told = [
        {name: fact for name, fact in event.data.items() if not isinstance(fact, str)}
        for event in measured.events
        if event.name == COMPANY
    ]
    return [*told] or [measured.facts]


# -- inside ------------------------------------------------------------------------------------
def _balanced(spec: CheckSpec, sides: Sequence[Side], companies: Sequence[Facts]) -> CheckResult:
    """Holds sums of booked facts against what was found."""
    wrong, held = [], []
    for what, booked, found in sides:
        for number, facts in enumerate(companies, start=1):
            left, right = _sum(facts, booked), _sum(facts, found)
            of = f" of company {number}" if len(companies) > 1 else ""
            if left is None or right is None:
                wrong.append(f"{what}{of}: not told")
            elif left != right:
                wrong.append(f"{what}{of}: {left:,.0f} booked, {right:,.0f} found")
        total = sum(_sum(facts, found) or 0.0 for facts in companies)
        held.append(f"{what} {total:,.0f}")
    return spec.of(passed=not wrong, detail="; ".join(wrong or held))


def _sum(facts: Facts, names: Sequence[str]) -> float | None:
    """The sum of facts, those with a minus taken off; None if one was not told."""
    total = 0.0
    for name in names:
        value = facts.get(name.removeprefix("-"))
        if value is None:
            return None
        total += -value if name.startswith("-") else value
    return total


def _counted(measured: Measured) -> CheckResult:
    facts, counts = measured.facts, measured.total_operations
    booked = {
        NEW_ORDER: _sum(facts, ("orders_made",)),
        PAYMENT: _sum(facts, ("payments_made",)),
    }
    wrong = [
        f"{name}: {counts.get(name, 0):,} counted, "
        f"{'none told' if made is None else f'{made:,.0f} booked'}"
        for name, made in booked.items()
        if made != counts.get(name, 0)
    ]
    held = [f"{name} {counts.get(name, 0):,}" for name in booked]
    return COUNTED.of(passed=not wrong, detail="; ".join(wrong or held))


def _level(companies: Sequence[Facts]) -> CheckResult:
    """Objects, by number; the heap, by what a full collection leaves."""
    wrong, held = [], []
    for number, facts in enumerate(companies, start=1):
        of = f" of company {number}" if len(companies) > 1 else ""
        before, after = facts.get("records_begin"), facts.get("records_live")
        if before is None or after is None:
            wrong.append(f"objects{of}: not told")
        elif not _near(before, after):
            wrong.append(f"objects{of}: {before:,.0f} at the begin, {after:,.0f} at the end")
        else:
            held.append(f"objects{of} {before:,.0f} to {after:,.0f}")
        first, last = facts.get("live_begin_bytes"), facts.get("live_end_bytes")
        if first is None or last is None:
            held.append(f"heap{of} not told (no full collection)")
        elif not _near(first, last) and abs(last - first) > SMALL_BYTES:
            wrong.append(f"heap{of}: {_mib(first)} before the load, {_mib(last)} after it")
        else:
            held.append(f"heap{of} {_mib(first)} to {_mib(last)}")
    return LIVE.of(passed=not wrong, detail="; ".join(wrong or held))


def _near(before: float, after: float) -> bool:
    return abs(after - before) <= LEVEL_SHARE * before


def _mib(size: float) -> str:
    return f"{size / 2**20:.1f} MiB"
