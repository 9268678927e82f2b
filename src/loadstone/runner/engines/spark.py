"""Spark in a JVM of this process, or on a cluster whose driver that JVM is."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.runner.engines.base import QueryPlan, Rows
from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.plan import RefusalError
from loadstone.runner.processes import usage_of
from loadstone.runner.session import LOST, FailureError
from loadstone.targets.arrow_sql import rows_of
from loadstone.targets.spark.jvm import JVM, said

_POOL = count(1)
_OPERATOR = re.compile(r"^(?P<tree>[\s:|+\-*]*)(?P<name>[A-Z].*?) \(\d+\)$")
_TREE = re.compile(r"[+\-*]")


class SparkEngine:
    """One folder of tables.

    Raises:
        RefusalError: It is not there, or Spark does not start.
    """

    def __init__(self, connection: FileConnection) -> None:
        self._folder = Path(connection.database)
        self._settings = connection.settings
        self._lock = threading.Lock()
        self._before_s = 0.0
        self._highest_s = 0.0
        # The JVM is a child, and children are counted with their parents. What a cluster's workers
        # use is not seen from here.
        self.pids: Sequence[int] = () if "spark.master" in self._settings else (os.getpid(),)
        self.temporary: Path | None = None
        if not self._folder.is_dir():
            raise RefusalError("connection.database", f"{self._folder} is no folder")
        try:
            self._jvm = JVM(self._folder, self._settings)
        except TargetError as error:
            raise RefusalError("connection", error.message) from error
        self.version = f"Spark {self._jvm.version}"

    def connect(self) -> SparkChannel:
        """Opens a session; starts Spark again if it has ended.

        Raises:
            FailureError: It does not start.
        """
        with self._lock:
            if self._jvm.has_ended:
                self._before_s = self._highest_s
                self._jvm.close()
                try:
                    self._jvm = JVM(self._folder, self._settings)
                except TargetError as error:
                    raise FailureError(LOST, error.message) from error
            with _failing(self._jvm):
                return SparkChannel(self._jvm, self._jvm.session.newSession())

    def cpu_s(self) -> float:
        """Processor time of the JVM."""
        if not self._jvm.has_ended:
            used_s = self._before_s + usage_of((self._jvm.pid,)).cpu_s
            self._highest_s = max(self._highest_s, used_s)
        return self._highest_s

    def close(self) -> None:
        """Ends the JVM."""
        self.cpu_s()
        self._jvm.close()


class SparkChannel:
    """A session of the one context; what it runs shares the processors with other sessions."""

    def __init__(self, jvm: JVM, session: Any) -> None:
        self._jvm = jvm
        self._session = session
        self._pool = f"session-{next(_POOL)}"
        self._present = ""
        self._uncounted: list[str] = []
        self._spilled_bytes = 0

    def run(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows.

        Raises:
            FailureError: Spark refuses it, or was interrupted.
        """
        with _failing(self._jvm):
            self._present = self._jvm.begin_group(self._pool)
            self._uncounted.append(self._present)
            return rows_of(self._session.sql(sql).toArrow())

    def change(self, statements: Sequence[str]) -> None:
        """Runs statements one after the other: there are no transactions.

        Raises:
            FailureError: Spark refuses one: rows of Parquet tables cannot be deleted.
        """
        for statement in statements:
            self.run(statement)

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        """The plan before its execution, which may adapt it.

        Raises:
            FailureError: Spark refuses it, or was interrupted.
        """
        ((text,),) = self.run(f"EXPLAIN FORMATTED {sql}")
        return QueryPlan(str(text), shape_of(str(text)))

    def spilled_bytes(self) -> int | None:
        """What stages have written to disk for want of memory.

        Raises:
            FailureError: Spark does not answer.
        """
        with _failing(self._jvm):
            while self._uncounted:
                self._spilled_bytes += self._jvm.spilled_bytes(self._uncounted[0])
                self._uncounted.pop(0)
            return self._spilled_bytes

    def interrupt(self) -> None:
        """Breaks off what runs."""
        self._jvm.cancel_group(self._present)

    def close(self) -> None:
        """Nothing is held: the session goes with its context."""


def shape_of(plan: str) -> str:
    """The operators of an `EXPLAIN FORMATTED`, indented, without their numbers."""
    matches = [_OPERATOR.match(line) for line in plan.splitlines()]
    return "\n".join(
        _TREE.sub(" ", match["tree"]).replace(":", " ") + match["name"]
        for match in matches
        if match is not None
    )


@contextmanager
def _failing(jvm: JVM) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if jvm.has_ended:
            raise FailureError(LOST, "the JVM has ended") from error
        told = getattr(error, "getCondition", lambda: None)()
        raise FailureError(str(told or "spark_error"), said(error)) from error
