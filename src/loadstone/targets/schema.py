"""Tables as a workload declares them; each engine makes them in its own way and order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_SPELLED = {"double": "double precision", "instant": "timestamp(6)"}


@dataclass(frozen=True)
class ColumnType:
    """A type of the SQL standard.

    Attributes:
        name: `decimal` is exact; `double` has 64 bits; `timestamp` has no zone; `instant` is a
            moment in UTC, exact to the microsecond, which every engine keeps in 8 bytes.
        size: Characters of `char` and `varchar`; digits of `decimal`.
        scale: Digits of `decimal` after the point.
    """

    name: Literal[
        "smallint",
        "integer",
        "bigint",
        "char",
        "varchar",
        "decimal",
        "double",
        "date",
        "timestamp",
        "instant",
    ]
    size: int = 0
    scale: int = 0

    @property
    def sql(self) -> str:
        """As the standard writes it."""
        if self.name == "decimal":
            return f"decimal({self.size}, {self.scale})"
        if self.name in _SPELLED:
            return _SPELLED[self.name]
        return f"{self.name}({self.size})" if self.size else self.name


@dataclass(frozen=True)
class Column:
    """A column."""

    name: str
    type: ColumnType
    nullable: bool = False

    @property
    def sql(self) -> str:
        """As the standard declares it."""
        return f"{self.name} {self.type.sql}{'' if self.nullable else ' NOT NULL'}"


@dataclass(frozen=True)
class ForeignKey:
    """A reference to the primary key of another table."""

    name: str
    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Index:
    """A secondary index."""

    name: str
    columns: tuple[str, ...]
    unique: bool = False


@dataclass(frozen=True)
class Table:
    """A table with all that belongs to it. Tables are declared in the order of their references."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    indexes: tuple[Index, ...] = ()

    def create_indexes(self) -> Iterator[str]:
        """A statement for each index."""
        for index in self.indexes:
            unique = "UNIQUE " if index.unique else ""
            columns = ", ".join(index.columns)
            yield f"CREATE {unique}INDEX {index.name} ON {self.name} ({columns});"
