"""The people of a load on a Superset that others use: made there, or those who are there already.

By REST Superset makes some three accounts a second, most of which goes into the hash of the
password. People who are there already keep their accounts as they are: they are members of
Loadstone's roles for as long as these exist.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.dashboards import Account, Content
from loadstone.targets.superset.accounts_file import PASSWORD, USERNAME
from loadstone.targets.superset.names import Names
from loadstone.targets.superset.provision import Provisioned
from loadstone.targets.superset.rest import Rest
from loadstone.text import read_text

USERS, ROLES = "/api/v1/security/users/", "/api/v1/security/roles/"
_LARGEST_FILE_BYTES = 100_000_000
_FORM = "its first line is username,password, and each further one a person"


@dataclass(frozen=True)
class Person:
    """Somebody who has an account."""

    login: str
    password: str = field(repr=False)


def read_people(path: Path) -> list[Person]:
    """The people of a file; no word of it is repeated.

    Raises:
        WrongInputError: If it cannot be read, or is no such file.
    """
    text = read_text(path, at_most_bytes=_LARGEST_FILE_BYTES)
    rows = csv.DictReader(io.StringIO(text))
    if not {USERNAME, PASSWORD} <= set(rows.fieldnames or ()):
        raise WrongInputError(f"{path} lacks a column {USERNAME} or {PASSWORD}", advice=_FORM)
    found = [Person(row[USERNAME] or "", row[PASSWORD] or "") for row in rows]
    for line, each in enumerate(found, start=2):
        if not each.login or not each.password:
            raise WrongInputError(f"{path} lacks a name or a password in line {line}", advice=_FORM)
    if not found:
        raise WrongInputError(f"{path} has no people", advice=_FORM)
    if twice := next((name for name, n in Counter(p.login for p in found).items() if n > 1), None):
        lines = [line for line, each in enumerate(found, start=2) if each.login == twice]
        told = " and ".join(map(str, lines[:2]))
        raise WrongInputError(f"{path} has one person in lines {told}", advice=_FORM)
    return found


def make(rest: Rest, content: Content, numbers: Provisioned, password: str) -> list[str]:
    """Makes an account for each of the content, all with one password.

    Returns:
        By what each logs in.

    Raises:
        TargetError: If Superset refuses one.
    """
    return [
        _made(rest, each, numbers.names, _roles_of(each, numbers), password)
        for each in content.accounts
    ]


def join(
    rest: Rest, content: Content, numbers: Provisioned, people: Sequence[Person]
) -> list[Person]:
    """Has people who are there already be those of the content, by the roles of Loadstone's.

    Returns:
        Those who are used, in the order of the accounts.

    Raises:
        TargetError: If Superset does not know one, or there are fewer than accounts.
    """
    if len(people) < len(content.accounts):
        raise TargetError(
            f"the file of accounts has {len(people):,} people, and the load is of "
            f"{len(content.accounts):,}",
            advice=f"write accounts: {len(people)} among the parameters of the workload",
        )
    used = list(people[: len(content.accounts)])
    known = {each["username"]: int(each["id"]) for each in rest.listed(USERS)}
    for line, each in enumerate(used, start=2):
        if each.login not in known:
            raise TargetError(f"Superset has no account of the name in line {line} of the file")
    for role, members in _members(content, numbers, [known[each.login] for each in used]):
        rest.put(f"{ROLES}{role}/users", {"user_ids": members})
    return used


# -- inside ------------------------------------------------------------------------------------
def _made(rest: Rest, account: Account, names: Names, roles: Sequence[int], password: str) -> str:
    login = names.login(account)
    rest.post(
        USERS,
        {
            "username": login,
            "first_name": account.name,
            "last_name": names.mark,
            "email": f"{login}@loadstone.invalid",
            "active": True,
            "password": password,
            "roles": list(roles),
        },
    )
    return login


def _roles_of(account: Account, numbers: Provisioned) -> list[int]:
    return sorted({numbers.roles[""], numbers.roles[account.region]})


def _members(
    content: Content, numbers: Provisioned, users: Sequence[int]
) -> Iterator[tuple[int, list[int]]]:
    """Each role with the people who are in it."""
    found: dict[int, list[int]] = {}
    for account, user in zip(content.accounts, users, strict=True):
        for role in _roles_of(account, numbers):
            found.setdefault(role, []).append(user)
    yield from found.items()
