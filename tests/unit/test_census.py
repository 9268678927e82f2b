"""Processes that are counted on a machine that imitates one, and what each has used since."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from loadstone.host.census import census, family, grown, trees
from loadstone.host.cgroup import Bounds
from loadstone.probes.others import OthersProbe
from loadstone.results.taken import Taken

TICKS = os.sysconf("SC_CLK_TCK")
KERNEL = 0x0020_0000


class Tree:
    """A folder that looks like `/proc`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.machine()

    def machine(self, *, steal_s: float = 0.0, waiting_us: int = 0) -> None:
        (self.root / "stat").write_text(f"cpu 0 0 0 0 0 0 0 {round(steal_s * TICKS)}\n")
        (self.root / "pressure").mkdir(exist_ok=True)
        for kind in ("cpu", "io", "memory"):
            text = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={waiting_us}\n"
            (self.root / "pressure" / kind).write_text(text)

    def disk(self, busy_ms: int) -> None:
        line = f"254 0 vda 0 0 0 0 0 0 0 0 0 {busy_ms} 0"
        (self.root / "diskstats").write_text(f"{line}\n")

    def process(
        self, pid: int, parent: int, name: str = "it", *, cpu_s: float = 0.0, ended_s: float = 0.0,
        moved: int | None = 0, flags: int = 0, started: int = 7,
    ) -> None:  # fmt: skip
        folder = self.root / str(pid)
        folder.mkdir(exist_ok=True)
        ticks = [round(cpu_s * TICKS), 0, round(ended_s * TICKS), 0]
        fields = ["S", parent, 0, 0, 0, 0, flags, 0, 0, 0, 0, *ticks, 20, 0, 1, 0, started]
        (folder / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}\n")
        if moved is None:
            (folder / "io").unlink(missing_ok=True)
        else:
            (folder / "io").write_text(f"rchar: 9\nread_bytes: {moved}\nwrite_bytes: 0\n")

    def ends(self, pid: int) -> None:
        for file in (self.root / str(pid)).iterdir():
            file.unlink()
        (self.root / str(pid)).rmdir()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_tree_counts_its_descendants_and_their_ended_children(tree: Tree) -> None:
    tree.process(10, 1, "a) b (c", cpu_s=1.5, ended_s=0.5)
    tree.process(11, 10, cpu_s=3.0)
    tree.process(12, 11, cpu_s=1.0)
    tree.process(20, 1, cpu_s=9.0)
    (tree.root / "30").mkdir()  # has just ended
    processes = census(tree.root, disk=False)
    found = trees(processes, [10, 77])
    assert sorted(pid for pid, _ in found[10]) == [10, 11, 12]
    used_s = sum(processes[key].cpu_s + processes[key].ended_s for key in found[10])
    assert used_s == pytest.approx(6.0)
    assert found[77] == set()


def test_a_family_is_all_that_descends(tree: Tree) -> None:
    for pid, parent in ((10, 1), (11, 10), (12, 11), (20, 1), (21, 20)):
        tree.process(pid, parent, "a (b) c")
    processes = census(tree.root)
    assert {pid for pid, _ in family(processes, [10, 99])} == {10, 11, 12}
    assert {each.name for each in processes.values()} == {"a (b) c"}


def test_what_a_child_used_is_counted_once(tree: Tree) -> None:
    tree.process(10, 1, cpu_s=1.0, ended_s=5.0)
    tree.process(11, 10, cpu_s=3.0)
    before = census(tree.root)
    tree.ends(11)
    tree.process(10, 1, cpu_s=1.5, ended_s=5.0 + 3.4)
    tree.process(12, 10, cpu_s=0.2, moved=4096)
    used = {one.key[0]: [cpu_s, moved] for one, cpu_s, moved in grown(before, census(tree.root))}
    assert used[10] == pytest.approx([0.9, 0.0])
    assert used[12] == pytest.approx([0.2, 4096.0])


def test_a_number_that_is_used_again_is_another_process(tree: Tree) -> None:
    tree.process(10, 1, cpu_s=9.0)
    before = census(tree.root)
    tree.process(10, 1, cpu_s=0.5, started=8)
    assert [cpu_s for _, cpu_s, _ in grown(before, census(tree.root))] == [0.5]


