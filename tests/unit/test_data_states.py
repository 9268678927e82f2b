"""Data is loaded once for each kind and layout, whatever the base of the experiment says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loadstone.experiments.data import DataStates
from loadstone.experiments.observer import Observer
from loadstone.journal import Journal
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.sqlite import SQLite
from loadstone.workloads.noop import Noop

BASE = TargetSpec(
    engine="sqlite",
    settings={"page_size": 1024, "cache_size": "2MB"},
    storage=StorageSpec(data="loop:ext4"),
)


class Recording(SQLite):
    """Knows the layouts of SQLite, and notes what it is asked."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self.emptied: list[TargetSpec] = []
        self.kept: list[str] = []
        self.restored: list[tuple[str, TargetSpec]] = []

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        self.emptied.append(spec)
        return []

    def snapshot(self, key: str) -> None:
        self.kept.append(key)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        self.restored.append((key, spec))
        return []


class Terse(Recording):
    """Leaves defaults out of the layout, as a server does that is asked for them."""

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        return {name: at for name, at in super().layout(spec).items() if name in spec.settings}


@pytest.fixture(params=[Recording, Terse])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Recording]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        made: Recording = request.param(BASE, TargetContext(journal=journal, owner="pytest"))
        yield made


def test_a_layout_is_loaded_once_in_a_plain_folder(target: Recording) -> None:
    states = DataStates(target, Observer())
    larger_cache = BASE.with_settings({"cache_size": "64MB"})
    for spec in (BASE, larger_cache, BASE):
        states.restored(states.keep(Noop({}), 1, spec), spec)
    assert len(target.kept) == len(target.emptied) == 1
    assert target.emptied[0].storage == StorageSpec()
    assert [spec for _, spec in target.restored] == [BASE, larger_cache, BASE]
    assert {key for key, _ in target.restored} == set(target.kept)


def test_the_default_block_over_a_base_that_has_another_is_loaded_as_the_default(
    target: Recording,
) -> None:
    default = BASE.model_copy(update={"settings": {"cache_size": "2MB"}})
    states = DataStates(target, Observer())
    states.restored(states.keep(Noop({}), 1, default), default)
    states.restored(states.keep(Noop({}), 1, BASE), BASE)
    sizes = [str(spec.settings.get("page_size", "4096")) for spec in target.emptied]
    assert sizes == ["4096", "1024"]
    assert {spec.settings["cache_size"] for spec in target.emptied} == {"2MB"}
    assert len(set(target.kept)) == 2
