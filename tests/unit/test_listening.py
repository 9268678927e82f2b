"""Which processes belong to a system under test at an address of this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadstone.experiments.parts import own_processes
from loadstone.host import listening
from loadstone.host.listening import listeners
from loadstone.targets.connection import Connection, NoConnection, ServerConnection


def test_a_process_that_listens_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listeners("127.0.0.1", port) == [os.getpid()]
    assert listeners("127.0.0.1", port) == []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / ".s.PGSQL.5432"))
        server.listen()
        assert listeners(str(tmp_path), 5432) == [os.getpid()]
        assert listeners(str(tmp_path), 5433) == []


def found(connection: Connection, *own: int) -> list[int] | None:
    target: Any = SimpleNamespace(server_pids=lambda: list(own))
    processes = own_processes(target, connection)
    return None if processes is None else list(processes())


def at(host: str, port: int) -> ServerConnection:
    return ServerConnection("postgresql", host, "me", "mine", port)


def test_what_belongs_to_a_system_under_test(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert found(at("127.0.0.1", port)) == [os.getpid()]
        assert found(at("127.0.0.1", port), 7, 8) == [7, 8], "Loadstone started it"
        monkeypatch.setattr(listening, "_name", lambda _: "docker-proxy")
        assert found(at("127.0.0.1", port)) is None, "who serves is in a container"
    assert found(at("127.0.0.1", port)) is None, "who listens is another user's"
    assert found(at("192.0.2.1", 5432)) == [], "on another machine"
    assert found(NoConnection()) == []
