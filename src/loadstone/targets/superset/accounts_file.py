"""The file of accounts that a load generator reads: who there is.

Superset tells sessions apart by address and browser. People who all came from the address of the
load generator would change each other's filters, which is refused (403), and share one rate limit.
So each account has an address of its own, which the balancer hands on as that of the person.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network
from pathlib import Path

from loadstone.cache import cache_folder, locked
from loadstone.spec.dashboards import Content

USERNAME, ADDRESS, LOGIN, PASSWORD = "username", "address", "login", "password"
"""Columns: the name that the content has for a person, and those by which the person logs in."""
_NETWORK = IPv4Network("10.0.0.0/8")


def file_of(content: Content) -> Path:
    """The file, made if it is not there: `username`, `region`, `address`; it has no password.

    Args:
        content: Whose accounts they are.
    """
    folder = cache_folder() / "superset" / "accounts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{content.digest}.csv"
    with locked(folder / "lock"):
        if not path.is_file():
            rough = path.with_suffix(".rough")
            _write(rough, (), _rows(content))
            rough.replace(path)
    return path


def write(
    path: Path, content: Content, more: Sequence[str], of_each: Iterable[Sequence[str]]
) -> None:
    """Writes such a file with further columns, readable by Loadstone's account alone.

    Args:
        path: Of the file.
        content: Whose accounts they are.
        more: Names of the further columns.
        of_each: Their values for each account, in the order of the content.
    """
    path.touch(mode=0o600)
    rows = ((*row, *own) for row, own in zip(_rows(content), of_each, strict=True))
    _write(path, more, rows)


def _write(path: Path, more: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow((USERNAME, "region", ADDRESS, *more))
        writer.writerows(rows)


def _rows(content: Content) -> Iterator[tuple[str, str, str]]:
    for place, account in enumerate(content.accounts, start=1):
        yield account.name, account.region, str(_NETWORK[place % _NETWORK.num_addresses])
