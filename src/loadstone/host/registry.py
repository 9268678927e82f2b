"""The host settings there are, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.host import cpu, hugepages, power_limit, process, queue, sysctl
from loadstone.host.locality import data_folder
from loadstone.host.machine import THIS_MACHINE, Absent, Machine
from loadstone.host.settings import HostSetting
from loadstone.spec.target import TargetSpec

FORMS = (
    "host.vm.NAME", "host.kernel.NAME", "host.net.NAME", "host.fs.NAME",
    "host.transparent_hugepages", "host.hugepages.SIZE", "host.queue.NAME", "host.cpu.NAME",
    "host.power.NAME", "host.server.NAME", "host.generator.cpus",
)  # fmt: skip


def host_setting(
    name: str, target: TargetSpec | None = None, machine: Machine = THIS_MACHINE
) -> HostSetting:
    """The setting of a name; whether this machine allows it, the setting itself says.

    Args:
        name: Without `host.`.
        target: Whose data decide which disk `queue.FIELD` means; None for the usual folder.
        machine: In tests another.

    Raises:
        WrongInputError: If there is no such setting.
    """
    family = name.partition(".")[0]
    if family in sysctl.PREFIXES:
        return sysctl.setting(name, machine)
    if family in hugepages.PREFIXES:
        return hugepages.setting(name, machine)
    if family == queue.PREFIX:
        return queue.setting(name, data_folder(target), machine)
    if family == cpu.PREFIX:
        return cpu.setting(name, machine)
    if family == power_limit.PREFIX:
        return power_limit.setting(name, machine)
    if family in process.PREFIXES:
        return process.setting(name, machine)
    raise WrongInputError(
        f"there is no host setting {name!r}",
        advice=f"write one of {', '.join(FORMS)}; loadstone list host shows them",
    )


def all_known(
    data: Path | Absent | None = None, machine: Machine = THIS_MACHINE
) -> Iterator[HostSetting]:
    """Every setting that Loadstone describes, whether or not this machine has it."""
    yield from sysctl.all_known(machine)
    yield from hugepages.all_known(machine)
    yield from queue.all_known(data if data is not None else data_folder(None), machine)
    yield from cpu.all_known(machine)
    yield from power_limit.all_known(machine)
    yield from process.all_known(machine)
