"""Fixtures that tests of every kind share; modules beside this file can be imported by all."""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Generator
from functools import cache
from pathlib import Path

import parts
import pytest
import sample_results
from once import once

from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.results.record import Status

BY_FILE = Path(__file__).parent / "integration"
"""Its tests share servers: those of a file run in one process."""

QUICK_S = 60.0
"""What a test of `make test` may take, without what it shares with others."""
LONGEST_NAME = 60
"""Characters of a parameter in the name of a test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test` runs without it, `make test-long` with it."""
    parser.addoption("--long", action="store_true", help="run the tests that are marked long, too")
    parser.addoption("--part", choices=tuple(parts.FILES), help="run the tests of one part only")


def pytest_configure() -> None:
    """Thousands of tests stay in memory: looking for garbage among them took much of the time."""
    gc.set_threshold(100_000, 20, 20)


def pytest_collection_finish() -> None:
    """What was collected stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """The beginning of a long text; pytest names all else."""
    if isinstance(val, str) and len(val) > LONGEST_NAME:
        return f"{val[: LONGEST_NAME - 3]}..."
    return None


def pytest_unconfigure() -> None:
    """Libraries see at the end what was never collected, and one of them tells each object."""
    gc.unfreeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is long, and makes groups for `--dist loadgroup`.

    xdist reads the groups in this hook too: it must come after. Tests without a group go to
    whichever process is free.
    """
    long, part = config.getoption("--long"), config.getoption("--part")
    left_out, kept = [], []
    for item in items:
        runs = part in {None, part_of(item)}
        runs = runs and (long or item.get_closest_marker("long") is None)
        (kept if runs else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
    for item in items:
        if is_by_file(item.path) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a quick test that takes too long, but for the share of the time that others had."""
    report = yield
    took_s = call.duration * min(1.0, (os.cpu_count() or 1) / max(1.0, os.getloadavg()[0]))
    quick = not item.config.getoption("--long")
    if quick and call.when == "call" and report.passed and took_s > QUICK_S:
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} took {took_s:.0f} s on a machine of its own: at most {QUICK_S:.0f} s, "
            "or it is marked long"
        )
    return report


@cache
def is_by_file(path: Path) -> bool:
    """Whether the tests of a file run in one process."""
    return BY_FILE in path.parents


def part_of(item: pytest.Item) -> str:
    """The part of `make test-long` that runs a test.

    Raises:
        LookupError: If none does, or several do.
    """
    mark = item.get_closest_marker("part")
    part = parts.part_of_file(item.path) if mark is None else mark.args[0]
    if part not in parts.FILES:
        raise LookupError(
            f"{item.nodeid} needs the mark `part` with one of {', '.join(parts.FILES)}"
        )
    return part


@pytest.fixture
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """State and working folder of a command are those of the test; returns that folder."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is its cache."""
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))


LEFT_OUT = {4: Status.DISTURBED, 9: Status.INVALID, 17: Status.FAILED}
"""Order of a trial of the sample ladder: why it does not count."""


@pytest.fixture(scope="session")
def ladder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a ladder whose effects are known, with three trials that do not count."""
    sample = sample_results.Sample(
        effects=sample_results.LADDER_EFFECT, statuses=LEFT_OUT, tick_s=4.0
    )
    spec = sample_results.ladder()
    made = once(
        tmp_path_factory, "ladder", lambda at: sample_results.write_results(at, spec, sample)
    )
    return made / spec.name


@pytest.fixture(scope="session")
def ladder_document(
    ladder_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> ReportDocument:
    """The report of that ladder."""

    def write(path: Path) -> None:
        path.write_bytes(pickle.dumps(build_document(ladder_folder)))

    document: ReportDocument = pickle.loads(
        once(tmp_path_factory, "ladder.pickle", write).read_bytes()
    )
    return document
