"""The list of acknowledged commits."""

import json
from pathlib import Path

import pytest

from loadstone.runner.acknowledgements import Acknowledgements
from loadstone.runner.clock import Clock
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import FailureError


def test_a_commit_is_appended_as_a_line(tmp_path: Path) -> None:
    path = tmp_path / "acknowledged"
    path.write_text('[0.5,1,"insert",0,1,7]\n')
    Acknowledgements(str(path), Clock()).note(4, "insert", 1, 1, 250)
    before, line = path.read_text().splitlines()
    assert before.endswith("7]")
    at_s, *keys = json.loads(line)
    assert 0.0 <= at_s < 10.0
    assert keys == [4, "insert", 1, 1, 250]


def test_a_line_that_is_not_written_is_a_failure() -> None:
    with pytest.raises(FailureError, match="could not be noted") as failed:
        Acknowledgements("/dev/full", Clock()).note(4, "insert", 1, 1, 250)
    assert failed.value.error_class == "acknowledgements"


def test_a_file_that_cannot_be_opened_is_refused() -> None:
    with pytest.raises(RefusalError, match="acknowledgements: cannot open"):
        Acknowledgements("/nowhere/at/all", Clock())
