"""Power by Redfish: what a server's management controller says over HTTPS.

Sources: DMTF DSP0266 (paths, basic authentication) and DSP0268 (`Power`, which newer controllers
replace by `EnvironmentMetrics`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from loadstone.journal import Journal
from loadstone.meters.base import REAL_ROOT, Channel, Found, MeterError
from loadstone.meters.polled import PolledMeter, Value
from loadstone.meters.redfish_client import RedfishClient
from loadstone.spec.meters import RedfishSpec

SCOPE: Literal["platform"] = "platform"
CHASSIS = "/redfish/v1/Chassis"
PLACES = ("Power", "EnvironmentMetrics")
"""Below a chassis: where its power is, the older one first."""
_OFF = frozenset({"Absent", "Disabled", "UnavailableOffline"})
"""States (DSP0268, `Status.State`) in which a reading is none."""
_NONE = "PowerConsumedWatts is null"


def values_of(document: Mapping[str, Any], chassis: str) -> Iterator[Value]:
    """What a document says of the power of a chassis.

    Args:
        document: A `Power` or an `EnvironmentMetrics`.
        chassis: Its id. The first power control is called so, the others `ID/NAME`.
    """
    controls = document.get("PowerControl")
    if not isinstance(controls, list):
        sensor = document.get("PowerWatts")
        if isinstance(sensor, Mapping):
            yield _value(chassis, sensor.get("Reading"), sensor)
        return
    for place, control in enumerate(controls):
        if isinstance(control, Mapping):
            own = control.get("Name") or control.get("MemberId") or place
            name = chassis if place == 0 else f"{chassis}/{own}"
            yield _value(name, control.get("PowerConsumedWatts"), control)


def _value(name: str, watts: object, said: Mapping[str, Any]) -> Value:
    status = said.get("Status")
    state = status.get("State") if isinstance(status, Mapping) else None
    if state in _OFF:
        return Value(name, invalid=f"its state is {state}")
    if isinstance(watts, bool) or not isinstance(watts, int | float):
        return Value(name, invalid=_NONE)
    if watts <= 0:
        return Value(name, invalid=f"it says {watts:g} W")
    return Value(name, float(watts))


class RedfishMeter(PolledMeter[RedfishSpec]):
    """Asks a controller for the power of one chassis, or of all that have it."""

    kind = "redfish"

    def __init__(self, spec: RedfishSpec, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._client: RedfishClient | None = None
        self._paths: dict[str, str] = {}
        """Chassis: path of its power."""

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Nothing of this machine says where its controller is, and what password it has."""
        missing = "name its address: address: https://CONTROLLER"
        return [Found(cls.kind, scope=SCOPE, missing=missing)]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Connects, and looks for what has power."""
        self._client = RedfishClient(self.spec)
        self._paths = self._found_paths(self._client)
        values = self.ask()
        if all(value.invalid for value in values):
            reason = values[0].invalid if values else "it has no chassis with power"
            raise MeterError(f"the meter {self.name} tells no power: {reason}")
        return [
            Channel(value.channel, SCOPE, "gauge", parts_of=self._whole(value.channel))
            for value in values
        ]

    def ask(self) -> Sequence[Value]:
        """The power of each chassis."""
        if self._client is None:
            raise MeterError(f"the meter {self.name} is not open")
        return [
            value
            for chassis, path in self._paths.items()
            for value in values_of(self._client.get(path), chassis)
        ]

    def close(self) -> None:
        """Lets go of the controller."""
        if self._client is not None:
            self._client.close()

    def _found_paths(self, client: RedfishClient) -> dict[str, str]:
        """Where the power is: at the path that was stated, or of every chassis."""
        if self.spec.chassis is not None:
            path = self.spec.chassis.rstrip("/")
            parts = path.split("/")
            chassis = parts[-2] if parts[-1] in PLACES and len(parts) > 1 else parts[-1]
            places = [path] if parts[-1] in PLACES else [f"{path}/{place}" for place in PLACES]
            at = _first(client, places)
            return {chassis: at} if at else {}
        members = client.get(CHASSIS).get("Members")
        found = {}
        for member in members if isinstance(members, list) else ():
            path = str(member.get("@odata.id", "")) if isinstance(member, Mapping) else ""
            at = _first(client, [f"{path.rstrip('/')}/{place}" for place in PLACES]) if path else ""
            if at:
                found[path.rstrip("/").rpartition("/")[2]] = at
        return found

    def _whole(self, channel: str) -> str:
        """The chassis that a power control is a part of; empty of the chassis itself."""
        chassis = channel.partition("/")[0]
        return "" if channel == chassis else chassis


def _first(client: RedfishClient, paths: Sequence[str]) -> str:
    """The first of the paths at which there is something with power; empty if none has."""
    for path in paths:
        document = client.look(path)
        if document is not None and any(True for _ in values_of(document, "")):
            return path
    return ""
