"""What the doctor collects where no server is needed: logs, SQLite files, this host, plans."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.doctor.collect.host import disk_facts, host_facts
from loadstone.doctor.collect.log import collate, read_log
from loadstone.doctor.collect.log_files import lines_of
from loadstone.doctor.collect.log_mariadb import MariaDBLog
from loadstone.doctor.collect.log_postgresql import PostgreSQLLog
from loadstone.doctor.collect.planned import planned_facts
from loadstone.doctor.collect.postgresql import setting
from loadstone.doctor.collect.sqlite import sqlite_facts
from loadstone.doctor.facts import Facts, PostgreSQLFacts, SQLiteFacts
from loadstone.doctor.log_entry import LogKind
from loadstone.doctor.model import Subject
from loadstone.doctor.rules.messages import MESSAGES, messages_of
from loadstone.doctor.visit import judge, visit_experiment, visit_server
from loadstone.errors import WrongInputError
from loadstone.host.locality import is_here
from loadstone.host.machine import Machine
from loadstone.spec.model import Experiment
from loadstone.spec.target import TargetSpec

# -- logs -----------------------------------------------------------------------------------------

KINDS: dict[Subject, LogKind] = {"postgresql": PostgreSQLLog(), "mariadb": MariaDBLog()}
LINES: dict[Subject, dict[str, str]] = {
    "postgresql": {
        "checkpoints-too-frequent": "LOG:  checkpoints are occurring too frequently (5 seconds)",
        "temporary-files": 'LOG:  temporary file: path "base/pgsql_tmp/x", size 14000000',
        "shared-memory": 'ERROR:  could not resize shared memory segment "/PostgreSQL.123" to 8 '
        "bytes: No space left on device",
        "locks-used-up": "ERROR:  out of shared memory",
        "out-of-memory": "ERROR:  out of memory",
        "could-not-fsync": 'PANIC:  could not fsync file "base/1/2": Input/output error',
        "deadlocks": "ERROR:  deadlock detected",
        "autovacuum-cancelled": "ERROR:  canceling autovacuum task",
        "connections-refused": "FATAL:  sorry, too many clients already",
        "no-space": 'ERROR:  could not extend file "base/1/3": No space left on device',
    },
    "mariadb": {
        "page-cleaner-late": "[Note] InnoDB: page_cleaner: 1000ms intended loop took 4012ms.",
        "aborted-connections": "[Warning] Aborted connection 8 to db: 'shop' user: 'root'",
        "too-many-connections": "[Warning] Too many connections",
        "table-damaged": "[ERROR] Table './shop/old' is marked as crashed",
        "deadlocks": "[Note] InnoDB: Transactions deadlock detected, dumping information.",
        "no-space": "[ERROR] mariadbd: Disk is full writing './binlog.000002'",
    },
}
"""Lines as the servers write them."""


def test_there_is_a_line_for_every_message():
    assert {(each.subject, each.key) for each in MESSAGES} == {
        (subject, key) for subject, lines in LINES.items() for key in lines
    }


@given(
    subject=st.sampled_from(sorted(LINES)),
    keys=st.lists(st.integers(0, 50), max_size=40),
    seconds=st.integers(0, 10**6),
)
def test_messages_are_counted_among_others(subject: Subject, keys: list[int], seconds: int):
    kinds = [*LINES[subject], "other"]
    chosen = [kinds[number % len(kinds)] for number in keys]
    begin = datetime(2026, 1, 2, 3, 4, 5)
    kind = KINDS[subject]
    head, other = ("", "[Note] ready") if subject == "mariadb" else ("UTC [7] ", "LOG:  ready")
    text = [f"{begin:%Y-%m-%d %H:%M:%S} {head}{other}"]
    text += [f"{begin:%Y-%m-%d %H:%M:%S} {head}{LINES[subject].get(key, other)}" for key in chosen]
    text += [f"{begin + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S} {head}{other}"]
    found = collate(kind.entries(text), messages_of(subject))
    assert found.entries == len(text)
    assert found.readable
    wanted = {key: chosen.count(key) for key in set(chosen) - {"other"}}
    assert {key: message.count for key, message in found.messages.items()} == wanted
    assert found.span_s == seconds
    for key, count in wanted.items():
        rate = found.per_hour(key)
        assert (rate is None) == (seconds < 60)
        assert rate is None or rate == pytest.approx(count * 3600 / seconds)


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_a_log_of_anything_is_read(lines: list[bytes]):
    text = list(lines_of(b"\n".join(lines)))
    for kind in KINDS.values():
        found = collate(kind.entries(text), MESSAGES)
        assert found.entries <= len(text)


def test_a_log_that_cannot_be_read_is_said_so(tmp_path: Path):
    with pytest.raises(WrongInputError, match=r"cannot be read.*"):
        read_log(tmp_path / "none.log", MESSAGES, KINDS["mariadb"])


# -- SQLite ---------------------------------------------------------------------------------------


def make(path: Path, journal: str = "delete", page_size: int = 4096, rows: int = 1000) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE item (id integer PRIMARY KEY, name text)")
        connection.executemany(
            "INSERT INTO item VALUES (?, ?)", [(n, "x" * 200) for n in range(rows)]
        )
    connection.close()


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_is_read_without_any_change(tmp_path: Path, journal: str):
    path = tmp_path / "shop.sqlite"
    make(path, journal, page_size=1024)
    before = files(tmp_path)
    found = sqlite_facts(path)
    assert files(tmp_path) == before
    assert (found.page_bytes, found.journal_mode) == (1024, journal)
    assert (found.damage, found.checked, found.hot_journal) == (None, "checked", False)
    assert found.pages == path.stat().st_size // 1024


@pytest.fixture
def cut_off(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A database whose writer was killed in the middle of a transaction."""
    path = tmp_path / "shop.sqlite"
    make(path, request.param)
    script = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA cache_size = 10')\n"
        "connection.execute('BEGIN')\n"
        "connection.execute(\"UPDATE item SET name = name || 'y'\")\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    yield path


