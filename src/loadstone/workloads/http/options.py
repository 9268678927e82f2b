"""What a scenario says besides steps: tries, classes of errors, marks, kept answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from loadstone.spec.base import Spec
from loadstone.workloads.http.answers import Expect
from loadstone.workloads.http.classes import check_name, is_overload
from loadstone.workloads.http.fields import Statuses, Texts, Words, as_written, check_json

_LONGEST_S = 3600.0
Weights = dict[str, Annotated[float, Field(ge=0, le=1e6)]]
"""Transaction: how often it is drawn, against the others."""


class Retry(Spec):
    """How a request that failed is tried again, as the front end of an application does it."""

    status: Statuses = Field(
        default=[502, 503, 504], description="Of answers that are tried again, if they are no good."
    )
    classes: list[str] = Field(default=[], description="Further classes of errors, as `reset`.")
    times: int = Field(default=3, ge=0, le=100, description="Tries beyond the first.")
    wait_s: float = Field(
        default=1.0, ge=0, le=_LONGEST_S, description="Seconds before the second try."
    )
    factor: float = Field(
        default=2.0, ge=1, le=100, description="By which each wait is longer than the last."
    )
    longest_s: float = Field(default=10.0, ge=0, le=_LONGEST_S, description="The longest wait.")
    jitter: bool = Field(
        default=True, description="Each wait is longer by up to `wait_s`, which is drawn."
    )

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return self.model_dump()


class ErrorClass(Spec):
    """A class of errors by what was answered: all that is given must hold."""

    model_config = ConfigDict(populate_by_name=False)

    name: str = Field(description="In figures, as `session_expired`.")
    status: Statuses = Field(default=[], description="Any of these; default: any at all.")
    text: Words = Field(default=[], description="All of these are in the body.")
    header: Texts = Field(default={}, description="Header: what its value contains.")
    json_: dict[str, Any] = Field(
        default={}, alias="json", description="JSON path: the value that is there."
    )
    location: str | None = Field(
        default=None,
        min_length=1,
        description="A redirect led to an address that begins so, as `/login`.",
    )
    operations: list[str] = Field(
        default=[], description="Transactions, `log-in` or `log-out`, in which it is; default: all."
    )

    @field_validator("name")
    @classmethod
    def _free(cls, value: str) -> str:
        check_name(value)
        return value

    @model_validator(mode="after")
    def _says_something(self) -> ErrorClass:
        said = (self.status, self.text, self.header, self.json_, self.location)
        if not any(said):
            raise ValueError(
                f"{self.name} says nothing of the answer: give status, text, header, json or "
                "location"
            )
        if self.location is not None and not self.location.startswith(("/", "http")):
            raise ValueError("location is a path that begins with /, or an http(s) URL")
        # Judged as what is expected of an answer is.
        Expect.model_validate(self._answer)
        return self

    @property
    def _answer(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "text": self.text,
            "json": self.json_,
            "header": self.header,
        }

    @property
    def is_wrong(self) -> bool:
        """Whether it is about what an answer was, and not about a server with too much to do."""
        return not (self.status and all(map(is_overload, self.status)))

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {
            "name": self.name,
            "answer": Expect.model_validate(self._answer).driver(),
            "location": self.location,
            "operations": self.operations,
        }


class LogInAgain(Spec):
    """After which errors a user logs in again, before its next transaction."""

    classes: list[str] = Field(min_length=1, description="As `session_expired` or `status_401`.")

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {"classes": self.classes}


class Mark(Spec):
    """What an answer is counted by besides: a value or a header that it has, or has not."""

    model_config = ConfigDict(populate_by_name=False)

    json_: str | None = Field(default=None, alias="json", description="JSON path of a value.")
    header: str | None = Field(default=None, min_length=1, description="Name of a header.")
    is_: Any = Field(
        default=True, alias="is", description="The value, or a part of that of the header."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Mark:
        if (self.json_ is None) == (self.header is None):
            raise ValueError("needs json (a JSON path) or header (its name), and `is`")
        if self.header is not None and not isinstance(self.is_, str):
            raise ValueError("is: write the text that the value of the header contains")
        check_json(self.is_, "is")
        as_written(self.is_)
        return self

    def driver(self) -> dict[str, Any]:
        """As the plan has it: what is expected of an answer that has it."""
        if self.header is not None:
            return {"header": {self.header: self.is_}}
        return {"json": {self.json_: self.is_}}


class Keep(Spec):
    """A sample of the answers, whose values are looked at after a trial."""

    answers: int = Field(ge=1, le=100_000, description="Most that are kept.")

    def driver(self) -> dict[str, Any]:
        """As the plan has it."""
        return {"answers": self.answers}


def _kind_of(value: Any) -> str:
    return "none" if value is None or isinstance(value, str) else "tries"


Tries = Annotated[
    Annotated[Retry, Tag("tries")] | Annotated[Literal["none"] | None, Tag("none")],
    Discriminator(_kind_of),
]
"""How a request is tried again; `none`: not at all; nothing: as the scenario says."""
