"""How what belongs to a part of a system is named: its name stands behind that of the family."""

from __future__ import annotations

_FAMILIES = ("target", "storage", "host.server")
"""Of factors that can be of a part."""


def own_part(name: str, part: str) -> str:
    """The name that a part itself has for a setting; empty if the setting is not of that part.

    Args:
        name: As the system has it: `database.work_mem`.
        part: `database`.
    """
    first, _, rest = name.partition(".")
    return rest if first == part else ""


def factor_within(part: str, factor: str) -> str:
    """The factor as the part itself has it; empty if it is not of that part.

    Args:
        part: `database`.
        factor: As the system has it: `target.database.work_mem`.
    """
    for family in _FAMILIES:
        if factor.startswith(f"{family}.{part}."):
            return f"{family}.{factor.removeprefix(f'{family}.{part}.')}"
    return ""


def factor_of_part(part: str, factor: str) -> str:
    """The factor of a part as the system has it: `target.work_mem` is `target.database.work_mem`.

    Args:
        part: `database`.
        factor: As the part has it; one that cannot be of a part stays as it is.
    """
    family = next((each for each in _FAMILIES if factor.startswith(f"{each}.")), None)
    return factor if family is None else f"{family}.{part}.{factor.removeprefix(f'{family}.')}"
