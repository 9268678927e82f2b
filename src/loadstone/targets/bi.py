"""A BI server: dashboards over a star schema, for people with accounts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from loadstone.results.answers import KeptAnswer
from loadstone.spec.dashboards import Content, Value
from loadstone.targets.base import Target
from loadstone.targets.database import Database

FIRST_VISIT = "first-visit"
"""Among the steps of `Actions`: what a browser asks for that has never been there."""


@dataclass(frozen=True)
class Actions:
    """What each action of a person is on a BI server."""

    form: Literal["requests", "statements"]
    """Of the steps: requests as a scenario of `http` has them, or statements of its database."""
    steps: Mapping[str, Sequence[Mapping[str, Any]]]
    """Action: its steps. The keys are `log-in`, `log-out`, `first-visit` and those of
    `dashboards.ACTIONS`; but for the log-in, what is missing the server does not have. A request or
    statement that asks for a chart has the chart's name in its own, as `products/product-lines`."""
    pick: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Action: the values that are drawn when it begins, as a transaction's `pick` has them."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the scenario: `headers`, `classes`, `retry` as the front end tries again,
    `log_in_again`, `values`."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Name of a value in steps: the variable of the generator's environment in which `connection`
    hands it over."""


@dataclass(frozen=True)
class Shown:
    """What a person saw of a chart."""

    chart: str
    """Its name."""
    where: Mapping[str, Value]
    """Column: the value that the person chose."""
    rows: Sequence[Mapping[str, Any]]
    """As they were answered: by name, all of the chart's groups and measures."""
    cached: bool | None = None
    """The answer came from the server's cache; None: it does not tell."""


class BiServer(Target, ABC):
    """A system under test that serves dashboards.

    After `empty` the workload loads the star into `warehouse` and calls `provision`; `snapshot` and
    `restore` keep and put back both, the warehouse and what the server knows of the content.
    `settle` leaves the server's caches of answers empty (`cold`), or filled (`warm`) with each
    chart of each dashboard as it opens, once for each region and once for all rows.
    """

    @abstractmethod
    def warehouse(self) -> Database:
        """Where the star lies: the workload loads it, and holds answers against it."""

    @abstractmethod
    def provision(self, content: Content) -> dict[str, float]:
        """Makes dataset, charts, dashboards, roles and accounts over the star that is loaded.

        All accounts have one password, made at random; it is kept where only Loadstone's user can
        read it, and is never part of a result.

        Returns:
            Facts: `provision_s`, `accounts`.

        Raises:
            TargetError: If the server refuses any of it.
        """

    @abstractmethod
    def accounts_file(self, content: Content) -> Path:
        """CSV of the accounts of the content, in its order, without a password.

        Its columns are `username`, `region`, and further values that the steps of `actions` use.
        """

    @abstractmethod
    def actions(self, content: Content) -> Actions:
        """What people's actions are on this server, which is running and provisioned."""

    @abstractmethod
    def shown(self, content: Content, kept: KeptAnswer) -> Shown | None:
        """What an answer that the load has kept showed of a chart.

        Args:
            content: That was provisioned.
            kept: Of a request or statement of `actions`.

        Returns:
            None if it is no answer of a chart.

        Raises:
            TargetError: If an answer of a chart cannot be read as one.
        """
