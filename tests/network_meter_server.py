"""A stand-in for the daemon of a network power meter: it speaks the lines of one, from a script.

    python tests/network_meter_server.py --port 0 --watts FILE

It prints `listening on PORT`, then serves one client after the other, as such a daemon does. FILE
has one figure, which holds from when it is written on (the file is read again at each sample), or
lines of SECONDS and WATTS from `Go` on. What stands in place of watts (`nan`, `-1`) is said as it
is; more columns are the watts of channels.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

Clock = Callable[[], float]


@dataclass
class Behaviour:
    """What a meter is like, and what goes wrong with it."""

    fields: int = 12
    """Of the answer to `Identify`."""
    ranges: list[str] = field(default_factory=lambda: ["1", "0.5", "0", "300.0"])
    uncertainty: str = "0.310000"
    refuse_range: bool = False
    late_s: float = 0.0
    """By so much its stamps are behind; an hour: its clock is wrong."""
    day_first: bool = False
    cut: bool = False
    """Each answer comes in two pieces."""
    first: str = "100.0"
    """Without a script: the first sample after `Go`."""
    silent_after: int | None = None
    """It answers so many commands of a client, then no more."""
    dead_after: int | None = None
    """It answers so many commands in all, then lets go of everybody."""
    hello: str = "Hello, PTDaemon here!"


class NetworkMeterServer:
    """The server; in a thread of its own as a context manager, or `serve` for ever.

    Args:
        behaviour: Of the meter.
        watts: File of its script; None: only what is queued with `add`.
        port: To listen on; 0: one that is free, which `port` then says.
        clock: Seconds; tests may have one of their own.
    """

    def __init__(
        self,
        behaviour: Behaviour | None = None,
        watts: Path | None = None,
        port: int = 0,
        clock: Clock = time.monotonic,
    ) -> None:
        self.behaviour = behaviour or Behaviour()
        self.commands: list[str] = []
        """All that it was told, in order."""
        self._watts = watts
        self._clock = clock
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = int(self._socket.getsockname()[1])
        self._clients: list[socket.socket] = []
        self._queued: list[str] = []
        self._lock = threading.Lock()
        self._went_at: float | None = None
        self._every_s = 1.0
        self._made = 0
        self._asked = 0
        self._ended = False

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def measures(self) -> bool:
        """Whether `Go` was the last word."""
        return self._went_at is not None

    @property
    def went_at(self) -> float | None:
        """When `Go` came, by its clock."""
        return self._went_at

    def __enter__(self) -> NetworkMeterServer:
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self.drop()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def drop(self) -> None:
        """Lets go of the present client."""
        for client in self._clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def add(self, *watts: str) -> None:
        """Queues samples; each is one figure, or several with those of the channels behind."""
        with self._lock:
            self._queued += [self._sample(each.split()) for each in watts]

    def add_lines(self, *lines: str) -> None:
        """Queues lines as they are."""
        with self._lock:
            self._queued += lines

    def serve(self) -> None:
        """One client after the other, until it is closed."""
        while not self._ended:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self._clients = [client]
            with client, contextlib.suppress(OSError):
                self._attend(client)

    def _attend(self, client: socket.socket) -> None:
        with client.makefile("r", encoding="ascii", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                command = line.strip()
                self.commands.append(command)
                dead_after = self.behaviour.dead_after
                if dead_after is not None and len(self.commands) > dead_after:
                    return
                silent_after = self.behaviour.silent_after
                if silent_after is None or number <= silent_after:
                    self._say(client, self._answer(command))

    def _say(self, client: socket.socket, lines: Sequence[str]) -> None:
        text = "".join(f"{line}\r\n" for line in lines).encode("ascii")
        if not self.behaviour.cut:
            client.sendall(text)
            return
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(text[: len(text) // 2])
        client.sendall(text[len(text) // 2 :])

    def _answer(self, command: str) -> list[str]:
        name, *words = command.split(",")
        answers = {
            "Hello": lambda: [self.behaviour.hello],
            "Identify": lambda: [",".join(["WT310", *["0"] * (self.behaviour.fields - 1)])],
            "RR": lambda: [",".join(["Ranges", *self.behaviour.ranges])],
            "SR": lambda: [self._set_range(*words)],
            "Go": lambda: [self._go(*words)],
            "Timed": lambda: [self._go(*words)],
            "Stop": lambda: [self._stop()],
            "RL": self._unread,
            "Watts": lambda: ["Watts,200.0,100.0,300.0,240,2,0"],
            "Uncertainty": lambda: [
                f"Uncertainty,{','.join([self.behaviour.uncertainty] * 3)},9,0,0"
            ],
        }
        return answers[name]() if name in answers else [f"Error: unknown command {name}"]

    def _set_range(self, which: str, value: str) -> str:
        if self.behaviour.refuse_range:
            return f"Error: cannot set range {which}"
        at = 0 if which == "A" else 2
        automatic = value == "Auto"
        most = self.behaviour.ranges[at + 1] if automatic else value
        self.behaviour.ranges[at : at + 2] = ["1" if automatic else "0", most]
        return f"Range {which} changed"

    def _go(self, every_ms: str, *_: str) -> str:
        if self.measures:
            return "Error: measurement already running"
        self._every_s = int(every_ms) / 1000
        self._went_at, self._made, self._asked = self._clock(), 0, 0
        return (
            f"Starting untimed measurement, maximum 500000 samples at {every_ms}ms "
            "with 0 rampup samples"
        )

    def _stop(self) -> str:
        if self._went_at is None:
            return "Error: no measurement to stop"
        self._went_at = None
        return "Stopping untimed measurement"

    def _unread(self) -> list[str]:
        with self._lock:
            lines, self._queued = self._queued, []
        if self._watts is None and self.measures:
            self._asked += 1
            if self._asked == 2:
                lines.append(self._sample(self.behaviour.first.split()))
        lines = [*lines, *self._scripted()]
        return [f"Last {len(lines)} samples", *lines]

    def _scripted(self) -> list[str]:
        """Those that have become due since the last time."""
        if self._watts is None or self._went_at is None:
            return []
        due = int((self._clock() - self._went_at) / self._every_s)
        first, self._made = self._made, max(self._made, due)
        numbers = range(first + 1, due + 1)
        return [self._sample(self._figures_at(number * self._every_s)) for number in numbers]

    def _figures_at(self, t_s: float) -> list[str]:
        """What the script says of a moment after `Go`."""
        assert self._watts is not None
        rows = [line.split() for line in self._watts.read_text().splitlines() if line.strip()]
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0]
        passed = [row[1:] for row in rows if float(row[0]) <= t_s]
        return passed[-1] if passed else rows[0][1:]

    def _sample(self, figures: Sequence[str]) -> str:
        moment = datetime.now() - timedelta(seconds=self.behaviour.late_s)
        date = moment.strftime("%d-%m-%Y" if self.behaviour.day_first else "%m-%d-%Y")
        stamp = f"{date} {moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"
        rest = "Volts,-1.000000,Amps,-1.000000,PF,-1.000000"
        whole, *channels = figures
        told = [f"Time,{stamp},Watts,{whole},{rest},Mark,notset"]
        told += [f"Ch{place},Watts,{own},{rest}" for place, own in enumerate(channels, start=1)]
        return ",".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description="a stand-in for a network power meter")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--watts", type=Path, required=True, help="the script of its watts")
    parser.add_argument("--fields", type=int, choices=(12, 16), default=12)
    parser.add_argument("--late", type=float, default=0.0, help="seconds its stamps are behind")
    parser.add_argument("--uncertainty", default="0.310000")
    parser.add_argument("--cut", action="store_true", help="answers come in two pieces")
    parser.add_argument("--dead-after", type=int, help="commands after which it lets go")
    given = parser.parse_args()
    behaviour = Behaviour(
        fields=given.fields,
        uncertainty=given.uncertainty,
        late_s=given.late,
        cut=given.cut,
        dead_after=given.dead_after,
    )
    server = NetworkMeterServer(behaviour, given.watts, given.port)
    print(f"listening on {server.port}", flush=True)
    server.serve()


if __name__ == "__main__":
    main()
