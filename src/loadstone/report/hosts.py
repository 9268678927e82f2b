"""The machines of two results: what of them differs, the large things first.

Two hosts differ in a hundred facts of their inventories. Those that decide what a machine does, and
what it takes for it, are told one by one: physical or virtual, processor, memory, firmware, system,
disks, Java runtime, power meters. All others are left to `differences`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadstone.report.model.comparisons import HostDifference
from loadstone.report.power_scopes import meters_of
from loadstone.report.reading import RecordedTrial
from loadstone.report.text import shortened
from loadstone.units import format_size

_NAME = "name"
_HARDWARE = frozenset({
    _NAME, "virtualisation", "machine", "processor", "processors", "memory", "memory modules",
    "disks", "firmware",
})  # fmt: skip
"""Facts by which two hosts, or a host before and after a change, are told apart."""
_JAVA, POWER_METERS = "Java", "power meters"
_OF_FIRMWARE = "firmware: "
"""How the facts begin that are one setting of the firmware each."""


def host_differences(
    baseline: Sequence[RecordedTrial], candidate: Sequence[RecordedTrial]
) -> list[HostDifference]:
    """The large facts that are not the same; empty where none of them but the system's differs.

    Args:
        baseline: Valid trials of the first result.
        candidate: Valid trials of the second.
    """
    ours, theirs = _facts(baseline), _facts(candidate)
    found = [
        HostDifference(fact=fact, baseline=ours.get(fact, ""), candidate=theirs.get(fact, ""))
        for fact in dict.fromkeys([*ours, *theirs])
        if ours.get(fact) != theirs.get(fact)
    ]
    return found if any(_tells_apart(each.fact) for each in found) else []


def are_two_hosts(found: Sequence[HostDifference]) -> bool:
    """Whether the names of the hosts differ; else one host was changed."""
    return any(each.fact == _NAME for each in found)


def _tells_apart(fact: str) -> bool:
    return fact in _HARDWARE or fact in (_JAVA, POWER_METERS) or fact.startswith(_OF_FIRMWARE)


def _facts(trials: Sequence[RecordedTrial]) -> dict[str, str]:
    """Fact: what it is; several where the trials differ among themselves."""
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        host = trial.inventory.get("host")
        told = list(_of_host(host)) if isinstance(host, Mapping) else []
        for fact, text in (*told, *_of_java(trial.inventory.get("target"))):
            found.setdefault(fact, {})[text] = None
    if meters := meters_of(trials):
        found[POWER_METERS] = {", ".join(meters): None}
    return {fact: shortened(" or ".join(texts)) for fact, texts in found.items()}


def _of_host(host: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for fact in (_NAME, "virtualisation"):
        if isinstance(host.get(fact), str):
            yield fact, host[fact]
    firmware = _inner(host, "firmware")
    if machine := _joined(firmware, "maker", "product", "board"):
        yield "machine", machine
    processor = _inner(host, "processor")
    if "Model name" in processor:
        yield "processor", str(processor["Model name"])
    if "CPU(s)" in processor:
        yield "processors", str(processor["CPU(s)"])
    if isinstance(total := _inner(host, "memory_bytes").get("MemTotal"), int):
        yield "memory", format_size(total)
    if modules := _inner(host, "memory_modules"):
        yield "memory modules", _modules(modules)
    if version := _joined(firmware, "vendor", "version", "date"):
        yield "firmware", version
    for name, value in _inner(host, "firmware_settings").items():
        yield f"{_OF_FIRMWARE}{name}", str(value)
    for fact in ("system", "kernel"):
        if isinstance(host.get(fact), str):
            yield fact, host[fact]
    if disks := ", ".join(_disks(host.get("disks"))):
        yield "disks", disks


def _of_java(target: object) -> Iterator[tuple[str, str]]:
    """The runtime that a target of JVMs says it has."""
    runtime = _inner(target, "java") if isinstance(target, Mapping) else {}
    if told := _joined(runtime, "vendor", "name", "version"):
        yield _JAVA, told


def _inner(host: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = host.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _joined(facts: Mapping[str, Any], *names: str) -> str:
    return " ".join(str(facts[name]) for name in names if facts.get(name))


def _modules(modules: Mapping[str, Any]) -> str:
    """`4 x 16 GB DDR4 2933 MT/s, 2 x 32 GB DDR4 2933 MT/s`."""
    counts = Counter(str(text) for text in modules.values())
    return ", ".join(f"{count} x {text}" for text, count in sorted(counts.items()))


def _disks(disks: object) -> Iterator[str]:
    """Each that holds data of its own: `nvme0n1 Samsung 980, 1 TB, no moving parts`."""
    for disk in disks if isinstance(disks, Sequence) else ():
        if not isinstance(disk, Mapping) or disk.get("type", "disk") != "disk":
            continue
        size = disk.get("size")
        if size in (0, "0") or str(disk.get("name", "")).startswith("zram"):
            continue
        name = " ".join(str(disk[key]).strip() for key in ("name", "model") if disk.get(key))
        parts = [name, format_size(size) if isinstance(size, int) else "", _turning(disk)]
        yield ", ".join(part for part in parts if part)


def _turning(disk: Mapping[str, Any]) -> str:
    """What the disk says of itself; a virtual one may say anything."""
    if "rota" not in disk:
        return ""
    return "rotational" if disk["rota"] in (True, "1") else "not rotational"
