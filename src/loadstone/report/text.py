"""Figures as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10

from loadstone.report.model.comparisons import ComparisonReport
from loadstone.results.record import StepTime
from loadstone.spec.base import Level
from loadstone.spec.model import Price

_LOAD, _GENERATED = "load_time_s", "generate_s"


def number(value: float) -> str:
    """A figure with three digits at least: `12,345`, `87.2`, `0.0041`."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if 0 < size < 1e-4:
        return f"{value:.{1 - floor(log10(size))}f}"
    return f"{value:.3g}"


def percent(value: float) -> str:
    """A signed change: `+12 %`, `-0.8 %`, `+0.03 %`."""
    size = abs(value)
    decimals = 0 if size >= 9.95 else 1 if size >= 0.095 else 2
    return f"{value:+.{decimals}f} %"


def interval(low: float | None, high: float | None) -> str:
    """An interval of a figure, empty where there is none: `4,980 to 5,120`."""
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"


def percent_interval(low: float | None, high: float | None) -> str:
    """An interval of a ratio, as changes: `+14 to +25 %`."""
    if low is None or high is None:
        return ""
    return f"{percent(100 * (low - 1)).removesuffix(' %')} to {percent(100 * (high - 1))}"


def ratio(value: float, low: float | None = None, high: float | None = None) -> str:
    """A ratio, with digits as far as its interval has any meaning: `1.25`, `1.0042`."""
    return f"{value:.{_decimals(low, high)}f}"


def ratio_interval(low: float | None, high: float | None) -> str:
    """An interval of a ratio: `1.14 to 1.25`, `1.0031 to 1.0053`."""
    if low is None or high is None:
        return ""
    return f"{ratio(low, low, high)} to {ratio(high, low, high)}"


def _decimals(low: float | None, high: float | None) -> int:
    width = 1.0 if low is None or high is None else high - low
    return 2 if width > 0.05 else 3 if width > 0.005 else 4


def detectable(percent: float, span: tuple[float, float] | None) -> str:
    """What a comparison could have found, and where that lies: `5.2 % (3.4 to 12)`."""
    likely = f" ({_two_digits(span[0])} to {_two_digits(span[1])})" if span else ""
    return f"{_two_digits(percent)} %{likely}"


def _two_digits(value: float) -> str:
    return f"{value:.2g}" if value < 99.5 else f"{value:,.0f}"


def verdict(of: ComparisonReport) -> str:
    """The answer in words: `no change larger than 3 %`, `better, by 3 % at most`."""
    if of.margin_percent is None or not of.within_margin:
        return of.verdict
    margin = f"{of.margin_percent:g} %"
    if of.verdict == "equivalent":
        return f"no change larger than {margin}"
    return f"{of.verdict}, by {margin} at most"


def p_value(value: float | None) -> str:
    """A p-value: `p 0.013`, `p < 0.001`."""
    if value is None:
        return ""
    return "p < 0.001" if value < 0.001 else f"p {value:.2g}"


def loading(data: Mapping[str, float]) -> str:
    """What the load of a trial's data took, with its parts; empty if nothing is known of it.

    Args:
        data: Facts of the data (`TrialResult.data`): `load_time_s`, its parts, and `generate_s`.
    """
    total_s = data.get(_LOAD)
    if total_s is None:
        return ""
    parts = ", ".join(
        f"{name.removesuffix('_s').removesuffix('_time').replace('_', ' ')} {number(value)}"
        for name, value in data.items()
        if name.endswith("_s") and name not in {_LOAD, _GENERATED}
    )
    made_s = data.get(_GENERATED)
    before = "" if made_s is None else f", after {number(made_s)} s in which they were made"
    return f"The data were loaded in {number(total_s)} s{f' ({parts})' if parts else ''}{before}."


def around(took: Sequence[StepTime]) -> str:
    """What a trial took beside its load, with its steps; empty if nothing is known of it."""
    steps = [step for step in took if step.name != "load"]
    if not steps:
        return ""
    total_s = sum(step.seconds for step in steps)
    return f"Beside its load the trial took {number(total_s)} s ({steps_said(steps)})."


def steps_said(steps: Sequence[StepTime]) -> str:
    """Steps with their times: `restore 4.1 s, fingerprint 3.4 s`."""
    return ", ".join(f"{step.name} {number(step.seconds)} s" for step in steps)


def price(of: Price) -> str:
    """What a system costs: `5,100 USD (server: 4,200; disks: 900), three years`."""
    items = "; ".join(f"{name}: {_money(amount)}" for name, amount in (of.items or {}).items())
    total = f"{_money(of.total)} {of.currency}"
    return "".join([total, f" ({items})" if items else "", f", {of.covers}" if of.covers else ""])


def _money(amount: float) -> str:
    return f"{amount:,.2f}".removesuffix(".00")


def milliseconds(seconds: float) -> str:
    """Seconds in milliseconds, without the unit."""
    return number(seconds * 1000)


def shortened(text: str, most: int = 60) -> str:
    """A text that may be cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def level(value: Level | None) -> str:
    """A level of a factor; None is the system's default."""
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
