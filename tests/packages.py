"""What tests need of Debian's packages, which `scripts/setup packages` installs."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from loadstone.placements import programs


def do_without(reason: str) -> NoReturn:
    """Skips a test by name; in continuous integration a package must be there."""
    if os.environ.get("CI") == "true" and os.getuid() == 0 and "package" in reason:
        pytest.fail(reason)
    pytest.skip(reason)


def need_program(name: str) -> None:
    """Does without the test where a program is missing."""
    if reason := programs.absent(name):
        do_without(reason)


def needs(name: str) -> pytest.MarkDecorator:
    """As `need_program`, of a test or of a whole file: in CI it runs, and fails, without."""
    absent = programs.absent(name) if os.environ.get("CI") != "true" else None
    return pytest.mark.skipif(absent is not None, reason=absent or "it is there")
