"""Snapshots of a stopped cluster: what may be copied, and what of it is worth keeping."""

from __future__ import annotations

import shutil
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements.account import Account
from loadstone.targets.local import copies
from loadstone.targets.local.copies import RestoreWork
from loadstone.targets.postgresql import tablespace

_WAL_SEGMENT_NAME_LENGTH = 24
KEPT_WAL_BYTES = 80 * 1024**2
"""Spare WAL files that a snapshot keeps: PostgreSQL's own default of `min_wal_size`."""


def take(data: Path, kept: Path, wal_in_use: str) -> None:
    """Copies the data folder of a cleanly stopped server to `kept`, which must not exist.

    Args:
        data: The data folder.
        kept: Where the copy goes.
        wal_in_use: Name of the WAL file with the last checkpoint.

    Raises:
        TargetError: If the server was not stopped, or has tablespaces outside its folder.
    """
    _check_copyable(data)
    copies.take(data, kept, set(_spare_wal(data / "pg_wal", wal_in_use)))


def restore(kept: Path, data: Path, account: Account) -> RestoreWork:
    """Makes the data folder of a stopped server equal to the copy, and has it on the disk.

    Tablespaces that were made since are out of it; their files are for `Places.use` to remove.

    Raises:
        TargetError: If a server still runs there.
    """
    if (data / "postmaster.pid").exists():
        raise TargetError(f"{data} is in use: stop the server before its data are replaced")
    tablespace.forget_links(data)
    return copies.restore(kept, data, account)


def put_log(data: Path, log: Path | None, account: Account) -> None:
    """Has the WAL of a stopped server lie in a folder apart, or with the data.

    What WAL was there is gone: it is put back by `restore`.

    Args:
        data: The data folder, perhaps empty.
        log: The folder, or None.
        account: Of the server.
    """
    wal = data / "pg_wal"
    if wal.is_symlink():
        wal.unlink()
    elif log is not None and wal.exists():
        shutil.rmtree(wal)
    if log is not None:
        wal.symlink_to(log)
        account.own(wal)


def _check_copyable(data: Path) -> None:
    if (data / "postmaster.pid").exists():
        raise TargetError(f"{data} is in use: a snapshot is taken of a stopped server")
    if any((data / "pg_tblspc").iterdir()):
        raise TargetError(
            "the workload made tablespaces, which a snapshot does not cover",
            advice="keep all tables in the default tablespace",
        )


def _spare_wal(folder: Path, in_use: str) -> list[Path]:
    """WAL files recycled for later use (their names come after the one in use), but for a few.

    How many there are depends on how the data were loaded, not on the data.
    """
    spare = sorted(
        each
        for each in folder.iterdir()
        if len(each.name) == _WAL_SEGMENT_NAME_LENGTH and each.name > in_use
    )
    if not spare:
        return []
    keep = KEPT_WAL_BYTES // spare[0].stat().st_size
    return [Path("pg_wal") / each.name for each in spare[keep:]]
