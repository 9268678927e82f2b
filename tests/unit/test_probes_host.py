"""The host probe on a simulated `/proc`, and on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.host.mounts import block_device, mount_of, whole_disks
from loadstone.host.proc import (
    CpuTimes,
    parse_diskstats,
    parse_meminfo,
    parse_mountinfo,
    parse_netdev,
    parse_pressure,
    parse_stat,
)
from loadstone.probes.host import HostProbe

STAT = """\
cpu  {user} 10 {system} {idle} 40 5 5 {steal} 7 0
cpu0 1 2 3 4 5 6 7 8 9 0
intr 12345 0 0
ctxt {ctxt}
procs_running 3
procs_blocked 1
"""
MEMINFO = (
    "MemTotal: 1000 kB\nMemAvailable: 600 kB\nDirty: 8 kB\nWriteback: 0 kB\nHugePages_Total: 2\n"
)
DISKSTATS = """\
 254       0 vda {reads} 0 80 0 {writes} 0 160 0 0 {busy} 0 0 0 0 0 {flushes} 0
 254       1 vda1 {reads} 0 80 0 {writes} 0 160 0 0 {busy} 0 0 0 0 0 {flushes} 0
   7       0 loop0 9 0 9 0 9 0 9 0 0 9 0
"""
NETDEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo: 999999 1 0 0 0 0 0 0 999999 1 0 0 0 0 0 0
  eth0:{received} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0
"""
PRESSURE = """\
some avg10=0.00 avg60=0.00 avg300=0.00 total={some}
full avg10=0.00 avg60=0.00 avg300=0.00 total={full}
"""


class Tree:
    """A `/proc` and a `/sys` whose counters a test sets."""

    def __init__(self, folder: Path) -> None:
        self.proc, self.sys = folder / "proc", folder / "sys"
        for name in ("net", "pressure"):
            (self.proc / name).mkdir(parents=True)
        for name in ("vda", "loop0", "dm-0"):
            (self.sys / "block" / name).mkdir(parents=True)
        self.set()

    def set(self, **given: int) -> None:
        names = "user system idle steal ctxt reads writes busy flushes received sent some full"
        values = dict.fromkeys(names.split(), 0) | given
        for name, form in (
            ("stat", STAT),
            ("meminfo", MEMINFO),
            ("diskstats", DISKSTATS),
            ("net/dev", NETDEV),
            ("pressure/cpu", PRESSURE.splitlines()[0] + "\n"),
            ("pressure/io", PRESSURE),
            ("pressure/memory", PRESSURE),
        ):
            path = self.proc / name
            text = form if form is MEMINFO else form.format(**values)
            with path.open("r+" if path.exists() else "w") as file:
                file.write(text)
                file.truncate()


def sampled(tree: Tree, **counters: int) -> tuple[HostProbe, dict[str, float]]:
    probe = HostProbe(proc=tree.proc, sys=tree.sys)
    probe.start()
    tree.set(**counters)
    samples = probe.sample(7.0)
    probe.stop()
    assert {sample.t_s for sample in samples} == {7.0}
    return probe, {sample.metric: sample.value for sample in samples}


def test_cpu_time_is_shared_out(tmp_path: Path) -> None:
    _, values = sampled(Tree(tmp_path), user=50, system=20, idle=20, steal=10)
    shares = {kind: values[f"cpu_{kind}_percent"] for kind in ("user", "system", "idle", "steal")}
    assert shares == {"user": 50.0, "system": 20.0, "idle": 20.0, "steal": 10.0}
    assert (values["run_queue"], values["blocked_processes"]) == (3.0, 1.0)


def test_disks_are_counted_once_and_not_their_parts(tmp_path: Path) -> None:
    _, few = sampled(Tree(tmp_path / "a"), reads=100, writes=200, flushes=50)
    assert few["disk_writes_per_s"] == pytest.approx(2 * few["disk_reads_per_s"])
    assert few["disk_flushes_per_s"] == pytest.approx(0.5 * few["disk_reads_per_s"])
    assert few["disk_reads_per_s"] > 0


def test_the_loopback_is_not_the_network(tmp_path: Path) -> None:
    _, values = sampled(Tree(tmp_path), received=100, sent=300)
    assert values["network_sent_bytes_per_s"] == pytest.approx(
        3 * values["network_received_bytes_per_s"]
    )


def test_pressure_and_steal_are_noticed(tmp_path: Path) -> None:
    probe, values = sampled(Tree(tmp_path), user=90, steal=10, some=10**9, full=10**9)
    assert values["pressure_memory_full_percent"] == 100.0
    assert "pressure_cpu_full_percent" not in values
    assert [notice.code for notice in probe.notices()] == ["memory-pressure"]


def test_a_quiet_host_is_not_noticed(tmp_path: Path) -> None:
    probe, _ = sampled(Tree(tmp_path), user=100)
    assert probe.notices() == []


def test_a_kernel_without_pressure_is_fine(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    for kind in ("cpu", "io", "memory"):
        (tree.proc / "pressure" / kind).unlink()
    probe = HostProbe(proc=tree.proc, sys=tree.sys)
    probe.start()
    assert not [s for s in probe.sample(1.0) if s.metric.startswith("pressure")]
    probe.stop()


def test_it_can_be_stopped_when_it_never_started(tmp_path: Path) -> None:
    probe = HostProbe(proc=tmp_path / "nothing")
    with pytest.raises(ValueError, match="/proc/stat"):
        probe.start()
    probe.stop()


def test_this_machine_can_be_read(tmp_path: Path) -> None:
    probe = HostProbe(tmp_path)
    probe.start()
    values = {sample.metric: sample.value for sample in probe.sample(1.0)}
    probe.stop()
    assert values["memory_available_bytes"] > 0
    assert all(value >= 0 for value in values.values())
    assert sum(v for name, v in values.items() if name.startswith("cpu_")) <= 100.5


def test_readers_of_proc() -> None:
    stat = parse_stat("cpu 1 2 3 4\nctxt 9\n")
    assert stat.cpu == CpuTimes(user=3, system=3, idle=4, iowait=0, steal=0)
    assert parse_meminfo(MEMINFO)["MemAvailable"] == 600 * 1024
    assert parse_meminfo(MEMINFO)["HugePages_Total"] == 2
    [old] = parse_diskstats("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n")
    assert (old.counters.read_bytes, old.counters.flushes) == (3 * 512, 0)
    assert parse_netdev(NETDEV.format(received=5, sent=6)).received_bytes == 5
    assert parse_pressure(PRESSURE.format(some=4, full=2)) == {"some": 4, "full": 2}
    [mount] = parse_mountinfo(
        r"36 35 98:0 /mnt1 /mnt/my\040disk rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
    )
    assert mount["folder"] == "/mnt/my disk"
    assert mount["file_system_options"] == "rw,errors=continue"


def test_the_nearest_mount_holds_a_folder(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"2 1 8:2 / {tmp_path} rw - xfs /dev/sdb1 rw\n"
        f"3 1 8:3 / {tmp_path}x rw - xfs /dev/sdc1 rw\n"
    )
    mount = mount_of(tmp_path / "not" / "yet", proc)
    assert mount is not None
    assert mount["source"] == "/dev/sdb1"
    assert mount_of(tmp_path, tmp_path / "nothing") is None


def test_a_folder_in_memory_has_no_disk() -> None:
    assert block_device(Path("/proc")) is None


def test_whole_disks_leave_out_layers(tmp_path: Path) -> None:
    assert whole_disks(Tree(tmp_path).sys) == {"vda"}
    assert whole_disks(tmp_path / "nothing") == set()
