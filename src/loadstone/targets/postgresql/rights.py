"""What the account at an address must be allowed, asked before anything is touched."""

from __future__ import annotations

from loadstone.errors import TargetError
from loadstone.targets.address import Address
from loadstone.targets.postgresql.client import Client


def refuse_lacking(client: Client, address: Address) -> None:
    """Refuses an account that may not do what trials do.

    CHECKPOINT, ALTER SYSTEM and CREATEDB can be granted. To reset statistics cannot: such a grant
    is part of a database, and the work database is made anew.

    Args:
        client: Connected to the server.
        address: As messages name it.

    Raises:
        TargetError: If it is no superuser.
    """
    if not client.value("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
        raise TargetError(
            f"{address.user} lacks rights at {address.shown}: it is no superuser, which setting a "
            "database aside, CHECKPOINT, ALTER SYSTEM and resetting statistics need",
            advice="nothing was touched: name an account that is one",
        )
