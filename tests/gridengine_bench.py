"""A Grid Engine for tests, on nodes of this machine; they are skipped where it cannot be."""

from __future__ import annotations

import getpass
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from target_context import context_in

from loadstone.errors import LoadstoneError
from loadstone.schedulers.base import SchedulerSpec
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.gridengine import GridEngine


@contextmanager
def gridengine(**settings: Level) -> Iterator[GridEngine]:
    """A cluster that runs within the block; its nodes see the folders of tests."""
    spec = TargetSpec(engine="gridengine", settings=settings)
    try:
        GridEngine.describe(spec)
    except LoadstoneError as error:
        pytest.skip(error.message)
    folder = Path(tempfile.mkdtemp(prefix="gridengine-"))
    of_tests = Path(tempfile.gettempdir()) / f"pytest-of-{getpass.getuser()}"
    of_tests.mkdir(mode=0o700, exist_ok=True)
    try:
        context = context_in(folder)
        with context.journal:
            target = GridEngine(spec, context)
            target.open()
            target.nodes.show(of_tests)
            yield target
            target.close()
    finally:
        shutil.rmtree(folder)


@contextmanager
def bench() -> Iterator[SchedulerSpec]:
    """For the suite of all schedulers."""
    with gridengine() as cluster:
        yield cluster.scheduler_spec()
