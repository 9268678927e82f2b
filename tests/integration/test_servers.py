"""What every engine that is a server must do when Loadstone owns it."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from integration.conftest import ROWS, START, TABLES, MakeTarget, fill
from lengths import long_but

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.target import ProcessSpec
from loadstone.targets.database import Database, fingerprint_of
from loadstone.targets.mariadb.instance import Instance
from loadstone.targets.owned_server import OwnedServer
from loadstone.targets.postgresql.cluster import Cluster

SERVERS: dict[str, type[OwnedServer]] = {"postgresql": Cluster, "mariadb": Instance}
RECOVERED = {
    "postgresql": "was not properly shut down",
    "mariadb": "InnoDB: Starting crash recovery",
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")


def data_of(target: Database) -> Path:
    return Path(target.inventory()["data_folder"])


def main_process(target: Database) -> psutil.Process:
    found = [
        each
        for each in SERVERS[target.engine].processes_of(data_of(target))
        if str(data_of(target)) in " ".join(each.cmdline())
    ]
    assert len(found) == 1
    return found[0]


def test_server_runs_as_an_ordinary_user_behind_a_private_socket(any_server: Database) -> None:
    server = main_process(any_server)
    assert server.uids().real != 0
    socket = Path(any_server.connection().host)
    folder = socket if socket.is_dir() else socket.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [
        each for each in server.net_connections() if each.laddr and each.status == "LISTEN"
    ] == []
    assert os.getsid(server.pid) != os.getsid(0), "Ctrl-C on the terminal would reach it"


def test_crash_loses_nothing_that_was_committed(any_server: Database) -> None:
    any_server.restore(START, any_server.spec)
    data = data_of(any_server)
    any_server.execute("UPDATE item SET quantity = quantity + 1 WHERE id <= 100")
    before = any_server.fingerprint(TABLES)
    any_server.crash("kill")
    assert SERVERS[any_server.engine].processes_of(data) == []
    any_server.start()
    assert any_server.fingerprint(TABLES).digest == before.digest
    log = any_server.log_path()
    assert log is not None
    assert RECOVERED[any_server.engine] in log.read_text()


def test_restore_after_a_crash(any_server: Database) -> None:
    any_server.restore(START, any_server.spec)
    before = any_server.fingerprint(TABLES)
    any_server.execute("DELETE FROM item")
    any_server.crash("kill")
    any_server.restore(START, any_server.spec)
    assert any_server.fingerprint(TABLES) == before


def test_server_killed_by_somebody_else(any_server: Database) -> None:
    any_server.restore(START, any_server.spec)
    any_server.check_alive()
    server = main_process(any_server)
    server.kill()
    psutil.wait_procs([server], timeout=30)
    with pytest.raises(TargetError, match="has ended"):
        any_server.check_alive()
    any_server.stop()
    any_server.start()
    assert any_server.fingerprint(TABLES).rows["item"] > 0


def test_fingerprint_is_alike_on_every_engine(any_server: Database) -> None:
    """Negative differences, sums beyond 64 bits, texts: what would tell engines apart."""
    any_server.restore(START, any_server.spec)
    any_server.execute("CREATE TABLE many AS SELECT * FROM item WHERE id < 10")
    found = any_server.fingerprint(
        {
            "item": "9000000000000000000 + quantity - id",
            "many": "CAST(length(name) AS DECIMAL) - 200",
        }
    )
    rows = {"item": ROWS, "many": 9}
    sums = {
        "item": str(sum(9 * 10**18 + number % 100 - number for number in range(1, ROWS + 1))),
        "many": "-900",
    }
    assert (found.rows, found.sums) == (rows, sums)
    assert found.digest == fingerprint_of(rows, sums, size=0).digest


def test_own_data_folder_with_a_path_too_long_for_a_socket(
    make_target: MakeTarget, open_folder: Path, engine: str
) -> None:
    folder = open_folder / ("long" * 20)
    folder.mkdir()
    target = make_target(engine=engine, data=folder)
    assert target.query("SELECT 1") == [(1,)]
    data = data_of(target)
    assert data.is_relative_to(folder)
    socket = Path(target.connection().host)
    halt(target)
    target.close()
    assert SERVERS[engine].processes_of(data) == []
    assert list(folder.iterdir()) == []
    assert not socket.exists()


def halt(target: Database) -> None:
    """Stops all its processes: they must be ended nonetheless."""
    for process in SERVERS[target.engine].processes_of(data_of(target)):
        process.send_signal(signal.SIGSTOP)


def test_data_folder_must_exist(make_target: MakeTarget, open_folder: Path, engine: str) -> None:
    with pytest.raises(WrongInputError, match="does not exist"):
        make_target(engine=engine, data=open_folder / "missing")


@needs_root
def test_data_folder_must_be_open_to_the_server(
    make_target: MakeTarget, open_folder: Path, engine: str
) -> None:
    (open_folder / "private").mkdir(mode=0o700)
    with pytest.raises(WrongInputError, match="may not enter"):
        make_target(engine=engine, data=open_folder / "private")


@pytest.mark.parametrize("times", long_but([2], [2, 5]))
def test_restores_are_equal(any_server: Database, times: int) -> None:
    any_server.restore(START, any_server.spec)
    first = any_server.fingerprint(TABLES)
    assert first.rows == {"item": ROWS}
    for number in range(times):
        any_server.execute(
            f"UPDATE item SET quantity = {number}; DELETE FROM item WHERE id % 3 = 0;"
            "CREATE TABLE litter AS SELECT * FROM item; CREATE DATABASE litter"
        )
        assert any_server.fingerprint(TABLES).digest != first.digest
        any_server.restore(START, any_server.spec)
        assert any_server.fingerprint(TABLES) == first
        assert tables_named(any_server, "litter") == 0


def tables_named(target: Database, name: str) -> int:
    sql = f"SELECT count(*) FROM information_schema.tables WHERE table_name = '{name}'"
    return int(target.query(sql)[0][0])


def test_several_snapshots(any_server: Database) -> None:
    any_server.restore(START, any_server.spec)
    before = any_server.fingerprint(TABLES)
    any_server.execute("DELETE FROM item WHERE id > 1000")
    any_server.snapshot("a key with /../ in it")
    any_server.empty(any_server.spec)
    assert tables_named(any_server, "item") == 0
    any_server.restore("a key with /../ in it", any_server.spec)
    assert any_server.fingerprint(TABLES).rows == {"item": 1000}
    any_server.restore(START, any_server.spec)
    assert any_server.fingerprint(TABLES) == before
    with pytest.raises(WrongInputError, match="no snapshot 'other'"):
        any_server.restore("other", any_server.spec)


def test_snapshot_needs_free_space(make_target: MakeTarget, open_folder: Path, engine: str) -> None:
    """On a real small file system; needs root and loop devices."""
    image, mount = open_folder / "image", open_folder / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(600 * 1024**2)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=False)
    if mounted.returncode != 0:
        pytest.skip("loop devices cannot be mounted here")
    try:
        target = make_target(engine=engine, data=mount)
        fill(target)
        with (mount / "filler").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(mount).free - 30 * 1024**2)
        with pytest.raises(TargetError, match="a snapshot needs"):
            target.snapshot("k")
        with pytest.raises(TargetError, match="a new server needs"):
            make_target(engine=engine, data=mount)
        target.close()
        assert sorted(each.name for each in mount.iterdir()) == ["filler", "lost+found"]
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_processors_and_open_files_of_the_server(any_server: Database) -> None:
    spec = any_server.spec.model_copy(update={"process": ProcessSpec(cpus="0", nofile=2048)})
    readings = {each.factor: each.read_back for each in any_server.restore(START, spec)}
    assert readings == {"host.server.cpus": "0", "host.server.nofile": 2048}
    assert main_process(any_server).cpu_affinity() == [0]


def test_cpu_seconds_of_the_server(any_server: Database) -> None:
    any_server.restore(START, any_server.spec)
    before = any_server.server_cpu_s()
    assert before is not None
    while (now := any_server.server_cpu_s()) is not None and now <= before:
        any_server.query(
            "SELECT count(*) FROM item a, item b WHERE a.quantity < b.quantity AND a.id <= 100"
        )
    assert any_server.inventory()["size_bytes"] == any_server.size_bytes() > 0
