"""A scenario: what the users of a web application do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from loadstone.spec.base import Level, Spec
from loadstone.spec.problems import dotted
from loadstone.workloads.http.choices import (
    OneOf,
    Picks,
    check_choices,
    check_holds,
    picks_told,
)
from loadstone.workloads.http.classes import check_known
from loadstone.workloads.http.fields import Texts, check_names, good_name, header_names
from loadstone.workloads.http.literals import INSTEAD, literal_secrets
from loadstone.workloads.http.options import ErrorClass, LogInAgain, Retry, Weights
from loadstone.workloads.http.requests import Request
from loadstone.workloads.http.waits import NO_THINK_TIME, ThinkTime

LOG_IN, FIRST_VISIT, LOG_OUT = "log-in", "first-visit", "log-out"
"""Operations besides the transactions."""
MOST_TRANSACTIONS = 1000
_LONGEST_WAIT_S = 3600.0
_GB = 1 << 30
_HOST = re.compile(r"(?:https?://)?(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?/?")


class Parallel(Spec):
    """Requests that are made at the same time, over the connections of the user."""

    parallel: list[Request] = Field(min_length=1, max_length=1000)


class Pause(Spec):
    """A wait within a transaction; it is part of its response time."""

    pause_s: float = Field(ge=0, le=_LONGEST_WAIT_S, description="Seconds.")


def _kind_of(step: Any) -> str:
    """Which of them a step is; pydantic names it in the path of an error."""
    if isinstance(step, Mapping):
        named = {"parallel": "a parallel step", "pause_s": "a pause", "one_of": "a choice"}
        return next((kind for name, kind in named.items() if name in step), "a request")
    if isinstance(step, OneOf):
        return "a choice"
    if isinstance(step, Parallel):
        return "a parallel step"
    return "a pause" if isinstance(step, Pause) else "a request"


Step = Annotated[
    Annotated[Request, Tag("a request")]
    | Annotated[Parallel, Tag("a parallel step")]
    | Annotated[Pause, Tag("a pause")],
    Discriminator(_kind_of),
]
"""A request, requests at the same time, or a wait."""
Part = Annotated[
    Annotated[Request, Tag("a request")]
    | Annotated[Parallel, Tag("a parallel step")]
    | Annotated[Pause, Tag("a pause")]
    | Annotated[OneOf[Step], Tag("a choice")],
    Discriminator(_kind_of),
]
"""A step, or one of several ways, each of steps."""


def plain_steps(parts: Iterable[Part]) -> Iterator[Step]:
    """The steps of all ways."""
    for part in parts:
        if isinstance(part, OneOf):
            yield from part.all_steps
        else:
            yield part


def _requests(parts: Iterable[Part]) -> Iterator[Request]:
    for step in plain_steps(parts):
        if isinstance(step, Request):
            yield step
        elif isinstance(step, Parallel):
            yield from step.parallel


def _names_apart(steps: Iterable[Part]) -> None:
    """Refuses two requests of one name, whose figures could not be told apart.

    Raises:
        ValueError: With the name.
    """
    seen: set[str] = set()
    for request in _requests(steps):
        if request.name in seen:
            raise ValueError(
                f"two requests are called {request.name!r}: give each its own name (request: NAME)"
            )
        seen.add(request.name)


def _driver(step: Part, retry: Retry | None) -> dict[str, Any]:
    if isinstance(step, OneOf):
        return step.driver(lambda each: _driver(each, retry))
    if isinstance(step, Parallel):
        return {"parallel": [request.driver(retry) for request in step.parallel]}
    if isinstance(step, Pause):
        return {"pause_s": step.pause_s}
    return {"request": step.driver(retry)}


class Steps(Spec):
    """What is done to log in, on a first visit, or to log out."""

    steps: list[Step] = Field(min_length=1, max_length=1000)

    @field_validator("steps")
    @classmethod
    def _apart(cls, value: list[Step]) -> list[Step]:
        _names_apart(value)
        if any(request.keep is not None for request in _requests(value)):
            raise ValueError("keep is for transactions: what a log-in says may be a secret")
        return value

    def driver(self, retry: Retry | None = None) -> dict[str, Any]:
        """As the plan has it.

        Args:
            retry: How requests are tried again that do not say it.
        """
        return {"steps": [_driver(step, retry) for step in self.steps]}


class BackOff(Spec):
    """Seconds for which a closed user holds off whose log-in has failed, give or take a half."""

    first: float = Field(
        default=1.0, ge=0, le=_LONGEST_WAIT_S, description="They double with each that fails."
    )
    longest: float = Field(default=30.0, ge=0, le=_LONGEST_WAIT_S)

    @model_validator(mode="after")
    def _in_order(self) -> BackOff:
        if self.first > self.longest:
            raise ValueError(f"first ({self.first:g}) is more than longest ({self.longest:g})")
        return self


class LogIn(Steps):
    """What is done to log in, and what if that fails."""

    back_off_s: BackOff = BackOff()

    def driver(self, retry: Retry | None = None) -> dict[str, Any]:
        """As the plan has it."""
        return {**super().driver(retry), "back_off_s": self.back_off_s.model_dump()}


class Transaction(Spec):
    """What a user does in one go; its response time is counted from when it was due."""

    name: str = Field(description="In figures, as `list`.")
    weight: float = Field(
        default=1.0, ge=0, le=1e6, description="How often it is drawn, against the others."
    )
    think_time: ThinkTime | None = Field(
        default=None, description="After it; default: that of the scenario."
    )
    next: Weights | None = Field(
        default=None,
        description="Transaction, or `log-out`: how often it follows this one; default: the "
        "weights of all.",
    )
    pick: Picks = Field(default={}, description="Values that a user draws as it begins.")
    steps: list[Part] = Field(min_length=1, max_length=1000)

    @field_validator("name")
    @classmethod
    def _free(cls, value: str) -> str:
        good_name(value, "transaction")
        if value in (LOG_IN, LOG_OUT):
            field = value.replace("-", "_")
            raise ValueError(f"{value} is what {field} is called in figures: choose another name")
        return value

    @field_validator("steps")
    @classmethod
    def _apart(cls, value: list[Part]) -> list[Part]:
        _names_apart(value)
        return value

    @property
    def choices(self) -> list[OneOf[Step]]:
        """Its parts that are one of several ways."""
        return [part for part in self.steps if isinstance(part, OneOf)]

    def driver(self, retry: Retry | None = None) -> dict[str, Any]:
        """As the plan has it; its think time is in the plan's `pacing`.

        Args:
            retry: How requests are tried again that do not say it.
        """
        return {
            "name": self.name,
            "weight": self.weight,
            "next": self.next,
            "pick": picks_told(self.pick),
            "steps": [_driver(step, retry) for step in self.steps],
        }


class Timeouts(Spec):
    """Seconds that each part of a request may take."""

    resolve: float = Field(default=5.0, gt=0, le=_LONGEST_WAIT_S)
    connect: float = Field(default=10.0, gt=0, le=_LONGEST_WAIT_S)
    tls: float = Field(default=10.0, gt=0, le=_LONGEST_WAIT_S)
    first_byte: float = Field(default=60.0, gt=0, le=_LONGEST_WAIT_S)
    whole: float = Field(default=120.0, gt=0, le=_LONGEST_WAIT_S)


class AnswerLimits(Spec):
    """The most that an answer may be."""

    header_bytes: int = Field(default=65_536, ge=256, le=1 << 24)
    body_bytes: int = Field(default=64 << 20, ge=0, le=16 * _GB)
    inflated_bytes: int = Field(default=64 << 20, ge=0, le=16 * _GB)
    interim: int = Field(default=100, ge=0, le=10_000, description="Answers of 1xx before it.")


class Scenario(Spec):
    """What the users of a web application do."""

    people: str | None = Field(
        default=None,
        description="CSV file whose header names values; user n has row n modulo the rows.",
    )
    values: dict[str, Level] = Field(default={}, description="Constants, as `${lang}`.")
    secrets: dict[str, str] = Field(
        default={}, description="Name: where the secret is, `env:NAME` or `file:PATH`."
    )
    headers: Texts = Field(default={}, description="Of every request.")
    hosts: list[str] = Field(
        default=[],
        max_length=1000,
        description="Other origins that may be asked: `host`, `host:port`, `https://host:port`.",
    )
    order: Literal["drawn", "in-turn"] = Field(
        default="drawn", description="Of the transactions: drawn by weight, or one after the other."
    )
    first: Weights | None = Field(
        default=None,
        description="Transaction: how often it is a user's first after a log-in; default: the "
        "weights of all.",
    )
    retry: Retry | None = Field(
        default=None, description="How requests that failed are tried again; default: not at all."
    )
    classes: list[ErrorClass] = Field(
        default=[],
        max_length=100,
        description="Classes of errors by what was answered; the first that holds counts.",
    )
    log_in_again: LogInAgain | None = Field(
        default=None, description="When a user whose session has died logs in again."
    )
    connections: int = Field(
        default=6, ge=1, le=1000, description="Most of a user to one origin, opened on need."
    )
    redirects: int = Field(default=10, ge=0, le=100, description="Most that a request follows.")
    think_time: ThinkTime = Field(
        default=NO_THINK_TIME, description="After each transaction, unless it has its own."
    )
    timeouts_s: Timeouts = Timeouts()
    limits: AnswerLimits = AnswerLimits()
    resolve_every_s: float = Field(
        default=60.0,
        ge=0,
        le=86_400.0,
        description="New connections look the name up again after this time.",
    )
    log_in: LogIn | None = Field(
        default=None, description="What a user does first, until it succeeds."
    )
    first_visit: Steps | None = Field(
        default=None, description="What a user does once, after its first log-in."
    )
    log_out: Steps | None = Field(
        default=None, description="What a user does who leaves in a drain phase."
    )
    transactions: list[Transaction] = Field(min_length=1, max_length=MOST_TRANSACTIONS)

    @model_validator(mode="before")
    @classmethod
    def _no_secret_itself(cls, value: Any) -> Any:
        """Comes first: what is said of another fault may quote a value."""
        found = list(literal_secrets(value)) if isinstance(value, Mapping) else []
        if found:
            raise ValueError(f"{', '.join(map(dotted, found))} {INSTEAD}")
        return value

    @field_validator("secrets")
    @classmethod
    def _references(cls, value: dict[str, str]) -> dict[str, str]:
        check_names(value)
        for name, reference in value.items():
            if not reference.startswith(("env:", "file:")):
                raise ValueError(f"{name}: a secret is a reference: write env:NAME or file:PATH")
        return value

    @field_validator("values")
    @classmethod
    def _names(cls, value: dict[str, Level]) -> dict[str, Level]:
        check_names(value)
        return value

    @field_validator("headers")
    @classmethod
    def _headers(cls, value: dict[str, str]) -> dict[str, str]:
        header_names(value)
        return value

    @field_validator("hosts")
    @classmethod
    def _origins(cls, value: list[str]) -> list[str]:
        for host in value:
            if not _HOST.fullmatch(host):
                raise ValueError("each is host, host:port, or http(s)://host:port")
        return value

    @model_validator(mode="after")
    def _can_go_on(self) -> Scenario:
        names = [each.name for each in self.transactions]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"two transactions are called {twice[0]!r}: give each its own name")
        if self.first_visit is not None and FIRST_VISIT in names:
            raise ValueError(
                f"{FIRST_VISIT} is what first_visit is called in figures: give the transaction "
                "another name, or add its steps to first_visit"
            )
        if self.order == "drawn" and not any(each.weight for each in self.transactions):
            raise ValueError("no transaction has a weight above 0: give one to one of them")
        if self.log_out is not None and self.log_in is None:
            raise ValueError("log_out is for users who have logged in: write log_in too")
        self._chain()
        self._named_classes()
        check_choices(choice for each in self.transactions for choice in each.choices)
        ways = (way for each in self.transactions for choice in each.choices for way in choice.of)
        check_holds([*(each.pick for each in self.transactions), *(way.pick for way in ways)])
        return self

    def _chain(self) -> None:
        """What follows what: only where transactions are drawn, and only what there is."""
        given = {f"next of {each.name}": each.next for each in self.transactions}
        known = {*self.names, *((LOG_OUT,) if self.log_out is not None else ())}
        for field, weights in {"first": self.first, **given}.items():
            if weights is None:
                continue
            if self.order != "drawn":
                raise ValueError(f"{field} has no effect: the order is {self.order}")
            strange = [name for name in weights if name not in known]
            if strange:
                raise ValueError(f"{field}: {strange[0]!r} is no transaction of the scenario")
            if not any(weights.values()):
                raise ValueError(f"{field}: no weight is above 0: give one to one of them")

    def _named_classes(self) -> None:
        """Classes are there once, hold somewhere, and are known where they are named."""
        names = [each.name for each in self.classes]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"classes: two are called {twice[0]!r}: give each its own name")
        for each in self.classes:
            strange = [name for name in each.operations if name not in self.operations]
            if strange:
                raise ValueError(f"classes: {each.name}: there is no operation {strange[0]!r}")
        if self.retry is not None:
            check_known(self.retry.classes, names, "retry")
        for request in self.requests:
            if request.tries is not None:
                check_known(request.tries.classes, names, f"retry of {request.name}")
        if self.log_in_again is not None:
            if self.log_in is None:
                raise ValueError("log_in_again is for users who have logged in: write log_in too")
            check_known(self.log_in_again.classes, names, "log_in_again")

    @property
    def requests(self) -> list[Request]:
        """All of them, log-in and log-out first."""
        signs = [sign for sign in (self.log_in, self.log_out) if sign is not None]
        steps: list[Part] = [step for sign in signs for step in sign.steps]
        steps += [step for each in self.transactions for step in each.steps]
        return list(_requests(steps))

    @property
    def keeps(self) -> bool:
        """Whether it keeps answers."""
        return any(request.keep is not None for request in self.requests)

    @property
    def leaves(self) -> bool:
        """Whether users log out as a part of what they do, and come again."""
        return any(LOG_OUT in (each.next or {}) for each in self.transactions)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the transactions, in order."""
        return tuple(each.name for each in self.transactions)

    @property
    def operations(self) -> tuple[str, ...]:
        """Of the driver, in its order: log-ins, first visits, transactions, log-outs."""
        log_in = () if self.log_in is None else (LOG_IN,)
        visit = () if self.first_visit is None else (FIRST_VISIT,)
        last = () if self.log_out is None else (LOG_OUT,)
        return (*log_in, *visit, *self.names, *last)

    @property
    def thinks(self) -> bool:
        """Whether its users wait after any transaction."""
        waits = [each.think_time or self.think_time for each in self.transactions]
        return any(wait.distribution != "none" for wait in waits)

    def driver(self, people: str | None, variables: Mapping[str, str]) -> dict[str, Any]:
        """As the plan has it, with every default filled in.

        Args:
            people: Whole path of the file of people, if there is one.
            variables: Name of a secret: the variable of the driver's environment that holds it.
        """
        return {
            "people": None if people is None else {"path": people},
            "values": self.values,
            "secrets": dict(variables),
            "headers": self.headers,
            "hosts": self.hosts,
            "order": self.order,
            "first": self.first,
            "classes": [each.driver() for each in self.classes],
            "log_in_again": None if self.log_in_again is None else self.log_in_again.driver(),
            "connections": self.connections,
            "redirects": self.redirects,
            "timeouts_s": self.timeouts_s.model_dump(),
            "limits": self.limits.model_dump(),
            "resolve_every_s": self.resolve_every_s,
            "log_in": None if self.log_in is None else self.log_in.driver(self.retry),
            "first_visit": (
                None if self.first_visit is None else self.first_visit.driver(self.retry)
            ),
            "log_out": None if self.log_out is None else self.log_out.driver(self.retry),
            "transactions": [each.driver(self.retry) for each in self.transactions],
        }
