"""Files that the runner replays."""

from pathlib import Path

import numpy as np
import pytest

from loadstone.runner.archive.replay import Replay, read_replay
from loadstone.runner.plan import RefusalError

HEADER = "ts,element,value,status,text\n"
FILE = (
    HEADER + "2025-01-31T12:00:00Z,pump,1.5,192,\n"
    '2025-01-31T12:00:02.5Z,valve,,64,"open, ""full"""\n'
    "\n"
    "2025-01-31T13:00:01+01:00,pump,-2e3,192,\n"
)


def replay_of(folder: Path, text: str, elements: int = 2) -> Replay:
    path = folder / "events.csv"
    path.write_text(text)
    return read_replay(str(path), elements)


def test_a_file_is_replayed_round_after_round(tmp_path: Path) -> None:
    replay = replay_of(tmp_path, FILE)
    said = replay.say(np.arange(4, dtype=np.uint64), np.arange(1, 5, dtype=np.uint64))
    assert said.element.tolist() == [0, 1, 0, 0]
    # Three rows in 2.5 s: the next round begins 1.25 s later.
    assert said.after_us.tolist() == [0, 2_500_000, 1_000_000, 3_750_000]
    assert said.text.to_pylist() == [None, 'open, "full"', None, None]
    assert said.lacks_value.tolist() == [False, True, False, False]
    assert said.value[[0, 2, 3]].tolist() == [1.5, -2000.0, 1.5]
    assert said.status.tolist() == [192, 64, 192, 192]
    due = [replay.due_by(us * 1000) for us in (0, 2_499_999, 2_500_000, 3_749_999, 3_750_000)]
    assert due == [1, 1, 3, 3, 4]
    assert replay.per_s == pytest.approx(3 / 3.75)


@pytest.mark.parametrize(
    ("ts", "unix_us"),
    [
        ("1738324800.25", 1_738_324_800_250_000),
        ("2025-01-31 12:00:00", 1_738_324_800_000_000),
        ("2025-01-31T12:00:00.000001Z", 1_738_324_800_000_001),
        ("2024-02-29T00:00:00-05:30", 1_709_184_600_000_000),
    ],
)
def test_moments_are_read_in_both_forms(tmp_path: Path, ts: str, unix_us: int) -> None:
    replay = replay_of(tmp_path, f"{HEADER}0,a,1,192,\n{ts},a,1,192,\n")
    said = replay.say(np.array([1], dtype=np.uint64), np.array([2], dtype=np.uint64))
    assert said.after_us.tolist() == [unix_us]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("later,a,1,192,", "line 3: ts 'later'"),
        ("2025-01-31,a,1,192,", "line 3: ts"),
        ("2025-13-01T00:00:00Z,a,1,192,", "line 3: ts"),
        ("inf,a,1,192,", "line 3: ts"),
        ("1,a,one,192,", "line 3: value"),
        ("1,a,nan,192,", "line 3: value"),
        ("1,a,1_0,192,", "line 3: value"),
        ("1,a,1, 192,", "line 3: status"),
        ("1_0,a,1,192,", "line 3: ts"),
        ("1,a,1,good,", "line 3: status"),
        ("1,,1,192,", "line 3: element"),
        ("1,a,1,192", "line 3: 4 columns"),
        ('1,a,1,192,"x', "line 3: a quote"),
        ("1,a,1,192,a\\b", "line 3: text"),
        (f"1,a,1,192,{'x' * 81}", "line 3: text"),
        ("1,b,1,192,", "2 elements"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(RefusalError, match=f"parameters.csv: .*{words}".replace("\\", ".")):
        replay_of(tmp_path, f"{HEADER}0,a,1,192,\n{line}\n", elements=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [("element,ts\n", "line 1 is not the header"), ("", "line 1"), (HEADER, "no rows")],
)
def test_a_file_without_events_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(RefusalError, match=words):
        replay_of(tmp_path, text)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="cannot read"):
        read_replay(str(tmp_path / "none.csv"), 1)
