"""Spark in a JVM that ends with this process: a pipe tells it that nobody is there any more.

That is all of Spark, or the driver of a cluster.

PySpark keeps one context for a process, in attributes of its classes; whoever ends the JVM resets
them, so that another can be started.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from loadstone.errors import LoadstoneError, TargetError
from loadstone.targets.spark import folder, master

_GROUP = count(1)
_END_S = 20.0
_WORKERS_S = 60.0
_MASTER = "spark.master"
_CAUSES = ("Caused by: ", ": ")
"""What the lines of a Java exception begin with that tell a cause, in their order."""
_STANDARD: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.scheduler.mode": "FAIR",
    "spark.sql.shuffleDependency.fileCleanup.enabled": "true",
    "spark.sql.classic.shuffleDependency.fileCleanup.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
"""What Loadstone sets unless it is asked otherwise: sessions share the processors, and the files of
a query go when it has ended."""


def check_installed() -> None:
    """Looks for PySpark and Java.

    Raises:
        TargetError: If one of them is missing.
    """
    if find_spec("pyspark") is None:
        raise TargetError(
            "PySpark is not installed", advice="install Loadstone with it: loadstone[spark]"
        )
    home = os.environ.get("JAVA_HOME")
    if shutil.which(f"{home}/bin/java" if home else "java") is None:
        place = f"JAVA_HOME is {home}" if home else "there is no `java` on the PATH"
        raise TargetError(f"Spark needs Java: {place}", advice="install a Java runtime 17")


def own_settings(database: Path, server: str) -> dict[str, str]:
    """What Loadstone alone decides: where things lie, and who may reach them.

    Raises:
        TargetError: If the master of a cluster does not answer.
    """
    address = "127.0.0.1" if server == master.LOCAL else master.own_address(server)
    return {
        _MASTER: server,
        "spark.app.name": "loadstone",
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.local.dir": str(folder.temporary(database)),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(folder.tables(database)),
        "spark.sql.session.timeZone": "UTC",
    }


class JVM:
    """Spark on the tables of a folder. A process has one at a time."""

    def __init__(self, database: Path, settings: Mapping[str, str]) -> None:
        """Starts it.

        Args:
            database: The folder; the workers of a cluster have it at the same place.
            settings: Of Spark, among them the master, if there is one.

        Raises:
            TargetError: It does not start, or does not take a setting; with Spark's own message.
        """
        folder.temporary(database).mkdir(parents=True, exist_ok=True)
        server = settings.get(_MASTER, master.LOCAL)
        conf = {**_STANDARD, **settings, **own_settings(database, server)}
        self._gateway: Any = None
        self._context: Any = None
        try:
            with _sigint_as_it_was(), folder.log(database).open("wb") as log:
                self._start(conf, log)
            if server != master.LOCAL:
                self._await_workers(server)
            self.session: Any = self._session()
            for statement in folder.statements(database):
                self.session.sql(statement)
        except BaseException as error:
            self.close()
            if isinstance(error, Exception) and not isinstance(error, LoadstoneError):
                why = _last_words(database) if self._gateway is None else said(error)
                raise TargetError(f"Spark does not start: {why}") from error
            raise

    @property
    def pid(self) -> int:
        """Of its process."""
        return int(self._gateway.proc.pid)

    @property
    def version(self) -> str:
        """Spark's."""
        return str(self._context.version)

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone, or has lost the cluster for good."""
        if self._gateway is None or self._gateway.proc.poll() is not None:
            return True
        with suppress(Exception):
            return bool(self._context._jsc.sc().isStopped())
        return self._gateway.proc.poll() is not None

    def begin_group(self, pool: str) -> str:
        """Names what this thread runs from now on: a new group of jobs, in a pool.

        Args:
            pool: Those of one pool follow each other; pools share the processors.
        """
        group = f"loadstone-{next(_GROUP)}"
        self._context.setLocalProperty("spark.scheduler.pool", pool)
        self._context.setJobGroup(group, "a statement", True)
        return group

    def cancel_group(self, group: str) -> None:
        """Breaks off the jobs of a group, and those that are yet to come."""
        with suppress(Exception):
            self._context._jsc.sc().cancelJobGroupAndFutureJobs(group)

    def spilled_bytes(self, group: str) -> int:
        """What the stages of a group have written to disk for want of memory."""
        context = self._context._jsc.sc()
        context.listenerBus().waitUntilEmpty()
        tracker, store = self._context.statusTracker(), context.statusStore()
        stages: set[int] = set()
        for job in tracker.getJobIdsForGroup(group):
            info = tracker.getJobInfo(job)
            stages.update(info.stageIds if info is not None else ())
        spilled = 0
        for stage in stages:
            # A stage whose output was there already was never sent.
            with suppress(Exception):
                spilled += int(store.lastStageAttempt(stage).diskBytesSpilled())
        return spilled

    def close(self) -> None:
        """Ends the process; nothing is left of it."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        gateway, self._gateway = self._gateway, None
        context, self._context = self._context, None
        if gateway is not None:
            _end(gateway.proc)
            with suppress(Exception):
                gateway.shutdown()
        if context is not None:
            with suppress(Exception):
                context._jsc = None
                context.stop()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None

    def _start(self, conf: Mapping[str, str], log: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark import SparkConf, SparkContext
            from pyspark.java_gateway import launch_gateway
            from pyspark.logger import PySparkLogger

            # They tell with stack traces what is told by those who asked.
            logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
            PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
            asked = SparkConf(loadDefaults=False)
            for name, value in conf.items():
                asked.set(name, value)
            launch: Any = launch_gateway
            self._gateway = launch(asked, {"stdout": log, "stderr": subprocess.STDOUT})
            self._context = SparkContext(conf=asked, gateway=self._gateway)

    def _await_workers(self, server: str) -> None:
        # Without them Spark would let the first statement wait for ever.
        context, over = self._context._jsc.sc(), time.monotonic() + _WORKERS_S
        while context.getExecutorMemoryStatus().size() < 2:
            if context.isStopped() or time.monotonic() > over:
                raise TargetError(
                    f"no worker of {server} took the work within {_WORKERS_S:.0f} s",
                    advice="start workers, or ask for less: spark.executor.memory, spark.cores.max",
                )
            time.sleep(0.1)

    def _session(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession

            return SparkSession(self._context)


def said(error: BaseException) -> str:
    """Spark's message, in one line: that of the cause of all, if it tells causes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith(_CAUSES)]
    text = (causes[-1:] or lines[:1] or [type(error).__name__])[0]
    for prefix in _CAUSES:
        text = text.removeprefix(prefix)
    return text[:500]


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_words(database: Path) -> str:
    try:
        lines = folder.log(database).read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    told = [line for line in lines if "rror" in line or "xception" in line]
    return (told or lines or ["it ended without a word"])[0][:500]


@contextmanager
def _sigint_as_it_was() -> Iterator[None]:
    """PySpark puts its own handler in the place of ours."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
