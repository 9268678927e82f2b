"""What the account at an address must be allowed, tried before anything is touched.

The server looks at rights before it looks for a table. So a statement about a table that is not
there is denied to an account without the right, and fails for want of the table with it: nothing is
done in either case, and rights that come by a role or a pattern count.
"""

from __future__ import annotations

import secrets

from loadstone.errors import TargetError
from loadstone.targets.address import Address
from loadstone.targets.mariadb.client import Client, identifier, number_of

_DENIED = (1044, 1095, 1142, 1143, 1227, 1370)
"""To a database, a table, a column, or for want of a right of the whole server."""
_ON_TABLE = (
    "CREATE TABLE {table} (i INT, i INT)",
    "CREATE INDEX i ON {table} (i)",
    "SELECT 1 FROM {table}",
    "INSERT INTO {table} VALUES (1)",
    "UPDATE {table} SET i = 1",
    "DELETE FROM {table}",
    "ALTER TABLE {table} COMMENT ''",
    "DROP TABLE {table}",
)
_ON_SERVER = (
    "SHOW ENGINE INNODB MUTEX",
    "SET GLOBAL innodb_max_dirty_pages_pct = @@GLOBAL.innodb_max_dirty_pages_pct",
    "FLUSH TABLES {table}",
)
"""PROCESS; to set global variables; RELOAD, which FLUSH STATUS needs."""


def refuse_lacking(client: Client, address: Address) -> None:
    """Refuses an account that may not do what trials will do.

    Args:
        client: Connected to the server.
        address: As messages name it.

    Raises:
        TargetError: With what was denied first, in the server's words.
    """
    token = secrets.token_hex(6)
    absent = identifier(f"loadstone_{token}")
    work = f"{identifier(address.database)}.{absent}"
    own = [f"{identifier(f'loadstone_{kind}_{token}')}.{absent}" for kind in ("kept", "snapshot")]
    tried = [(each, table) for table in (work, *own) for each in _ON_TABLE]
    tried += [(each, work) for each in _ON_SERVER]
    for statement, table in tried:
        try:
            client.query(statement.format(table=table))
        except TargetError as error:
            if number_of(error) in _DENIED:
                raise TargetError(
                    f"{address.user} lacks rights at {address.shown}: {error.message}",
                    advice="nothing was touched: give it all rights on the database and on "
                    "`loadstone\\_%`, and SUPER, RELOAD and PROCESS on *.*",
                ) from error
