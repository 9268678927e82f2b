"""Two results of two hosts are compared test by test, with what else differs between the hosts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sample_storage import Sample, alone, write_storage

from loadstone.cli.options import Output
from loadstone.cli.pairing import compare_results

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


def test_one_host_has_no_table_of_hosts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer = {"host": {**METAL["host"], "kernel": "6.8"}}
    write_storage(tmp_path, alone(5, "before"), Sample(inventory=METAL))
    write_storage(tmp_path, alone(5, "after"), Sample(inventory=newer, noise=0.02))
    compare_results("before", "after", Output(results=tmp_path))
    text = capsys.readouterr().out
    assert "Two hosts" not in text
    assert "host.kernel: 6.1 against 6.8" in text
