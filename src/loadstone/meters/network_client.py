"""A client of a network meter: one command, one answer, each in bounded time."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from typing import Any, Literal

from loadstone.errors import WrongInputError
from loadstone.journal import undoes
from loadstone.meters import network_lines as lines
from loadstone.meters.base import MeterError

UNDO = "network-meter-ranges"
ANSWER_S = 5.0
"""So long a meter may take for one answer."""
Which = Literal["A", "V"]
"""Of a range: amperes or volts."""

_MOST_UNREAD = 500_000
"""Samples of one measurement that such a daemon keeps at most."""
_SHOWN = 120
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<host>[^\s:\[\]/@]+))(?::(?P<port>\d+))?")


class LostError(MeterError):
    """Nothing answers at the address, or no more."""


class UnwillingError(MeterError):
    """The meter has answered, and not with what was asked for."""


def place_of(address: str) -> tuple[str, int]:
    """Host and port of `meter.lab`, `meter.lab:8888`, `[fd00::7]:8888`.

    Raises:
        WrongInputError: If it is no such address.
    """
    found = _ADDRESS.fullmatch(address.strip())
    port = int(found["port"] or lines.PORT) if found else 0
    if found is None or not 0 < port < 65_536:
        raise WrongInputError(
            "the address of a network meter cannot be read",
            advice=f"write HOST or HOST:PORT, as meter.lab:{lines.PORT}",
        )
    return found["v6"] or found["host"], port


class NetworkClient:
    """A connection. Such a daemon serves one client: another one waits for an answer in vain.

    Args:
        host: Of the daemon.
        port: Of the daemon.
        within_s: For each answer; default: `ANSWER_S`.

    Raises:
        LostError: If nothing answers.
        UnwillingError: If what answers is no such meter.
    """

    def __init__(self, host: str, port: int, within_s: float | None = None) -> None:
        self.place = f"{host}:{port}"
        self._within_s = ANSWER_S if within_s is None else within_s
        self._read = bytearray()
        try:
            self._socket = socket.create_connection((host, port), self._within_s)
        except OSError as error:
            raise LostError(
                f"no meter answers at {self.place}: {error.strerror or error}",
                advice="see whether its daemon runs there, and whether a firewall is between",
            ) from error
        try:
            said = self.ask("Hello")
        except LostError as error:
            self.close()
            raise LostError(
                f"{error.message}: it may serve another client",
                advice="such a daemon serves one client at a time: end the other one",
            ) from None
        if said != lines.HELLO:
            self.close()
            raise UnwillingError(f"what answers at {self.place} is no network meter")

    def close(self) -> None:
        """Lets go of the daemon."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def ask(self, command: str) -> str:
        """Sends a command and takes the first line of its answer.

        Raises:
            LostError: If there is none in time.
        """
        until = time.monotonic() + self._within_s
        try:
            self._socket.settimeout(self._within_s)
            self._socket.sendall(f"{command}\r\n".encode("ascii"))
        except OSError as error:
            raise self._lost(error) from error
        return self._line(until)

    def willing(self, command: str) -> str:
        """As `ask`, of a command that can be refused.

        Raises:
            UnwillingError: If it was.
        """
        said = self.ask(command)
        if said.startswith("Error"):
            raise UnwillingError(f"the meter at {self.place} says {said[:_SHOWN]!r} to {command}")
        return said

    def identity(self) -> str:
        """Its name."""
        with self._understood():
            return lines.read_identity(self.willing("Identify"))

    def ranges(self) -> lines.Ranges:
        """Those that are set."""
        with self._understood():
            return lines.read_ranges(self.willing("RR"))

    def set_range(self, which: Which, setting: str) -> None:
        """Sets a range, as `0.5` or `Auto`."""
        self.willing(f"SR,{which},{setting}")

    def go(self, every_s: float) -> None:
        """Begins to measure."""
        self.willing(f"Go,{round(every_s * 1000)},0")

    def stop(self) -> bool:
        """Ends the measurement.

        Returns:
            Whether there was one.
        """
        return not self.ask("Stop").startswith("Error")

    def unread(self) -> list[lines.MeterSample | lines.LineError]:
        """The samples since the last time; an error in the place of a line that is none."""
        until = time.monotonic() + self._within_s
        with self._understood():
            count = lines.read_count(self.willing("RL"))
        if count > _MOST_UNREAD:
            raise UnwillingError(f"the meter at {self.place} says that {count} samples are unread")
        found: list[lines.MeterSample | lines.LineError] = []
        for _ in range(count):
            try:
                found.append(lines.read_sample(self._line(until)))
            except lines.LineError as error:
                found.append(error)
        return found

    def statistic(self, name: Literal["Watts", "Uncertainty"]) -> lines.Statistic:
        """What it says of all samples since `Go`."""
        with self._understood():
            return lines.read_statistic(self.willing(name), name)

    @contextlib.contextmanager
    def _understood(self) -> Any:
        try:
            yield
        except lines.LineError as error:
            raise UnwillingError(f"the meter at {self.place}: {error}") from None

    def _line(self, until: float) -> str:
        """The next line that is whole, however many pieces it comes in."""
        while (end := self._read.find(b"\n")) < 0:
            try:
                self._socket.settimeout(max(0.001, until - time.monotonic()))
                piece = self._socket.recv(1 << 16)
            except OSError as error:
                raise self._lost(error) from error
            if not piece:
                raise LostError(f"the meter at {self.place} has closed the connection")
            self._read += piece
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line.decode("ascii", errors="replace").strip()

    def _lost(self, error: OSError) -> LostError:
        if isinstance(error, TimeoutError):
            why = f"does not answer within {self._within_s:g} s"
        else:
            why = f"is lost: {error.strerror or error}"
        return LostError(f"the meter at {self.place} {why}")


def set_ranges(host: str, port: int, settings: dict[str, str]) -> None:
    """Ends a measurement that is under way, and sets ranges.

    Args:
        host: Of the daemon.
        port: Of the daemon.
        settings: `A` and `V`, or one of them: `0.5`, `Auto`.

    Raises:
        MeterError: If the meter is lost, refuses, or says other ranges afterwards.
    """
    client = NetworkClient(host, port)
    try:
        client.stop()
        for which, setting in settings.items():
            client.willing(f"SR,{which},{setting}")
        seen = client.ranges()
    finally:
        client.close()
    found = {"A": seen.amps.setting, "V": seen.volts.setting}
    other = [which for which, setting in settings.items() if found[which] != setting]
    if other:
        raise UnwillingError(
            f"range {other[0]} of the meter at {host}:{port} was set to {settings[other[0]]}, but "
            f"the meter says {found[other[0]] or 'nothing'}"
        )


@undoes(UNDO)
def undo(data: dict[str, Any]) -> None:
    """Puts the ranges of a meter back as they were found.

    Raises:
        MeterError: If they are not so afterwards.
    """
    set_ranges(str(data["host"]), int(data["port"]), dict(data["settings"]))
