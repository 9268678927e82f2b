"""The index says what the folders say, also to two at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import SLOW
from sample_trials import make_experiment

from loadstone.errors import TargetError, WrongInputError
from loadstone.load.interrupted import finish_interrupted
from loadstone.results.finding import named
from loadstone.results.record import Status
from loadstone.results.store import INDEX_FILE, Store, index_experiment, reindex
from loadstone.results.trial_files import read_result

STATUSES = [Status.VALID, Status.DISTURBED, Status.INVALID, Status.FAILED]


def test_an_experiment_is_found_and_listed(tmp_path: Path) -> None:
    folder = make_experiment(
        tmp_path, trials={"a": Status.VALID, "b": Status.DISTURBED, "c": Status.VALID}
    )
    index_experiment(folder.path, finish_interrupted)
    with Store(tmp_path) as store:
        [entry] = store.experiments()
        assert (entry.name, entry.workload, entry.design) == ("demo", "noop", "run")
        assert entry.statuses == {"valid": 2, "disturbed": 1}
        assert store.metrics("demo")["b"] == {"operations_per_s": 5.0}
    assert named(tmp_path, "demo").path == folder.path
    assert named(tmp_path, "demo/b").path == folder.path / "b"


def test_indexing_again_changes_nothing(tmp_path: Path) -> None:
    folder = make_experiment(tmp_path)
    with Store(tmp_path) as store:
        store.index_experiment(folder.path, finish_interrupted)
        before = store.experiments(), store.metrics("demo")
        store.index_experiment(folder.path, finish_interrupted)
        assert (store.experiments(), store.metrics("demo")) == before


def test_the_list_is_newest_first(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        make_experiment(tmp_path, name)
    reindex(tmp_path, finish_interrupted)
    with Store(tmp_path) as store:
        assert [entry.name for entry in store.experiments()] == ["third", "second", "first"]


def test_a_reference_may_be_short_but_not_ambiguous(tmp_path: Path) -> None:
    for name in ("ladder-a", "ladder-b", "sweep"):
        make_experiment(
            tmp_path, name, trials={"b01-1-base": Status.VALID, "b01-2-wal": Status.VALID}
        )
    assert named(tmp_path, "sw").experiment.name == "sweep"
    assert named(tmp_path, "sw/b01-2").path.name == "b01-2-wal"
    with pytest.raises(WrongInputError, match="ladder-a, ladder-b"):
        named(tmp_path, "lad")
    with pytest.raises(WrongInputError, match="'swep'") as caught:
        named(tmp_path, "swep")
    assert caught.value.advice == "did you mean sweep?"
    with pytest.raises(WrongInputError, match="sweep has no trial"):
        named(tmp_path, "sweep/x")
    with pytest.raises(WrongInputError):
        named(tmp_path, "")


def test_the_index_is_made_anew_from_the_folders(tmp_path: Path) -> None:
    make_experiment(tmp_path, "kept")
    gone = make_experiment(tmp_path, "gone")
    broken = make_experiment(tmp_path, "broken")
    reindex(tmp_path, finish_interrupted)
    for path in sorted(gone.path.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    gone.path.rmdir()
    (broken.path / "experiment.json").write_text("{}")
    [left_out] = reindex(tmp_path, finish_interrupted)
    assert "broken" in left_out
    (tmp_path / INDEX_FILE).unlink()
    reindex(tmp_path, finish_interrupted)
    with Store(tmp_path) as store:
        assert [entry.name for entry in store.experiments()] == ["kept"]


def test_a_killed_trial_is_finished_when_it_is_indexed(tmp_path: Path) -> None:
    folder = make_experiment(tmp_path, trials={"a": Status.RUNNING})
    index_experiment(folder.path, finish_interrupted)
    with Store(tmp_path) as store:
        assert store.experiments()[0].statuses == {"interrupted": 1}
    assert read_result(folder.path / "a").status is Status.INTERRUPTED


def test_a_broken_index_is_said_and_can_be_mended(tmp_path: Path) -> None:
    (tmp_path / INDEX_FILE).write_text("no database at all, but a longer text of some kind")
    with pytest.raises(TargetError, match="index of") as caught:
        Store(tmp_path)
    assert "reindex" in (caught.value.advice or "")


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="no address"):
        Store(tmp_path, "surely not")


@settings(SLOW, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    trials=st.dictionaries(
        st.from_regex(r"[a-z0-9][a-z0-9._-]{0,30}", fullmatch=True),
        st.sampled_from(STATUSES),
        min_size=1,
        max_size=5,
    ),
    value=st.floats(allow_nan=False, allow_infinity=False),
)
def test_what_goes_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory, trials: dict[str, Status], value: float
) -> None:
    results = tmp_path_factory.mktemp("results")
    folder = make_experiment(results, trials=trials, value=value)
    index_experiment(folder.path, finish_interrupted)
    with Store(results) as store:
        counted = store.experiments()[0].statuses
        assert sum(counted.values()) == len(trials)
        assert counted.keys() == {status.value for status in trials.values()}
        for trial in trials:
            assert named(results, f"demo/{trial}").trial == folder.path / trial
            assert store.metrics("demo")[trial]["operations_per_s"] == value


INDEXER = """
import sys
from pathlib import Path
from loadstone.load.interrupted import finish_interrupted
from loadstone.results.store import Store
sys.stdin.readline()
for _ in range(2):
    with Store(Path(sys.argv[1]).parent) as store:
        store.index_experiment(Path(sys.argv[1]), finish_interrupted)
        store.reindex(finish_interrupted)
"""


def test_several_may_index_at_once(tmp_path: Path) -> None:
    folders = [make_experiment(tmp_path, f"experiment-{number}").path for number in range(3)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", INDEXER, str(folder)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for folder in folders
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    errors = [process.communicate()[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    with Store(tmp_path) as store:
        assert len(store.experiments()) == 3


def test_the_files_are_the_truth(tmp_path: Path) -> None:
    folder = make_experiment(tmp_path)
    reindex(tmp_path, finish_interrupted)
    path = folder.path / "b01-1-base" / "result.json"
    result = json.loads(path.read_text())
    result["metrics"][0]["value"] = 7.0
    path.write_text(json.dumps(result))
    reindex(tmp_path, finish_interrupted)
    with Store(tmp_path) as store:
        assert store.metrics("demo")["b01-1-base"]["operations_per_s"] == 7.0
