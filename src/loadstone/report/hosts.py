"""The hosts of two results: what of the machine differs, the large things first.

Two hosts differ in a hundred facts of their inventories. Those that decide what storage does are
told one by one: physical or virtual, the processor, memory, the system, the disks, the file system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadstone.report.model.comparisons import HostDifference
from loadstone.report.reading import RecordedTrial
from loadstone.report.text import shortened
from loadstone.units import format_size

_OF_A_HOST = frozenset({"name", "virtualisation", "processor", "processors", "memory", "disks"})
"""Facts by which two hosts are told apart: all others can be changed on one."""


def host_differences(
    baseline: Sequence[RecordedTrial], candidate: Sequence[RecordedTrial]
) -> list[HostDifference]:
    """The large facts that are not the same; empty where the two ran on one host.

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
    return found if any(each.fact in _OF_A_HOST for each in found) else []


def _facts(trials: Sequence[RecordedTrial]) -> dict[str, str]:
    """Fact: what it is; several where the trials differ among themselves."""
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        host = trial.inventory.get("host")
        if isinstance(host, Mapping):
            for fact, text in _of_host(host):
                found.setdefault(fact, {})[text] = None
    return {fact: shortened(" or ".join(texts)) for fact, texts in found.items()}


def _of_host(host: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for fact in ("name", "virtualisation"):
        if isinstance(host.get(fact), str):
            yield fact, host[fact]
    processor = _inner(host, "processor")
    if "Model name" in processor:
        yield "processor", str(processor["Model name"])
    if "CPU(s)" in processor:
        yield "processors", str(processor["CPU(s)"])
    if isinstance(total := _inner(host, "memory_bytes").get("MemTotal"), int):
        yield "memory", format_size(total)
    for fact in ("system", "kernel"):
        if isinstance(host.get(fact), str):
            yield fact, host[fact]
    if disks := ", ".join(_disks(host.get("disks"))):
        yield "disks", disks


def _inner(host: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = host.get(name)
    return inner if isinstance(inner, Mapping) else {}


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
