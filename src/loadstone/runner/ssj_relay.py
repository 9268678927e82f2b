"""Stands for a JVM as a process of the load: hands plan and control lines in, and frames out.

Usage: python -m loadstone.runner.ssj_relay SOCKET... [--version]

The plan says which of several processes this is; that is the number of the socket. Nothing else is
read of what goes by, so the relay takes next to no processor time. When its input ends the JVM is
told by the end of its lines, which is a stop.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from loadstone.protocol.entry import PROTOCOL_VERSION, VERSION

NAME = "loadstone-ssj"
_REFUSED = b'{"refused"'
_AT_ONCE = 1 << 16
_COMPLETED, _FAILED, _REFUSED_PLAN = 0, 1, 2


def main(words: Sequence[str]) -> int:
    """Runs one plan.

    Args:
        words: Sockets of all JVMs, in order; `--version` behind them asks for the version alone.

    Returns:
        The exit code: 0 after an `end`, 2 for a plan that is refused, 1 otherwise.
    """
    if words and words[-1] == "--version":
        sys.stdout.write(f"{NAME} {VERSION} (protocol {PROTOCOL_VERSION})\n")
        return _COMPLETED
    plan = sys.stdin.buffer.readline()
    try:
        at = words[_number(plan)]
    except (ValueError, LookupError, AttributeError) as error:
        return _said(f"plan refused: process: {error}", _REFUSED_PLAN)
    with socket.socket(socket.AF_UNIX) as jvm:
        try:
            jvm.connect(at)
            jvm.sendall(plan)
            threading.Thread(target=_hand_in, args=(sys.stdin.buffer, jvm), daemon=True).start()
            last = _hand_out(jvm, sys.stdout.buffer)
        except OSError as error:
            return _said(f"the JVM is gone: {error.strerror or error}", _FAILED)
    return _outcome(last)


def _number(plan: bytes) -> int:
    """Which of the processes this is."""
    number = json.loads(plan).get("process", {}).get("index", 0)
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"index {number!r}")
    return number


def _hand_in(lines: IO[bytes], jvm: socket.socket) -> None:
    """Control lines, until there are no more."""
    try:
        for line in lines:
            jvm.sendall(line)
        jvm.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the JVM has gone: who reads its frames says so


def _hand_out(jvm: socket.socket, frames: IO[bytes]) -> bytes:
    """Frames, until the JVM closes. Returns the last line, as far as it came."""
    last = b""
    with suppress(ConnectionError):  # killed with lines unread: what it wrote before has come
        while part := jvm.recv(_AT_ONCE):
            last += part
            last = last[last.rstrip(b"\n").rfind(b"\n") + 1 :]
            if not last.startswith(_REFUSED):
                frames.write(part)
                frames.flush()
    return last


def _outcome(last: bytes) -> int:
    try:
        told: dict[str, Any] = json.loads(last)
    except ValueError:
        told = {}
    if "refused" in told:
        return _said(f"plan refused: {told['refused']}", _REFUSED_PLAN)
    if told.get("frame") != "end":
        return _said("the JVM ended in the middle of a load; its log says why", _FAILED)
    return _FAILED if told.get("reason") == "failed" else _COMPLETED


def _said(text: str, code: int) -> int:
    sys.stderr.write(f"{NAME}: {text}\n")
    return code


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended)  # the thread that reads the input must not keep the process
