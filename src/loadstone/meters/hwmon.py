"""Power sensors of boards and power supplies, as the kernel's hwmon shows them.

Source: https://docs.kernel.org/hwmon/sysfs-interface.html: `power*_input` and `power*_average` in
microwatts. Some drivers are wrong by a factor of 1000: compare them with another meter once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.machine import Absent, Denied, Machine, read
from loadstone.journal import Journal
from loadstone.meters.base import Channel, Found, MeterError
from loadstone.meters.polled import PolledMeter, Value
from loadstone.spec.meters import HwmonSpec, Scope

_LINKS = "/sys/class/hwmon"
_MICRO = 1e6
_FILE = re.compile(r"(power\d+)_(input|average)")
_WHOLE = re.compile(r"pin\d?|in|.*total.*|.*\bsum\b.*", re.IGNORECASE)
"""Labels of what contains the other sensors of its chip: the input of a supply beside its rails."""
_GPUS = ("amdgpu", "i915", "nouveau", "xe")
_SENTINELS = {-1, 2**32 - 1, (2**32 - 1) * 1000, 2**63 - 1}
"""Values that drivers show instead of an error, in microwatts."""
_GIVES = "Discharging"
"""State of a battery that the machine runs on."""
_MOST_W = 100_000.0
_NONE = f"{_LINKS} has no sensor of power (power*_input, power*_average)"


@dataclass(frozen=True)
class Sensor:
    """A file with watts.

    Attributes:
        file: Where it is.
        chip: Name of the chip's driver, and its device where several chips have that name.
        label: What the chip calls it, else its number: `pin`, `power2`.
        driver: Name of the chip's driver.
    """

    file: Path
    chip: str
    label: str
    driver: str

    @property
    def channel(self) -> str:
        """What it is called here."""
        return f"{self.chip}:{self.label}"

    @property
    def is_whole(self) -> bool:
        """Whether it contains the others of its chip."""
        return _WHOLE.fullmatch(self.label) is not None

    @property
    def missing(self) -> str:
        """Why it cannot be read; empty: it can."""
        text = read(self.file)
        return text.reason if isinstance(text, Absent | Denied) else self.not_now

    @property
    def is_battery(self) -> bool:
        """Whether it tells what goes into or out of a battery."""
        return read(self.file.with_name("device") / "type") == "Battery"

    @property
    def not_now(self) -> str:
        """Why its value is not the power of the machine at present; empty: it is.

        A battery that is charged shows what it takes itself.
        """
        if not self.is_battery:
            return ""
        status = read(self.file.with_name("device") / "status")
        if status == _GIVES:
            return ""
        told = status.lower() if isinstance(status, str) else "in an unknown state"
        return f"the battery is {told}: it shows the power of the machine only while it gives it"

    @property
    def mean_over_s(self) -> float:
        """Seconds of which its value is the mean; 0: it is of a moment."""
        interval = read(self.file.with_name(f"{self.file.name}_interval"))
        if not self.file.name.endswith("_average") or not isinstance(interval, str):
            return 0.0
        return int(interval) / 1000 if interval.isdigit() else 0.0


class HwmonMeter(PolledMeter[HwmonSpec]):
    """Reads every sensor of power."""

    kind = "hwmon"
    _sensors: Sequence[Sensor] = ()

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """The sensors below a root."""
        found = [
            Found(
                *(cls.kind, each.channel, _usual_scope(each)),
                f"power of {each.label} of {each.driver} ({each.file.name})",
                each.missing,
            )
            for each in sensors_below(root)
        ]
        return found or [Found(cls.kind, missing=_NONE)]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Looks for the sensors; one that is named and cannot be read ends it."""
        sensors = sensors_below(self.root)
        named = [each for each in sensors if each.channel in self.spec.channels]
        unread = next((each for each in named if each.missing), None)
        self._sensors = [each for each in sensors if not each.missing]
        if unread is not None or not self._sensors:
            first = unread or next(iter(sensors), None)
            raise MeterError(f"{first.channel}: {first.missing}" if first else _NONE)
        return [self._channel(each) for each in self._sensors]

    def ask(self) -> Sequence[Value]:
        """Reads every sensor once."""
        return [
            Value(each.channel, invalid=reason)
            if (reason := each.not_now)
            else Value(each.channel, *value_of(read(each.file)))
            for each in self._sensors
        ]

    def close(self) -> None:
        """Nothing is open."""

    def _channel(self, sensor: Sensor) -> Channel:
        whole = [
            each.channel
            for each in self._sensors
            if each.chip == sensor.chip and each.is_whole and not sensor.is_whole
        ]
        stated = "scope" in self.spec.model_fields_set
        return Channel(
            sensor.channel,
            self.spec.scope if stated else _usual_scope(sensor),
            "gauge",
            mean_over_s=sensor.mean_over_s,
            parts_of=whole[0] if whole else "",
        )


def sensors_below(root: Path) -> list[Sensor]:
    """All sensors of power, in the order of their chips; of one with both files, `input`.

    Args:
        root: `/`, or a tree that stands for it.
    """
    links = sorted(Machine(root).at(_LINKS).glob("hwmon*"), key=lambda each: each.name)
    folders = [each for each in links if each.resolve().is_relative_to(root.resolve())]
    drivers = {each: str(name) for each in folders if isinstance(name := read(each / "name"), str)}
    often = Counter(drivers.values())
    sensors = []
    for folder, driver in drivers.items():
        device = (folder / "device").resolve().name if (folder / "device").exists() else folder.name
        chip = driver if often[driver] == 1 else f"{driver}-{device}"
        files: dict[str, Path] = {}
        for path in sorted(folder.iterdir(), reverse=True):  # input comes before average
            match = _FILE.fullmatch(path.name)
            if match and match[1] not in files:
                files[match[1]] = path
        for number, path in sorted(files.items()):
            label = read(folder / f"{number}_label")
            sensors.append(Sensor(path, chip, label if isinstance(label, str) else number, driver))
    return sensors


def value_of(text: str | Absent | Denied) -> tuple[float, str]:
    """Watts of the text of a sensor's file, and why they are none."""
    if not isinstance(text, str):
        return 0.0, text.reason
    try:
        microwatts = float(text)
    except ValueError:
        return 0.0, "no number"
    if not math.isfinite(microwatts) or microwatts in _SENTINELS:
        return 0.0, f"{text} stands for no reading"
    if microwatts < 0:
        return 0.0, "a negative power"
    if microwatts / _MICRO > _MOST_W:
        return 0.0, "more than 100 kW: the driver's unit may be wrong by 1000"
    return microwatts / _MICRO, ""


def _usual_scope(sensor: Sensor) -> Scope:
    if sensor.is_battery:
        return "platform"
    return "gpu" if sensor.driver in _GPUS else "board"
