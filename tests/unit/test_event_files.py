"""Event files of people: one reader for all load generators, and one file of cases for both.

The driver's own test of `tests/event_files.json` is in `driver/src/archive/replay.rs`.
"""

import base64
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loadstone.errors import WrongInputError
from loadstone.runner.archive.replay import read_replay
from loadstone.workloads.archive import replay_file
from loadstone.workloads.archive.events_csv import read_events
from loadstone.workloads.archive.replay_file import provide, write_replay

CASES = json.loads((Path(__file__).parents[1] / "event_files.json").read_text("utf-8"))
HEADER = "ts,element,value,status,text\n"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("case", CASES["taken"], ids=lambda case: case["name"])
def test_events_are_those_of_the_cases(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(case["file"].encode(case["encoding"]))
    written = BytesIO()
    write_replay(path, written)
    assert written.getvalue() == base64.b64decode(case["replayed"])
    found = provide(path)
    assert found.elements == case["elements"]
    count = len(case["events"])
    said = read_replay(str(found.path), found.elements).say(
        np.arange(count, dtype=np.uint64), np.arange(1, count + 1, dtype=np.uint64)
    )
    values = [
        None if lacks else value
        for value, lacks in zip(said.value.tolist(), said.lacks_value, strict=True)
    ]
    columns = (said.after_us, said.element, values, said.status, said.text.to_pylist())
    assert [list(row) for row in zip(*columns, strict=True)] == case["events"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_what_is_wrong_is_told_with_its_line(case: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text(case["file"])
    with pytest.raises(WrongInputError) as said:
        provide(path)
    assert str(path) in said.value.message
    assert case["words"] in said.value.message
    assert not list((tmp_path / "cache" / "archive").glob("*LSEVENT*"))


def test_bytes_that_are_no_text_are_named_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(HEADER.encode() + b"0,a,1,192,\n" * 999 + b"0,a,1,192,\xff\n")
    with pytest.raises(WrongInputError, match="line 1001: byte 11 is not UTF-8"):
        provide(path)
    path.write_bytes(HEADER.encode() + b"0,a,1,192,\n0,a\0,1,192,\n")
    with pytest.raises(WrongInputError, match="line 3: a byte is zero"):
        provide(path)


def test_a_file_has_no_more_elements_than_a_station_can_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_file, "MOST_ELEMENTS", 2)
    path = tmp_path / "events.csv"
    path.write_text(HEADER + "0,a,1,192,\n0,b,1,192,\n")
    assert provide(path).elements == 2
    path.write_text(HEADER + "0,a,1,192,\n0,b,1,192,\n0,c,1,192,\n")
    with pytest.raises(WrongInputError, match="more than 2 elements"):
        provide(path)


def test_a_large_file_is_read_as_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(HEADER.encode() + b"0,a,1,192,\n" * 5000 + b"\xff\n")
    events = read_events(path)
    assert next(events).element == "a"
    with pytest.raises(WrongInputError, match="line 5002"):
        list(events)


def test_a_file_is_read_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text(HEADER + "0,a,1,192,\n")
    first = provide(path)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(path.read_bytes())
    assert provide(copy) == first
    path.write_text(HEADER + "0,a,2,192,\n")
    assert provide(path).path != first.path


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "events.csv", tmp_path / "file"
    path.write_text(HEADER + "0,a,1,192,\n")
    cache.touch()
    monkeypatch.setenv("LOADSTONE_CACHE", str(cache))
    with pytest.raises(WrongInputError, match=f"{cache}.* cannot be read or written") as said:
        provide(path)
    assert said.value.advice is not None
    assert "LOADSTONE_CACHE" in said.value.advice
