"""Fills the caches of Superset, as people would who opened every dashboard once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from loadstone.spec.dashboards import Content
from loadstone.targets.superset import queries
from loadstone.targets.superset.provision import Provisioned, filter_id
from loadstone.targets.superset.rest import Rest

AT_A_TIME = 4


@dataclass(frozen=True)
class Visits:
    """Who comes, and what each asks for."""

    accounts: tuple[str, ...] = ()
    """One of each region that accounts have, and one that sees all rows."""
    bodies: tuple[Mapping[str, Any], ...] = ()
    """Of each chart, and of what each filter offers."""

    @classmethod
    def of(cls, content: Content, numbers: Provisioned) -> Visits:
        """To all dashboards of a content."""
        of_regions = {each.region: each.name for each in reversed(content.accounts)}
        bodies = []
        for one in content.dashboards:
            bodies += [queries.of_chart(each, numbers.at(one, each)) for each in one.charts]
            bodies.append(queries.of_choices(one, filter_id(one), numbers.at(one)))
        return cls(tuple(of_regions.values()), tuple(bodies))

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Visits:
        """As `told` gave them."""
        return cls(tuple(told["accounts"]), tuple(told["bodies"]))

    def told(self) -> dict[str, Any]:
        """As JSON has them."""
        return asdict(self)


NO_VISITS = Visits()


def warm(log_in: Callable[[str], Rest], visits: Visits, *, at_a_time: int = AT_A_TIME) -> int:
    """Asks for each chart of each dashboard, once for each region and once for all rows.

    Args:
        log_in: A session of an account, by the name that the content has for it.
        visits: Who asks for what.
        at_a_time: So many of them.

    Returns:
        The number of answers.

    Raises:
        TargetError: If one is refused.
    """

    def come(account: str) -> int:
        with log_in(account) as rest:
            for body in visits.bodies:
                rest.post("/api/v1/chart/data", body)
        return len(visits.bodies)

    with ThreadPoolExecutor(at_a_time) as pool:
        return sum(pool.map(come, visits.accounts))
