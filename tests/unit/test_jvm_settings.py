"""Settings of JVMs: what they make of the command line, and when one is in force."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.report.differences import differences
from loadstone.spec.base import Level
from loadstone.spec.plans import Change, Variant
from loadstone.spec.target import ProcessSpec, TargetSpec
from loadstone.targets.blame import Chosen
from loadstone.targets.jvm import Jvm, in_force, java, settings
from loadstone.targets.jvm.flags import Flag, same
from loadstone.targets.jvm.target import dealt

PRINTED = """\
[Global flags]
     bool UseG1GC = true {product} {ergonomic}
   size_t MaxHeapSize = 536870912 {product} {command line}
    ccstr AOTClass =   {product} {default}
ccstrlist OnError +=   {product} {default}
   double MinRAMPercentage = 50.000000 {pd product} {default}
"""
ON_COMMAND_LINE = "command line"


def flags(**values: str) -> dict[str, Flag]:
    return {name: Flag(value, ON_COMMAND_LINE) for name, value in values.items()}


def test_each_setting_has_its_words_on_the_command_line() -> None:
    levels: dict[str, Level] = {
        "heap": "2g",
        "young": "512m",
        "collector": "Parallel",
        "page_size": "transparent",
        "tiers": 1,
        "flag.MaxGCPauseMillis": 50,
        "flag.AlwaysPreTouch": True,
        "flag.UnlockExperimentalVMOptions": "on",
        "jvms": 2,
        "warehouses": 2,
    }
    assert in_force.command_line(levels) == [
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+UseParallelGC",
        "-XX:+UseTransparentHugePages",
        "-XX:TieredStopAtLevel=1",
        "-XX:MaxGCPauseMillis=50",
        "-XX:+AlwaysPreTouch",
        *("-Xms2g", "-Xmx2g", "-Xmn512m"),
    ]


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [
        ("heap", "lots", "heap is a size"),
        ("heap", 3, "heap is a size of 1m or more"),
        ("collector", "CMS", "collector is one of G1, Parallel"),
        ("page_size", "3m", "page_size is off, transparent, or"),
        ("jvms", 0, "jvms is a whole number from 1"),
        ("tiers", True, "tiers is a whole number from 0 to 4"),
        ("affinity", "some", "affinity is one of none, split"),
        ("heep", "2g", "did you mean 'heap'"),
        ("flag.MaxHeapSize", "2g", "the setting of MaxHeapSize is heap"),
        ("flag.OnOutOfMemoryError", "rm", "decided by Loadstone"),
        ("flag.a b", 1, "no name of a flag"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(name: str, level: Level, words: str) -> None:
    with pytest.raises(WrongInputError, match=words) as raised:
        settings.check(name, level)
    assert "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"collector": "ZGC", "young": "8m"}, "ZGC sizes its young generation itself"),
        ({"heap": "1g", "young": "1g"}, "leaves nothing"),
        ({"jvms": 2, "warehouses": 3}, "cannot be divided among 2 JVMs"),
    ],
)
def test_levels_that_contradict_are_refused(levels: dict[str, Level], words: str) -> None:
    with pytest.raises(WrongInputError, match=words):
        settings.refuse_contradictions(levels)


def test_warehouses_that_nobody_asked_for_are_rounded_up() -> None:
    levels: dict[str, Level] = {"jvms": 2, "warehouses": Chosen(3)}
    settings.refuse_contradictions(levels)
    assert settings.warehouses_of_each(levels, 8) == 2
    assert settings.warehouses_of_each({"jvms": 2}, 8) == 4
    assert settings.warehouses_of_each({"jvms": 4}, 2) == 1


def test_a_setting_that_did_not_come_into_force_is_an_error() -> None:
    has = flags(UseLargePages="false", LargePageSizeInBytes="0", UseNUMA="false")
    with pytest.raises(
        TargetError, match=r"page_size = 2m did not .* UseLargePages is false"
    ) as it:
        in_force.refuse_not_in_force({"page_size": "2m"}, has)
    assert "host.hugepages" in str(it.value.advice)
    in_force.refuse_not_in_force({"page_size": "2m"}, has, leaving_out=in_force.LATE)
    with pytest.raises(TargetError, match="UseNUMA is false"):
        in_force.refuse_not_in_force({"flag.UseNUMA": True}, has)
    with pytest.raises(TargetError, match="ZGenerational is not known to it"):
        in_force.refuse_not_in_force({"flag.ZGenerational": True}, has)


def test_a_heap_is_a_whole_number_of_regions() -> None:
    """G1 makes 100m of 2 MiB regions; another heap altogether is none."""
    has = flags(MaxHeapSize="106954752", InitialHeapSize="106954752", G1HeapRegionSize="4194304")
    levels: dict[str, Level] = {"heap": "100m"}
    in_force.refuse_not_in_force(levels, has)
    (reading,) = in_force.readings(levels, has)
    assert (reading.factor, reading.requested, reading.read_back) == ("target.heap", "100m", "102m")
    with pytest.raises(TargetError, match="heap = 200m did not come into force"):
        in_force.refuse_not_in_force({"heap": "200m"}, has)


@pytest.mark.parametrize(
    ("asked", "has", "equal"),
    [
        (True, "true", True),
        ("off", "false", True),
        ("2m", "2097152", True),
        (50, "50", True),
        (0.5, "0.500000", True),
        (True, "false", False),
        (50, "51", False),
        ("fast", "slow", False),
    ],
)
def test_values_are_the_same_however_they_are_written(asked: Level, has: str, equal: bool) -> None:
    assert same(asked, has) is equal


def test_flags_are_read_with_their_origin() -> None:
    found = java.flags_in(PRINTED)
    assert found["UseG1GC"] == Flag("true", "ergonomic")
    assert found["MaxHeapSize"] == Flag("536870912", ON_COMMAND_LINE)
    assert found["AOTClass"].value == ""
    assert found["MinRAMPercentage"].origin == "default"
    assert in_force.collector_in(found) == "G1"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "Picked up JAVA_TOOL_OPTIONS: -Xmx64m -Dpassword=secret\n",
        "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx64m\nPicked up _JAVA_OPTIONS: -Xms1m\n",
    ],
)
def test_the_version_is_read_past_what_was_picked_up(before: str) -> None:
    said = f'{before}openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment\n'
    assert java.version_in(said) == (17, "17.0.15")
    with pytest.raises(TargetError, match="does not tell its version") as raised:
        java.version_in(before + "nothing")
    assert "secret" not in raised.value.message


def test_inherited_options_are_taken_away_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in java.INHERITED:
        monkeypatch.delenv(name, raising=False)
    spec = TargetSpec(engine="jvm", settings={"jvms": 1})
    assert Jvm.cautions(spec, None) == []  # type: ignore[arg-type]
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dpassword=secret")
    (notice,) = Jvm.cautions(spec, None)  # type: ignore[arg-type]
    assert notice.code == "java-options-taken-away"
    assert "secret" not in notice.message
    assert not java.environment().keys() & set(java.INHERITED)


def test_heaps_that_nobody_sized_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in java.INHERITED:
        monkeypatch.delenv(name, raising=False)
    four = TargetSpec(engine="jvm", settings={"jvms": 4})
    (notice,) = Jvm.cautions(four, None)  # type: ignore[arg-type]
    assert (notice.severity, "100%" in notice.message) == ("warning", True)
    sized = four.with_settings({"heap": "1g"})
    assert Jvm.cautions(sized, None) == []  # type: ignore[arg-type]


def test_processors_are_dealt_out_to_neighbours() -> None:
    assert dealt([0, 1, 4, 5, 6], 2) == [[0, 1, 4], [5, 6]]
    spec = TargetSpec(
        engine="jvm",
        settings={"jvms": 2, "affinity": "split", "heap": "1g"},
        process=ProcessSpec(cpus="0-3"),
    )
    assert Jvm.named_parts(spec) == ("jvm1", "jvm2")
    parts = [Jvm.part_spec(spec, name) for name in Jvm.named_parts(spec)]
    assert [part.process.cpus for part in parts] == ["0-1", "2-3"]
    assert all(part.settings["heap"] == "1g" for part in parts)


def test_a_machine_without_java_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WrongInputError, match="needs a Java runtime 17 or later") as raised:
        Jvm.describe(TargetSpec(engine="jvm"))
    assert "\n" not in raised.value.message
    with pytest.raises(WrongInputError, match="there is no program"):
        java.find_java(str(tmp_path / "java"))


def test_the_load_has_a_process_for_each_jvm() -> None:
    spec = TargetSpec(engine="jvm", settings={"jvms": 3})
    assert Jvm.reached(spec).processes == 3
    given = spec.with_settings({"warehouses": 6})
    assert Jvm.for_sessions(given, 8) == {}
    assert Jvm.for_sessions(TargetSpec(engine="jvm"), 8) == {"warehouses": 8}


@pytest.mark.parametrize(
    ("factor", "collectors", "found"),
    [
        (
            "target.jvms",
            ("G1", "Serial"),
            ["the collector changed too (G1 to Serial): two variables"],
        ),
        ("target.jvms", ("G1", "G1"), []),
        ("target.collector", ("G1", "Serial"), []),
    ],
)
def test_another_collector_is_a_second_variable_unless_it_is_the_one(
    factor: str, collectors: tuple[str, str], found: list[str]
) -> None:
    """Case 14: one JVM on two processors, and two on one each."""

    def variant(level: int) -> Variant:
        change = Change(factor=factor, level=level)
        return Variant(name=str(level), changes=[change], step=[change])

    def trial(jvms: int, collector: str, processors: str) -> Any:
        counted = {"count": jvms, "affinity": {"processors": processors}}
        plan = {"target": {"engine": "jvm", "settings": {}}}
        return SimpleNamespace(
            path=Path("b01"),
            plan=SimpleNamespace(model_dump=lambda **_: plan),
            inventory={"target": {"collector": collector, "jvms": counted}},
            result=SimpleNamespace(fingerprint=None),
            workload=None,
        )

    two = 2 if factor == "target.jvms" else 1
    one = [trial(1, collectors[0], "2")]
    other = [trial(two, collectors[1], "1" if two == 2 else "2")]
    assert differences(one, other, (variant(1), variant(2))) == found
