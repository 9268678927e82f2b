"""What the runner asks of an engine that answers SQL, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class QueryPlan:
    """How a query was carried out."""

    text: str
    """As the engine shows it, with what its execution showed where the engine tells that."""
    shape: str
    """Its operators without figures: plans of one shape do the same."""


class Channel(Protocol):
    """A session of the engine. One thread uses it; any may interrupt it."""

    def run(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows; of one that gives none there are none.

        Raises:
            FailureError: The engine refuses it, or was interrupted.
        """

    def change(self, statements: Sequence[str]) -> None:
        """Runs statements that change rows, in one transaction where the engine has any.

        Raises:
            FailureError: The engine refuses one, or was interrupted; nothing has changed where the
                engine has transactions.
        """

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        """The plan of a query.

        Args:
            sql: The query.
            execute: Also what its execution showed, where the engine tells that.

        Raises:
            FailureError: The engine refuses it, or was interrupted.
        """

    def spilled_bytes(self) -> int | None:
        """What the engine has written to temporary files so far; None where it does not tell.

        Raises:
            FailureError: The engine does not answer.
        """

    def interrupt(self) -> None:
        """Breaks off the statement that runs; nothing happens if there is none."""

    def close(self) -> None:
        """Says goodbye."""


Form = Literal["copy", "fixed"]
"""Of encoded cells: PostgreSQL's `COPY BINARY`, or rows of fixed length in the machine's order."""


@runtime_checkable
class CellsChannel(Channel, Protocol):
    """A session that takes encoded cells."""

    @property
    def form(self) -> Form:
        """In which it takes them."""

    def load_cells(self, table: str, chunks: Iterator[bytes]) -> None:
        """Adds rows to a table of cells, all or none of them where the engine has transactions.

        Args:
            table: Its columns are those of the cells, in their order.
            chunks: Encoded, cut anywhere with `copy`, between rows with `fixed`. They may raise a
                FailureError.

        Raises:
            FailureError: The engine refuses them, or the chunks raise it.
        """


class Engine(Protocol):
    """The engine of a plan."""

    @property
    def version(self) -> str:
        """Its name and version."""

    @property
    def pids(self) -> Sequence[int]:
        """The processes whose time, memory and reads are the engine's, each with its children.

        None of a server on another machine.
        """

    @property
    def temporary(self) -> Path | None:
        """Where it spills to on this machine, if the files there are its own and only of that."""

    def connect(self) -> Channel:
        """Opens a session.

        Raises:
            FailureError: The engine does not.
        """

    def cpu_s(self) -> float:
        """Processor time that it has used within this process."""

    def close(self) -> None:
        """Lets go of it, once there is no session."""
