"""What a user draws as a transaction begins: values, and which of several ways it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, Field, model_validator

from loadstone.spec.base import Spec
from loadstone.workloads.http.fields import check_json, check_names, good_name

Step = TypeVar("Step")
"""A request, a statement, a wait."""


class Pick(Spec):
    """A value that is drawn as the transaction begins."""

    of: list[Any] = Field(min_length=1, max_length=100_000, description="One of these values.")
    hold: bool = Field(
        default=False, description="It stays for later transactions, until it is drawn again."
    )

    @model_validator(mode="after")
    def _of_json(self) -> Pick:
        check_json(self.of, "of")
        return self

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {"of": self.of, "hold": self.hold}


def _named(value: dict[str, Pick]) -> dict[str, Pick]:
    check_names(value)
    return value


Picks = Annotated[dict[str, Pick], AfterValidator(_named)]
"""Name: the value that a user draws."""


class Alternative(Spec, Generic[Step]):
    """One of several ways."""

    pick: Picks = Field(default={}, description="Values that are drawn if it is taken.")
    steps: list[Step] = Field(max_length=1000, description="What is done then.")

    @model_validator(mode="before")
    @classmethod
    def _just_steps(cls, value: Any) -> Any:
        return {"steps": value} if isinstance(value, list) else value


class OneOf(Spec, Generic[Step]):
    """Several ways, of which each user takes one."""

    one_of: str = Field(description="Name of the choice; those of one name are made together.")
    draw: bool = Field(
        default=False, description="It is drawn here; else it is what the user drew last."
    )
    of: list[Alternative[Step]] = Field(min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _called(self) -> OneOf[Step]:
        good_name(self.one_of, "choice")
        return self

    @property
    def all_steps(self) -> Iterator[Step]:
        """Of all ways."""
        for way in self.of:
            yield from way.steps

    def driver(self, told: Callable[[Step], dict[str, Any]]) -> dict[str, Any]:
        """As the plan has it.

        Args:
            told: How a step is told.
        """
        ways = [
            {"pick": picks_told(way.pick), "steps": [told(step) for step in way.steps]}
            for way in self.of
        ]
        return {"one_of": {"name": self.one_of, "draw": self.draw, "of": ways}}


def picks_told(picks: Picks) -> dict[str, Any]:
    """As the plan has them."""
    return {name: pick.driver() for name, pick in picks.items()}


def check_choices(choices: Iterable[OneOf[Any]]) -> None:
    """Refuses choices of one name that do not have as many ways.

    Raises:
        ValueError: With the name.
    """
    known: dict[str, int] = {}
    for choice in choices:
        count = known.setdefault(choice.one_of, len(choice.of))
        if count != len(choice.of):
            raise ValueError(
                f"one_of: {choice.one_of} has {len(choice.of)} alternatives in one place and "
                f"{count} in another: give both as many"
            )


def check_holds(picks: Iterable[Picks]) -> None:
    """Refuses a value that stays in one place and not in another.

    Raises:
        ValueError: With its name.
    """
    known: dict[str, bool] = {}
    for each in picks:
        for name, pick in each.items():
            if known.setdefault(name, pick.hold) != pick.hold:
                raise ValueError(f"pick: {name} is held in one place and not in another")
