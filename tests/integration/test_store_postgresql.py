"""The store in a PostgreSQL that a team shares."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from integration.conftest import START, ServerOf
from sample_trials import make_experiment
from sqlalchemy.engine import URL

from loadstone.errors import TargetError
from loadstone.load.interrupted import finish_interrupted
from loadstone.results.record import Status
from loadstone.results.store import Store, reindex

pytestmark = pytest.mark.xdist_group("postgresql")


@pytest.fixture
def url(server_of: ServerOf) -> str:
    target = server_of("postgresql", "embedded")
    target.restore(START, target.spec)
    at = target.connection()
    address = URL.create(
        "postgresql",
        username=at.user,
        password=at.password,
        database=at.database,
        query={"host": at.host, "port": str(at.port)},
    )
    return address.render_as_string(hide_password=False)


def test_it_is_the_same_store(tmp_path: Path, url: str) -> None:
    make_experiment(tmp_path, trials={"a": Status.VALID, "b": Status.FAILED}, value=0.1)
    make_experiment(tmp_path, "other", "oltp")
    assert reindex(tmp_path, finish_interrupted, url) == []
    reindex(tmp_path, finish_interrupted)
    with Store(tmp_path, url) as shared, Store(tmp_path) as own:
        assert shared.experiments() == own.experiments()
        assert shared.metrics("demo") == own.metrics("demo") != {}
        assert [each.name for each in shared.experiments() if each.has(Status.FAILED)] == ["demo"]


def test_several_may_index_at_once(tmp_path: Path, url: str) -> None:
    folder, errors = make_experiment(tmp_path).path, []
    together = threading.Barrier(4)

    def index() -> None:
        together.wait()
        try:
            with Store(tmp_path, url) as store:
                for _ in range(5):
                    store.index_experiment(folder, finish_interrupted)
        except TargetError as error:
            errors.append(error)

    threads = [threading.Thread(target=index) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store(tmp_path, url) as store:
        assert [entry.name for entry in store.experiments()] == ["demo"]


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="index of"):
        Store(tmp_path, f"postgresql://nobody@/nothing?host={tmp_path}")
