from __future__ import annotations

from meter_series import each_second

from loadstone.meters.base import Channel
from loadstone.meters.twins import twin_notices, twins_of

RANGE_J = 262_143.328850
MSR = Channel("package-0", "package", "counter", range_j=RANGE_J)
MMIO = Channel("package-0@mmio", "package", "counter", range_j=RANGE_J, same_as="package-0")


def die(number: int, package: int = 0) -> Channel:
    name = f"package-{package}-die-{number}"
    return Channel(name, "package", "counter", RANGE_J, die_of=f"package-{package}")


def test_a_zone_that_is_shown_twice_counts_once_and_is_named() -> None:
    both = [
        each_second(MSR, [100 + 3.93 * t for t in range(10)]),
        each_second(MMIO, [900 + 3.78 * t for t in range(10)]),
    ]

    assert twins_of([MSR, MMIO], both) == {"package-0@mmio": "package-0"}
    (told,) = twin_notices("rapl", [MSR, MMIO], both)
    assert told.severity == "info"
    assert told.message == (
        "meter rapl: package-0@mmio is package-0 seen another way: it counts once"
    )


def test_twins_that_move_apart_are_told() -> None:
    both = [
        each_second(MSR, [100 + 10.0 * t for t in range(10)]),
        each_second(MMIO, [100 + 4.0 * t for t in range(10)]),
    ]

    (told,) = twin_notices("rapl", [MSR, MMIO], both)

    assert told.severity == "warning"
    assert told.message.endswith("it counts once; they differ by 60% of the energy")


def test_a_twin_that_is_read_alone_counts() -> None:
    assert twins_of([MMIO], [each_second(MMIO, [1.0, 2.0])]) == {}


def test_two_dies_with_one_counter_count_once() -> None:
    values = [123.5 * t for t in range(20)]
    stepped = [*values[:-1], values[-1] + 0.2]
    dies = [each_second(die(0), values), each_second(die(1), stepped)]

    assert twins_of([die(0), die(1)], dies) == {"package-0-die-1": "package-0-die-0"}


def test_dies_with_counters_of_their_own_are_two() -> None:
    own = [
        each_second(die(0), [50.0 * t for t in range(20)]),
        each_second(die(1), [51.0 * t for t in range(20)]),
    ]
    other_package = [each_second(die(0), [1.0, 2.0, 3.0]), each_second(die(0, 1), [1.0, 2.0, 3.0])]

    assert twins_of([die(0), die(1)], own) == {}
    assert twins_of([die(0), die(0, 1)], other_package) == {}


def test_counters_that_stand_still_are_not_told_to_be_one() -> None:
    still = [each_second(die(0), [0.0] * 5), each_second(die(1), [0.0] * 5)]

    assert twins_of([die(0), die(1)], still) == {}
