"""The relay between Loadstone and a JVM, held against a stand-in for the JVM."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from loadstone.load.locate import check_driver
from loadstone.targets.jvm.connection import JvmConnection

HELLO, END = b'{"frame": "hello"}\n', b'{"frame": "end", "reason": "completed"}\n'
Serve = Callable[[socket.socket, IO[bytes]], None]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[[Serve], Path]]:
    """Begins a stand-in that takes one connection."""
    threads: list[threading.Thread] = []
    servers: list[socket.socket] = []

    def begin(serve: Serve) -> Path:
        at = tmp_path / f"jvm{len(threads)}.sock"
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(at))
        server.listen()

        def run() -> None:
            client, _ = server.accept()
            with client:
                serve(client, client.makefile("rb"))

        servers.append(server)
        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        return at

    yield begin
    for server in servers:
        server.close()


def relay(*sockets: Path, told: bytes, plan: object = None) -> subprocess.CompletedProcess[bytes]:
    words = ["-m", "loadstone.runner.ssj_relay", *map(str, sockets)]
    lines = json.dumps({"version": 4} if plan is None else plan).encode() + b"\n" + told
    return subprocess.run([sys.executable, *words], input=lines, capture_output=True, check=False)


def saying(told: bytes) -> Serve:
    """Reads a plan, and has no more to say than this."""

    def serve(client: socket.socket, lines: IO[bytes]) -> None:
        lines.readline()
        client.sendall(told)

    return serve


def test_it_answers_the_handshake() -> None:
    connection = JvmConnection(jvms=2, sockets=(Path("/a"), Path("/b")))
    assert check_driver(connection.handing_over).protocol == 4


def test_lines_go_in_and_frames_come_out(serving: Callable[[Serve], Path]) -> None:
    seen: list[bytes] = []

    def serve(client: socket.socket, lines: IO[bytes]) -> None:
        client.sendall(HELLO)
        seen.extend(lines)  # until the relay says that there are no more
        client.sendall(END[:9])
        client.sendall(END[9:])

    plan = {"version": 4, "process": {"index": 1, "of": 2}}
    unused = Path("/there/is/none")
    done = relay(unused, serving(serve), told=b'{"control": "stop"}\n', plan=plan)
    assert (done.returncode, done.stdout, done.stderr) == (0, HELLO + END, b"")
    assert [json.loads(line) for line in seen] == [plan, {"control": "stop"}]


def test_a_plan_that_the_jvm_refuses_is_refused(serving: Callable[[Serve], Path]) -> None:
    done = relay(serving(saying(b'{"refused": "seed: none"}\n')), told=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"loadstone-ssj: plan refused: seed: none\n"


@pytest.mark.parametrize("plan", [{"process": {"index": 7}}, {"process": {"index": -1}}, [1]])
def test_a_plan_for_another_process_is_refused(plan: object) -> None:
    done = relay(Path("/there/is/none"), told=b"", plan=plan)
    assert done.returncode == 2
    assert done.stderr.startswith(b"loadstone-ssj: plan refused: process: ")


def test_a_jvm_that_goes_away_is_said(serving: Callable[[Serve], Path]) -> None:
    done = relay(serving(saying(HELLO)), told=b"")
    assert (done.returncode, done.stdout) == (1, HELLO)
    assert b"the JVM ended in the middle of a load" in done.stderr
    done = relay(Path("/there/is/none"), told=b"")
    assert done.returncode == 1
    assert done.stderr == b"loadstone-ssj: the JVM is gone: No such file or directory\n"
