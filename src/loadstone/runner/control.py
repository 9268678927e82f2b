"""Control lines and signals, as messages for the main thread."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import IO, Literal

from pydantic import Field

from loadstone.runner.main import PROGRAM
from loadstone.runner.messages import Begin, DriverEvent, Inbox, Message, SetRate, SetUsers, Stop
from loadstone.runner.plan import Rate, RefusalError, Strict, Users, read_model

_GRACE_S = 20.0
"""A run that was stopped and has not ended after this time is ended by force: twice as long as
operations in flight are waited for at most, so it is met when nobody reads the frames."""


class _StopLine(Strict):
    control: Literal["stop"]


class _BeginLine(Strict):
    control: Literal["begin"]
    monotonic_s: float = Field(ge=0.0, le=1e9)


class _RateLine(Strict):
    control: Literal["rate"]
    rate_per_s: Rate


class _UsersLine(Strict):
    control: Literal["users"]
    users: Users


_LINES: dict[str, type[Strict]] = {
    "stop": _StopLine,
    "begin": _BeginLine,
    "rate": _RateLine,
    "users": _UsersLine,
}


def parse_control(line: bytes) -> Message:
    """Reads a control line; what cannot be done is answered with an event."""
    try:
        value = json.loads(line)
        model = _LINES[value["control"]]
        read = read_model(model, value)
    except (ValueError, KeyError, TypeError):
        return DriverEvent(
            "refused", f"not a control line: {line.decode('utf-8', 'replace').strip()}"
        )
    except RefusalError as error:
        return DriverEvent("refused", str(error).removeprefix("plan refused: "))
    if isinstance(read, _BeginLine):
        return Begin(read.monotonic_s)
    if isinstance(read, _UsersLine):
        return SetUsers(read.users)
    if isinstance(read, _RateLine):
        return SetRate(read.rate_per_s)
    return Stop("asked to")


def listen(lines: IO[bytes], inbox: Inbox) -> None:
    """Reads control lines on a thread of its own until the input ends."""

    def read() -> None:
        for line in lines:
            if line.strip():
                inbox.put(parse_control(line))
        inbox.put(Stop("standard input ended"))
        _force_after_grace("standard input ended")

    threading.Thread(target=read, name="control", daemon=True).start()


def heed_signals(inbox: Inbox) -> None:
    """Lets SIGTERM and SIGINT stop the run; the second one ends it at once."""
    seen: list[int] = []

    def heed(number: int, _frame: object) -> None:
        name = signal.Signals(number).name
        if seen:
            _end_by_force(name)
        seen.append(number)
        inbox.put(Stop(name))
        _force_after_grace(name)

    signal.signal(signal.SIGTERM, heed)
    signal.signal(signal.SIGINT, heed)


def _force_after_grace(reason: str) -> None:
    timer = threading.Timer(_GRACE_S, _end_by_force, (reason,))
    timer.daemon = True
    timer.start()


def _end_by_force(reason: str) -> None:
    sys.stderr.write(f"{PROGRAM}: ended by force ({reason})\n")
    sys.stderr.flush()
    os._exit(1)
