"""Runs of `bi` on a whole Superset in this process, so that a test can reach into it under load."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, loadstone
from session import until

from loadstone.errors import TargetError
from loadstone.placements import programs
from loadstone.results.frames import read_frames
from loadstone.targets.superset import Superset, installation
from loadstone.workloads.http.checks import Comings, comings_of

SCALE, ACCOUNTS = 0.002, 60
"""Of the state that is kept from run to run."""
Reach = Callable[[Superset], None]
"""What a test does to a Superset that runs."""


def why_not() -> str | None:
    """Why there is no Superset to be started here."""
    for name in ("redis-server", "haproxy"):
        if why := programs.absent(name):
            return why
    try:
        return None if installation.environment().is_there else "Superset is not installed yet"
    except TargetError as error:
        return error.message


installed = pytest.mark.skipif(why_not() is not None, reason=f"{why_not()}: see make test-long")


@dataclass(frozen=True)
class Trial:
    """What a trial left."""

    folder: Path

    @cached_property
    def record(self) -> dict[str, Any]:
        """`result.json`."""
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found

    @property
    def comings(self) -> Comings:
        """Log-ins and log-outs of all phases."""
        return comings_of(read_frames(self.folder))

    @property
    def metrics(self) -> dict[str, float]:
        """By name."""
        return {each["name"]: each["value"] for each in self.record["metrics"]}

    @property
    def notices(self) -> dict[str, str]:
        """Code: message."""
        return {each["code"]: each["message"] for each in self.record["notices"]}

    @property
    def checks(self) -> dict[str, dict[str, Any]]:
        """By name."""
        return {each["name"]: each for each in self.record["checks"]}

    def operation(self, name: str) -> dict[str, Any]:
        """One of those of the measured load."""
        found: dict[str, Any] = next(
            each for each in self.record["operations"] if each["name"] == name
        )
        return found

    def errors(self) -> dict[str, int]:
        """Class: how many operations failed by it, in all phases."""
        others = [each for each in self.record["phases"] if each["kind"] != "measure"]
        return _summed(each["errors"] for each in [*self.record["operations"], *others])

    def of_requests(self, what: str) -> dict[str, int]:
        """Class: how many requests of the measured load; `errors`, `retried` or `resent`."""
        requests = (each for one in self.record["operations"] for each in one["requests"])
        return _summed(each[what] for each in requests)


def _summed(counts: Iterator[Mapping[str, int]] | Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            found[name] = found.get(name, 0) + count
    return found


@dataclass
class Runs:
    """Runs of one experiment after the other, in the present folder."""

    before_load: list[Reach] = field(default_factory=list)
    """Done to the Superset of each trial when it stands ready."""
    _target: Superset | None = None
    _failed: list[BaseException] = field(default_factory=list)

    def ready(self, target: Superset) -> None:
        """Takes note of the Superset whose load comes next."""
        self._target = target
        for each in self.before_load:
            each(target)

    def run(self, experiment: Mapping[str, Any], during: Reach | None = None) -> Done:
        """Runs an experiment by the command of users.

        Args:
            experiment: Fields beside those of every one here.
            during: Done while the first trial's load is measured.
        """
        name = experiment["name"]
        Path(f"{name}.yaml").write_text(json.dumps(experiment))
        ended = threading.Event()

        def reach() -> None:
            try:
                until("the measured load", lambda: ended.is_set() or _is_measured(name))
                if during is not None and self._target is not None and not ended.is_set():
                    during(self._target)
            except BaseException as error:
                self._failed.append(error)

        beside = threading.Thread(target=reach)
        if during is not None:
            beside.start()
        try:
            done = loadstone("run", f"{name}.yaml")
        finally:
            ended.set()
            if during is not None:
                beside.join()
        if self._failed:
            raise self._failed[0]
        assert "this is an error in Loadstone" not in done.stderr, done.stderr
        assert list(Path("results").glob(f"{name}*/*/result.json")), done.stderr
        return done

    def trials(self, name: str) -> dict[str, Trial]:
        """Those of the last run of an experiment, by the name of their variant."""
        folder = max(Path("results").glob(f"{name}*"), key=lambda path: path.stat().st_mtime)
        found = [Trial(path.parent) for path in sorted(folder.glob("*/result.json"))]
        return {each.record["variant"]: each for each in found}

    def one(self, experiment: Mapping[str, Any], during: Reach | None = None) -> tuple[Trial, Done]:
        """The one trial of a run, whatever became of it, and what the terminal showed."""
        done = self.run(experiment, during)
        found = self.trials(experiment["name"])
        assert len(found) == 1, done.stderr
        return next(iter(found.values())), done


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """With state and results of their own."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    made, settle = Runs(), Superset.settle

    def settled(target: Superset, cache: str) -> None:
        settle(target, cache)
        made.ready(target)

    monkeypatch.setattr(Superset, "settle", settled)
    return made


def experiment(
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    profile: Mapping[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """An experiment of a few people, whatever else the machine does."""
    own = {"scale": SCALE, "accounts": ACCOUNTS, "sample": 0, **(parameters or {})}
    load = {"users": 8, "ramp": "4/s", "think_time": "1s", "warm_up": "0s", "gather": "60s"}
    return {
        "version": 1,
        "name": name,
        "workload": {"name": "bi", "parameters": own},
        "target": {"engine": "superset", "settings": {"workers": 1, **(settings or {})}},
        "profile": {**load, "measure": "20s", **(profile or {})},
        "disturbance": 1000,
        "extra_trials": 0,
        **fields,
    }


def _is_measured(name: str) -> bool:
    """Whether a trial of an experiment has come to its measured phase."""
    return any(
        frame["frame"] == "tick" and frame["phase_kind"] == "measure"
        for plan in Path("results").glob(f"{name}*/*/plan.json")
        for frame in read_frames(plan.parent)
    )
