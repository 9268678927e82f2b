"""The contracts that a newcomer implements: how many methods each has, and how many one must write.

python tests/contracts.py    prints the table that docs/architecture.md shows
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

CONTRACTS = {
    "Target": "loadstone.targets.base",
    "Database": "loadstone.targets.database",
    "OwnedDatabase": "loadstone.targets.owned_database",
    "SystemOfParts": "loadstone.targets.system",
    "OwnedPart": "loadstone.targets.owned_part",
    "RemoteDatabase": "loadstone.targets.remote_database",
    "OwnedServer": "loadstone.targets.owned_server",
    "Connection": "loadstone.targets.connection",
    "Workload": "loadstone.workloads.base",
    "DatabaseWorkload": "loadstone.workloads.database",
    "LoadSearch": "loadstone.workloads.search",
    "CommitAudit": "loadstone.workloads.durability",
    "Meter": "loadstone.meters.base",
    "PolledMeter": "loadstone.meters.polled",
    "Application": "loadstone.applications.base",
    "Design": "loadstone.experiments.designs.base",
    "Stages": "loadstone.experiments.designs.base",
}
"""Class: its module."""


def of(name: str) -> type[Any]:
    """The class of a contract."""
    found: type[Any] = getattr(import_module(CONTRACTS[name]), name)
    return found


def methods(contract: type[Any]) -> list[str]:
    """What a contract lets a subclass write: all that is public, and what it must."""
    members = inspect.getmembers_static(contract)
    return [
        name
        for name, member in members
        if isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member)
        if not name.startswith("_") or name in required(contract)
    ]


def required(contract: type[Any]) -> list[str]:
    """Those that every subclass must write."""
    return sorted(getattr(contract, "__abstractmethods__", ()))


def inherited(contract: type[Any]) -> set[str]:
    """Those that a contract has from another one."""
    above = [
        each for each in map(of, CONTRACTS) if contract is not each and issubclass(contract, each)
    ]
    return {name for each in above for name in methods(each)}


def table() -> str:
    """A row for each contract."""
    rows = ["| contract | its own methods | to be written |", "|---|---|---|"]
    for name in CONTRACTS:
        contract = of(name)
        own = [each for each in methods(contract) if each not in inherited(contract)]
        needed = ", ".join(f"`{each}`" for each in required(contract)) or "none"
        rows.append(f"| `{name}` | {len(own)} | {needed} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
