"""The accounts: a profit-and-loss statement, a balance sheet, statistics and ratios."""

from __future__ import annotations

from collections.abc import Iterator

from loadstone.workloads.cube.outline.model import (
    Consolidation,
    Dimension,
    DimensionBuilder,
    Member,
    RateType,
    Ratio,
    TimeBalance,
)

ACCOUNT = "Account"
SALES, DISCOUNTS, COSTS, UNITS = "GrossRevenue", "Discounts", "COGS", "Units"
SOLD = (SALES, DISCOUNTS, COSTS, UNITS)
"""Accounts of what is sold: of an entity and a product."""
_EXPENSES = 400
_POSITIONS = 350
_STATISTICS = 75
EXPENSES = tuple(f"OPX_{number:03d}" for number in range(1, _EXPENSES + 1))
POSITIONS = tuple(f"BS_{number:03d}" for number in range(1, _POSITIONS + 1))
"""Of the balance sheet."""
POOLS = tuple(f"POOL_{number:02d}" for number in range(1, 5))
"""What is spent for all, before it is allocated."""
ALLOCATED = tuple(f"ALC_{number:02d}" for number in range(1, 5))
"""What of each pool is allocated."""
_STATISTICAL = tuple(f"STAT_{number:02d}" for number in range(1, _STATISTICS + 1))
_SHEETS = (("Assets", 12), ("Liabilities", 10), ("Equity", 6), ("OffBalanceSheet", 7))
"""With the number of their groups."""
_RATIOS: tuple[tuple[str, str, str], ...] = (
    ("GrossMarginPct", "GrossMargin", "NetRevenue"),
    ("OperatingMarginPct", "OperatingIncome", "NetRevenue"),
    ("NetMarginPct", "NetIncome", "NetRevenue"),
    ("DiscountPct", DISCOUNTS, SALES),
    ("CostPct", COSTS, SALES),
    ("AverageSellingPrice", SALES, UNITS),
    ("NetPrice", "NetRevenue", UNITS),
    ("UnitCost", COSTS, UNITS),
    ("UnitMargin", "GrossMargin", UNITS),
    ("ExpensePct", "TotalExpenses", "NetRevenue"),
    ("AllocatedPct", "AllocatedCosts", "NetRevenue"),
    ("AllocatedPerUnit", "AllocatedCosts", UNITS),
    ("DebtToEquity", "Liabilities", "Equity"),
    ("DebtRatio", "Liabilities", "Assets"),
    ("EquityRatio", "Equity", "Assets"),
    ("ReturnOnAssets", "NetIncome", "Assets"),
    ("ReturnOnEquity", "NetIncome", "Equity"),
    ("AssetTurnover", "NetRevenue", "Assets"),
    ("ExpenseToAssets", "TotalExpenses", "Assets"),
    *(
        (f"ExpenseShare_{group:02d}", f"Expenses_{group:02d}", "TotalExpenses")
        for group in range(1, 11)
    ),
)


def accounts() -> Dimension:
    """1,025 members: the root, 837 stored leaves and 187 dynamic ones."""
    builder = DimensionBuilder(Member(ACCOUNT, None, rate="none"))
    _add_income(builder)
    _add_sheets(builder)
    _add_statistics(builder)
    for name, numerator, denominator in _RATIOS:
        ratio = Ratio(numerator, denominator)
        member = Member(name, 0, "dynamic", "~", formula=ratio, two_pass=True, rate="none")
        builder.add(0, member)
    return builder.finished(ACCOUNT, dense=True)


def _add_income(builder: DimensionBuilder) -> None:
    net = builder.add(0, _total("NetIncome", "~"))
    operating = builder.add(net, _total("OperatingIncome", "+"))
    margin = builder.add(operating, _total("GrossMargin", "+"))
    revenue = builder.add(margin, _total("NetRevenue", "+"))
    builder.add(revenue, _leaf(SALES, "+"))
    builder.add(revenue, _leaf(DISCOUNTS, "-"))
    builder.add(margin, _leaf(COSTS, "-"))
    expenses = builder.add(operating, _total("TotalExpenses", "-"))
    names = iter(EXPENSES)
    for group in range(1, 17):
        upper = builder.add(expenses, _total(f"Expenses_{group:02d}", "+"))
        for part in range(1, 6):
            lower = builder.add(upper, _total(f"Expenses_{group:02d}_{part}", "+"))
            builder.add_leaves(lower, [_leaf(next(names), "+") for _ in range(5)])
    allocated = builder.add(operating, _total("AllocatedCosts", "-"))
    builder.add_leaves(allocated, [_leaf(name, "+") for name in ALLOCATED])
    # What is pooled reaches the result once it is allocated, and must not count twice.
    pooled = builder.add(net, _total("PooledCosts", "~"))
    builder.add_leaves(pooled, [_leaf(name, "+") for name in POOLS])


def _add_sheets(builder: DimensionBuilder) -> None:
    names = iter(POSITIONS)
    for sheet, groups in _SHEETS:
        upper = builder.add(0, _total(sheet, "~", rate="ending", balance="last"))
        for group in range(1, groups + 1):
            total = _total(f"{sheet}_{group:02d}", "+", rate="ending", balance="last")
            lower = builder.add(upper, total)
            leaves = [_leaf(next(names), "+", "ending", "last") for _ in range(10)]
            builder.add_leaves(lower, leaves)


def _add_statistics(builder: DimensionBuilder) -> None:
    builder.add(0, _leaf(UNITS, "~", "none"))
    names = iter(_STATISTICAL)
    upper = builder.add(0, _total("Statistics", "~", rate="none"))
    for group in range(1, 16):
        lower = builder.add(upper, _total(f"Statistics_{group:02d}", "+", rate="none"))
        builder.add_leaves(lower, [_leaf(next(names), "+", "none") for _ in range(5)])


def _total(
    name: str,
    consolidation: Consolidation,
    rate: RateType = "average",
    balance: TimeBalance = "flow",
) -> Member:
    return Member(name, 0, "dynamic", consolidation, rate=rate, balance=balance)


def _leaf(
    name: str,
    consolidation: Consolidation,
    rate: RateType = "average",
    balance: TimeBalance = "flow",
) -> Member:
    return Member(name, 0, "stored", consolidation, rate=rate, balance=balance)


def linear(dimension: Dimension) -> Iterator[tuple[int, int, int]]:
    """What each dynamic total is made of: its number, that of a leaf, and the leaf's sign.

    The sign of a leaf is the product of the consolidations on its way to the total; a leaf that
    meets a `~` on it is none of the total's.
    """
    signs = {"+": 1, "-": -1, "~": 0}
    for leaf in dimension.leaves():
        sign, number = 1, leaf
        while sign and (parent := dimension.members[number].parent) is not None:
            sign *= signs[dimension.members[number].consolidation]
            number = parent
            if sign and dimension.members[parent].storage == "dynamic":
                yield parent, leaf, sign
