"""Fixtures that tests of every kind share; modules beside this file can be imported by all."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_results

from loadstone.report.document import build_document
from loadstone.report.model import ReportDocument
from loadstone.results.record import Status

BY_FILE = Path(__file__).parent / "integration"
"""Its tests share servers: those of a file run in one process."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups for `--dist loadgroup`, which reads them in this hook too: it must come after.

    Tests without a group go to whichever process is free.
    """
    for item in items:
        if BY_FILE in item.path.parents and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


LEFT_OUT = {4: Status.DISTURBED, 9: Status.INVALID, 17: Status.FAILED}
"""Order of a trial of the sample ladder: why it does not count."""


@pytest.fixture(scope="session")
def ladder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a ladder whose effects are known, with three trials that do not count."""
    return sample_results.write_results(
        tmp_path_factory.mktemp("results"),
        sample_results.ladder(),
        sample_results.Sample(effects=sample_results.LADDER_EFFECT, statuses=LEFT_OUT, tick_s=4.0),
    )


@pytest.fixture(scope="session")
def ladder_document(ladder_folder: Path) -> ReportDocument:
    """The report of that ladder."""
    return build_document(ladder_folder)
