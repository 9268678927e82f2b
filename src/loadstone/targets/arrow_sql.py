"""For engines that take SQL as text alone and answer with Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loadstone.targets.quoting import escaped

if TYPE_CHECKING:
    import pyarrow as pa


def bound(sql: str, parameters: Sequence[Any]) -> str:
    """A statement with its parameters, texts and numbers, in the places of `%s`.

    Without parameters a per cent sign is one.
    """
    return sql % tuple(map(_literal, parameters)) if parameters else sql


def rows_of(table: pa.Table | None) -> list[tuple[Any, ...]]:
    """The rows of an answer, numbers exact; statements that give none have no columns."""
    if table is None or not table.num_columns:
        return []
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _literal(value: object) -> str:
    if isinstance(value, str):
        return escaped(value)
    return str(value)
