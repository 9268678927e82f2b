"""The role `log-in`: the sessions of a load are opened, and nothing is asked of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.runner.engines.base import Channel
from loadstone.runner.engines.registry import engine_of
from loadstone.runner.plan import Plan
from loadstone.runner.session import EXHAUSTED, Outcome, Session, Workload

_OPERATION = "log-in"


class LogIn(Workload):
    """The engine of a plan.

    Raises:
        RefusalError: It does not answer.
    """

    def __init__(self, plan: Plan) -> None:
        self._engine = engine_of(plan.connection, None)

    @property
    def operations(self) -> Sequence[str]:
        """One, which none of its sessions makes."""
        return (_OPERATION,)

    def open(self, user: int) -> LoggedIn:
        """Opens a session.

        Raises:
            FailureError: The engine does not.
        """
        return LoggedIn(self._engine.connect())

    def close(self) -> None:
        """Lets go of the engine."""
        self._engine.close()


class LoggedIn(Session):
    """A session that asks for nothing."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def choose(self) -> str:
        """The only one."""
        return _OPERATION

    def execute(self, operation: str) -> Outcome:
        """There is nothing to do."""
        return EXHAUSTED

    def close(self) -> None:
        """Says goodbye."""
        self._channel.close()
