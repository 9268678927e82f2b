"""A request of a scenario: what is asked for.

Whether templates can be read, and whether every name in them is known, is judged by the load driver
alone, which compiles them (`loadstone-driver check`).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from loadstone.spec.base import Spec
from loadstone.workloads.http.answers import Expect, Extract
from loadstone.workloads.http.fields import (
    LONGEST_NAME,
    Pairs,
    Texts,
    check_json,
    check_names,
    good_name,
    header_names,
)
from loadstone.workloads.http.options import Keep, Mark, Retry, Tries

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
_BODIES = ("form", "json", "body")


class Request(Spec):
    """One request: of a path below the target's address, or of an absolute URL."""

    model_config = ConfigDict(populate_by_name=False)

    request: str = Field(
        default="", description="Its name in figures; default: the method and what is asked for."
    )
    get: str | None = Field(default=None, description="Path or URL; templates as `${id}` in it.")
    post: str | None = None
    put: str | None = None
    patch: str | None = None
    delete: str | None = None
    head: str | None = None
    options: str | None = None
    headers: Texts = Field(default={}, description="Besides those of the scenario.")
    query: Pairs = Field(default=[], description="Added to the URL, percent-encoded.")
    form: Pairs | None = Field(default=None, description="The body: an urlencoded form.")
    json_: Any = Field(
        default=None,
        alias="json",
        description="The body: JSON. A text that is just `${x}` becomes the value itself.",
    )
    body: str | None = Field(default=None, description="The body as it is.")
    expect: Expect = Expect()
    redirects: Literal["follow", "keep"] = Field(
        default="follow", description="`keep`: a redirect itself is the answer."
    )
    extract: dict[str, Extract] = Field(
        default={}, description="Name: where in the answer the value is that it stands for."
    )
    retry: Tries = Field(
        default=None, description="How it is tried again; default: as the scenario says."
    )
    marks: dict[str, Mark] = Field(
        default={}, description="Name: what the answers are counted by besides, as `cached`."
    )
    keep: Keep | None = Field(
        default=None, description="Keeps a sample of the answers, not of a log-in or log-out."
    )

    cache: bool = Field(
        default=False,
        description="The browser keeps the answer, and asks again only when it must (a GET).",
    )

    @property
    def method(self) -> str:
        """In lower case, as the field is called."""
        return next(name for name in METHODS if getattr(self, name) is not None)

    @property
    def url(self) -> str:
        """What is asked for."""
        return str(getattr(self, self.method))

    @property
    def name(self) -> str:
        """In figures."""
        return self.request or f"{self.method.upper()} {self.url}"[:LONGEST_NAME]

    @field_validator("headers")
    @classmethod
    def _headers(cls, value: dict[str, str]) -> dict[str, str]:
        header_names(value)
        return value

    @field_validator("extract")
    @classmethod
    def _names(cls, value: dict[str, Extract]) -> dict[str, Extract]:
        check_names(value)
        return value

    @field_validator("json_")
    @classmethod
    def _of_json(cls, value: Any) -> Any:
        check_json(value)
        return value

    @model_validator(mode="after")
    def _one_of_each(self) -> Request:
        methods = [name for name in METHODS if getattr(self, name) is not None]
        if len(methods) != 1:
            given = " and ".join(methods) or "none"
            raise ValueError(f"a request needs one of {', '.join(METHODS)}: its URL; given {given}")
        if not self.url.startswith(("/", "http://", "https://", "${")):
            raise ValueError(f"{self.method}: write a path that begins with /, or an http(s) URL")
        bodies = [name for name in _BODIES if name in self._given]
        if len(bodies) > 1:
            raise ValueError(f"a request has one body: write {' or '.join(bodies)}")
        good_name(self.name, "request")
        return self

    @model_validator(mode="after")
    def _can_be_kept(self) -> Request:
        """Nothing is looked at in an answer that the browser does not get a second time."""
        if not self.cache:
            return self
        if self.get is None or self._given:
            raise ValueError("cache: is for a get without a body")
        looks = self.expect.model_fields_set - {"status"}
        if looks or self.extract or self.marks or self.keep is not None:
            raise ValueError(
                "cache: nothing is looked at: leave out extract, marks, keep, and all of expect "
                "but status"
            )
        return self

    @property
    def _given(self) -> set[str]:
        """The bodies that are written, `json: null` among them."""
        found = {name for name in ("form", "body") if getattr(self, name) is not None}
        return found | ({"json"} if "json_" in self.model_fields_set else set())

    @property
    def tries(self) -> Retry | None:
        """How it says that it is tried again."""
        return self.retry if isinstance(self.retry, Retry) else None

    @field_validator("marks")
    @classmethod
    def _called(cls, value: dict[str, Mark]) -> dict[str, Mark]:
        for name in value:
            good_name(name, "mark")
        return value

    def driver(self, retry: Retry | None = None) -> dict[str, Any]:
        """As the plan has it.

        Args:
            retry: How requests are tried again that do not say it.
        """
        own = retry if self.retry is None else self.tries
        body: dict[str, Any] | None = None
        if self.form is not None:
            body = {"form": [list(pair) for pair in self.form]}
        elif "json" in self._given:
            body = {"json": self.json_}
        elif self.body is not None:
            body = {"raw": self.body}
        return {
            "name": self.name,
            "method": self.method.upper(),
            "url": self.url,
            "headers": self.headers,
            "query": [list(pair) for pair in self.query],
            "body": body,
            "expect": self.expect.driver(),
            "redirects": self.redirects,
            "extract": {name: how.driver() for name, how in self.extract.items()},
            "cache": self.cache,
            "retry": None if own is None else own.driver(),
            "marks": {name: mark.driver() for name, mark in self.marks.items()},
            "keep": None if self.keep is None else self.keep.driver(),
        }
