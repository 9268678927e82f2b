"""Addresses of an existing Slurm, and what is refused before anything is asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.registry import target_for
from loadstone.targets.slurm import Slurm, SlurmAtAddress
from loadstone.targets.slurm.address import SlurmAddress


@pytest.mark.parametrize(
    ("server", "parts"),
    [
        ("slurm://debug", ("debug", "", "")),
        ("slurm://", ("", "", "")),
        ("slurm://Big_Mem?account=oil&qos=high", ("Big_Mem", "oil", "high")),
    ],
)
def test_an_address_names_a_partition_and_who_pays(
    server: str, parts: tuple[str, str, str]
) -> None:
    found = SlurmAddress.parse(server)
    assert (found.partition, found.account, found.qos) == parts


@pytest.mark.parametrize(
    "server", ["slurm://a/b", "slurm://a?acount=x", "slurm://a?qos=x;y", "gridengine://a"]
)
def test_what_is_no_address_is_refused_with_its_form(server: str) -> None:
    with pytest.raises(WrongInputError) as raised:
        SlurmAddress.parse(server)
    assert "slurm://PARTITION" in str(raised.value.advice)


def test_a_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(WrongInputError, match="holds a password") as raised:
        SlurmAddress.parse("slurm://me:hunter2@debug")
    assert "hunter2" not in f"{raised.value} {raised.value.advice}"


def test_the_commands_keep_the_configuration_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/etc/other/slurm.conf")
    spec = SlurmAddress.parse("slurm://debug?account=oil").scheduler_spec(60)
    assert spec.environment == {"SLURM_CONF": "/etc/other/slurm.conf"}
    assert (spec.partition, spec.account, spec.qos) == ("debug", "oil", "")


def test_where_it_is_decides_which_target_it_is() -> None:
    assert target_for(TargetSpec(engine="slurm")) is Slurm
    assert target_for(TargetSpec(engine="slurm", server="slurm://debug")) is SlurmAtAddress


def test_a_machine_without_its_commands_is_told_which_package_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="sbatch is missing") as raised:
        SlurmAtAddress.describe(TargetSpec(engine="slurm", server="slurm://debug"))
    assert "slurm-client" in str(raised.value.advice)


@pytest.mark.parametrize(
    "settings", [{"slot": 2}, {"accounting": "sqlite"}, {"node_timeout_s": 1}, {"nodes": 1.5}]
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, str | int | float]) -> None:
    spec = TargetSpec(engine="slurm")
    for name, level in settings.items():
        with pytest.raises(WrongInputError):
            Slurm.setting(spec, name, level)
