"""What a SQLite database file tells of itself. Neither it nor its folder is changed.

The head of the file is read as bytes (https://www.sqlite.org/fileformat2.html): even a session
that only reads would make a `-shm` file beside a database with a write-ahead log.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from loadstone.doctor.facts import SQLiteFacts
from loadstone.errors import WrongInputError

CHECK_S = 2.0
"""How long the quick look at its integrity may take: a reader holds up the writer of some files."""

_MAGIC = b"SQLite format 3\0"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_STEPS = 10_000


def sqlite_facts(path: Path, check_s: float = CHECK_S) -> SQLiteFacts:
    """Looks at a file.

    Args:
        path: The database.
        check_s: How long the quick look at its integrity may take.

    Raises:
        WrongInputError: If it cannot be read or is no SQLite database.
    """
    head = _beginning(path, 100)
    if not head.startswith(_MAGIC):
        raise WrongInputError(f"{path} is no SQLite database")
    size = int.from_bytes(head[16:18], "big")
    wal = head[18] == 2
    wal_path = Path(f"{path}-wal")
    wal_bytes = wal_path.stat().st_size if wal_path.exists() else 0
    page_bytes = 65536 if size == 1 else size
    hot = _is_hot(Path(f"{path}-journal"))
    damage, checked = _look(path, wal_bytes, hot=hot, check_s=check_s)
    return SQLiteFacts(
        path=str(path),
        page_bytes=page_bytes,
        pages=int.from_bytes(head[28:32], "big") or path.stat().st_size // max(page_bytes, 1),
        free_pages=int.from_bytes(head[36:40], "big"),
        journal_mode="wal" if wal else "delete",
        wal_bytes=wal_bytes,
        hot_journal=hot,
        damage=damage,
        checked=checked,
    )


def _look(path: Path, wal_bytes: int, *, hot: bool, check_s: float) -> tuple[str | None, str]:
    """What `quick_check` says, and how far it went."""
    shared = Path(f"{path}-shm").exists()
    if hot or (wal_bytes and not shared):
        return None, "not checked: a transaction that was cut off must be recovered first"
    # Without a log beside it nobody has the file open in WAL mode, and nothing need be made.
    mode = "mode=ro&readonly_shm=1" if wal_bytes or not _is_wal(path) else "mode=ro&immutable=1"
    deadline = time.monotonic() + check_s
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, timeout=1)
        try:
            connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        return None, f"not checked to the end: {error}"
    except sqlite3.DatabaseError as error:
        return str(error), "checked"
    return (None if said == "ok" else str(said)), "checked"


def _is_wal(path: Path) -> bool:
    return _beginning(path, 19)[18:19] == b"\x02"


def _is_hot(journal: Path) -> bool:
    """Whether a journal has a valid head; a kept one of journal_mode=persist has zeros there."""
    return journal.exists() and _beginning(journal, 8) == _JOURNAL_MAGIC


def _beginning(path: Path, count: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
