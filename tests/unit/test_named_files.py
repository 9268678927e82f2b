"""What a file or folder must be is found before anything is begun, whichever part names it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loadstone.experiments.preflight.check import check_experiment
from loadstone.spec.model import Experiment
from loadstone.targets.registry import TARGETS
from loadstone.workloads.registry import WORKLOADS


def _file_parameters() -> Iterator[tuple[str, str]]:
    """The parameters that say of themselves that they name a file, of every workload."""
    for name, workload in WORKLOADS.items():
        for parameter, field in workload.Parameters.model_fields.items():
            if (field.description or "").startswith("File "):
                yield name, parameter


def _problems(workload: dict[str, Any], target: dict[str, Any]) -> dict[str, str]:
    experiment = {"version": 1, "name": "x", "workload": workload, "target": target}
    found = check_experiment(Experiment.model_validate(experiment))
    return {".".join(map(str, each.path)): each.message for each in found}


def test_some_parameters_name_files() -> None:
    assert ("archive", "csv") in set(_file_parameters())


@pytest.mark.parametrize(("name", "parameter"), [*_file_parameters()])
def test_a_file_of_a_workload_is_looked_at(name: str, parameter: str, tmp_path: Path) -> None:
    wrong = tmp_path / "bytes"
    wrong.write_bytes(b"\x00\xff\n")
    for path in (tmp_path / "none", tmp_path, wrong):
        workload = {"name": name, "parameters": {parameter: str(path)}}
        found = _problems(workload, {"engine": WORKLOADS[name].usual_engine})
        assert str(path) in found[f"workload.parameters.{parameter}"]


@pytest.mark.parametrize("engine", sorted(TARGETS))
def test_a_file_where_a_folder_or_a_password_should_be_is_found(
    engine: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xff")
    workload = next(
        name for name in WORKLOADS if WORKLOADS[name].requires <= TARGETS[engine].capabilities
    )
    for data in (file, file / "below") if TARGETS[engine].data_is_folder else ():
        for where, target in (
            ("target.data", {"engine": engine, "data": str(data)}),
            (
                "target.others.b.data",
                {"engine": engine, "others": {"b": {"engine": engine, "data": str(data)}}},
            ),
        ):
            said = _problems({"name": workload}, target)[where]
            assert said.startswith(f"{file} is a file, not a folder")
    for place in (tmp_path / "none", tmp_path, file):
        target = {"engine": engine, "password": f"file:{place}"}
        assert "cannot be read" in _problems({"name": workload}, target)["target.password"]
