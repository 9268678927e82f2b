"""What an answer must be to count as good, and what is kept of it.

Whether regular expressions and JSON paths can be read is judged by the load driver alone, which
compiles them (`loadstone-driver check`).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from loadstone.spec.base import Spec
from loadstone.workloads.http.fields import Statuses, Texts, Words, as_written, check_json


class Extract(Spec):
    """How a value is taken from an answer: from one place."""

    model_config = ConfigDict(populate_by_name=False)

    form: str | None = Field(
        default=None, description="Name of a form field (`<input name=..>`) or a `<meta name=..>`."
    )
    json_: str | None = Field(default=None, alias="json", description="JSON path: `$.items[*].id`.")
    header: str | None = Field(default=None, description="Name of a header.")
    cookie: str | None = Field(default=None, description="Name of a cookie.")
    regex: str | None = Field(
        default=None, description="Regular expression: its group 1, or the whole match."
    )
    pick: Literal["first", "last", "random", "all"] = Field(
        default="first", description="Which of several values."
    )
    default: Any = Field(
        default=None,
        description="The value if there is none; without it the request fails (`no_value`).",
    )

    @property
    def places(self) -> dict[str, str]:
        """The places that are named: what is looked for in each."""
        named = {
            "form": self.form,
            "json": self.json_,
            "header": self.header,
            "cookie": self.cookie,
            "regex": self.regex,
        }
        return {place: what for place, what in named.items() if what is not None}

    @model_validator(mode="after")
    def _one_place(self) -> Extract:
        if len(self.places) != 1:
            given = " and ".join(self.places) or "none"
            raise ValueError(f"needs one of form, json, header, cookie, regex; given {given}")
        if not next(iter(self.places.values())):
            raise ValueError("is empty: say what is taken from the answer")
        check_json(self.default, "default")
        return self

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        ((place, what),) = self.places.items()
        return {
            "from": place,
            "what": what,
            "pick": self.pick,
            "default": self.default,
            "has_default": "default" in self.model_fields_set,
        }


class Expect(Spec):
    """What an answer must be to count as good."""

    model_config = ConfigDict(populate_by_name=False)

    status: Statuses = Field(default=[], description="Any of these; default: any 2xx or 3xx.")
    text: Words = Field(default=[], description="All of these are in the body.")
    no_text: Words = Field(default=[], description="None of these is in the body.")
    json_: dict[str, Any] = Field(
        default={}, alias="json", description="JSON path: the value that is there."
    )
    header: Texts = Field(default={}, description="Header: what its value contains.")

    @field_validator("json_")
    @classmethod
    def _of_json(cls, value: dict[str, Any]) -> dict[str, Any]:
        check_json(value)
        for each in value.values():
            as_written(each)
        return value

    @field_validator("text")
    @classmethod
    def _texts(cls, value: list[str]) -> list[str]:
        for each in value:
            as_written(each)
        return value

    @field_validator("header")
    @classmethod
    def _headers(cls, value: dict[str, str]) -> dict[str, str]:
        for each in value.values():
            as_written(each)
        return value

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {
            "status": self.status or None,
            "text": self.text,
            "no_text": self.no_text,
            "json": self.json_,
            "header": self.header,
        }
