"""What every engine that is a server must do when Loadstone owns it."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from integration.conftest import ROWS, START, TABLES, MakeTarget, fill, need_mariadb

from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments.model import ProcessSpec
from loadstone.targets.base import Target
from loadstone.targets.mariadb import processes as of_mariadb
from loadstone.targets.postgresql import processes as of_postgresql

PROCESSES: dict[str, ModuleType] = {"postgresql": of_postgresql, "mariadb": of_mariadb}
RECOVERED = {
    "postgresql": "was not properly shut down",
    "mariadb": "InnoDB: Starting crash recovery",
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")


@pytest.fixture(params=["postgresql", "mariadb"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mariadb":
        need_mariadb()
    return str(request.param)


def data_of(target: Target) -> Path:
    return Path(target.inventory()["data_folder"])


def main_process(target: Target) -> psutil.Process:
    found = [
        each
        for each in PROCESSES[target.engine].all_of(data_of(target))
        if str(data_of(target)) in " ".join(each.cmdline())
    ]
    assert len(found) == 1
    return found[0]


def test_server_runs_as_an_ordinary_user_behind_a_private_socket(any_server: Target) -> None:
    server = main_process(any_server)
    assert server.uids().real != 0
    socket = Path(any_server.connection().host)
    folder = socket if socket.is_dir() else socket.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [
        each for each in server.net_connections() if each.laddr and each.status == "LISTEN"
    ] == []
    assert os.getsid(server.pid) != os.getsid(0), "Ctrl-C on the terminal would reach it"


def test_crash_loses_nothing_that_was_committed(any_server: Target) -> None:
    any_server.restore(START, any_server.spec)
    data = data_of(any_server)
    any_server.execute("UPDATE item SET quantity = quantity + 1 WHERE id <= 100")
    before = any_server.fingerprint(TABLES)
    any_server.crash("kill")
    assert PROCESSES[any_server.engine].all_of(data) == []
    any_server.start()
    assert any_server.fingerprint(TABLES).digest == before.digest
    log = any_server.log_path()
    assert log is not None
    assert RECOVERED[any_server.engine] in log.read_text()


def test_restore_after_a_crash(any_server: Target) -> None:
    any_server.restore(START, any_server.spec)
    before = any_server.fingerprint(TABLES)
    any_server.execute("DELETE FROM item")
    any_server.crash("kill")
    any_server.restore(START, any_server.spec)
    assert any_server.fingerprint(TABLES) == before


def test_server_killed_by_somebody_else(any_server: Target) -> None:
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


def test_server_that_was_halted_is_closed(make_target: MakeTarget, engine: str) -> None:
    target = make_target(engine=engine)
    data = data_of(target)
    for process in PROCESSES[engine].all_of(data):
        process.send_signal(signal.SIGSTOP)
    target.close()
    assert PROCESSES[engine].all_of(data) == []
    assert not data.exists()


def test_both_engines_have_the_same_fingerprint(make_target: MakeTarget) -> None:
    """Negative differences, sums beyond 64 bits, texts: what would tell engines apart."""
    need_mariadb()
    expressions = {
        "item": "9000000000000000000 + quantity - id",
        "many": "CAST(length(name) AS DECIMAL) - 100",
    }
    found = []
    for engine in PROCESSES:
        target = make_target(engine=engine)
        fill(target)
        target.execute("CREATE TABLE many AS SELECT * FROM item WHERE id < 10")
        found.append(target.fingerprint(expressions))
        target.close()
    assert found[0].sums["item"].startswith("449999999999")
    assert found[0].digest == found[1].digest


def test_own_data_folder_with_a_path_too_long_for_a_socket(
    make_target: MakeTarget, open_folder: Path, engine: str
) -> None:
    folder = open_folder / ("long" * 20)
    folder.mkdir()
    target = make_target(engine=engine, data=folder)
    assert target.query("SELECT 1") == [(1,)]
    assert data_of(target).is_relative_to(folder)
    socket = Path(target.connection().host)
    target.close()
    assert list(folder.iterdir()) == []
    assert not socket.exists()


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


def test_five_restores_are_equal(any_server: Target) -> None:
    any_server.restore(START, any_server.spec)
    first = any_server.fingerprint(TABLES)
    assert first.rows == {"item": ROWS}
    for number in range(5):
        any_server.execute(
            f"UPDATE item SET quantity = {number}; DELETE FROM item WHERE id % 3 = 0;"
            "CREATE TABLE litter AS SELECT * FROM item; CREATE DATABASE litter"
        )
        assert any_server.fingerprint(TABLES).digest != first.digest
        any_server.restore(START, any_server.spec)
        assert any_server.fingerprint(TABLES) == first
        assert any_server.query(
            "SELECT count(*) FROM information_schema.tables WHERE table_name = 'litter'"
        ) == [(0,)]


def test_several_snapshots(make_target: MakeTarget, engine: str) -> None:
    target = make_target(engine=engine)
    fill(target)
    target.snapshot("a key with /../ in it")
    target.empty(target.spec)
    assert target.query(
        "SELECT count(*) FROM information_schema.tables WHERE table_name = 'item'"
    ) == [(0,)]
    target.restore("a key with /../ in it", target.spec)
    assert target.fingerprint(TABLES).rows == {"item": ROWS}
    with pytest.raises(WrongInputError, match="no snapshot 'other'"):
        target.restore("other", target.spec)


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
        with pytest.raises(TargetError, match="an empty target needs"):
            make_target(engine=engine, data=mount)
        target.close()
        assert sorted(each.name for each in mount.iterdir()) == ["filler", "lost+found"]
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_processors_and_open_files_of_the_server(any_server: Target) -> None:
    spec = any_server.spec.model_copy(update={"process": ProcessSpec(cpus="0", nofile=2048)})
    readings = {each.factor: each.read_back for each in any_server.restore(START, spec)}
    assert readings == {"host.server.cpus": "0", "host.server.nofile": 2048}
    assert main_process(any_server).cpu_affinity() == [0]


def test_cpu_seconds_of_the_server(any_server: Target) -> None:
    any_server.restore(START, any_server.spec)
    before = any_server.server_cpu_s()
    assert before is not None
    while (now := any_server.server_cpu_s()) is not None and now <= before:
        any_server.query("SELECT count(*) FROM item a, item b WHERE a.quantity < b.quantity")
    assert any_server.inventory()["size_bytes"] == any_server.size_bytes() > 0
