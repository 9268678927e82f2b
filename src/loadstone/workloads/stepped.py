"""Workloads whose load is steps in sessions: rounds of streams, each to its end."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from loadstone.protocol.programs import RUNNER, Program
from loadstone.targets.connection import Connection
from loadstone.targets.database import Database
from loadstone.workloads.base import LoadContext
from loadstone.workloads.database import DatabaseWorkload

LONGEST_S = 30 * 86400.0
"""For phases that end when their work is done."""


class SteppedWorkload(DatabaseWorkload):
    """What they have in common in the plan."""

    @abstractmethod
    def planned(self, context: LoadContext[Database]) -> dict[str, Any]:
        """The plan's parameters that are its own: `rounds`, `time_limit_s` and more."""

    def plan(self, context: LoadContext[Database]) -> dict[str, Any]:
        """The plan's `workload` object, with the text of every statement."""
        where = {"folder": str(context.folder), "server_pid": context.target.server_pid()}
        return {"name": self.name, "role": "run", "parameters": {**self.planned(context), **where}}

    def program(self, connection: Connection) -> Program:
        """The runner, whatever the engine: its statements are few and long."""
        return RUNNER
