"""`--meter`, `--meters-root` and `loadstone list meters`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import right, wrong
from power_tree import seven_zones

from loadstone.cli.meters import read_meter
from loadstone.errors import ExitCode, WrongInputError
from loadstone.experiments.file import parse_experiment, write_experiment

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("powercap", {"kind": "powercap"}),
        (
            "powercap,channels=package-0,channels=dram,main=true",
            {"kind": "powercap", "channels": ["package-0", "dram"], "main": True},
        ),
        (
            "command,scope=wall,command=sh -c 'echo 1,2',every=5s",
            {"kind": "command", "scope": "wall", "command": ["sh", "-c", "echo 1,2"],
             "every": "5s"},
        ),
        ("network,address=pdu:88,amps=0.5", {"kind": "network", "address": "pdu:88", "amps": 0.5}),
        ("own,parameters.outlet=3", {"kind": "own", "parameters": {"outlet": 3}}),
    ],
)  # fmt: skip
def test_a_meter_is_read_as_a_file_has_it(text: str, fields: dict[str, Any]) -> None:
    assert read_meter(text) == fields


@pytest.mark.parametrize(
    "text", ["", ",x=1", "a=b", "powercap,nothing", "file,path=a,path=b", "command,command='a"]
)
def test_a_meter_that_cannot_be_read_is_told_in_one_line(text: str) -> None:
    with pytest.raises(WrongInputError) as caught:
        read_meter(text)
    assert "\n" not in caught.value.message


FILE = """
version: 1
name: power
workload: {name: noop}
target: {engine: none}
meters_root: tree
meters:
  - {kind: powercap, every: 250ms, accuracy: 2%}
  - {kind: redfish, address: "https://bmc", user: lab, password: "file:secret", ca: ca.pem}
  - {kind: file, name: pdu, path: watts, scope: wall}
"""


def test_an_experiment_with_meters_is_written_as_it_was_read() -> None:
    experiment = parse_experiment(FILE, "x.yaml").experiment
    again = parse_experiment(write_experiment(experiment), "y.yaml").experiment
    assert again == experiment
    assert "every: 0.25s" in write_experiment(experiment)


def test_the_paths_of_meters_are_relative_to_the_file() -> None:
    folder = Path("somewhere")
    folder.mkdir()
    (folder / "x.yaml").write_text(FILE)
    (folder / "secret").write_text("hunter2")
    text = right("plan", str(folder / "x.yaml"), "--as-file", "--meters-root", "/")
    for name in ("secret", "ca.pem", "watts"):
        assert f"{folder.absolute()}/{name}" in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("meters", "said"),
    [
        ("[{kind: command}]", "meters[0].command: is missing"),
        ("[{kind: powercap, evry: 1s}]", "did you mean 'every'"),
        ("[{kind: powercap}, {kind: powercap}]", "two meters are called 'powercap'"),
        ("[{kind: ipmi, password: hunter2}]", "a reference"),
        ("[{kind: estimate, idle_watts: 9, full_watts: 3}]", "watts at full load"),
        ("[{kind: command, scope: wall, command: [read, 'password=hunter2']}]", "holds a password"),
    ],
)
def test_what_is_wrong_with_a_meter_is_told_with_its_line_and_no_secret(
    meters: str, said: str
) -> None:
    Path("x.yaml").write_text(
        "version: 1\nname: x\nworkload: {name: noop}\ntarget: {engine: none}\n"
        f"meters: {meters}\n"
    )
    message = wrong("run", "x.yaml")
    assert said in message
    assert "x.yaml:5" in message
    assert "hunter2" not in message


def test_an_option_replaces_the_meters_of_a_file() -> None:
    Path("x.yaml").write_text(FILE)
    text = right(
        "plan", "x.yaml", "--as-file", "--meter", "estimate,idle_watts=1,full_watts=2",
        "--meters-root", "/",
    )  # fmt: skip
    assert "estimate" in text
    assert "redfish" not in text


def test_what_this_machine_has_is_listed_with_the_reason_for_the_rest() -> None:
    tree = Path("tree").absolute()
    tree.mkdir()
    empty = json.loads(right("list", "meters", "--meters-root", str(tree), "--json"))["meters"]
    assert {each["kind"] for each in empty} >= {"powercap", "hwmon", "ipmi", "nvml", "estimate"}
    assert all(each["missing"] for each in empty if each["kind"] in ("powercap", "hwmon"))
    seven_zones(tree)
    rows = json.loads(right("list", "meters", "--meters-root", str(tree), "--json"))["meters"]
    zones = {each["channel"]: each for each in rows if each["kind"] == "powercap"}
    assert zones["psys"]["scope"] == "platform"
    assert [each["state"] for each in zones.values()].count("twin") == 1
    twin = next(each for each in zones.values() if each["twin_of"])
    assert twin["twin_of"] == "package-0"
    assert "package-0" in right("list", "meters", "--meters-root", str(tree))


def test_a_root_of_meters_belongs_to_their_list() -> None:
    assert "would have no effect" in wrong("list", "targets", "--meters-root", ".")
    assert "is not a folder" in wrong("list", "meters", "--meters-root", "nowhere")


def test_a_missing_meter_ends_a_run_with_one_line() -> None:
    Path("tree").mkdir()
    said = wrong(
        "run", "noop", "--users", "1", "--measure", "100ms", "--warm-up", "0s", "--quiet",
        "--meter", "powercap", "--meters-root", "tree",
        code=ExitCode.TARGET,
    )  # fmt: skip
    assert "powercap" in said
    assert not list(Path("results").glob("*/*/result.json"))
