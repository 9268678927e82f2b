"""Answers that are cut off, and cells, which go into chDB by way of a file beside its data."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from loadstone.runner.engines.chdb import ChDBChannel
from loadstone.runner.session import FailureError
from loadstone.runner.usage import EngineMeter


class Connection:
    """Reads the file of a statement as ClickHouse would."""

    def __init__(self) -> None:
        self.files: dict[Path, bytes] = {}

    def query(self, sql: str, _form: str) -> object:
        (name,) = re.findall(r"file\('([^']+)'", sql)
        self.files[Path(name)] = Path(name).read_bytes()
        raise RuntimeError("Code: 62. enough")


def test_the_file_of_cells_is_beside_the_data(tmp_path: Path) -> None:
    connection = Connection()
    channel = ChDBChannel(connection, connection, EngineMeter(), str(tmp_path))
    with pytest.raises(FailureError, match="enough"):
        channel.load_cells("cube_base", iter([b"ab", b"c"]))
    ((path, written),) = connection.files.items()
    assert path.parent == tmp_path
    assert written == b"abc"
    assert not path.exists()


def test_a_file_of_cells_that_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    connection = Connection()
    channel = ChDBChannel(connection, connection, EngineMeter(), str(tmp_path / "none"))
    with pytest.raises(FailureError, match=r"the cells cannot be written: .*none"):
        channel.load_cells("cube_base", iter([b"ab"]))


class CutOff:
    """Ends within the answer, as an interrupted query may."""

    def query(self, _sql: str, _form: str) -> object:
        raise pa.ArrowInvalid("Message metadata too long by 156 bytes")


def test_an_answer_that_is_cut_off_is_a_failure_of_its_query(tmp_path: Path) -> None:
    channel = ChDBChannel(CutOff(), CutOff(), EngineMeter(), str(tmp_path))
    with pytest.raises(FailureError, match="the answer is cut off: Message metadata"):
        channel.run("SELECT 1")
