"""What is named when a system does not start."""

from __future__ import annotations

import re

import pytest

from loadstone.experiments.session_limit import with_session_limit
from loadstone.spec.model import Experiment
from loadstone.targets.blame import AskedSettings, Chosen, not_started
from loadstone.targets.mariadb.instance import Instance
from loadstone.targets.postgresql.cluster import Cluster

HUGE_PAGES = (
    "FATAL:  could not map anonymous shared memory: Cannot allocate memory | HINT:  This error "
    "usually means that PostgreSQL's request for a shared memory segment exceeded available "
    "memory, swap space, or huge pages. To reduce the request size, reduce PostgreSQL's shared "
    'memory usage, perhaps by reducing "shared_buffers" or "max_connections".'
)


def test_the_settings_of_this_start_are_named_and_not_those_that_worked_or_were_added() -> None:
    asked = AskedSettings()
    asked.ask({"shared_buffers": "1GB", "fsync": True})
    assert asked.changed() == {"shared_buffers": "1GB", "fsync": "on"}
    asked.worked()
    assert asked.changed() == {}
    asked.ask({"shared_buffers": "1GB", "huge_pages": "on", "max_connections": Chosen(600)})
    assert asked.changed() == {"huge_pages": "on"}
    error = not_started("PostgreSQL", HUGE_PAGES, asked.changed(), Cluster.cures)
    assert error.message.startswith(
        "PostgreSQL does not start with huge_pages = on; it says: FATAL"
    )
    assert error.advice is not None
    assert error.advice.startswith("reserve huge pages")
    assert error.advice.endswith("choose another level of huge_pages")
    assert "max_connections" not in error.advice


def test_those_that_its_words_name_come_before_the_others() -> None:
    changed = {"shared_buffers": "9TB", "work_mem": "4MB"}
    error = not_started("PostgreSQL", HUGE_PAGES, changed)
    assert "with shared_buffers = 9TB; it says" in error.message
    error = not_started("PostgreSQL", "FATAL:  something else", changed)
    assert "with shared_buffers = 9TB, work_mem = 4MB; it says" in error.message
    assert error.advice == "choose another level of shared_buffers or work_mem"


def test_without_a_change_nothing_is_blamed() -> None:
    error = not_started("PostgreSQL", HUGE_PAGES, {}, (), otherwise="see the log")
    assert error.message.startswith("PostgreSQL does not start; it says: ")
    assert error.advice == "see the log"


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_room_for_sessions_is_nobodys_wish(engine: str) -> None:
    from loadstone.experiments.designs import stages_of

    given = {"name": "x", "workload": {"name": "oltp"}, "target": {"engine": engine}}
    experiment = Experiment.model_validate({**given, "profile": {"users": 980}})
    (plan,) = stages_of(experiment, allow_unsafe=False).next([])
    settings = with_session_limit(plan, 980).target.settings
    assert settings["max_connections"] == 1000
    asked = AskedSettings()
    asked.ask(settings)
    assert asked.changed() == {}
    assert '"max_connections":1000' in with_session_limit(plan, 980).model_dump_json()


@pytest.mark.parametrize(
    ("server", "said", "cure"),
    [
        (Cluster, "FATAL:  could not resize shared memory segment: No space left", "/dev/shm"),
        (Cluster, "FATAL:  could not create semaphores: No space left on device", "kernel.sem"),
        (Cluster, "FATAL:  could not setup io_uring queue: Operation not permitted", "io_method"),
        (Cluster, 'WAL streaming ("max_wal_senders" > 0) requires "wal_level"', "wal_senders=0"),
        (Instance, "[ERROR] InnoDB: Cannot allocate memory for the buffer pool", "buffer_pool"),
        (Instance, "[ERROR] InnoDB: io_setup() failed with EAGAIN", "native_aio"),
    ],
)
def test_known_cures_are_told(server: type[Cluster | Instance], said: str, cure: str) -> None:
    error = not_started(server.title, said, {"jit": "off"}, server.cures)
    assert re.search(cure, error.advice or "")
