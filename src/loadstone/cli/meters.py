"""Power meters on the command line: `--meter KIND[,NAME=VALUE...]`."""

from __future__ import annotations

import shlex
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.experiments.file import parse_level

OPTION = "--meter"
_LISTS = ("channels", "sum")
"""Fields that may be given several times, once for each of their values."""
_WORDS = "command"
"""The field that is a line of words."""
_OF_OTHERS = "parameters."
"""How the fields begin that a meter of another package knows."""


def read_meter(text: str) -> dict[str, Any]:
    """The fields of a meter, as a file would have them; nobody has judged them yet.

    A value may hold commas: what has no `=` of its own belongs to the value before it.

    Args:
        text: `command,scope=wall,command=read-pdu --outlet 3`.

    Raises:
        WrongInputError: If it cannot be read. It repeats nothing of the text: a value may be a
            password.
    """
    kind, *rest = text.split(",")
    if not kind.strip() or "=" in kind:
        raise WrongInputError(
            f"{OPTION} does not begin with a kind of meter",
            advice=f"write for example {OPTION} powercap; loadstone list meters names the kinds",
        )
    given: list[str] = []
    for part in rest:
        if "=" in part or not given:
            given.append(part)
        else:
            given[-1] += f",{part}"
    fields: dict[str, Any] = {"kind": kind.strip()}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise WrongInputError(
                f"{OPTION} {fields['kind']}: what follows the kind is not of the form NAME=VALUE",
                advice=f"write for example {OPTION} network,address=meter.example:8888",
            )
        _put(fields, name.strip(), value.strip())
    return fields


def _put(fields: dict[str, Any], name: str, value: str) -> None:
    if name in _LISTS:
        fields.setdefault(name, []).append(value)
    elif name in fields:
        raise WrongInputError(f"{OPTION} {fields['kind']}: {name} is given twice: keep one")
    elif name == _WORDS:
        fields[name] = _words(fields["kind"], value)
    elif name.startswith(_OF_OTHERS):
        fields.setdefault("parameters", {})[name.removeprefix(_OF_OTHERS)] = parse_level(value)
    else:
        fields[name] = parse_level(value)


def _words(kind: str, line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise WrongInputError(
            f"{OPTION} {kind}: its command cannot be divided into words: {error}",
            advice="close the quotes",
        ) from None
