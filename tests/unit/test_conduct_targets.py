"""A target that cannot be made leaves no open journal, and no folder of results."""

from pathlib import Path

import pytest

from loadstone.errors import TargetError
from loadstone.experiments import conduct
from loadstone.experiments.conduct import RunOptions
from loadstone.experiments.observer import Observer
from loadstone.journal import open_journals
from loadstone.spec.model import Experiment
from loadstone.targets.base import Target
from loadstone.targets.registry import TARGETS


@pytest.mark.parametrize("engine", sorted(TARGETS))
def test_a_target_that_cannot_be_made_leaves_nothing(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unmakeable(Target):
        def __init__(self, *_: object) -> None:
            raise TargetError("it cannot be made")

    monkeypatch.setattr(conduct, "examine", lambda *_, **__: None)
    monkeypatch.setattr(conduct, "target_for", lambda _: Unmakeable)
    experiment = Experiment.model_validate(
        {"version": 1, "name": "x", "workload": {"name": "noop"}, "target": {"engine": engine}}
    )
    with pytest.raises(TargetError, match="cannot be made"):
        conduct.conduct(experiment, RunOptions(tmp_path, "loadstone run"), Observer())
    assert list(tmp_path.iterdir()) == []  # nothing was measured
    assert tmp_path not in [path for own in open_journals() for path in own.path.parents]
