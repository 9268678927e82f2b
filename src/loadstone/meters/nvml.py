"""Power of graphics boards of NVIDIA, by the driver's own library (NVML).

A board has an energy counter from Volta on; older ones tell the power of the moment, and some tell
nothing. A slice of a board (MIG) has no power of its own: the figure is that of the whole board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from loadstone.journal import Journal
from loadstone.meters.base import REAL_ROOT, Channel, Found, MeterError
from loadstone.meters.polled import PolledMeter, Value
from loadstone.results.record import Notice
from loadstone.spec.meters import NvmlSpec

SCOPE: Literal["gpu"] = "gpu"
_MILLI = 1000.0
_NO_FIGURE = 0xFFFF_FFFF
"""Said of a power that is not known."""


@dataclass(frozen=True)
class Board:
    """A graphics board, and how its power can be read."""

    channel: str
    handle: Any
    title: str
    form: Literal["counter", "gauge"] | None
    """None: it tells no power."""
    most_w: float | None
    sliced: bool


class NvmlMeter(PolledMeter[NvmlSpec]):
    """Reads every board of this machine."""

    kind = "nvml"

    def __init__(self, spec: NvmlSpec, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._library: ModuleType | None = None
        self._boards: list[Board] = []

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Each board; one that tells no power says so."""
        try:
            library = _opened()
        except MeterError as error:
            return [Found(cls.kind, scope=SCOPE, missing=error.message)]
        try:
            boards = _boards(library)
        finally:
            library.nvmlShutdown()
        none = [Found(cls.kind, scope=SCOPE, missing="the driver knows no board")]
        return [
            Found(
                cls.kind,
                board.channel,
                SCOPE,
                f"{board.title}, the whole board" if board.sliced else board.title,
                missing="" if board.form else "it tells no power",
            )
            for board in boards
        ] or none

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Opens the library, and looks at what each board tells."""
        self._library = library = _opened()
        self._boards = [board for board in _boards(library) if board.form is not None]
        if not self._boards:
            raise MeterError(f"the meter {self.name}: no board of this machine tells its power")
        return [
            Channel(board.channel, SCOPE, board.form, most_w=board.most_w)
            for board in self._boards
            if board.form is not None
        ]

    def ask(self) -> Sequence[Value]:
        """Joules, or watts, of each board."""
        if self._library is None:
            raise MeterError(f"the meter {self.name} is not open")
        values = [_value(self._library, board) for board in self._boards]
        if all(value.invalid for value in values):
            raise MeterError(values[0].invalid)
        return values

    def close(self) -> None:
        """Lets go of the library."""
        if self._library is not None:
            self._library.nvmlShutdown()
            self._library = None

    def notices(self) -> list[Notice]:
        """Also that a board is shared in slices."""
        found = super().notices()
        if sliced := [board.channel for board in self._boards if board.sliced]:
            said = f"shows the whole of {', '.join(sliced)}, which is divided into slices (MIG)"
            advice = "keep the other slices idle: their power is in the figure"
            found.append(self.notice("meter-sliced", said, advice))
        return found


def _opened() -> ModuleType:
    """The library of the driver.

    Raises:
        MeterError: If it is not there, or does not answer.
    """
    try:
        import pynvml
    except ImportError:
        raise MeterError(
            "the package nvidia-ml-py is not installed: loadstone[nvml] brings it"
        ) from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise MeterError(f"no driver of NVIDIA answers ({error})") from None
    found: ModuleType = pynvml
    return found


def _boards(library: ModuleType) -> list[Board]:
    found = []
    for place in range(library.nvmlDeviceGetCount()):
        handle = library.nvmlDeviceGetHandleByIndex(place)
        limit_mw = _answer(library, library.nvmlDeviceGetEnforcedPowerLimit, handle)
        slices = _answer(library, library.nvmlDeviceGetMigMode, handle)
        found.append(
            Board(
                channel=f"gpu{place}",
                handle=handle,
                title=_text(_answer(library, library.nvmlDeviceGetName, handle)),
                form=_form(library, handle),
                most_w=None if limit_mw is None else limit_mw / _MILLI,
                sliced=slices is not None and slices[0] == 1,
            )
        )
    return found


def _form(library: ModuleType, handle: Any) -> Literal["counter", "gauge"] | None:
    if _answer(library, library.nvmlDeviceGetTotalEnergyConsumption, handle) is not None:
        return "counter"
    watts = _answer(library, library.nvmlDeviceGetPowerUsage, handle)
    return None if watts is None else "gauge"


def _value(library: ModuleType, board: Board) -> Value:
    question = (
        library.nvmlDeviceGetTotalEnergyConsumption
        if board.form == "counter"
        else library.nvmlDeviceGetPowerUsage
    )
    said = _answer(library, question, board.handle)
    if said is None or said == _NO_FIGURE:
        return Value(board.channel, invalid=f"{board.channel} tells no figure")
    return Value(board.channel, said / _MILLI)


def _answer(library: ModuleType, question: Callable[[Any], Any], handle: Any) -> Any:
    """What a board answers; None if it does not know."""
    try:
        return question(handle)
    except library.NVMLError:
        return None


def _text(name: Any) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name or "a board")
