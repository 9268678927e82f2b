"""Temperatures of the machine: sensors of hwmon, and thermal zones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.probes.base import Probe
from loadstone.results.machine_state import Temperature
from loadstone.results.sample import Sample

COLDEST, HOTTEST = -40.0, 150.0
"""Degrees Celsius. Beyond them a sensor is not connected, or says that it knows nothing."""
_AT_ALL_COLD = 0.0
"""A sensor that never says anything else than this does not measure."""


class TemperatureProbe(Probe):
    """Reads each sensor once a second.

    A thermal zone often is a sensor of hwmon seen another way: each stands by its own name, and
    nothing is added up.

    Args:
        machine: Whose `/sys` is read; another root in tests.
    """

    name = "host.temperature"

    def __init__(self, machine: Machine = THIS_MACHINE) -> None:
        self._machine = machine
        self._sensors: dict[str, Path] = {}
        self._readings: dict[str, list[tuple[float, float]]] = {}

    def start(self) -> None:
        """Finds the sensors."""
        self._sensors = {}
        for name, file in _sensors(self._machine):
            names = (name, *(f"{name} ({number})" for number in range(2, len(self._sensors) + 2)))
            free = next(each for each in names if each not in self._sensors)
            self._sensors[free] = file

    def sample(self, t_s: float) -> list[Sample]:
        """All that tell a temperature now."""
        found = []
        for name, file in self._sensors.items():
            celsius = _celsius(file)
            if celsius is not None:
                self._readings.setdefault(name, []).append((t_s, celsius))
                found.append(Sample(t_s, self.name, f"celsius:{name}", celsius))
        return found

    def stop(self) -> None:
        """Nothing is left open."""

    def over(self, from_s: float, to_s: float) -> list[Temperature]:
        """Each sensor over an interval of the trial; none of those that did not measure.

        Args:
            from_s: Begin on the trial's clock.
            to_s: Its end.
        """
        found = []
        for name, readings in self._readings.items():
            within = [celsius for t_s, celsius in readings if from_s <= t_s <= to_s]
            if within and any(celsius != _AT_ALL_COLD for _, celsius in readings):
                found.append(
                    Temperature(
                        sensor=name,
                        mean_celsius=fmean(within),
                        most_celsius=max(within),
                        simulated=self._machine.root != THIS_MACHINE.root,
                    )
                )
        return found


def _sensors(machine: Machine) -> Iterator[tuple[str, Path]]:
    """Name and file of each sensor; the files hold thousandths of a degree Celsius."""
    for chip in sorted(machine.at("/sys/class/hwmon").glob("hwmon[0-9]*")):
        for file in sorted(chip.glob("temp[0-9]*_input")):
            number = file.name.removesuffix("_input")
            label = _text(file.with_name(f"{number}_label")) or number
            yield f"{_text(chip / 'name') or chip.name} {label}", file
    for zone in sorted(machine.at("/sys/class/thermal").glob("thermal_zone[0-9]*")):
        yield f"zone {_text(zone / 'type') or zone.name}", zone / "temp"


def _celsius(file: Path) -> float | None:
    try:
        celsius = float(_text(file)) / 1e3
    except ValueError:
        return None
    return celsius if COLDEST <= celsius <= HOTTEST else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # a sensor that is asleep or gone answers with an error
        return ""
