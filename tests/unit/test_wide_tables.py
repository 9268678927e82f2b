"""Tables of long names at any width: no line is wider, no name is cut, no figure is lost."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables, broken

NAMES = [
    "data=loop:ext4,size=2GB",
    "data=nbd:ext4,size=2GB,write-delay=4ms,read-delay=1ms",
    "data=loop:ext4,data=journal, log=default",
]
TESTS = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "Pages 16K and log mix"]


def printed(width: int, tests: list[str] = TESTS) -> list[str]:
    columns = [
        WideColumn(test, [Text(f"{100 * at + row}\n? +1389 %") for row in range(len(NAMES))])
        for at, test in enumerate(tests, 1)
    ]
    tables = WideTables(NAMES, [WidePart("Read, MB/s", columns)], {1: "UNSAFE"})
    text = StringIO()
    Console(file=text, width=width, color_system=None).print(tables)
    return text.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_all_is_there_and_nothing_is_wider(width: int) -> None:
    lines = printed(width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert all(f"{100 * at + row}" in words for at in (1, 2, 3, 4) for row in range(len(NAMES)))
    pieces = ["data=nbd:ext4,", "size=2GB,", "write-delay=4ms,", "log=default", "UNSAFE"]
    assert all(any(piece in line for line in lines) for piece in pieces)


def test_names_break_after_commas() -> None:
    assert broken(NAMES[1], 31) == ["data=nbd:ext4,size=2GB,", "write-delay=4ms,read-delay=1ms"]
    assert broken(NAMES[2], 30) == ["data=loop:ext4,data=journal,", "log=default"]
    assert broken(NAMES[1], 60) == [NAMES[1]]
    lines = printed(80)
    assert any(line.startswith("data=nbd:ext4,size=2GB,  ") for line in lines)
    assert any(line.startswith("write-delay=4ms,") for line in lines)


def test_where_names_find_no_room_rows_have_numbers_that_a_list_explains() -> None:
    lines = printed(40)
    assert lines[1].startswith("#2 data=nbd:ext4,size=2GB,")
    assert "UNSAFE" in " ".join(lines[1:3])
    blocks = [line for line in lines if line.startswith("#1 ") and line.split()[1].isdigit()]
    assert [line.split()[1:] for line in blocks] == [["100", "200", "300"], ["400"]]


def test_headings_stay_whole_where_there_is_room() -> None:
    assert "Pages 16K and log mix" in printed(120)[1]
    assert "Pages 16K and log mix" not in " ".join(printed(80))
