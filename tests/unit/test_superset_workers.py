"""Workers of gunicorn: how they are started, and what their log tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.errors import WrongInputError
from loadstone.journal import Journal
from loadstone.targets.superset import settings
from loadstone.targets.superset.node import Gunicorn
from loadstone.targets.superset.node_log import NodeLogProbe

TIMED_OUT = "[2026-11-27 18:00:00 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:{})\n"
SENT = (
    "[2026-11-27 18:00:01 +0000] [7] [ERROR] Worker (pid:{}) was sent {}! Perhaps out of memory?\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """With what an earlier start has left."""
    path = tmp_path / "gunicorn.log"
    path.write_text(TIMED_OUT.format(1))
    return path


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def test_each_worker_that_timed_out_is_counted_once_when_it_died(log: Path) -> None:
    probe = NodeLogProbe(log)
    probe.start()
    assert probe.sample(1.0) == []
    append(log, TIMED_OUT.format(22) + TIMED_OUT.format(33)[:60])
    (sample,) = probe.sample(2.0)
    assert (sample.metric, sample.value) == ("worker_deaths_count", 1)
    append(log, TIMED_OUT.format(33)[60:] + SENT.format(33, "SIGKILL"))
    probe.stop()
    (notice,) = probe.notices()
    assert notice.code == "workers-timed-out"
    assert notice.message.startswith("gunicorn killed 2 workers")


def test_a_worker_that_somebody_else_killed_is_told_apart(log: Path) -> None:
    probe = NodeLogProbe(log)
    probe.start()
    append(log, SENT.format(22, "SIGKILL") + SENT.format(33, "SIGTERM"))
    probe.stop()
    (notice,) = probe.notices()
    assert (notice.code, notice.message[:9]) == ("workers-killed", "1 worker ")


def test_connections_that_were_lacking_are_counted_once_each(log: Path) -> None:
    words = "QueuePool limit of size 1 overflow 0 reached"
    probe = NodeLogProbe(log)
    probe.start()
    for number in range(3):
        append(log, f"sqlalchemy.exc.TimeoutError: {words}\nERROR:superset:{number} {words}\n")
    assert probe.sample(1.0) == []
    probe.stop()
    (notice,) = probe.notices()
    assert (notice.code, " 3 times " in notice.message) == ("pool-exhausted", True)


def test_of_workers_that_live_nothing_is_told(tmp_path: Path) -> None:
    probe = NodeLogProbe(tmp_path / "none.log")
    probe.start()
    assert probe.sample(1.0) == []
    probe.stop()
    assert probe.notices() == []


def test_a_sync_worker_answers_one_request_at_a_time(tmp_path: Path) -> None:
    chosen = settings.settings_of({"worker_class": "sync", "worker_timeout_s": "5", "nodes": 2})
    assert chosen.most_at_a_time == 4
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        server = Gunicorn(tmp_path, tmp_path / "s", log=tmp_path / "log", journal=journal)
        server.python, server.settings = Path("python"), chosen
        words = [str(word) for word in server.command()]
    given = {name: words[words.index(name) + 1] for name in words if name.startswith("--wor")}
    assert given == {"--workers": "2", "--worker-class": "sync"}
    assert words[words.index("--threads") + 1] == "1"
    assert words[words.index("--timeout") + 1] == "5"


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ({"worker_class": "gevent"}, "worker_class is gthread or sync, not 'gevent'"),
        ({"worker_timeout_s": 0}, "worker_timeout_s is from 1 to 3,600, not 0"),
        ({"worker_class": "sync", "threads": 8}, "a sync worker answers one request at a time"),
    ],
)
def test_what_workers_cannot_be_is_refused(levels: dict[str, str | int], told: str) -> None:
    with pytest.raises(WrongInputError, match=told):
        settings.settings_of(levels)
