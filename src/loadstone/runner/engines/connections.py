"""How the engines that Loadstone knows are reached."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from loadstone.runner.plan import RefusalError, Strict, read_model


class FileConnection(Strict):
    """The file of an engine in this process, and the engine's settings."""

    protocol: Literal["duckdb", "chdb", "spark"]
    database: str = Field(min_length=1)
    settings: dict[str, str] = {}


class ServerConnection(Strict):
    """A server, by host and port, or by the folder of its socket."""

    protocol: Literal["postgresql", "mysql"]
    host: str = Field(min_length=1)
    port: int = Field(ge=0, le=65535)
    user: str = Field(min_length=1)
    database: str = Field(min_length=1)
    password_env: str | None = None
    """Variable of the environment with the password."""

    def password(self) -> str | None:
        """The password.

        Raises:
            RefusalError: The variable is not set.
        """
        if self.password_env is None:
            return None
        if self.password_env not in os.environ:
            raise RefusalError("connection.password_env", f"{self.password_env} is not set")
        return os.environ[self.password_env]


Connection = FileConnection | ServerConnection


class _Reached(Strict):
    connection: Connection = Field(discriminator="protocol")


def read_connection(given: Mapping[str, Any]) -> Connection:
    """Reads a plan's `connection`.

    Raises:
        RefusalError: It names the first wrong field.
    """
    return read_model(_Reached, {"connection": given}).connection
