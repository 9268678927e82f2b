"""Statements that users of a database make: what the driver's workload `statements` is told.

It is for workloads that know which statements a person's actions are. The words are those of a
scenario of `http`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from loadstone.spec.base import Level, Spec
from loadstone.workloads.http.choices import (
    OneOf,
    Picks,
    check_choices,
    check_holds,
    picks_told,
)
from loadstone.workloads.http.fields import check_names, good_name
from loadstone.workloads.http.options import Keep, Weights
from loadstone.workloads.http.scenario import LOG_IN, LOG_OUT, MOST_TRANSACTIONS
from loadstone.workloads.http.waits import NO_THINK_TIME, ThinkTime


class Rows(Spec):
    """How many rows a statement must give to count as good."""

    min: int = Field(default=0, ge=0, description="The fewest.")
    max: int | None = Field(default=None, ge=0, description="The most; default: any number.")

    @model_validator(mode="after")
    def _in_order(self) -> Rows:
        if self.max is not None and self.max < self.min:
            raise ValueError(f"rows: max ({self.max}) is less than min ({self.min})")
        return self

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {"min": self.min, "max": self.max}


class Statement(Spec):
    """One statement: `${x}` in it is a literal of that value, `${x:sql}` is its text as it is."""

    name: str = Field(description="In figures.")
    sql: str = Field(min_length=1, description="One statement, with templates.")
    rows: Rows = Rows()
    keep: Keep | None = Field(default=None, description="Keeps a sample of the answers.")

    @field_validator("name")
    @classmethod
    def _called(cls, value: str) -> str:
        good_name(value, "statement")
        return value

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {
            "statement": {
                "name": self.name,
                "sql": self.sql,
                "rows": self.rows.driver(),
                "keep": None if self.keep is None else self.keep.driver(),
            }
        }


def _kind_of(part: Any) -> str:
    chosen = "one_of" in part if isinstance(part, Mapping) else isinstance(part, OneOf)
    return "a choice" if chosen else "a statement"


Part = Annotated[
    Annotated[Statement, Tag("a statement")] | Annotated[OneOf[Statement], Tag("a choice")],
    Discriminator(_kind_of),
]
"""A statement, or one of several ways, each of statements."""


def _statements(parts: Iterable[Part]) -> Iterator[Statement]:
    for part in parts:
        if isinstance(part, OneOf):
            yield from part.all_steps
        else:
            yield part


def _apart(parts: Iterable[Part]) -> None:
    names = [each.name for each in _statements(parts)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"two statements are called {twice[0]!r}: give each its own name")


def _told(part: Part) -> dict[str, Any]:
    if isinstance(part, OneOf):
        return part.driver(lambda statement: statement.driver())
    return part.driver()


class StatementSteps(Spec):
    """The statements of a log-in, or of a log-out."""

    steps: list[Statement] = Field(min_length=1, max_length=1000)

    @field_validator("steps")
    @classmethod
    def _names(cls, value: list[Statement]) -> list[Statement]:
        _apart(value)
        if any(each.keep is not None for each in value):
            raise ValueError("keep is for transactions")
        return value

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {"steps": [_told(step) for step in self.steps]}


class StatementTransaction(Spec):
    """What a user does in one go."""

    name: str
    weight: float = Field(default=1.0, ge=0, le=1e6)
    think_time: ThinkTime | None = Field(
        default=None, description="After it; default: that of the scenario."
    )
    next: Weights | None = Field(
        default=None, description="Transaction, or `log-out`: how often it follows this one."
    )
    pick: Picks = Field(default={}, description="Values that a user draws as it begins.")
    steps: list[Part] = Field(min_length=1, max_length=1000)

    @field_validator("steps")
    @classmethod
    def _names(cls, value: list[Part]) -> list[Part]:
        _apart(value)
        return value

    @property
    def choices(self) -> list[OneOf[Statement]]:
        """Its parts that are one of several ways."""
        return [part for part in self.steps if isinstance(part, OneOf)]

    def driver(self) -> dict[str, Any]:
        """As the plan has it; its think time is in the plan's `pacing`."""
        return {
            "name": self.name,
            "weight": self.weight,
            "next": self.next,
            "pick": picks_told(self.pick),
            "steps": [_told(step) for step in self.steps],
        }


class StatementScenario(Spec):
    """What the users of a database do. Names and weights are judged by the driver."""

    people: str | None = Field(
        default=None, description="CSV file whose header names values; user n has row n modulo all."
    )
    values: dict[str, Level] = Field(default={}, description="Constants.")
    order: Literal["drawn", "in-turn"] = "drawn"
    first: Weights | None = Field(
        default=None, description="Transaction: how often it is a user's first after a log-in."
    )
    think_time: ThinkTime = Field(
        default=NO_THINK_TIME, description="After each transaction, unless it has its own."
    )
    log_in: StatementSteps | None = Field(default=None, description="What a user does first.")
    log_out: StatementSteps | None = Field(
        default=None, description="What a user does who leaves in a drain phase."
    )
    transactions: list[StatementTransaction] = Field(min_length=1, max_length=MOST_TRANSACTIONS)

    @field_validator("values")
    @classmethod
    def _names(cls, value: dict[str, Level]) -> dict[str, Level]:
        check_names(value)
        return value

    @model_validator(mode="after")
    def _together(self) -> StatementScenario:
        choices = [choice for each in self.transactions for choice in each.choices]
        check_choices(choices)
        ways = (way.pick for choice in choices for way in choice.of)
        check_holds([*(each.pick for each in self.transactions), *ways])
        if self.log_out is not None and self.log_in is None:
            raise ValueError("log_out is for users who have logged in: write log_in too")
        return self

    @property
    def operations(self) -> tuple[str, ...]:
        """Of the driver, in its order: log-ins, transactions, log-outs."""
        first = () if self.log_in is None else (LOG_IN,)
        last = () if self.log_out is None else (LOG_OUT,)
        return (*first, *(each.name for each in self.transactions), *last)

    def driver(self, people: str | None, answers: str | None = None) -> dict[str, Any]:
        """The parameters of the workload in a plan, with every default filled in.

        Args:
            people: Whole path of the file of people, if there is one.
            answers: File to which kept answers are appended; needed if any are kept.
        """
        scenario = {
            "people": None if people is None else {"path": people},
            "values": self.values,
            "order": self.order,
            "first": self.first,
            "log_in": None if self.log_in is None else self.log_in.driver(),
            "log_out": None if self.log_out is None else self.log_out.driver(),
            "transactions": [each.driver() for each in self.transactions],
        }
        return {"scenario": scenario} | ({} if answers is None else {"answers": answers})
