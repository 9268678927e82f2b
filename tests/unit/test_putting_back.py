"""The end of a run: each step is taken, and what cannot be put back is told in one error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loadstone.cli.execute import execute
from loadstone.cli.options import Execution
from loadstone.cli.progress import Collector
from loadstone.errors import LeftBehindError, LoadstoneError, TargetError, WrongInputError
from loadstone.experiments import conduct
from loadstone.experiments.conduct import RunOptions
from loadstone.experiments.file import Written
from loadstone.experiments.observer import Observer
from loadstone.experiments.putting_back import put_back
from loadstone.journal import Journal, open_journals, undoes
from loadstone.spec.model import Experiment
from loadstone.targets.base import Target

UNREACHED = "test-cannot-be-reached"
SILENT = "mounting nfs://server failed: timed out"
LEFT = f"make a folder: could not be undone: {SILENT}"


@undoes(UNREACHED)
def _cannot(_: object) -> None:
    raise TargetError(SILENT)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    return Journal(tmp_path / "journal.jsonl", "loadstone run")


def raising(error: Exception) -> Callable[[], None]:
    def step() -> None:
        raise error

    return step


def test_nothing_is_raised_if_all_was_put_back(journal: Journal) -> None:
    put_back([lambda: None], journal, [])
    assert not open_journals()


def test_what_is_left_is_one_line_though_two_steps_failed_at_it(journal: Journal) -> None:
    entry = journal.before("make a folder", UNREACHED)
    with pytest.raises(LeftBehindError) as raised:
        put_back([lambda: journal.undo(entry)], journal, [])
    assert raised.value.message == LEFT
    assert "loadstone recover" in str(raised.value.advice)
    assert [each.what for each in open_journals()[0].entries()] == ["make a folder"]


def test_the_first_cause_is_the_line_and_each_other_one_follows(journal: Journal) -> None:
    journal.before("make a folder", UNREACHED)
    group = ExceptionGroup("host", [OSError("swappiness stays"), OSError("turbo\nstays")])
    with pytest.raises(LeftBehindError) as raised:
        put_back([raising(group), raising(KeyError("x"))], journal, [WrongInputError("no such")])
    lines = ["no such", "swappiness stays", "turbo stays", "KeyError: 'x'", LEFT]
    assert raised.value.message == "\n  ".join(lines)


def test_every_step_is_taken_and_the_journal_closed_after_one_that_failed(journal: Journal) -> None:
    taken: list[int] = []
    with pytest.raises(TargetError, match="it did not stop") as raised:
        put_back([raising(TargetError("it did not stop")), lambda: taken.append(1)], journal, [])
    assert taken == [1]
    assert not open_journals()
    assert raised.value.advice is None, "there is nothing to recover"


def test_a_step_that_failed_hides_no_cause_where_nothing_is_left(journal: Journal) -> None:
    cause = TargetError("it did not start", advice="see its log")
    with pytest.raises(TargetError, match="it did not start\n  it did not stop") as raised:
        put_back([raising(TargetError("it did not stop"))], journal, [cause])
    assert raised.value.advice == "see its log"


def of_none() -> Experiment:
    return Experiment.model_validate(
        {"version": 1, "name": "x", "workload": {"name": "noop"}, "target": {"engine": "none"}}
    )


def test_a_target_that_neither_opens_nor_closes_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unreached(Target):
        engine = "none"

        def open(self) -> None:
            self.context.journal.before("make a folder", UNREACHED)
            raise TargetError("the server fell silent")

        def close(self) -> None:
            raise TargetError(SILENT)

    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(conduct, "examine", lambda *_, **__: None)
    monkeypatch.setattr(conduct, "target_for", lambda _: Unreached)
    with pytest.raises(LeftBehindError) as raised:
        conduct.conduct(of_none(), RunOptions(tmp_path, "loadstone run"), Observer())
    assert raised.value.message == f"the server fell silent\n  {LEFT}"


@pytest.mark.parametrize("trials", [0, 1])
def test_what_was_measured_is_shown_before_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: int
) -> None:
    def leave(_experiment: Experiment, _options: RunOptions, observer: Collector) -> Path:
        observer.results += [None] * trials  # type: ignore[list-item]
        observer.experiment_ends(tmp_path)
        raise LeftBehindError([LEFT])

    shown: list[Path] = []
    monkeypatch.setattr("loadstone.experiments.conduct.conduct", leave)
    monkeypatch.setattr("loadstone.cli.answer.answer", lambda path, **_: shown.append(path))
    with pytest.raises(LoadstoneError, match="could not be undone"):
        execute(Written(of_none(), tmp_path / "x.yaml"), Execution(results=tmp_path, quiet=True))
    assert shown == [tmp_path] * trials
