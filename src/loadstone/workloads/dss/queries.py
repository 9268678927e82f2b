"""The 22 queries, kept once in standard SQL, with what few engines write in another way."""

from __future__ import annotations

from functools import cache
from importlib import resources

from loadstone.workloads.dss.substitution import Parameters

NUMBERS = tuple(range(1, 23))


def operation(query: int) -> str:
    """The name of a query among the operations: `q01` to `q22`."""
    return f"q{query:02d}"


def title(query: int) -> str:
    """What a query asks for."""
    return _template(query).splitlines()[0].removeprefix("-- ")


def text(query: int, parameters: Parameters) -> str:
    """The SQL of a query.

    Args:
        query: 1 to 22.
        parameters: Of the query, all of them.
    """
    _, _, body = _template(query).partition("\n")
    return body.strip().format_map(parameters)


@cache
def _template(query: int) -> str:
    name = f"{operation(query)}.sql"
    return (resources.files(__package__) / "queries" / name).read_text(encoding="utf-8")
