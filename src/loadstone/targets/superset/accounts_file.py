"""The file of accounts that a load generator reads: who there is, without any password.

Superset tells sessions apart by address and browser. People who all came from the address of the
load generator would change each other's filters, which is refused (403), and share one rate limit.
So each account has an address of its own, which the balancer hands on as that of the person.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

from loadstone.cache import cache_folder, locked
from loadstone.spec.dashboards import Content

ADDRESS = "address"
_NETWORK = IPv4Network("10.0.0.0/8")


def file_of(content: Content) -> Path:
    """The file, made if it is not there: `username`, `region`, `address`.

    Args:
        content: Whose accounts they are.
    """
    folder = cache_folder() / "superset" / "accounts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{content.digest}.csv"
    with locked(folder / "lock"):
        if not path.is_file():
            rough = path.with_suffix(".rough")
            with rough.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(("username", "region", ADDRESS))
                writer.writerows(_rows(content))
            rough.replace(path)
    return path


def _rows(content: Content) -> Iterator[tuple[str, str, str]]:
    for place, account in enumerate(content.accounts, start=1):
        yield account.name, account.region, str(_NETWORK[place % _NETWORK.num_addresses])
