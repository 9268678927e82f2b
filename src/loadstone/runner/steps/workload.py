"""Streams of steps, as the loop sees them."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.runner.clock import Clock
from loadstone.runner.engines.registry import engine_of
from loadstone.runner.plan import Plan
from loadstone.runner.session import Workload
from loadstone.runner.steps.parameters import read_parameters
from loadstone.runner.steps.session import Common, StreamSession


def open_streams(plan: Plan, clock: Clock) -> Streams:
    """The streams of a plan.

    Raises:
        RefusalError: It names what is wrong.
    """
    parameters = read_parameters(plan)
    engine = engine_of(plan.connection, parameters.server_pid)
    return Streams(Common(engine, parameters, clock, plan.seed))


class Streams(Workload):
    """The streams of a plan on its engine."""

    def __init__(self, common: Common) -> None:
        self._common = common

    @property
    def operations(self) -> Sequence[str]:
        """Names of all steps and requests."""
        return self._common.parameters.operations

    @property
    def engine(self) -> str:
        """Name and version of the engine."""
        return self._common.engine.version

    def open(self, user: int) -> StreamSession:
        """Opens the session of a user.

        Raises:
            FailureError: The engine does not.
        """
        return StreamSession(self._common, user)

    def engine_cpu_s(self) -> float:
        """Processor time that an engine in this process has used so far."""
        return self._common.engine.cpu_s()

    def hurry(self) -> None:
        """Breaks off every statement."""
        self._common.hurry()

    def close(self) -> None:
        """Lets go of the engine."""
        self._common.engine.close()