def test_what_others_use_is_told_and_not_what_the_trial_uses(tree: Tree) -> None:
    own = os.getpid()
    tree.process(own, 1, "lab")
    tree.process(30, 1, "server")
    tree.process(31, 30, "session")
    tree.process(50, 1, "hog")
    tree.process(60, 2, "kworker", flags=KERNEL)
    probe = OthersProbe(lambda: [30], bounds=Bounds(), proc=tree.root)
    probe._processors = 2
    probe.start()
    tree.process(own, 1, "lab", cpu_s=1.0)
    tree.process(30, 1, "server", cpu_s=1.0)
    tree.process(31, 1, "session", cpu_s=1.0)  # it has another parent now
    tree.process(50, 1, "hog", cpu_s=0.5)
    tree.process(60, 2, "kworker", cpu_s=1.0, flags=KERNEL)
    tree.machine(steal_s=0.2, waiting_us=300_000)
    probe.look(1.0)
    found = {each.cause: each for each in probe.taken(0.0, 1.0)}
    assert found["processors"].share == pytest.approx(0.25)
    assert found["processors"].evidence == "other programs (hog) used 0.50 of 2 processors"
    assert found["steal"].share == pytest.approx(0.1)
    assert found["memory"].share == pytest.approx(0.3)
    assert "disk" not in found


def test_of_a_busy_disk_others_have_as_much_as_of_its_bytes(tree: Tree) -> None:
    own = os.getpid()
    tree.process(own, 1)
    tree.process(50, 1, "dd")
    probe = OthersProbe(bounds=Bounds(), proc=tree.root)
    probe._device = "254:0"
    tree.disk(busy_ms=0)
    probe.start()
    tree.disk(busy_ms=800)
    tree.process(own, 1, moved=1_000_000)
    tree.process(50, 1, "dd", moved=3_000_000)
    probe.look(1.0)
    (found,) = [each for each in probe.taken(0.0, 1.0) if each.cause == "disk"]
    assert found.share == pytest.approx(0.8 * 0.75)
    assert found.evidence == (
        "other programs (dd) read and wrote 3 MB/s, while the disk was busy in 80 % of the time"
    )


def test_a_system_that_cannot_be_told_from_others_is_said_to_be_so(tree: Tree) -> None:
    probe = OthersProbe(None, bounds=Bounds(), proc=tree.root)
    probe.start()
    tree.process(50, 1, "server", cpu_s=1.0)
    probe.look(1.0)
    assert not [each for each in probe.taken(0.0, 1.0) if each.cause == "processors"]
    assert [each.code for each in probe.notices()] == ["others-unseen"]


def test_a_clock_that_is_set_and_a_machine_that_sleeps(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = {time.CLOCK_REALTIME: 1e9, time.CLOCK_BOOTTIME: 100.0, time.CLOCK_MONOTONIC: 90.0}
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)
    probe = OthersProbe(bounds=Bounds(), proc=tree.root)
    probe.start()
    clocks[time.CLOCK_REALTIME] += 0.0004  # it is led to the right time
    probe.look(1.0)
    clocks[time.CLOCK_REALTIME] += 0.5
    clocks[time.CLOCK_BOOTTIME] += 2.0
    clocks[time.CLOCK_REALTIME] += 2.0
    probe.look(2.0)
    found = {each.cause: each for each in probe.taken(1.0, 2.0)}
    assert found["clock"].share == pytest.approx(0.5, abs=0.01)
    assert found["suspended"].share == 1.0
    assert probe.taken(0.0, 0.9) == []


def test_an_interval_is_told_by_the_readings_around_it(tree: Tree) -> None:
    tree.process(50, 1, "hog")
    probe = OthersProbe(bounds=Bounds(), proc=tree.root)
    probe._processors = 1
    probe.start()
    for second in range(1, 5):
        tree.process(50, 1, "hog", cpu_s=0.5 if second > 2 else 0.0)
        probe.look(float(second))

    def share(found: list[Taken]) -> float:
        return next((each.share for each in found if each.cause == "processors"), 0.0)

    assert share(probe.taken(0.0, 2.0)) == 0.0
    assert share(probe.taken(2.0, 3.0)) == pytest.approx(0.5)
    assert share(probe.taken(3.0, 4.0)) == 0.0
    assert probe.taken(7.0, 9.0) == []
