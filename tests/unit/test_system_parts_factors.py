"""Factors of the parts of a system."""

from __future__ import annotations

import pytest
from pieces import House, experiment

from loadstone.factors.in_force import in_force
from loadstone.factors.registry import apply_changes, base_parts, examine
from loadstone.report.differences import _is_declared
from loadstone.spec.base import Level
from loadstone.spec.plans import Change
from loadstone.targets.part_names import factor_of_part, factor_within

pytestmark = pytest.mark.usefixtures("house_known")


@pytest.mark.parametrize(
    ("factor", "level", "needs"),
    [
        ("target.back.colour", "red", "reload"),
        ("target.back.auto.wash", "on", "reload"),
        ("target.rows.1.colour", "red", "reload"),
        ("target.rows", 3, "restart"),
        ("storage.door.data", "tmpfs", "restart"),
        ("host.server.rows.cpus", "0", "restart"),
        ("host.server.cpus", "0", "restart"),
    ],
)
def test_a_factor_of_a_part_has_its_name_behind_the_family(
    factor: str, level: Level, needs: str
) -> None:
    info = examine(experiment(), Change(factor=factor, level=level))
    assert (info.needs, info.refused) == (needs, None)
    parts = apply_changes(experiment(), [Change(factor=factor, level=level)])
    assert Change(factor=factor, level=level) in list(in_force(parts))


def test_the_last_spelling_of_a_setting_of_a_part_counts() -> None:
    base = experiment(
        settings={"back.COLOUR": "red"},
        parts={"back": {"settings": {"Auto.Wash": "off"}}},
    )
    changes = [
        Change(factor="target.back.colour", level="blue"),
        Change(factor="target.back.auto.wash", level="on"),
    ]
    target = apply_changes(base, changes).target
    assert House.part_spec(target, "back").settings == {
        "colour": "blue",
        "auto.wash": "on",
        "name": "back",
    }
    assert base_parts(base).target.settings == {"back.Auto.Wash": "off", "back.COLOUR": "red"}


def test_an_unsafe_level_of_a_part_is_one_of_the_system() -> None:
    assert examine(experiment(), Change(factor="target.back.colour", level="see-through")).unsafe


@pytest.mark.parametrize(
    ("factor", "own"),
    [
        ("target.back.colour", "target.colour"),
        ("storage.back.data", "storage.data"),
        ("host.server.back.quota", "host.server.quota"),
        ("target.backup.colour", ""),
        ("host.vm.swappiness", ""),
        ("profile.users", ""),
    ],
)
def test_the_name_of_a_factor_within_a_part(factor: str, own: str) -> None:
    assert factor_within("back", factor) == own
    if own:
        assert factor_of_part("back", own) == factor


@pytest.mark.parametrize(
    ("key", "factor"),
    [
        ("target.settings.back.colour", "target.back.colour"),
        ("target.parts.back.settings.colour.value", "target.back.colour"),
        ("target.parts.back.settings.auto.wash.value", "target.back.auto.wash"),
        ("target.settings.auto_explain.log_min_duration", "target.auto_explain.log_min_duration"),
        ("target.parts.back.process.quota", "host.server.back.quota"),
        ("target.parts.back.storage.data", "storage.back.data"),
        ("target.parts.back.places.data.kind", "storage.back.data"),
        ("target.parts.rows.parts.3.engine", "target.rows"),
    ],
)
def test_a_fact_of_a_part_is_about_the_factor_of_that_part(key: str, factor: str) -> None:
    assert _is_declared(key, [factor])
    assert not _is_declared(key, ["target.door.colour", "host.server.door.quota"])
