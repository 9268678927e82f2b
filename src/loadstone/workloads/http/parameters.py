"""The parameters of `http`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, field_validator

from loadstone.errors import WrongInputError
from loadstone.spec.base import Spec
from loadstone.units import Percent
from loadstone.workloads.http.reading import fields_of, is_text, kept_scenario
from loadstone.workloads.http.scenario import Scenario


def _first_page() -> Any:
    """A scenario that every application has: its users ask for its base."""
    return {"transactions": [{"name": "page", "steps": [{"get": "/"}]}]}


def _form_of(value: Any) -> str:
    return "a path" if isinstance(value, str) else "a scenario"


class WebParameters(Spec):
    """Parameters of `http`: the scenario has all the rest."""

    scenario: Annotated[
        Annotated[str, Tag("a path")] | Annotated[Scenario, Tag("a scenario")],
        Discriminator(_form_of),
    ] = Field(
        default_factory=_first_page,
        validate_default=True,
        description="File of the scenario, which says what users do, beside that of the "
        "experiment; or the scenario itself.",
    )
    errors_allowed: Percent = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Percent of all transactions and log-ins whose answers may be wrong.",
    )

    @field_validator("scenario", mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        """The text that is kept with an experiment is a scenario again."""
        if not isinstance(value, str) or not is_text(value):
            return value
        kept = kept_scenario(value)
        if kept is not None:
            return kept
        try:
            data, _ = fields_of(value, "scenario")  # what is wrong with it is said field by field
        except WrongInputError as error:
            raise ValueError(error.message) from None
        return data
