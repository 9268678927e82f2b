"""How a load generator reaches network storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from loadstone.protocol.programs import DRIVER, Program
from loadstone.targets.connection import Connection


@dataclass(frozen=True)
class NetworkStorageConnection(Connection):
    """An address, which the library of the protocol reads."""

    files: ClassVar[int] = 1

    protocol: str
    url: str
    host: str = "127.0.0.1"
    program: Program = DRIVER

    def plan(self) -> dict[str, Any]:
        """Protocol and address."""
        return {"protocol": self.protocol, "url": self.url}
