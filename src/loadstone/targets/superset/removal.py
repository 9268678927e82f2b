"""Takes away from a Superset of somebody else's what Loadstone made there, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loadstone.errors import RefusedError, TargetError
from loadstone.journal import undoes
from loadstone.targets.superset.address import SupersetAddress
from loadstone.targets.superset.examination import log_in
from loadstone.targets.superset.names import is_mark
from loadstone.targets.superset.people import ROLES, USERS
from loadstone.targets.superset.rest import Rest, UnwillingError

UNDO = "superset-remove"


@dataclass(frozen=True)
class _Kind:
    """A kind of things that are made."""

    path: str
    name: str
    """The column that has its name, and in it the mark."""


_KINDS = (
    _Kind("/api/v1/dashboard/", "slug"),
    _Kind("/api/v1/chart/", "slice_name"),
    _Kind("/api/v1/rowlevelsecurity/", "name"),
    _Kind("/api/v1/dataset/", "table_name"),
    _Kind("/api/v1/database/", "database_name"),
    _Kind(USERS, "username"),
    _Kind(ROLES, "name"),
)
"""In the order in which they can be taken away: each stands on those after it."""


@undoes(UNDO)
def remove(data: Mapping[str, Any]) -> None:
    """Takes away all that has a mark in its name.

    Args:
        data: `address` as the journal has it, and `mark`.

    Raises:
        RefusedError: If the mark is none of Loadstone's.
        TargetError: If Superset does not answer, or keeps something.
    """
    mark = data["mark"]
    if not is_mark(mark):
        raise RefusedError("what is to be taken away from Superset has no mark of Loadstone's")
    address = SupersetAddress(**data["address"])
    idle = 0
    with Rest(address.url, address.ca) as rest:
        log_in(address, rest)
        for kind in _KINDS:
            take = _let_go if kind.path == USERS else _take
            idle += sum(take(rest, f"{kind.path}{number}") for number in _marked(rest, kind, mark))
    if idle:
        raise TargetError(
            f"Superset at {address.url} keeps {idle:,} accounts of Loadstone's, which cannot log "
            "in any more: its catalogue has filters that they chose, for 90 days by default; "
            "loadstone recover takes them away after that"
        )


def _marked(rest: Rest, kind: _Kind, mark: str) -> list[int]:
    """The numbers of those whose name has the mark."""
    rows = rest.listed(kind.path, [(kind.name, "ct", mark)])
    return [int(each["id"]) for each in rows if mark in (each[kind.name] or "")]


def _take(rest: Rest, path: str) -> bool:
    """Takes one away; one that is gone by now is no fault. Returns whether it is still there."""
    try:
        rest.delete(path)
    except UnwillingError as error:
        if error.status != 404:
            raise
    return False


def _let_go(rest: Rest, path: str) -> bool:
    """Takes an account away, or makes it useless where Superset has to keep it."""
    try:
        return _take(rest, path)
    except UnwillingError as error:
        if error.status not in (422, 500):
            raise
    rest.put(path, {"active": False})
    return True
