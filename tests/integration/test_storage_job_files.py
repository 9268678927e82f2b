"""Job files of fio as a user runs them: a device that one names stays as it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from packages import needs

from loadstone.cli.main import run_command
from loadstone.placements import loop

SIZE = 16 << 20
pytestmark = needs("fio")
DANGEROUS = (
    "[{device}]\nrw=write\nsize=1m\n",
    "[a]\ninclude device.inc\nrw=write\nsize=1m\n",
    "[a]\nfilename=ok:{device}\nrw=write\nsize=1m\n",
    "[a]\nfilename=${{DEVICE}}\nrw=write\nsize=1m\n",
    "[a]\nfilename=${{DEVICE_NOT_SET}}{device}\nrw=write\nsize=1m\n",
    "[a]\ndirectory={place}/../..{device}\nrw=write\nsize=1m\n",
    "[a]\nfilename=link\nrw=write\nsize=1m\n",
    "[link]\nrw=write\nsize=1m\n",
    "[a]\nexec_prerun=touch {place}/owned\nrw=read\nsize=1m\n",
    "[a]\nwrite_bw_log={place}/owned\nrw=read\nsize=1m\n",
    "[a]\nunlink=1\nfilename=mine\nrw=write\nsize=1m\n",
    "[a]\nsize=8*$mb_memory'; touch {place}/owned; '\nrw=read\n",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """With something on it."""
    if os.getuid() != 0:
        pytest.skip("loop devices are made by root only")
    image, name = tmp_path / "disk.img", f"loadstone-test-{os.getpid()}"
    image.write_bytes(hashlib.sha256(b"precious").digest() * (SIZE // 32))
    yield loop.attach(image, name)
    loop.detach({"name": name, "file": str(image)})


def digest(device: Path) -> str:
    return hashlib.sha256(device.read_bytes()).hexdigest()


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_device_that_a_file_leads_to_stays_as_it_was(
    text: str, place: Path, device: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEVICE", str(device))
    (tmp_path / "device.inc").write_text(f"filename={device}\n")
    (place / "link").symlink_to(device)
    (place / "mine").write_text("precious")
    file, before = tmp_path / "jobs.fio", digest(device)
    file.write_text(text.format(device=device, place=place))
    results = tmp_path / "results"
    words = ["storage", "--param", f"fio={file}", "--on", str(place), "--results", str(results)]
    assert run_command(["run", *words]) == 2
    assert digest(device) == before
    assert sorted(each.name for each in place.iterdir()) == ["link", "mine"]
    assert (place / "mine").read_text() == "precious"
    assert not results.exists()


def test_a_harmless_file_runs_and_is_kept_as_it_was_resolved(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_SIZE", "2m")
    (tmp_path / "common.inc").write_text("size=${JOB_SIZE}\nruntime=300ms\ntime_based\n")
    file, results = tmp_path / "jobs.fio", tmp_path / "results"
    file.write_text(
        "[global]\ninclude common.inc\nbs=4k\n[reads]\nrw=randread\nnumjobs=2\n"
        "[large]\nstonewall\nrw=read\nbs=64k\n[small]\nrw=randwrite\nfsync=4\n"
    )
    words = ["storage", "--param", f"fio={file}", "--on", str(place), "--results", str(results)]
    assert run_command(["run", *words, "--quiet"]) == 0
    (trial,) = results.glob("*/*/result.json")
    result = json.loads(trial.read_text())
    assert [each["name"] for each in result["phases"]] == ["reads read", "large, small mix"]
    counts = {each["name"]: each["count"] for each in result["operations"]}
    assert counts.keys() == {"reads-read", "large-small-mix-large", "large-small-mix-small"}
    assert all(counts.values())
    kept = sorted(trial.parent.glob("fio/*/jobs.fio"))
    texts = [each.read_text() for each in kept if "verify" not in each.parent.name]
    assert len(texts) == 2
    assert all("size=2m" in text and "runtime=300ms" in text for text in texts)
    assert all("include" not in text and "$" not in text for text in texts)
    assert list(place.iterdir()) == []
