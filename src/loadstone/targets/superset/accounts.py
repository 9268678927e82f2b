"""Accounts in the catalogue of Superset: made by SQL, which takes seconds for 50,000.

By REST it makes some 3 a second.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing

from loadstone.errors import TargetError
from loadstone.spec.dashboards import Account
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql.client import Client, as_target_error, connect

_INDEX = "CREATE INDEX IF NOT EXISTS loadstone_username ON ab_user (lower(username))"
_SCRYPT = (32_768, 8, 1)
"""Cost, block size and parallelism: the default of werkzeug, and so of Superset."""
_ROUNDS = 1_000
_STAGED = """
CREATE TEMPORARY TABLE staged (place integer, username text, roles integer[])
"""
_INSERTED = """
WITH made AS (
    INSERT INTO ab_user (id, first_name, last_name, username, password, active, email, login_count,
                         fail_login_count, created_on, changed_on)
    SELECT (SELECT coalesce(max(id), 0) FROM ab_user) + place, username, '', username, %s, true,
           username || '@loadstone.invalid', 0, 0, now(), now()
    FROM staged
    RETURNING id, username
)
INSERT INTO ab_user_role (id, user_id, role_id)
SELECT (SELECT coalesce(max(id), 0) FROM ab_user_role)
       + row_number() OVER (ORDER BY made.id, role), made.id, role
FROM made JOIN staged USING (username) CROSS JOIN unnest(staged.roles) AS role
"""
_SEQUENCES = (("ab_user_id_seq", "ab_user"), ("ab_user_role_id_seq", "ab_user_role"))


def make(
    catalogue: ServerConnection,
    accounts: Sequence[Account],
    roles: Mapping[str, int],
    password: str,
    *,
    tuned: bool,
) -> None:
    """Makes the accounts, all with one password.

    Args:
        catalogue: Of Superset.
        accounts: To be made.
        roles: Region: the role that sees its rows alone; an empty one: that of everybody.
        password: Of each.
        tuned: By a hash that is quickly checked, and with an index that finds them.

    Raises:
        TargetError: If the database refuses them.
    """
    hashed = quick_hash(password) if tuned else usual_hash(password)
    with as_target_error(), connect(catalogue) as connection, connection.cursor() as cursor:
        cursor.execute(_STAGED)
        with cursor.copy("COPY staged FROM STDIN") as copy:
            for row in _rows(accounts, roles):
                copy.write_row(row)
        cursor.execute(_INSERTED, (hashed,))
        for sequence, table in _SEQUENCES:
            cursor.execute(f"SELECT setval('{sequence}', (SELECT max(id) FROM {table}))")
        if tuned:
            cursor.execute(_INDEX)
        cursor.execute("ANALYZE ab_user, ab_user_role")


def count(catalogue: ServerConnection, accounts: Sequence[Account]) -> int:
    """How many of the accounts there are."""
    names = [each.name for each in accounts]
    with closing(Client(catalogue)) as client:
        return int(client.value("SELECT count(*) FROM ab_user WHERE username = ANY(%s)", (names,)))


def usual_hash(password: str) -> str:
    """As Superset hashes a password by default: scrypt, some 60 ms of processor time a check."""
    salt = secrets.token_hex(8)
    cost, block, parallel = _SCRYPT
    made = hashlib.scrypt(
        password.encode(), salt=salt.encode(), n=cost, r=block, p=parallel, maxmem=2**26
    )
    return f"scrypt:{cost}:{block}:{parallel}${salt}${made.hex()}"


def quick_hash(password: str) -> str:
    """By few rounds of PBKDF2, which a random password of 144 bits can do with."""
    salt = secrets.token_hex(8)
    made = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), _ROUNDS)
    return f"pbkdf2:sha256:{_ROUNDS}${salt}${made.hex()}"


def _rows(
    accounts: Iterable[Account], roles: Mapping[str, int]
) -> Iterable[tuple[int, str, list[int]]]:
    for place, account in enumerate(accounts, start=1):
        if account.region not in roles:
            raise TargetError(f"account {account.name!r} is of region {account.region!r}: no role")
        yield place, account.name, sorted({roles[""], roles[account.region]})
