"""The target `spark` with the master of a cluster: a real one, with one worker, on this machine."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lengths import LONG
from session import until
from stepped import jvms_that_live_for_seconds

from loadstone.errors import TargetError, WrongInputError
from loadstone.journal import Journal
from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.engines.spark import SparkEngine
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.spark import Spark, jvm, settings
from loadstone.workloads.dss.data import DataSet, summed
from loadstone.workloads.dss.tables import tables

pytestmark = pytest.mark.usefixtures("spark")
DEPLOY = "org.apache.spark.deploy"


@pytest.fixture(scope="module", autouse=True)
def _short_lived() -> Iterator[None]:
    with jvms_that_live_for_seconds():
        yield


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The master of a cluster that has no worker yet."""
    port = free_port()
    words = ("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    with program(tmp_path / "master", *words):
        until_it_listens(port)
        yield f"spark://127.0.0.1:{port}"


@pytest.fixture
def worker(tmp_path: Path, master: str) -> Iterator[None]:
    folder = tmp_path / "worker"
    words = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "2", "--memory", "1g")
    with program(folder, "worker.Worker", *words, "--work-dir", str(folder), master):
        yield


@contextmanager
def program(folder: Path, name: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """One of Spark's own daemons, in the foreground."""
    import pyspark

    folder.mkdir()
    command = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(folder), "SPARK_DAEMON_MEMORY": "256m"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [command, f"{DEPLOY}.{name}", *words], env=environment, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def until_it_listens(port: int) -> None:
    def listens() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            return False
        return True

    until(f"a server at port {port}", listens)


@LONG
@pytest.mark.usefixtures("worker")
def test_the_workers_of_a_cluster_load_and_answer(master: str, few_rows: DataSet, tmp_path: Path):
    asked = {"spark.executor.memory": "600m", "spark.cores.max": 2}
    spec = TargetSpec(engine="spark", server=master, settings=asked)
    with opened(spec, tmp_path) as target:
        few = [table for table in tables("none") if table.name in {"nation", "orders"}]
        target.create_tables(few)
        for table in few:
            target.load_files(table, few_rows.files[table.name], sessions=2)
        sums = {table.name: summed(target.dialect)[table.name] for table in few}
        found = target.fingerprint(sums)
        assert found.sums == {name: few_rows.sums[name] for name in sums}
        assert target.inventory()["settings"]["spark.master"] == master
        target.snapshot("loaded")
        readings = target.restore("loaded", spec)
        assert {reading.factor: reading.read_back for reading in readings} == {
            "target.spark.executor.memory": "600m",
            "target.spark.cores.max": "2",
        }
        target.make_way()
        connection = target.connection()
        engine = SparkEngine(
            FileConnection(
                protocol="spark", database=connection.database, settings=connection.settings
            )
        )
        try:
            channel = engine.connect()
            assert channel.run("SELECT count(*) FROM orders") == [(few_rows.rows["orders"],)]
            assert engine.pids == ()
            executors = jvm_of(engine)._context._jsc.sc().getExecutorMemoryStatus().size() - 1
            assert executors == 1
        finally:
            engine.close()


def jvm_of(engine: SparkEngine) -> jvm.JVM:
    return engine._jvm


@contextmanager
def opened(spec: TargetSpec, folder: Path) -> Iterator[Spark]:
    journal = Journal(folder / "journal.jsonl", "pytest")
    target = Spark(spec, TargetContext(journal, "pytest"))
    try:
        target.open()
        target.empty(spec)
        yield target
    finally:
        target.close()
        journal.close()


@LONG
def test_a_cluster_without_workers_is_told(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jvm, "_WORKERS_S", 2.0)
    with pytest.raises(TargetError, match="no worker of spark://") as failure:
        jvm.JVM(tmp_path, {"spark.master": master})
    assert "spark.executor.memory" in (failure.value.advice or "")


def test_a_driver_that_is_alone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without Spark: something answers as the master does, and the driver sees nobody else."""

    class Context:
        def __init__(self) -> None:
            self._jsc = self

        def sc(self) -> "Context":
            return self

        def getExecutorMemoryStatus(self) -> "Context":  # noqa: N802 - Spark's name
            return self

        def size(self) -> int:
            return 1

        def isStopped(self) -> bool:  # noqa: N802 - Spark's name
            return False

        def stop(self) -> None:
            """Nothing runs."""

    monkeypatch.setattr(jvm.JVM, "_start", lambda own, *_: setattr(own, "_context", Context()))
    monkeypatch.setattr(jvm, "_WORKERS_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"spark://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(TargetError, match=f"no worker of {master}") as failure:
            jvm.JVM(tmp_path, {"spark.master": master})
    assert "spark.executor.memory" in (failure.value.advice or "")


def test_a_master_that_does_not_answer_is_told(tmp_path: Path):
    with pytest.raises(TargetError, match=r"spark://127\.0\.0\.1:1 does not answer"):
        jvm.JVM(tmp_path, {"spark.master": "spark://127.0.0.1:1"})


@pytest.mark.parametrize("server", ["spark://", "spark://host", "spark://a:99999", "spark://u@h:1"])
def test_what_is_no_master_is_refused(server: str):
    with pytest.raises(WrongInputError, match="cannot be read"):
        Spark.describe(TargetSpec(engine="spark", server=server))


def test_settings_of_workers_need_workers(monkeypatch: pytest.MonkeyPatch):
    told = {"default": "", "made": "1g"}
    monkeypatch.setattr(settings, "_told", lambda *_: told)  # what Spark is asked
    alone = TargetSpec(engine="spark")
    assert Spark.setting(alone, "spark.executor.memory", "1g").refused is not None
    there = TargetSpec(engine="spark", server="spark://host:7077")
    assert Spark.setting(there, "spark.executor.memory", "1g").refused is None
    assert Spark.describe(there)["master"] == "spark://host:7077"
