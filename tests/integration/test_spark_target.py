"""The target `spark`: Parquet tables, its JVM, its sessions."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import order_entry
import psutil
import pytest
from lengths import LONG
from stepped import jvms_that_live_for_seconds

from loadstone.errors import WrongInputError
from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.engines.spark import SparkChannel, SparkEngine, shape_of
from loadstone.runner.session import FailureError
from loadstone.spec.target import ProcessSpec, TargetSpec
from loadstone.targets.schema import Column, ColumnType, Table
from loadstone.targets.spark import Spark, settings
from loadstone.targets.spark.database import Database
from loadstone.targets.spark.jvm import JVM
from loadstone.workloads.dss.data import DataSet, summed
from loadstone.workloads.dss.tables import tables

pytestmark = pytest.mark.usefixtures("spark")
ENDLESS = "SELECT count(*) FROM range(3000000000) a, range(1000) b WHERE xxhash64(a.id, b.id) = 5"
JOINED = """SELECT n_name, sum(c_acctbal) AS total FROM customer, nation
    WHERE c_nationkey = n_nationkey GROUP BY n_name ORDER BY n_name"""


FEW = ("nation", "customer", "orders")
"""The tables of a quick run: their columns have all types."""


@pytest.fixture(scope="module", autouse=True)
def _short_lived() -> Iterator[None]:
    with jvms_that_live_for_seconds():
        yield


@pytest.fixture(scope="module")
def target(
    request: pytest.FixtureRequest, few_rows: DataSet, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Spark]:
    """With tables of decision support: in a long run with all eight."""
    wanted = [
        table for table in tables("none") if table.name in FEW or request.config.getoption("--long")
    ]
    with order_entry.opened("spark", tmp_path_factory.mktemp("spark")) as opened:
        assert isinstance(opened, Spark)
        opened.create_tables(wanted)
        for table in wanted:
            opened.load_files(table, few_rows.files[table.name], sessions=2)
        yield opened


@pytest.fixture
def engine(
    request: pytest.FixtureRequest, target: Spark, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkEngine]:
    """In a JVM of its own; in a quick run in that of the target, whose start is half the test."""
    is_apart = request.config.getoption("--long")
    if is_apart:
        target.make_way()
    else:
        jvm = own_jvm(target)
        monkeypatch.setattr("loadstone.runner.engines.spark.JVM", lambda *_: jvm)
    settings = {"spark.sql.shuffle.partitions": "3"} if is_apart else {}
    folder = target.connection().database
    found = SparkEngine(FileConnection(protocol="spark", database=folder, settings=settings))
    yield found
    if is_apart:
        found.close()


def own_jvm(target: Spark) -> JVM:
    assert isinstance(target.data, Database)
    return target.data.opened()


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def test_the_rows_are_those_that_duckdb_counted(
    request: pytest.FixtureRequest, target: Spark, few_rows: DataSet
):
    everything = summed(target.dialect)
    wanted = everything if request.config.getoption("--long") else FEW
    found = target.fingerprint({name: everything[name] for name in wanted})
    assert found.rows == {name: few_rows.rows[name] for name in wanted}
    assert found.sums == {name: few_rows.sums[name] for name in wanted}


def test_sessions_answer_and_can_be_broken_off(request: pytest.FixtureRequest, engine: SparkEngine):
    channel, other = engine.connect(), engine.connect()
    rows = channel.run(JOINED)
    assert len(rows) == 25
    assert str(rows[0][0]) == "ALGERIA"
    assert str(rows[0][1]).partition(".")[2].isdigit()
    partitions = channel.run("SET spark.sql.shuffle.partitions")[0][1]
    assert partitions == ("3" if request.config.getoption("--long") else "200")
    assert channel.spilled_bytes() == 0
    shape = channel.explain(JOINED, execute=True).shape
    assert "BroadcastHashJoin" in shape
    assert "Scan parquet" in shape
    assert engine.cpu_s() > 0.0
    _break_off(channel)
    assert other.run("SELECT 1") == [(1,)]
    assert channel.run("SELECT 2") == [(2,)]
    with pytest.raises(FailureError, match="nowhere") as failure:
        channel.run("SELECT * FROM nowhere")
    assert failure.value.error_class == "TABLE_OR_VIEW_NOT_FOUND"


def _break_off(channel: SparkChannel) -> None:
    over = threading.Event()

    def again_and_again() -> None:
        while not over.wait(0.5):
            channel.interrupt()

    breaker = threading.Thread(target=again_and_again)
    breaker.start()
    try:
        with pytest.raises(FailureError, match=r"(?i)cancel"):
            channel.run(ENDLESS)
    finally:
        over.set()
        breaker.join()


def test_no_jvm_is_left_when_the_load_comes(target: Spark):
    jvm, before = own_jvm(target).pid, children()
    assert jvm in before
    target.make_way()
    assert children() == before - {jvm}


@LONG
def test_a_restored_snapshot_has_the_same_rows_and_the_settings_asked_for(target: Spark):
    target.snapshot("loaded")
    target.execute("INSERT INTO nation SELECT * FROM nation")
    assert target.query("SELECT count(*) FROM nation") == [(50,)]
    spec = TargetSpec(engine="spark", settings={"spark.sql.shuffle.partitions": 3})
    (reading,) = target.restore("loaded", spec)
    assert (reading.factor, reading.read_back) == ("target.spark.sql.shuffle.partitions", "3")
    assert target.query("SELECT count(*) FROM nation") == [(25,)]
    assert target.size_bytes() > 100_000


def test_a_jvm_ends_with_the_process_that_started_it(tmp_path: Path):
    script = (
        "import sys; from pathlib import Path; from loadstone.targets.spark.jvm import JVM\n"
        f"jvm = JVM(Path({str(tmp_path)!r}), {{}}); print(jvm.pid, flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.kill()
        assert said.strip().isdigit(), "Spark or PySpark wrote to the standard output"
    stat = Path(f"/proc/{int(said)}")
    while stat.exists():  # the test's time limit ends this
        time.sleep(0.1)


@LONG
def test_the_default_of_a_setting_is_asked_of_spark():
    assert settings.info("spark.sql.shuffle.partitions", 4).default == "200"


@LONG
def test_settings_that_spark_does_not_take_are_refused():
    with pytest.raises(WrongInputError, match="cannot be 'many'"):
        settings.info("spark.sql.shuffle.partitions", "many")
    with pytest.raises(WrongInputError, match=r"did you mean 'spark\.sql\.shuffle\.partitions'"):
        settings.info("spark.sql.shufle.partitions", 4)
    with pytest.raises(WrongInputError, match=r"begin with `spark\.`"):
        settings.info("shuffle", 4)
    assert settings.info("spark.ui.port", 4040).refused is not None


def test_what_only_a_server_has_is_refused():
    with pytest.raises(WrongInputError, match="no server 'local'"):
        Spark.describe(TargetSpec(engine="spark", server="local"))
    with pytest.raises(WrongInputError, match="no server process"):
        Spark.describe(TargetSpec(engine="spark", process=ProcessSpec(nofile=2000)))


def test_tables_have_no_keys(target: Spark):
    table = Table("t", (Column("id", ColumnType("integer")),), primary_key=("id",))
    with pytest.raises(WrongInputError, match="no keys"):
        target.create_tables([table])


def test_a_shape_has_operators_without_numbers():
    plan = "== Plan ==\n* Sort (3)\n+- Exchange (2)\n   +- Scan parquet a.b (1)\n\n(1) Scan"
    assert shape_of(plan).splitlines() == ["  Sort", "   Exchange", "      Scan parquet a.b"]
