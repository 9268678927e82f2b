"""What other packages register by entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loadstone.errors import WrongInputError
from loadstone.registered import Registered, unfit_class
from loadstone.targets.base import Target
from loadstone.targets.registry import target_class
from loadstone.workloads.base import Workload
from loadstone.workloads.registry import workload_class

MODULE = """
from loadstone.targets.base import Target
from loadstone.workloads.noop import Noop
from loadstone.workloads.base import Workload

class Good(Noop):
    name = "good"

class Half(Workload):
    name = "half"
    origin = "nowhere"

class Bare(Target):
    pass

class Folder(Target):
    engine = "folder"
"""


def install(folder: Path, package: str, points: str) -> None:
    """What an installer leaves of a package, as far as entry points go."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, with the classes that they name."""
    (tmp_path / "planted_classes.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "planted_classes", raising=False)
    return tmp_path


def workloads() -> Registered[type[Workload[Target]]]:
    return Registered(
        {"noop": "loadstone.workloads.noop:Noop"},
        group="loadstone.workloads",
        unfit=unfit_class(Workload, named_by="name"),
    )


def test_a_workload_of_another_package_stands_beside_the_own_ones(packages: Path) -> None:
    install(packages, "toy", "[loadstone.workloads]\ngood = planted_classes:Good\n")
    known = workloads()
    assert (list(known), len(known), known.left_out) == (["noop", "good"], 2, {})
    assert known["good"].name == "good"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("noop = planted_classes:Good", "Loadstone has one of this name"),
        ("gone = planted_nowhere:Gone", "ModuleNotFoundError: No module named 'planted_nowhere'"),
        ("gone = planted_classes:Gone", "cannot be loaded: AttributeError"),
        ("folder = planted_classes:Folder", "it is no Workload"),
        ("text = planted_classes:__name__", "it is no Workload"),
        ("half = planted_classes:Half", "it lacks check, fingerprint, measure"),
        ("other = planted_classes:Good", "its name is 'good'"),
    ],
)
def test_a_broken_one_is_named_and_left_out(packages: Path, line: str, problem: str) -> None:
    good = "good = planted_classes:Good"
    install(packages, "toy", f"[loadstone.workloads]\n{line}\n{good}\n")
    known = workloads()
    assert list(known) == ["noop", "good"]
    name = line.partition(" ")[0]
    (reason,) = known.left_out.values()
    assert reason.startswith(f"package toy 1.0: entry point '{name}' of loadstone.workloads")
    assert problem in reason
    assert "\n" not in reason
    assert known["noop"].__module__ == "loadstone.workloads.noop"


def test_a_name_that_two_packages_give_is_left_out(packages: Path) -> None:
    for package in ("one", "two"):
        install(packages, package, "[loadstone.workloads]\ngood = planted_classes:Good\n")
    assert "gives this name too" in workloads().left_out["good"]


def test_a_target_that_does_not_say_its_engine_is_left_out(packages: Path) -> None:
    install(packages, "toy", "[loadstone.targets]\nbare = planted_classes:Bare\n")
    unfit = unfit_class(Target, named_by="engine")
    targets: Registered[type[Target]] = Registered({}, group="loadstone.targets", unfit=unfit)
    assert targets.left_out["bare"].endswith("it lacks engine")


def test_nobody_looks_for_packages_who_asks_for_an_own_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", pytest.fail)
    known = workloads()
    assert "noop" in known
    assert known["noop"].name == "noop"


@pytest.mark.parametrize("ask", [workload_class, target_class])
def test_who_asks_for_what_is_not_there_is_told(ask: Callable[[str], object]) -> None:
    with pytest.raises(WrongInputError, match=r"there is no (workload|target) 'nothing'; choose"):
        ask("nothing")