@pytest.mark.parametrize("cut_off", ["delete", "wal"], indirect=True)
def test_a_transaction_that_was_cut_off_is_left_as_it_is(cut_off: Path):
    before = files(cut_off.parent)
    found = sqlite_facts(cut_off)
    assert files(cut_off.parent) == before
    assert found.hot_journal == (found.journal_mode == "delete")


def test_a_file_in_use_is_read_beside_its_writer(tmp_path: Path):
    path = tmp_path / "shop.sqlite"
    make(path, "wal")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("UPDATE item SET name = 'z'")
    before = files(tmp_path)
    found = sqlite_facts(path)
    after = files(tmp_path)
    shared = f"{path.name}-shm"  # where readers mark how far they read
    assert {**after, shared: None} == {**before, shared: None}
    writer.close()
    assert found.wal_bytes > 0
    assert (found.damage, found.checked) == (None, "checked")


def test_damage_is_found(tmp_path: Path):
    path = tmp_path / "shop.sqlite"
    make(path, rows=5000)
    data = bytearray(path.read_bytes())
    data[8192:12288] = b"\xff" * 4096
    path.write_bytes(data)
    visit = visit_server(TargetSpec(engine="sqlite", server=str(path)))
    assert "sqlite.damaged" in {each.rule.name for each in visit.findings}


def test_a_check_that_takes_too_long_is_not_held_against_the_file(tmp_path: Path):
    path = tmp_path / "shop.sqlite"
    make(path, rows=20_000)
    found = sqlite_facts(path, check_s=0)
    assert found.damage is None
    assert found.checked == "not checked to the end: interrupted"


