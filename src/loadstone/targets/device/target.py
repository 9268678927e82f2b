"""A block device as a system under test: a whole disk, a partition, a loop device.

What is on it is lost when a load writes: so it must be empty, and be named a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.protocol.programs import DRIVER, Program
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import ProcessSpec, TargetSpec, default_server
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.capabilities import OVERWRITING, SYNCS
from loadstone.targets.connection import Connection
from loadstone.targets.device.claim import Claim, examined
from loadstone.targets.device.first import FIRST_FILE

ERASE = "erase"
"""The setting that names the device a second time."""


def named_again(level: Level, field: str, name: str | None) -> SettingInfo:
    """The setting `erase` of a disk that the field of the target names.

    Raises:
        WrongInputError: If the two differ.
    """
    if level != name:
        raise WrongInputError(
            f"{ERASE} names {level}, and {field} {name}: the disk that may be written over is "
            "named twice, in the same words"
        )
    return SettingInfo(ERASE, needs="restart")


@dataclass(frozen=True)
class DeviceConnection(Connection):
    """The device; whoever makes the load opens it itself."""

    files: ClassVar[int] = 0

    path: Path
    program: Program = DRIVER
    host: str = ""

    def plan(self) -> dict[str, Any]:
        """Its path."""
        return {"protocol": "device", "path": str(self.path)}


class Device(Target):
    """A device that is only read: what is on it stays."""

    engine = "device"
    first_file = FIRST_FILE
    capabilities: ClassVar[frozenset[str]] = frozenset({"file-access", *SYNCS})
    data_is_folder = False
    erased: ClassVar[bool] = False
    """Its loads may write."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._claim: Claim | None = None

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """One that may be written over is named twice."""
        return ErasedDevice if ERASE in spec.settings else Device

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The device, with what tells it from others."""
        if spec.server != default_server(spec.engine) or spec.process != ProcessSpec():
            raise WrongInputError("target device has no server", advice="leave server out")
        found = examined(device_of(spec), empty=cls.erased)
        return {"engine": cls.engine, "device": found.text()}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Only `erase`, which repeats the name of the device."""
        if name != ERASE:
            return super().setting(spec, name, level)
        return named_again(level, "data", spec.data)

    @property
    def claim(self) -> Claim:
        """The device, while the target is open."""
        if self._claim is None:
            raise TargetError("the target is not open")
        return self._claim

    def open(self) -> None:
        """Takes the device for itself."""
        self._claim = Claim(device_of(self.spec), writing=self.erased)

    def close(self) -> None:
        """Lets it go."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Nothing is made on it: the load decides what is written."""
        return self._readings(spec)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """As `empty`: what it holds is not kept."""
        return self._readings(spec)

    def laying_out(self, names: Sequence[str]) -> AbstractContextManager[Sequence[Path]]:
        """All of them are the begin of the device; none of one that is only read."""
        self.claim.confirm()
        return nullcontext([self.claim.path] if self.erased and names else [])

    def disk_bytes(self) -> int:
        """Of the device."""
        return self.claim.device.size_bytes

    def settle(self, cache: str) -> None:
        """Flushes it and drops the kernel's pages of it: there is no warm cache of a device."""
        self.claim.settle()

    def connection(self) -> DeviceConnection:
        """The device, if its name still leads to it."""
        self.claim.confirm()
        return DeviceConnection(self.claim.path)

    def inventory(self) -> dict[str, Any]:
        """What it is."""
        return {"engine": self.engine, "device": self.claim.device.facts()}

    def identity(self) -> str:
        """Serial number, partition and size."""
        return self.claim.device.lasting()

    def data_folder(self) -> Path:
        """The device itself."""
        return self.claim.path

    def _readings(self, spec: TargetSpec) -> list[FactorReading]:
        self.claim.confirm()
        return [
            FactorReading(
                factor=f"target.{name}", requested=level, read_back=str(self.claim.path), how="plan"
            )
            for name, level in spec.settings.items()
        ]


class ErasedDevice(Device):
    """A device that was named twice: all that is on it may be written over."""

    capabilities: ClassVar[frozenset[str]] = Device.capabilities | {OVERWRITING}
    erased = True


def device_of(spec: TargetSpec) -> Path:
    """The path that a spec names.

    Raises:
        WrongInputError: If it names none.
    """
    if spec.data is None:
        raise WrongInputError("target device needs a device", advice="name it: --on /dev/NAME")
    return Path(spec.data)
