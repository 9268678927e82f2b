"""Which damages the sums over sequence numbers show, and which rows are strays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loadstone.workloads.archive.contents import Contents, Misplaced, Rows, by_station, strays
from loadstone.workloads.archive.segments import Segment


def rows(numbers: list[int]) -> Rows:
    return Rows(
        count=len(numbers),
        least=min(numbers),
        greatest=max(numbers),
        total=sum(numbers),
        squares=sum(number * number for number in numbers),
        first_us=0,
        last_us=0,
    )


@given(st.integers(1, 500))
def test_all_numbers_once_are_whole(last: int) -> None:
    assert rows(list(range(1, last + 1))).whole


@given(st.integers(4, 60), st.data())
def test_any_damage_of_two_rows_shows(last: int, data: st.DataObject) -> None:
    """Two multisets of two numbers with equal sums and equal sums of squares are the same."""
    numbers = list(range(1, last + 1))
    for _ in range(2):
        at = data.draw(st.integers(0, last - 1))
        numbers[at] = data.draw(st.integers(1, last))
    assert rows(numbers).whole == (sorted(numbers) == list(range(1, last + 1)))


@given(st.integers(20, 300), st.integers(1, 9), st.data())
def test_a_batch_in_place_of_another_shows(last: int, length: int, data: st.DataObject) -> None:
    """What a lost batch and a doubled one of the same length leave."""
    lost, doubled = (data.draw(st.integers(1, last - length + 1)) for _ in range(2))
    numbers = [each for each in range(1, last + 1) if not lost <= each < lost + length]
    numbers += list(range(doubled, doubled + length))
    assert rows(numbers).whole == (lost == doubled)


@given(st.lists(st.integers(1, 100), min_size=2, max_size=50), st.integers(1, 49))
def test_rows_of_segments_add_up(numbers: list[int], cut: int) -> None:
    cut = min(cut, len(numbers) - 1)
    assert rows(numbers[:cut]) + rows(numbers[cut:]) == rows(numbers)


def part(
    number: int, state: str, numbers: list[int], misplaced: Misplaced | None = None
) -> Contents:
    segment = Segment(number, f"s{number}", number, state)
    return Contents(segment, {7: rows(numbers)}, {7: misplaced} if misplaced else {})


def test_an_early_row_is_right_only_after_the_close_of_the_segment_of_its_time() -> None:
    first = [1, 2, 3]
    late = Misplaced(early=2, first_early=4, beyond=0)
    assert strays([part(1, "closed", first), part(2, "current", [4, 5, 6], late)]) == {}
    assert strays([part(1, "open", first), part(2, "current", [4, 5, 6], late)]) == {"s2": 2}


def test_an_early_row_with_a_number_before_one_in_the_closed_segment_is_a_stray() -> None:
    moved = Misplaced(early=1, first_early=2, beyond=0)
    assert strays([part(1, "closed", [1, 3]), part(2, "current", [2, 4], moved)]) == {"s2": 1}


def test_rows_of_after_the_end_and_of_a_segment_to_come_are_strays() -> None:
    beyond = Misplaced(early=0, first_early=0, beyond=3)
    contents = [part(1, "current", [1, 2, 3, 4], beyond), part(2, "next", [5])]
    assert strays(contents) == {"s1": 3, "s2": 1}
    assert by_station(contents)[7].whole
