"""A system under test that answers HTTP at an address, as workloads and load generators see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from loadstone.protocol.programs import DRIVER, Program
from loadstone.targets.base import Target
from loadstone.targets.connection import Connection, Reach

CONNECT_S = 10.0
"""So long an application may take to accept a connection."""


@dataclass(frozen=True)
class WebConnection(Connection):
    """A web application. Each user of a load has connections of its own to it."""

    chooses_sources: ClassVar[bool] = True

    url: str
    """Of its base, without a slash at the end."""
    host: str
    port: int
    ca: str | None = None
    """File of the certificates (PEM) by which it is trusted; None: those of the system."""
    sources: tuple[str, ...] = ()
    """Addresses of this machine that connections come from; none: the system chooses."""
    reaches: Sequence[Reach] = ()
    """The servers that a user asks, as the workload says; it has a socket for each connection."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The secrets of the load."""
    program: Program = DRIVER

    @property
    def files(self) -> int:
        """A socket for each connection of a user."""
        return sum(reach.each for reach in self.reaches)

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """The servers that users ask; before the workload has said which, that of the address."""
        return super().places or [(self.host, self.port)]

    @property
    def secrets(self) -> Mapping[str, str]:
        """Those of the load."""
        return self.variables

    def coming_from(self, sources: tuple[str, ...]) -> WebConnection:
        """The sockets of a user are bound to its address before they connect."""
        return replace(self, sources=sources)

    def plan(self) -> dict[str, Any]:
        """The address, whom to trust, and where connections come from."""
        plan: dict[str, Any] = {
            "protocol": "http",
            "url": self.url,
            "connect_timeout_s": CONNECT_S,
        }
        if self.ca is not None:
            plan["ca"] = self.ca
        if self.sources:
            plan["sources"] = list(self.sources)
        return plan


class WebApplication(Target):
    """A system under test that answers HTTP."""

    @property
    def state(self) -> str | None:
        """What was told of its state when it was reset for the trial; None: nothing resets it."""
        return None
