"""The experiment's meter: the one whose watts all figures per watt are by. Pure.

It is the one that says `main`, else the one of the widest scope: wall before platform before
package with DRAM, and a meter before an estimate. Figures of two scopes are never added, but for
DRAM, which stands beside the package and is added to that of the same meter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from loadstone.errors import WrongInputError
from loadstone.meters.base import AnyMeter, Channel
from loadstone.spec.meters import MeterBase, Scope

_WIDEST: tuple[Scope, ...] = ("wall", "platform", "package")
"""Scopes that tell of a whole system, in the order in which they are taken."""
_ALL: tuple[Scope, ...] = (*_WIDEST, "gpu", "board", "dram")
_ADDED = frozenset[Scope]({"package", "dram"})
"""Scopes that together are one figure: the processors with their memory."""


@dataclass(frozen=True)
class Offer:
    """What an open meter has, as far as the choice goes."""

    spec: MeterBase
    channels: tuple[Channel, ...]
    machine_wide: frozenset[Scope] = frozenset()
    lacks: dict[Scope, str] = field(default_factory=dict)
    """Scope: why its channels are not all that the machine has of it."""

    @property
    def name(self) -> str:
        """Of the meter."""
        return self.spec.name

    @property
    def estimated(self) -> bool:
        """Whether it is a model: it is the experiment's only where nothing measures."""
        return any(each.estimated for each in self.channels)


@dataclass(frozen=True)
class Main:
    """The experiment's meter, and which of its channels make its figure together."""

    meter: str
    scope: Scope
    parts: tuple[str, ...]
    lacking: str = ""
    """Why the figure would be of a part of the system only: then it has no watts."""


def offer_of(meter: AnyMeter) -> Offer:
    """What an open meter offers.

    Raises:
        WrongInputError: If the experiment names channels or a sum that it has not got.
    """
    channels = tuple(meter.channels())
    scopes = {each.scope for each in channels}
    lacks = {scope: why for scope in scopes if (why := meter.lacks(scope))}
    offer = Offer(meter.spec, channels, meter.machine_wide, lacks)
    _examine(offer)
    return offer


def main_meter(offers: Sequence[Offer]) -> Main | None:
    """The experiment's meter, before anything is read.

    Args:
        offers: Of all meters.

    Returns:
        None if no meter is of a whole system, and none says `main`.

    Raises:
        WrongInputError: If it cannot be told which it is.
    """
    named = [each for each in offers if each.spec.main]
    if named:
        return _main_of(named[0], _ALL)
    for scope, estimated in ((scope, kind) for kind in (False, True) for scope in _WIDEST):
        having = [
            each for each in offers if _candidates(each, scope) and each.estimated == estimated
        ]
        if len(having) > 1:
            names = ", ".join(each.name for each in having)
            raise WrongInputError(
                f"several meters are of the scope {scope}: {names}",
                advice="say main: true at the one that figures per watt are to be by",
            )
        if having:
            return _main_of(having[0], _WIDEST)
    return None


def main_after(
    chosen: Main, offer: Offer, still: Collection[str], doubled: Collection[str]
) -> Main:
    """The experiment's meter once its readings have shown which of its channels are no meters.

    A platform counter that never moves leaves the figure to the package of the same meter, and
    memory that does not count is left out. A package that does not count is not: the figure would
    be of a part of the system.

    Args:
        chosen: As `main_meter` chose it.
        offer: Of that meter.
        still: Its channels that never moved.
        doubled: Its channels that showed the same counter as another one.
    """
    if chosen.scope == "platform" and not offer.spec.sum and set(chosen.parts) & set(still):
        moving = tuple(each for each in offer.channels if each.name not in still)
        again = _main_of(replace(offer, channels=moving), _WIDEST)
        if again is not None:
            return main_after(again, offer, still, doubled)
    scopes = {each.name: each.scope for each in offer.channels}
    lost = [part for part in chosen.parts if part in still and scopes[part] == chosen.scope]
    if lost:
        return replace(chosen, lacking=f"{lost[0]} does not move: no meter")
    left_out = {*still, *doubled}
    return replace(chosen, parts=tuple(part for part in chosen.parts if part not in left_out))


def _main_of(offer: Offer, order: Sequence[Scope]) -> Main | None:
    """What the figure of this meter is, of the first scope that it has anything of."""
    if offer.spec.sum:
        scope = next(s for s in _ALL if s in {each.scope for each in _summed(offer)})
        return Main(offer.name, scope, tuple(offer.spec.sum))
    for scope in order:
        found = _candidates(offer, scope)
        if len(found) > 1 and scope not in offer.machine_wide:
            names = ", ".join(found)
            raise WrongInputError(
                f"the meter {offer.name} has several channels of the scope {scope}: {names}",
                advice="name one of them with channels, or those that are parts of one thing with "
                "sum",
            )
        if found:
            beside = _candidates(offer, "dram") if scope == "package" else []
            lacking = "" if offer.spec.channels else offer.lacks.get(scope, "")
            return Main(offer.name, scope, (*found, *beside), lacking)
    return None


def _candidates(offer: Offer, scope: Scope) -> list[str]:
    """Channels of a scope that are no part of another one of it, each counter once."""
    own = [each for each in offer.channels if each.scope == scope]
    names = {each.name for each in own}
    return [each.name for each in own if names.isdisjoint((each.same_as, each.parts_of))]


def _summed(offer: Offer) -> list[Channel]:
    known = {each.name: each for each in offer.channels}
    return [known[name] for name in offer.spec.sum]


def _examine(offer: Offer) -> None:
    """Refuses channels that are not there, and a sum of what must not be added.

    Raises:
        WrongInputError: With the first thing that is wrong.
    """
    known = {each.name: each for each in offer.channels}
    for name in (*offer.spec.channels, *offer.spec.sum):
        if name not in known:
            raise WrongInputError(
                f"the meter {offer.name} has no channel {name!r}",
                advice=f"it has {', '.join(known)}",
            )
    parts = _summed(offer) if offer.spec.sum else []
    scopes = {each.scope for each in parts}
    if len(scopes) > 1 and not scopes <= _ADDED:
        raise WrongInputError(
            f"the meter {offer.name} has a sum over several scopes: {', '.join(sorted(scopes))}",
            advice="only parts of one scope are added: sockets, power supplies",
        )
    for each in parts:
        other = each.parts_of or each.same_as
        if other in offer.spec.sum:
            how = "is a part of" if each.parts_of else "is the same counter as"
            raise WrongInputError(
                f"the meter {offer.name} has a sum with {each.name}, which {how} {other}",
                advice="add each part once",
            )
