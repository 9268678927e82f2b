"""How a load generator reaches network storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

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

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """The server of the address."""
        return [(self.host, urlsplit(self.url).port or 0)]

    def plan(self) -> dict[str, Any]:
        """Protocol and address."""
        return {"protocol": self.protocol, "url": self.url}
