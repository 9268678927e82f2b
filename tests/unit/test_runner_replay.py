"""Files that the runner replays, round after round."""

from pathlib import Path

import numpy as np
import pytest

from loadstone.runner.archive.replay import Replay, read_replay
from loadstone.runner.plan import RefusalError
from loadstone.workloads.archive.replay_file import HEADER, MAGIC, ROW, write_replay

FILE = (
    "ts,element,value,status,text\n"
    "2025-01-31T12:00:00Z,pump,1.5,192,\n"
    '2025-01-31T12:00:02.5Z,valve,,64,"open, ""full"""\n'
    "\n"
    "2025-01-31T13:00:01+01:00,pump,-2e3,192,\n"
)


def replay_of(folder: Path, elements: int = 2) -> Replay:
    csv, events = folder / "events.csv", folder / "events.bin"
    csv.write_text(FILE)
    with events.open("wb") as file:
        write_replay(csv, file)
    return read_replay(str(events), elements)


def test_a_file_is_replayed_round_after_round(tmp_path: Path) -> None:
    replay = replay_of(tmp_path)
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


def test_more_elements_than_a_station_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match=r"parameters.events: .* 2 elements; give elements: 2"):
        replay_of(tmp_path, elements=1)


@pytest.mark.parametrize(
    "data",
    [None, b"", FILE.encode(), HEADER.pack(MAGIC, 0, 0), HEADER.pack(MAGIC, 2, 1) + b"\0" * 41],
)
def test_what_is_no_file_of_events_is_refused(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "events.bin"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(RefusalError, match="cannot replay"):
        read_replay(str(path), 1)


def test_rows_have_the_size_that_the_driver_reads() -> None:
    assert ROW.itemsize == 40
