"""Two results of two hosts are compared test by test, with what else differs between the hosts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sample_storage import Sample, alone, write_storage

from loadstone.cli.options import Output
from loadstone.cli.pairing import compare_results
from loadstone.errors import WrongInputError
from loadstone.results.power import PowerRecord
from loadstone.results.record import MetricValue, TrialResult

METAL: dict[str, Any] = {
    "host": {
        "name": "metal-1",
        "virtualisation": "none (Maker Server)",
        "processor": {"Model name": "Some CPU", "CPU(s)": "32", "L3 cache": "32 MiB"},
        "memory_bytes": {"MemTotal": 128 << 30},
        "kernel": "6.1",
        "mitigations": {"meltdown": "Not affected"},
        "clock_source": "tsc",
        "disks": [
            {"name": "nvme0n1", "type": "disk", "model": "Fast", "size": 10**12, "rota": False},
            {"name": "loop0", "type": "loop", "size": 10**9},
        ],
    }
}
GUEST: dict[str, Any] = {
    "host": {
        **METAL["host"],
        "name": "guest-1",
        "virtualisation": "kvm",
        "mitigations": {"meltdown": "Mitigation: PTI"},
        "clock_source": "kvm-clock",
        "disks": [{"name": "vda", "type": "disk", "model": None, "size": 10**11, "rota": True}],
    }
}


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "110")
    write_storage(tmp_path, alone(5, "metal"), Sample(inventory=METAL))
    slower = Sample({"baseline: RND4K Q1T1 read": 0.7}, noise=0.013, inventory=GUEST)
    write_storage(tmp_path, alone(5, "guest"), slower)
    return tmp_path


def test_a_row_for_each_test_and_the_hosts_beside_each_other(
    pair: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare_results("metal", "guest", Output(results=pair))
    text = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in text.splitlines()]
    slow = next(line for line in lines if line.startswith("RND4K Q1T1 read"))
    assert slow.endswith("worse")
    assert sum("no detectable change" in line or line.startswith("SEQ") for line in lines) >= 4
    assert "virtualisation none (Maker Server) kvm" in lines
    assert any(line.startswith("disks nvme0n1 Fast, 931 GB, not") for line in lines), lines
    assert "host.clock_source: tsc against kvm-clock" in lines
    assert not any(line.startswith("host.mitigations") for line in lines)
    assert any("hosts that differ in name, virtualisation, disks" in line for line in lines)


def test_the_document_has_all_tests_and_all_facts(
    pair: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare_results("metal", "guest", Output(results=pair, json=True))
    document = json.loads(capsys.readouterr().out)
    assert len(document["further"]) == 7
    assert [each["fact"] for each in document["hosts"]] == ["name", "virtualisation", "disks"]
    assert any("mitigations" in each for each in document["comparison"]["differences"])


def changed(inventory: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {**inventory, "host": {**inventory["host"], **facts}}


def test_hardware_that_was_changed_on_one_host_is_told_in_one_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "130")
    first = changed(
        METAL,
        memory_modules={"A1": "16 GB DDR4 2933 MT/s", "B1": "16 GB DDR4 2933 MT/s"},
        firmware={"maker": "Maker", "product": "Server", "version": "1.2", "date": "01/02/2025"},
        firmware_settings={"PowerProfile": "Efficiency", "NumaNodes": "1"},
        processor_settings={"cpu.deepest_idle": "C6"},
    )
    second = changed(
        first,
        memory_bytes={"MemTotal": 64 << 30},
        memory_modules={"A1": "16 GB DDR4 2933 MT/s"},
        firmware={**first["host"]["firmware"], "version": "1.3"},
        firmware_settings={"PowerProfile": "Performance", "NumaNodes": "1"},
        processor_settings={"cpu.deepest_idle": "C1"},
    )
    java = {"vendor": "Maker", "name": "OpenJDK", "version": "25"}
    write_storage(tmp_path, alone(5, "before"), Sample(inventory=first))
    write_storage(
        tmp_path,
        alone(5, "after"),
        Sample(inventory={**second, "target": {"java": java}}, noise=0.02),
    )
    compare_results("before", "after", Output(results=tmp_path))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in (
        "One host",
        "memory 128 GB 64 GB",
        "memory modules 2 x 16 GB DDR4 2933 MT/s 1 x 16 GB DDR4 2933 MT/s",
        "firmware 1.2 01/02/2025 1.3 01/02/2025",
        "firmware: PowerProfile Efficiency Performance",
        "Java Maker OpenJDK 25",
        "host.processor_settings.cpu.deepest_idle: C6 against C1",
    ):
        assert line in lines, lines
    assert not any("NumaNodes" in line for line in lines)
    assert any("one host, with another memory, memory modules, firmware" in line for line in lines)


def metered(folder: Path, scope: str, watts: float) -> None:
    """Puts a meter's figures into each trial of a result."""
    for path in folder.glob("*/result.json"):
        result = TrialResult.model_validate_json(path.read_text())
        power = PowerRecord(
            meter="main", kind="command", channel="watts", scope=scope, watts=watts, joules=None,
            covered=1.0, readings=40, main=True,
        )  # fmt: skip
        figure = MetricValue(name="watts", value=watts, unit="W", higher_is_better=False)
        update = {"power": [power], "metrics": [*result.metrics, figure]}
        path.write_text(result.model_copy(update=update).model_dump_json())


@pytest.fixture
def meters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "130")
    for name, scope, watts in (("pdu", "wall", 300.0), ("rapl", "package", 90.0)):
        sample = Sample(inventory=METAL, noise=watts / 2e4)
        metered(write_storage(tmp_path, alone(5, name), sample), scope, watts)
    return tmp_path


def test_power_of_one_scope_is_never_compared_with_that_of_another(
    meters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(WrongInputError) as caught:
        compare_results("pdu", "rapl", Output(results=meters), ["watts"])
    assert "power of one scope is not that of another: wall against package" in str(caught.value)
    compare_results("pdu", "rapl", Output(results=meters, json=True))
    document = json.loads(capsys.readouterr().out)
    told = [document["metric"]["name"], *(each["metric"]["name"] for each in document["further"])]
    assert "watts" not in told
    assert [each["fact"] for each in document["hosts"]] == ["power meters"]
    assert {"other-scope", "other-meter"} <= {notice["code"] for notice in document["notices"]}


def test_power_of_one_scope_is_compared(meters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare_results("pdu", "pdu", Output(results=meters, json=True), ["watts"])
    document = json.loads(capsys.readouterr().out)
    assert document["metric"]["name"] == "watts"
    assert "other-scope" not in [notice["code"] for notice in document["notices"]]


def test_one_host_has_no_table_of_hosts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer = {"host": {**METAL["host"], "kernel": "6.8"}}
    write_storage(tmp_path, alone(5, "before"), Sample(inventory=METAL))
    write_storage(tmp_path, alone(5, "after"), Sample(inventory=newer, noise=0.02))
    compare_results("before", "after", Output(results=tmp_path))
    text = capsys.readouterr().out
    assert "Two hosts" not in text
    assert "host.kernel: 6.1 against 6.8" in text