def test_what_is_no_database_is_refused(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("a file of another kind")
    with pytest.raises(WrongInputError, match="is no SQLite database"):
        sqlite_facts(path)
    with pytest.raises(WrongInputError, match="cannot be read"):
        sqlite_facts(tmp_path / "none")


# -- this host ------------------------------------------------------------------------------------


def test_this_host_is_seen_and_judged(tmp_path: Path):
    facts = host_facts(tmp_path)
    assert facts.memory_bytes > 0
    assert facts.cores >= 1
    assert facts.place is not None
    assert facts.place.free_bytes is not None
    assert "vm.swappiness" in facts.sysctl


SERVER = 4_000_077
"""A process of a simulated machine: no real one has this number."""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A server in a control group of 0.5 processors and 2 GB; this shell is in none."""
    for name, text in {
        "proc/meminfo": "MemTotal: 16777216 kB\nHugePages_Total: 100\nHugePages_Free: 90\n"
        "HugePages_Rsvd: 60\n",
        "proc/stat": "cpu 1 2 3 4 5 6 7 8 9 10\n",
        "proc/self/cgroup": "0::/\n",
        "proc/self/mountinfo": f"31 1 0:28 / /cg rw - cgroup2 cgroup2 rw\n"
        f"32 1 0:30 / {tmp_path}/dev/shm rw - tmpfs tmpfs rw\n",
        f"proc/{SERVER}/cgroup": "0::/server\n",
        f"proc/{SERVER}/mountinfo": f"32 1 0:31 / {tmp_path}/dev/shm rw - tmpfs tmpfs rw\n",
        "cg/server/cpu.max": "50000 100000\n",
        "cg/server/cpu.stat": "nr_periods 841\nnr_throttled 834\n",
        "cg/server/memory.max": f"{2 * 1024**3}\n",
        "cg/server/memory.events": "max 9\noom_kill 3\n",
        "dev/shm/.keep": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Machine(tmp_path)


def test_the_bounds_of_the_server_count_and_not_those_of_this_shell(machine: Machine):
    found = host_facts(machine.at("/proc"), machine, pid=SERVER)
    assert (found.cores, found.memory_bytes) == (1, 2 * 1024**3)
    assert (found.processor_quota, round(found.throttled_percent)) == (0.5, 99)
    assert found.memory_limit_kills == 3
    names = {rule.name for rule, _ in judge(Facts(found))}
    assert {"host.processor-quota", "host.memory-limit"} <= names
    of_shell = host_facts(machine.at("/proc"), machine)
    assert (of_shell.memory_bytes, of_shell.processor_quota) == (16 * 1024**3, None)


def test_a_shell_with_limits_says_nothing_of_a_server_that_was_not_found(machine: Machine):
    machine.at("/proc/self/cgroup").write_text("0::/server\n")
    assert host_facts(machine.at("/proc"), machine).memory_bytes == 2 * 1024**3
    assert host_facts(machine.at("/proc"), machine, pid=None).memory_bytes == 16 * 1024**3


def test_dev_shm_is_that_of_the_server(machine: Machine):
    folder = machine.at("/proc")
    assert host_facts(folder, machine).shared_memory_bytes
    assert host_facts(folder, machine, pid=SERVER).shared_memory_bytes is None
    same = machine.at("/proc/self/mountinfo").read_text()
    machine.at(f"/proc/{SERVER}/mountinfo").write_text(same)
    assert host_facts(folder, machine, pid=SERVER).shared_memory_bytes
    assert host_facts(folder, machine, pid=None).shared_memory_bytes is None


def test_huge_pages_that_are_promised_to_a_process_are_not_free(machine: Machine):
    assert host_facts(machine.at("/proc"), machine).huge_pages_free == 30


def test_a_disk_is_described_from_its_queue(tmp_path: Path):
    queue = tmp_path / "sys/block/vdb/queue"
    queue.mkdir(parents=True)
    for name, text in (
        ("scheduler", "none mq-deadline [bfq]"),
        ("rotational", "0"),
        ("read_ahead_kb", "256"),
    ):
        (queue / name).write_text(text + "\n")
    found = disk_facts("vdb", Machine(tmp_path))
    assert (found.scheduler, found.schedulers) == ("bfq", ("none", "mq-deadline", "bfq"))
    assert (found.rotational, found.virtual, found.read_ahead_kb) == (False, True, 256)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "/run/postgresql", ""])
def test_addresses_of_this_machine_are_known(host: str):
    assert is_here(host)
    assert not is_here("192.0.2.77")


# -- settings and plans ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "number"),
    [("16384", "8kB", 128 * 1024**2), ("200", "ms", 0.2), ("-1", "kB", -1), ("on", None, None)],
)
def test_settings_are_counted_in_bytes_and_seconds(
    value: str, unit: str | None, number: float | None
):
    assert setting("shown", value, unit, "default").number == number


def experiment(engine: str, design: dict[str, object] | None = None, **settings: object):
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "planned",
            "workload": {"name": "oltp", "parameters": {"warehouses": 10}},
            "target": {"engine": engine, "settings": settings},
            "design": design or {"kind": "run"},
        }
    )


def test_the_server_of_an_experiment_is_known_before_it_runs():
    found = planned_facts(experiment("postgresql", shared_buffers="64MB", fsync="off"))
    assert isinstance(found, PostgreSQLFacts)
    assert found.settings.number("shared_buffers") == 64 * 1024**2
    assert found.settings.number("effective_cache_size") == 4 * 1024**3
    assert found.settings.off("fsync")
    assert found.data_bytes == 1_300_000_000


def test_an_experiment_is_judged_but_not_what_it_varies_itself():
    plan = experiment("postgresql", shared_buffers="64MB", fsync="off")
    names = {each.rule.name for each in visit_experiment(plan).findings}
    assert {"postgresql.shared-buffers", "postgresql.fsync-off"} <= names
    assert "postgresql.autovacuum-off" not in names
    varied = {"kind": "compare", "factor": "target.shared_buffers", "levels": ["64MB", "1GB"]}
    plan = experiment("postgresql", varied, fsync="off")
    names = {each.rule.name for each in visit_experiment(plan).findings}
    assert "postgresql.fsync-off" in names
    assert "postgresql.shared-buffers" not in names


def test_an_experiment_on_sqlite_is_judged_by_its_pragmas():
    plan = experiment("sqlite", journal_mode="wal", synchronous="off")
    names = {each.rule.name for each in visit_experiment(plan).findings}
    assert "sqlite.synchronous-off" in names
    found = planned_facts(plan)
    assert isinstance(found, SQLiteFacts)
    assert (found.page_bytes, found.journal_mode) == (4096, "wal")


def test_findings_come_with_the_worst_first():
    from doctor_facts import HOST, postgresql  # planted facts, as in the tests of the rules

    found = judge(postgresql(HOST, fsync="off", track_io_timing="off", checkpoint_timeout=1))
    ranks = [rule.severity.rank for rule, _ in found]
    assert ranks == sorted(ranks)
    assert [rule.name for rule, _ in found] == [
        "postgresql.fsync-off",
        "postgresql.track-io-timing",
    ]
