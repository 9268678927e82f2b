"""A storage baseline that is killed or interrupted, wherever it lies and whatever it does then.

Mounts, devices, servers, networks, folders, host settings and shared memory are as before: after
`loadstone recover` where Loadstone itself was killed, else at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from alone import ON_THE_HOST
from enclosed_user import Machine, machine_to_itself
from enclosure import signal_to, why_not
from lengths import long_but
from packages import do_without
from session import until

from loadstone.cache import cache_folder
from loadstone.errors import LoadstoneError
from loadstone.host.own_group import REMOVE as REMOVE_GROUP
from loadstone.placements import loop, programs, support
from loadstone.placements.place import parse
from loadstone.spec.target import TargetSpec
from loadstone.targets.fio_program import fio_with
from loadstone.targets.registry import target_for

pytestmark = [ON_THE_HOST, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]

DEVICE = "device"
"""A target on a loop device that is the test's own, and stays."""
WHERE: dict[str, dict[str, Any]] = {
    "folder": {"engine": "folder"},
    "device": {"engine": DEVICE},
    "nbd": {"engine": "nbd"},
    "iscsi": {"engine": "iscsi"},
    "nfs": {"engine": "nfs"},
    **{
        f"on {data}{' with a journal' if log else ''}": {
            "engine": "folder",
            "storage": {"data": data} | ({"log": log} if log else {}),
        }
        for data, log in (
            ("loop:ext4,data=journal,size=512MB", "nbd:write-delay=1ms,size=64MB"),
            ("loop:btrfs,raid1,size=512MB", None),
            ("tmpfs:size=512MB", None),
            ("nbd:xfs,rate=50MB,size=512MB", None),
            ("iscsi:ext4,size=512MB", None),
            ("nfs:ext4,size=512MB", None),
        )
    },
    "iscsi over iscsi": {"engine": "iscsi", "storage": {"data": "iscsi:ext4,size=512MB"}},
}
WAYS = {
    "Ctrl-C": lambda run: signal_to(run, signal.SIGINT),
    "kill -9": lambda run: signal_to(run, signal.SIGKILL),
    "kill -9 of the group": lambda run: os.killpg(run.pid, signal.SIGKILL),
}
MAKING, PASS, ENDING = "making it", "a pass", "its end"


def is_missing(target: dict[str, Any]) -> str | None:
    """Why a target cannot be had here."""
    if target["engine"] == DEVICE:
        return programs.absent("fio")
    storage = target.get("storage", {})
    reasons = [support.unavailable(parse(each)) for each in storage.values()]
    spec = TargetSpec(engine=target["engine"])
    try:
        target_for(spec).describe(spec)
    except LoadstoneError as error:
        reasons.append(error.message)
    return next(filter(None, [programs.absent("fio"), *reasons]), None)


@pytest.fixture
def machine() -> Iterator[Machine]:
    """An enclosure, while no other test changes the host."""
    with machine_to_itself() as machine:
        yield machine


@pytest.fixture
def device(machine: Machine) -> Iterator[str]:
    """A loop device of 128 MB whose file lies in the folder of the machine."""
    image, name = machine.folder / "theirs.img", f"loadstone-test-{os.getpid()}"
    with image.open("wb") as file:
        file.truncate(128 << 20)
    yield str(loop.attach(image, name))
    loop.detach({"name": name, "file": str(image)})


def experiment(target: dict[str, Any], device: str) -> str:
    """Two tests on small files, in passes of a second; the load may have no more memory."""
    if target["engine"] == DEVICE:
        target = {**target, "data": device, "settings": {"erase": device}}
    parameters = {"profile": "cdm8", "file_size": "32MB", "passes": 2, "pass_length": "1s"}
    served = target["engine"] in {"nbd", "iscsi", "nfs"}
    bounded = {} if served else {"memory": "128MB"}
    return json.dumps(
        {
            "version": 1,
            "name": "trace",
            "workload": {
                "name": "storage",
                "parameters": {**parameters, "pause": "0s", "test": "RND4K Q1T1 write", **bounded},
            },
            "target": target,
        }
    )


def lend_fio(machine: Machine, engine: str) -> None:
    """The fio of this user's cache: building one takes minutes."""
    if engine in {"iscsi", "nfs"}:
        fio_with({"iscsi": "libiscsi"}.get(engine, engine))
        (machine.folder / "cache").mkdir()
        (machine.folder / "cache" / "fio").symlink_to(cache_folder() / "fio")


def entries(machine: Machine) -> list[dict[str, Any]]:
    """What the journals of its runs hold."""
    found = []
    for path in machine.folder.glob("results/**/journal.jsonl"):
        for line in path.read_text().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue  # it is being written
    return found


def processes_of(run: subprocess.Popen[str]) -> Iterator[Sequence[str]]:
    """Command lines below a run."""
    for process in psutil.Process(run.pid).children(recursive=True):
        try:
            yield process.cmdline()
        except psutil.Error:
            continue


def moments(machine: Machine, run: subprocess.Popen[str]) -> dict[str, Callable[[], bool]]:
    """What is seen once Loadstone is doing something."""

    def making() -> bool:
        made = ("storage-", "network-storage-", "host-")
        return any(str(each.get("kind")).startswith(made) for each in entries(machine)) or passing()

    def passing() -> bool:
        return any("jobs.fio" in words for words in processes_of(run))

    def ending() -> bool:
        results = machine.folder.glob("results/trace/*/result.json")
        return any(json.loads(each.read_text())["status"] != "running" for each in results)

    return {MAKING: making, PASS: passing, ENDING: ending}


def cases() -> list[Any]:
    """Each way at another moment, so that each place is met in each way and at each moment."""
    ways, times = list(WAYS), [MAKING, PASS, ENDING]
    return [
        (where, way, times[(number + shift) % len(times)])
        for number, where in enumerate(WHERE)
        for shift, way in enumerate(ways)
    ]


@pytest.mark.parametrize(
    ("where", "way", "moment"), long_but([("nbd", "kill -9", MAKING)], cases())
)
def test_nothing_is_left(machine: Machine, device: str, where: str, way: str, moment: str) -> None:
    if reason := is_missing(WHERE[where]):
        do_without(reason)
    lend_fio(machine, WHERE[where]["engine"])
    (machine.folder / "trace.yaml").write_text(experiment(WHERE[where], device))
    before = machine.listing()
    run = machine.start("run", "trace.yaml", "--allow-unsafe")
    seen = moments(machine, run)[moment]
    until(f"{moment} on {where}", lambda: run.poll() is not None or seen())
    assert run.poll() is None, run.communicate()
    WAYS[way](run)
    _, said = run.communicate(timeout=120)
    assert "Traceback" not in said
    if way == "Ctrl-C":
        assert run.returncode in ({130} if moment != ENDING else {0, 3, 130}), said
    else:
        recovered = machine.run("recover")
        assert recovered.returncode == 0, recovered.stderr
        until("the end of fio", lambda: machine.listing()["processes"] == before["processes"])
    machine.assert_as_before(before)
    groups = [
        Path(each["data"]["folder"])
        for each in entries(machine)
        if each.get("kind") == REMOVE_GROUP
    ]
    assert not any(each.exists() for each in groups)
