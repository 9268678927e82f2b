"""Factors `host.<setting>`: the operating system, and how processes are started on it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from loadstone.errors import WrongInputError
from loadstone.factors.base import NEEDS_NOTHING, FactorInfo, FactorKind, Parts
from loadstone.host import cpu, cpulist, process, sysctl
from loadstone.host.locality import at_address, is_here
from loadstone.host.machine import THIS_MACHINE
from loadstone.host.registry import host_setting
from loadstone.host.settings import HostSetting
from loadstone.spec.base import Level
from loadstone.spec.target import PartSpec, TargetSpec

NEEDS_HOST = "the host"
"""Setting it changes the machine, for everything that runs on it."""
NEEDS_RESTART = "restart"


class HostFactor(FactorKind):
    """A setting of this machine, or an option with which the server or the driver is started."""

    prefix: ClassVar[str] = "host"
    about: ClassVar[str] = "a setting of this machine: host.vm.dirty_ratio (list host shows all)"

    def examine(self, parts: Parts, name: str, level: Level) -> FactorInfo:
        """Validates the level and asks the machine, without changing it."""
        part, plain = process.option_of(name) or ("", name)
        setting = host_setting(plain, parts.target)
        setting.check(level)
        return FactorInfo(
            f"{self.prefix}.{name}",
            level,
            _needs(plain),
            setting.unsafe(level),
            refused=_refused(parts.target, part, plain),
            unavailable=_elsewhere(parts.target, plain) or setting.unavailable(level),
        )

    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """Puts the level among the host's settings, or into the part that starts the process."""
        part, plain = process.option_of(name) or ("", name)
        text = host_setting(plain, parts.target).check(level)
        if plain == process.GENERATOR_CPUS:
            return replace(parts, profile=parts.profile.model_copy(update={"cpus": text}))
        if plain in process.SERVER_OPTIONS:
            return replace(parts, target=_started_with(parts.target, part, plain, text))
        others = {each: value for each, value in parts.host.items() if each not in _zeroed_by(name)}
        return replace(parts, host={**others, name: level})

    def check(self, parts: Parts) -> None:
        """Refuses levels that the kernel would not follow beside each other."""
        wanted = {
            name: host_setting(name, parts.target).check(level)
            for name, level in parts.host.items()
        }
        found = (*sysctl.problems(wanted, THIS_MACHINE), *cpu.problems(wanted, THIS_MACHINE))
        for _, message in found:
            raise WrongInputError(message)
        online = wanted.get("cpu.online")
        lists = (
            (process.SERVER_CPUS, parts.target.process.cpus),
            *(
                (f"{process.SERVER}.{name}.cpus", part.process.cpus)
                for name, part in parts.target.parts.items()
            ),
            (process.GENERATOR_CPUS, parts.profile.cpus),
        )
        for name, text in lists:
            cpus = text and host_setting(process.SERVER_CPUS).check(text)
            offline = cpulist.parse(cpus) - cpulist.parse(online) if cpus and online else None
            if offline:
                raise WrongInputError(
                    f"host.{name} names CPU {cpulist.shown(offline)}, "
                    f"which host.cpu.online {online} takes away"
                )


def present(name: str, target: TargetSpec) -> str:
    """The present value of a host setting; empty if there is none."""
    _, plain = process.option_of(name) or ("", name)
    value = host_setting(plain, target).read()
    return value if isinstance(value, str) else ""


def listed(setting: HostSetting) -> dict[str, str]:
    """A line of `loadstone list host`: the setting, its present value, whether it can be set."""
    value = setting.read()
    reason = setting.unavailable()
    seen = value if isinstance(value, str) else ""
    return {
        "name": f"host.{setting.name}",
        "now": f"{seen} ({reason})" if seen and reason else reason or seen,
        "takes": setting.levels.choices,
        "about": setting.about,
        "unavailable": reason or "",
        "source": setting.source,
    }


def _needs(name: str) -> str:
    if name in process.SERVER_OPTIONS:
        return NEEDS_RESTART
    return NEEDS_NOTHING if name == process.GENERATOR_CPUS else NEEDS_HOST


def _started_with(target: TargetSpec, part: str, name: str, text: str) -> TargetSpec:
    """The target, or a part of it, with a start option."""
    level: Level | None = text
    if name == process.SERVER_NOFILE:
        level = int(text)
    elif name == process.SERVER_QUOTA:
        level = None if text == process.NO_QUOTA else float(text)
    present = target.parts.get(part, PartSpec()).process if part else target.process
    options = present.model_copy(update={name.partition(".")[2]: level})
    if part:
        return target.with_part(part, process=options)
    return target.model_copy(update={"process": options})


def _refused(target: TargetSpec, part: str, name: str) -> str | None:
    """Why a start option can never be one of this target, or of this part.

    Raises:
        WrongInputError: If there is no such part.
    """
    from loadstone.targets.walk import part_in

    if name not in process.SERVER_OPTIONS:
        return None
    found = part_in(target, part)
    target, cls = found.spec, found.kind
    if at_address(target):
        return "Loadstone does not start the server at an address"
    if cls.serves:
        return None
    if cls.in_process:
        return f"{target.engine} runs in the driver: use host.{process.GENERATOR_CPUS}"
    return f"target {target.engine} has no server"


def _elsewhere(target: TargetSpec, name: str) -> str | None:
    """Why the host of the server is not this one."""
    if name == process.GENERATOR_CPUS or not at_address(target):
        return None
    host = unquote(urlsplit(target.server).hostname or "")
    return (
        None if is_here(host) else f"absent: the server runs on {host}, and this machine is another"
    )


def _zeroed_by(name: str) -> tuple[str, ...]:
    other = sysctl.COUNTERPARTS.get(name)
    return (other,) if other else ()
