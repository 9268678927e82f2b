"""Fields of a scenario that are of one kind: texts, pairs, statuses, names and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Name of a header (RFC 9110, section 5.6.2)."""
_OF_DRIVER = ("connection", "content-length", "host", "transfer-encoding")
"""Headers that follow from the connection and the body: the driver writes them."""
LONGEST_NAME = 100
_TEMPLATE = re.compile(r"\$\{[^{}\s]+\}")
BUILT_IN = ("user", "unique", "base", "now_ms")
"""Names that every scenario has."""
_VALUE_NAME = re.compile(r"[^\s{}$\"']+")

_SCALAR = {"type": ["string", "number", "boolean"]}


def _text(value: Any) -> str:
    """A plain value as it is sent: `true`, not `True`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError("should be a text, a number, true or false")


def _texts(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {str(name): _text(each) for name, each in value.items()}


def _pairs(value: Any) -> Any:
    """A mapping, or a list of pairs where a name comes more than once."""
    if isinstance(value, Mapping):
        value = list(value.items())
    if not isinstance(value, list | tuple):
        raise ValueError(  # noqa: TRY004 - pydantic tells users of ValueError only
            "should be a mapping of names to values, or a list of [name, value]"
        )
    for each in value:
        if not isinstance(each, list | tuple) or len(each) != 2:
            raise ValueError("should be a list of [name, value], each with just these two")
    return [(_text(name), _text(each)) for name, each in value]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Texts = Annotated[
    dict[str, str],
    BeforeValidator(_texts),
    WithJsonSchema({"type": "object", "additionalProperties": _SCALAR}, mode="validation"),
]
"""Names and what is sent for each."""

Pairs = Annotated[
    list[tuple[str, str]],
    BeforeValidator(_pairs),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": _SCALAR},
                {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "prefixItems": [_SCALAR, _SCALAR],
                        "minItems": 2,
                        "maxItems": 2,
                    },
                },
            ]
        },
        mode="validation",
    ),
]
"""Names and values in their order."""

Words = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    BeforeValidator(_listed),
    WithJsonSchema(
        {"type": ["string", "array"], "items": {"type": "string", "minLength": 1}},
        mode="validation",
    ),
]
"""A text, or several."""

Statuses = Annotated[
    list[Annotated[int, Field(ge=200, le=599)]],
    BeforeValidator(_listed),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 200, "maximum": 599},
                {"type": "array", "items": {"type": "integer", "minimum": 200, "maximum": 599}},
            ]
        },
        mode="validation",
    ),
]
"""A status, or several."""


def check_json(value: Any, at: str = "") -> None:
    """Refuses what YAML has and JSON has not, such as dates.

    Raises:
        ValueError: With the place.
    """
    if isinstance(value, Mapping):
        for name, each in value.items():
            if not isinstance(name, str):
                raise ValueError(  # noqa: TRY004 - as above
                    f"{at or 'it'} has a name that is no text: put it in quotes"
                )
            check_json(each, f"{at}.{name}" if at else name)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            check_json(each, f"{at}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{at or 'it'} is no number of JSON: leave it out, or write null")
    elif value is not None and not isinstance(value, str | int | float):
        raise ValueError(f"{at or 'it'} is no value of JSON: put a date or a time in quotes")


def as_written(value: Any) -> None:
    """Refuses a template in what is compared with an answer as it is written.

    Raises:
        ValueError: If it has one.
    """
    if isinstance(value, str) and _TEMPLATE.search(value):
        raise ValueError("has ${...}: what is expected is a plain text, no value takes its place")


def header_names(headers: Mapping[str, str]) -> None:
    """Refuses names that no header has, and those of the driver's own.

    Raises:
        ValueError: With the name.
    """
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header")
        if name.lower() in _OF_DRIVER:
            raise ValueError(f"{name} follows from the connection and the body: leave it out")
        if any(sign in value for sign in "\r\n\0"):
            raise ValueError(f"the value of {name} goes over several lines")


def good_name(name: str, what: str) -> None:
    """Refuses names that figures cannot be called by.

    Raises:
        ValueError: With what it is a name of.
    """
    if not name or name != name.strip() or not name.isprintable():
        raise ValueError(f"the name of a {what} has letters, without blanks around it")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"the name of a {what} has {LONGEST_NAME} characters at most")


def check_names(named: Mapping[str, Any]) -> None:
    """Refuses names of values that a template could not have, or that have a meaning already.

    Raises:
        ValueError: With the name.
    """
    for name in named:
        if not _VALUE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name that ${{NAME}} could have")
        if name in BUILT_IN:
            raise ValueError(f"{name!r} is built in: choose another name")
