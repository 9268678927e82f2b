"""Power by IPMI: what a server's management controller says to `ipmitool dcmi power reading`.

Only the power of the moment is taken. The average that it tells is since the controller's own
start, and its clock is often wrong (DCMI 1.5, section 6.6.1).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadstone.errors import WrongInputError
from loadstone.journal import Journal
from loadstone.meters import programs
from loadstone.meters.base import Channel, Found, MeterError
from loadstone.meters.polled import PolledMeter, Value
from loadstone.results.record import Notice
from loadstone.spec.meters import IpmiSpec
from loadstone.spec.referred import referred

PROGRAM = "ipmitool"
CHANNEL = "system"
SCOPE: Literal["platform"] = "platform"
"""A controller tells what the supplies of the whole system draw or deliver."""
ANSWER_S = 60.0
"""So long a controller may take: some need many seconds for a reading."""
_QUESTION = ("dcmi", "power", "reading")
_DEVICES = ("dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0")
_WATTS = re.compile(r"^\s*Instantaneous power reading:\s*(\d+)\s*Watts", re.MULTILINE)
_STATE = re.compile(r"^\s*Power reading state is:\s*(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """What a controller answered."""

    watts: float
    state: str
    """`activated`, `deactivated`; empty if it does not say."""


def parse(text: str) -> Said:
    """Reads the output of `ipmitool dcmi power reading`.

    Raises:
        MeterError: If there is no power in it.
    """
    watts, state = _WATTS.search(text), _STATE.search(text)
    if watts is None:
        raise MeterError(f"{PROGRAM} tells no power of the moment: the controller has no DCMI")
    return Said(float(watts[1]), state[1].lower() if state else "")


class IpmiMeter(PolledMeter[IpmiSpec]):
    """Asks the controller of this machine, or one at an address."""

    kind = "ipmi"
    _deactivated = 0

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """The controller of this machine; it is not asked."""
        what = "power of the server, by its management controller"
        return [Found(cls.kind, CHANNEL, SCOPE, what, missing=_missing(root))]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Asks once."""
        if self.spec.address is None and (missing := _missing(self.root)):
            raise MeterError(f"the meter {self.name} cannot be read: {missing}")
        parse(programs.ask(self.command(), ANSWER_S, PROGRAM, self._secret()))
        return [Channel(CHANNEL, SCOPE, "gauge")]

    def ask(self) -> Sequence[Value]:
        """The power of the moment; 0 W is no power of a machine that answers."""
        said = parse(programs.ask(self.command(), ANSWER_S, PROGRAM, self._secret()))
        self._deactivated += said.state == "deactivated"
        return [Value(CHANNEL, said.watts, invalid="" if said.watts > 0 else "it says 0 W")]

    def close(self) -> None:
        """Nothing is open."""

    def command(self) -> list[str]:
        """The program and its words; the password is in its environment."""
        if self.spec.address is None:
            return [PROGRAM, *_QUESTION]
        as_whom = ["-U", self.spec.user] if self.spec.user else []
        password = ["-E"] if self.spec.password else []
        remote = ["-I", "lanplus", "-H", self.spec.address, *as_whom, *password]
        return [PROGRAM, *remote, *_QUESTION]

    def notices(self) -> list[Notice]:
        """Also that the controller calls its own reading deactivated."""
        found = super().notices()
        if self._deactivated:
            said = f"says that its reading is deactivated, {self._deactivated} times"
            advice = "compare its watts with another meter: they may be right all the same"
            found.append(self.notice("meter-deactivated", said, advice))
        return found

    def _secret(self) -> dict[str, str]:
        if self.spec.address is None or self.spec.password is None:
            return {}
        try:
            return {"IPMI_PASSWORD": referred(self.spec.password, "the password of the controller")}
        except WrongInputError as error:
            raise MeterError(error.message, advice=error.advice) from None


def _missing(root: Path) -> str:
    if shutil.which(PROGRAM) is None:
        return f"the program {PROGRAM} is not installed"
    if not any((root / device).exists() for device in _DEVICES):
        return "there is no /dev/ipmi0: no management controller, or its driver is not loaded"
    return ""
