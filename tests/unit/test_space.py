"""Whether what a trial writes fits where the data lie, before it begins."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_trials import result_of

from loadstone.cli.main import run_command
from loadstone.errors import RefusedError
from loadstone.experiments import series
from loadstone.experiments.designs import design_of, stages_of
from loadstone.experiments.file import load_experiment
from loadstone.experiments.preflight import space
from loadstone.spec.model import Experiment

GB = 1 << 30
ROOT = Path(__file__).parents[2]
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """60 GB are free everywhere, as long as nobody says otherwise."""
    told = {"bytes": 60 * GB, "asked": 0}

    def disk_usage(_folder: Path) -> Usage:
        told["asked"] += 1
        return Usage(0, 0, told["bytes"])

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    memory = SimpleNamespace(available=100 * GB, free=0)
    monkeypatch.setattr(space, "virtual_memory", lambda: memory)
    monkeypatch.setattr(space, "swap_memory", lambda: memory)
    monkeypatch.setattr(space, "mount_of", lambda _folder: None)
    return told


def experiment(engine: str = "postgresql", measure: str = "1h", **fields: Any) -> Experiment:
    """240,000 events/s: 864 million in an hour, 86.4 GB of PostgreSQL."""
    target = {"engine": engine, **fields.pop("target", {})}
    parameters = {"rate": 240_000, "events_per_s": 10_000, **fields.pop("parameters", {})}
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "archive", "parameters": parameters},
            "target": target,
            "profile": {"measure": measure, "warm_up": 0},
            **fields,
        }
    )


def refuse(of: Experiment) -> None:
    space.refuse_overfull(of, design_of(of).variants(of))


def test_an_hour_that_does_not_fit_is_refused_with_what_it_needs(free: dict[str, int]) -> None:
    with pytest.raises(RefusedError, match=r"about 80\.5 GB .* 60 GB are free in /var/tmp") as said:
        refuse(experiment())
    assert "--data" in str(said.value.advice)
    refuse(experiment(measure="30min"))
    free["bytes"] = 90 * GB
    refuse(experiment())


@pytest.mark.parametrize(
    "fields",
    [
        {"engine": "duckdb"},
        {"parameters": {"compress": True}, "engine": "mariadb"},
        {"parameters": {"csv": "/events.csv"}},
        {"target": {"server": "postgresql://me@db/x"}},
        {"target": {"storage": {"data": "loop:btrfs,compress=zstd:1,size=30GB"}}},
        {"target": {"storage": {"data": "zram"}}},
        {"target": {"storage": {"archive": "loop:ext4"}}},
        {"design": {"kind": "crash"}},
    ],
)
@pytest.mark.usefixtures("free")
def test_what_may_take_less_or_is_not_known_is_not_refused(fields: dict[str, Any]) -> None:
    refuse(experiment(**fields))


def test_a_file_system_that_compresses_may_hold_more_than_is_free(
    free: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = {"file_system": "btrfs", "options": "rw", "file_system_options": "rw,compress=zstd:1"}
    monkeypatch.setattr(space, "mount_of", lambda _folder: mount)
    refuse(experiment())
    mount["file_system_options"] = "rw,space_cache=v2"
    with pytest.raises(RefusedError):
        refuse(experiment())
    assert free["asked"] == 2, "once for each of the two experiments"


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("loop:ext4,size=40GB", "40 GB are free in loop:ext4,size=40GB"),
        ("loop:ext4,size=70GB", "loop:ext4,size=70GB needs 70 GB in /data, and 60 GB are free"),
        ("loop:btrfs,raid1,size=40GB", "members=2,size=40GB needs 80 GB in /data"),
        ("tmpfs:size=70GB", "70 GB are free in tmpfs:size=70GB"),
        ("loop:ext4", "16 GB are free in loop:ext4"),
        ("folder:/other", "60 GB are free in /other"),
    ],
)
@pytest.mark.usefixtures("free")
def test_a_placement_holds_its_size_and_no_more_than_is_free_below_it(
    place: str, where: str
) -> None:
    with pytest.raises(RefusedError, match=where):
        refuse(experiment(target={"data": "/data", "storage": {"data": place}}))


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("tmpfs", "1.6 GB are free in tmpfs"),
        ("tmpfs:size=70GB", "3 GB are free in memory, for tmpfs:size=70GB"),
    ],
)
@pytest.mark.usefixtures("free")
def test_a_placement_in_memory_holds_no_more_than_there_is(
    place: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "virtual_memory", lambda: SimpleNamespace(available=2 * GB))
    monkeypatch.setattr(space, "swap_memory", lambda: SimpleNamespace(free=GB))
    with pytest.raises(RefusedError, match=where):
        refuse(experiment(target={"storage": {"data": place}}))


def test_what_a_new_server_takes_is_refused_before_it_is_made(free: dict[str, int]) -> None:
    free["bytes"] = 100 << 20
    with pytest.raises(RefusedError, match="a new postgresql needs 128 MB in /data, and 100 MB"):
        refuse(experiment(measure="1s", target={"data": "/data"}))


def test_a_folder_takes_what_its_files_take(free: dict[str, int]) -> None:
    files = {"profile": "cdm8", "file_size": "16MB"}
    of = {"workload": {"name": "storage", "parameters": files}, "target": {"engine": "folder"}}
    small = Experiment.model_validate({"version": 1, "name": "x", **of})
    free["bytes"] = 20 << 20
    refuse(small)
    free["bytes"] = 10 << 20
    with pytest.raises(RefusedError, match="about 16 MB for its data, and 10 MB are free"):
        refuse(small)


@pytest.mark.usefixtures("free")
def test_a_search_is_judged_by_its_soak_at_its_first_level() -> None:
    def search(**design: Any) -> Experiment:
        return experiment(measure="10s", design={"kind": "search", "from": 240_000, **design})

    refuse(search())
    with pytest.raises(RefusedError):
        refuse(search(soak="1h"))
    with pytest.raises(RefusedError):
        refuse(search(longest="1h"))


def test_what_the_trials_before_have_written_takes_nothing_from_the_next(
    free: dict[str, int], tmp_path: Path
) -> None:
    plan = stages_of(experiment(measure="30min")).next([])[0]
    trials = object.__new__(series.Series)
    trials._space, trials.folder = space.Space(), SimpleNamespace(path=tmp_path)  # type: ignore[assignment]
    trials.results = []
    trials._refuse_overfull(plan)
    free["bytes"] = GB
    trials._refuse_overfull(plan)
    longer = plan.model_copy(update={"profile": experiment().profile})
    with pytest.raises(RefusedError, match=f"{plan.trial} is not made: ") as said:
        trials._refuse_overfull(longer)
    assert "loadstone report" not in str(said.value.advice)
    trials.results = [result_of(plan, [])]
    with pytest.raises(RefusedError) as said:
        trials._refuse_overfull(longer)
    assert f"loadstone report {tmp_path}" in str(said.value.advice)


@pytest.mark.usefixtures("free")
def test_a_plan_says_how_much_a_trial_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hour.yaml"
    file.write_text(
        "version: 1\nname: x\nworkload: {name: archive, parameters: {rate: 240000}}\n"
        "target: {engine: sqlite}\nprofile: {warm_up: 0, measure: 2h}\n"
    )
    assert run_command(["plan", str(file)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "A trial writes about 96.6 GB to the database" in text
    assert "It will be refused: a trial needs about" in text
    assert run_command(["plan", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["growth_bytes"] == 240_000 * 7200 * 60


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda p: p.stem)
@pytest.mark.usefixtures("free")
def test_no_example_needs_more_than_a_small_disk(path: Path) -> None:
    refuse(load_experiment(path).experiment)
