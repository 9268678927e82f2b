"""What the active sessions wait for.

With `performance_schema` and its consumer `events_waits_current` on, the wait that each session is
in. Otherwise the process list: a session's state says what it does but not whether it runs; for a
server on this machine the state of its thread in `/proc` says that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from loadstone.targets import probing
from loadstone.targets.connection import ServerConnection
from loadstone.targets.mariadb.client import MINE, Client

_IDLE = "'Sleep', 'Daemon', 'Connect', 'Binlog Dump', 'Slave_IO', 'Slave_SQL', 'Slave_worker'"
_MARK = MINE.strip()
_ACTIVE = f"""
SELECT p.id, p.state, p.tid FROM information_schema.PROCESSLIST p
WHERE p.db = database() AND p.command NOT IN ({_IDLE})
  AND (p.info IS NULL OR p.info NOT LIKE '{_MARK}%')
"""
_ROW_LOCKS = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"
_WAITING = (
    "SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'"
)
_EVENTS_ON = """
SELECT count(*) FROM performance_schema.setup_consumers
WHERE name = 'events_waits_current' AND enabled = 'YES' AND @@performance_schema
"""
_EVENTS = f"""
SELECT t.processlist_id, t.processlist_state, w.event_name
FROM performance_schema.threads t
LEFT JOIN performance_schema.events_waits_current w
  ON w.thread_id = t.thread_id AND w.end_event_id IS NULL
WHERE t.type = 'FOREGROUND' AND t.processlist_db = database()
  AND t.processlist_command NOT IN ({_IDLE})
  AND (t.processlist_info IS NULL OR t.processlist_info NOT LIKE '{_MARK}%')
ORDER BY w.event_id DESC
"""
_OF_THREAD = {"R": "CPU", "D": "IO"}

ServerPid = Callable[[], int | None]


class WaitsProbe(probing.WaitsProbe):
    """Active sessions by kind of wait and event.

    Kinds: `Lock` for a row or metadata lock. With the performance schema the class of the event
    (`io`, `synch`, `lock`), or `CPU` for a session that is in none. Without it `CPU`, `IO` or
    `Wait` as the kernel shows the session's thread (running, in uninterruptible sleep, sleeping),
    with the state of the process list as the event; `Active` where threads cannot be seen.
    """

    name = "mariadb-waits"

    def __init__(self, connection: ServerConnection, server_pid: ServerPid) -> None:
        """Makes nothing yet.

        Args:
            connection: To the work database.
            server_pid: Gives the process of a server on this machine, or None.
        """
        super().__init__()
        self._client = Client(connection)
        self._server_pid = server_pid
        self._pid: int | None = None
        self._events = False

    def connect(self) -> None:
        """Connects, and looks which source this server offers."""
        self._events = bool(self._client.value(_EVENTS_ON))
        self._pid = self._server_pid()

    def disconnect(self) -> None:
        """Disconnects."""
        self._client.close()

    def look(self) -> list[tuple[str, str, int]]:
        """Counts the sessions of the work database."""
        seen = self._from_events() if self._events else self._from_processes()
        return [(kind, event, count) for (kind, event), count in seen.most_common()]

    def _from_events(self) -> Counter[tuple[str, str]]:
        # A session may be in a wait within a wait: the innermost counts, which comes first.
        sessions: dict[int, tuple[str, str]] = {}
        for identifier, state, event in self._client.query(_EVENTS):
            sessions.setdefault(identifier, _event(state or "", event))
        for identifier in self._row_waiters():
            if identifier in sessions:
                sessions[identifier] = ("Lock", "row")
        return Counter(sessions.values())

    def _from_processes(self) -> Counter[tuple[str, str]]:
        sessions = self._client.query(_ACTIVE)
        kinds = {tid: self._thread(tid) for _, _, tid in sessions}
        waiting = self._row_waiters()
        return Counter(
            ("Lock", "row") if identifier in waiting else _state(state or "", kinds[tid])
            for identifier, state, tid in sessions
        )

    def _row_waiters(self) -> set[int]:
        if not int(self._client.query(_ROW_LOCKS)[0][1]):
            return set()
        return {int(each) for (each,) in self._client.query(_WAITING)}

    def _thread(self, tid: int) -> str:
        if self._pid is None:
            return "Active"
        try:
            stat = Path(f"/proc/{self._pid}/task/{tid}/stat").read_text()
        except OSError:
            return "Active"
        return _OF_THREAD.get(stat.rpartition(")")[2].split()[0], "Wait")


def _event(state: str, event: str | None) -> tuple[str, str]:
    """`wait/io/file/innodb/innodb_log_file` is `io` and `file/innodb/innodb_log_file`."""
    if "lock" in state.lower() and state.startswith("Waiting for"):
        return "Lock", state.removeprefix("Waiting for ")
    if event is None:
        return "CPU", "CPU"
    _, kind, name = event.split("/", 2)
    return kind, name


def _state(state: str, kind: str) -> tuple[str, str]:
    if "lock" in state.lower() and state.startswith("Waiting for"):
        return "Lock", state.removeprefix("Waiting for ")
    return kind, state or "between states"
