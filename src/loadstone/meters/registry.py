"""The kinds of meters there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.meters.base import REAL_ROOT, AnyMeter, Found, Meter
from loadstone.registered import Registered, unfit_class
from loadstone.spec.meters import MeterBase
from loadstone.spec.problems import near

METERS: Registered[type[AnyMeter]] = Registered(
    {
        "powercap": "loadstone.meters.powercap:PowercapMeter",
        "hwmon": "loadstone.meters.hwmon:HwmonMeter",
        "ipmi": "loadstone.meters.ipmi:IpmiMeter",
        "redfish": "loadstone.meters.redfish:RedfishMeter",
        "nvml": "loadstone.meters.nvml:NvmlMeter",
        "perf": "loadstone.meters.perf:PerfMeter",
        "network": "loadstone.meters.network:NetworkMeter",
        "command": "loadstone.meters.command:CommandMeter",
        "file": "loadstone.meters.file:FileMeter",
        "estimate": "loadstone.meters.estimate:EstimateMeter",
    },
    group="loadstone.meters",
    unfit=unfit_class(Meter, named_by="kind"),
)


def no_meter(kind: str) -> str:
    """Why there is no meter of that kind."""
    return METERS.left_out.get(kind) or f"there is no meter {kind!r}; {near(kind, METERS)}"


def meter_for(spec: MeterBase, root: Path = REAL_ROOT) -> AnyMeter:
    """The meter that an experiment describes; nothing is opened.

    Args:
        spec: Of any kind.
        root: What it reads of sysfs and procfs lies below.

    Raises:
        WrongInputError: If there is no such kind.
    """
    if spec.kind not in METERS:
        raise WrongInputError(no_meter(spec.kind))
    return METERS[spec.kind](spec, root)


def found_here(root: Path = REAL_ROOT) -> Sequence[Found]:
    """What this machine has of each kind, or why not."""
    return [found for meter in METERS.values() for found in meter.found(root)]


def register_undoing() -> None:
    """Imports every kind, with which each registers how its changes are undone."""
    for _ in METERS.values():
        pass
