"""What a `superset_config.py` says. It is parsed, never run: only plain values are known."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from loadstone.errors import WrongInputError
from loadstone.text import read_text

KNOWN_KEYS = (
    "thisISaSECRET_1234",
    "TEST_NON_DEV_SECRET",
    "YOUR_OWN_RANDOM_GENERATED_SECRET_KEY",
    "CHANGE_ME_TO_A_COMPLEX_RANDOM_SECRET",
    "CHANGE_ME_SECRET_KEY",
)
"""Keys of examples and of Superset's own defaults."""
_RANDOM = ("urandom", "token_hex", "token_bytes", "token_urlsafe", "uuid4", "randbytes")
"""Functions that give another value in each process."""
_UNKNOWN = object()


@dataclass(frozen=True)
class Config:
    """The values of a configuration, by name, and what calls stand where."""

    values: Mapping[str, Any]
    calls: Mapping[str, frozenset[str]]
    """Name: functions that its value calls, `urandom`."""
    names: Mapping[str, frozenset[str]]
    """Name: other names that its value has, `NullPool`."""

    def of(self, name: str, key: str) -> Any:
        """An entry of a dictionary; None if it is not there, or no plain value."""
        found = self.values.get(name)
        return found.get(key) if isinstance(found, dict) else None

    @property
    def key(self) -> Literal["own", "random", "known"] | None:
        """What kind of key it has; the key itself is told to nobody."""
        if self.calls.get("SECRET_KEY", frozenset()).intersection(_RANDOM):
            return "random"
        key = self.values.get("SECRET_KEY")
        if not isinstance(key, str):
            return None
        return "known" if key in KNOWN_KEYS else "own"


def read_config(path: Path) -> Config:
    """Reads the top-level assignments of the file.

    Raises:
        WrongInputError: If it cannot be read, or is no Python.
    """
    try:
        tree = ast.parse(read_text(path))
    except (SyntaxError, ValueError) as error:
        raise WrongInputError(
            f"{path} is no configuration of Superset: it is not Python",
            advice="name a superset_config.py",
        ) from error
    values: dict[str, Any] = {}
    calls: dict[str, frozenset[str]] = {}
    names: dict[str, frozenset[str]] = {}
    for statement in tree.body:
        for name, node in _assigned(statement):
            values[name] = _value(node, values)
            calls[name] = frozenset(_called(node))
            names[name] = frozenset(
                each.id if isinstance(each, ast.Name) else each.attr
                for each in ast.walk(node)
                if isinstance(each, ast.Name | ast.Attribute)
            )
    known = {name: value for name, value in values.items() if value is not _UNKNOWN}
    return Config(known, calls, names)


# -- inside ------------------------------------------------------------------------------------
def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        targets, node = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, node = [statement.target], statement.value
    else:
        return []
    return [(target.id, node) for target in targets if isinstance(target, ast.Name)]


def _called(node: ast.expr) -> list[str]:
    functions = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return [
        function.attr if isinstance(function, ast.Attribute) else function.id
        for function in functions
        if isinstance(function, ast.Attribute | ast.Name)
    ]


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """A plain value: a literal, a product or sum of such, or a name that has one."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known.get(name, _UNKNOWN)
        case ast.Dict(keys=keys, values=values):
            pairs = [
                (key.value, _value(value, known))
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant)
            ]
            return {key: None if value is _UNKNOWN else value for key, value in pairs}
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() as op, right=right):
            first, second = _value(left, known), _value(right, known)
            if not all(isinstance(each, int | float) for each in (first, second)):
                return _UNKNOWN
            return first * second if isinstance(op, ast.Mult) else first + second
    return _UNKNOWN
