"""Meters that are programs: ipmitool, perf, and one of the user's own; stand-ins for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from loadstone.errors import WrongInputError
from loadstone.host.processes import lives
from loadstone.journal import Journal, open_journals
from loadstone.meters import command, ipmi, perf, programs
from loadstone.meters.base import AnyMeter, MeterError, Reading
from loadstone.meters.command import CommandMeter
from loadstone.meters.ipmi import IpmiMeter
from loadstone.meters.perf import PerfMeter
from loadstone.spec.meters import CommandSpec, IpmiSpec, PerfSpec

Install = Callable[[str, str], Path]

DCMI = """
    Instantaneous power reading:                   {watts} Watts
    Minimum during sampling period:                 18 Watts
    Maximum during sampling period:                410 Watts
    Average power reading over sample period:      187 Watts
    IPMI timestamp:                           Thu Jan  1 00:00:28 1970
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   {state}

"""


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "test") as found:
        yield found


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program of a shell's commands before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    return write


def read_until(meter: AnyMeter, count: int) -> list[Reading]:
    found: list[Reading] = []
    while len(found) < count:
        found += meter.read()
    return found


# -- ipmitool ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("watts", "state", "invalid"),
    [(220, "activated", ""), (319, "deactivated", ""), (0, "deactivated", "it says 0 W")],
)
def test_a_reading_of_ipmi(
    *, watts: int, state: str, invalid: str, install: Install, journal: Journal, tmp_path: Path
):
    install("ipmitool", f"cat <<'E'\n{DCMI.format(watts=watts, state=state)}E")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/ipmi0").touch()
    meter = IpmiMeter(IpmiSpec(), tmp_path)
    meter.open(journal)
    (reading,) = meter.read()
    (channel,) = meter.channels()
    assert (reading.value, reading.invalid) == (watts, invalid)
    assert (channel.scope, channel.form, channel.simulated) == ("platform", "gauge", True)
    codes = {notice.code for notice in meter.notices()}
    assert ("meter-deactivated" in codes) == (state == "deactivated")


def test_a_controller_elsewhere_gets_the_password_by_the_environment(
    install: Install, journal: Journal, monkeypatch: pytest.MonkeyPatch
):
    install(
        "ipmitool",
        '[ "$IPMI_PASSWORD" = hush ] || exit 3\necho "$@" | grep -q hush && exit 4\n'
        f"cat <<'E'\n{DCMI.format(watts=7, state='activated')}E",
    )
    monkeypatch.setenv("BMC", "hush")
    spec = IpmiSpec(address="bmc.lab", user="reader", password="env:BMC")
    meter = IpmiMeter(spec)
    assert meter.command()[1:8] == ["-I", "lanplus", "-H", "bmc.lab", "-U", "reader", "-E"]
    meter.open(journal)
    assert [each.value for each in meter.read()] == [7.0]
    monkeypatch.delenv("BMC")
    with pytest.raises(MeterError, match="is not set"):
        IpmiMeter(spec).open(journal)


def test_a_machine_without_a_controller_says_why(
    install: Install, journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install("ipmitool", "exit 0")
    with pytest.raises(MeterError, match="there is no /dev/ipmi0"):
        IpmiMeter(IpmiSpec(), tmp_path).open(journal)
    with pytest.raises(MeterError, match="no DCMI"):
        IpmiMeter(IpmiSpec(address="bmc.lab")).open(journal)
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = IpmiMeter.found(tmp_path)
    assert "not installed" in found.missing


def test_a_controller_that_fails_once_is_an_invalid_reading_and_then_dies(
    install: Install, journal: Journal
):
    install("ipmitool", f"cat <<'E'\n{DCMI.format(watts=7, state='activated')}E")
    meter = IpmiMeter(IpmiSpec(address="bmc.lab"))
    meter.open(journal)
    install("ipmitool", "echo Unable to establish session >&2\nexit 1")
    for _ in range(2):
        (reading,) = meter.read()
        assert reading.invalid == "ipmitool ended with exit code 1: Unable to establish session"
    with pytest.raises(MeterError, match="has died"):
        meter.read()


def test_a_controller_that_hangs_is_left_alone(
    install: Install, journal: Journal, monkeypatch: pytest.MonkeyPatch
):
    install("ipmitool", "sleep 600 & wait")
    monkeypatch.setattr(ipmi, "ANSWER_S", 0.05)
    with pytest.raises(MeterError, match=r"did not answer within 0.05 s"):
        IpmiMeter(IpmiSpec(address="bmc.lab")).open(journal)


# -- perf --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1.5;43.26;Joules;power/energy-pkg/;1;100.00;;", (1.5, "energy-pkg", 43.26, "")),
        ("1.5;<not counted>;Joules;power/energy-pkg/;0;100.00;;", (1.5, "energy-pkg", 0.0, "says")),
        ("1.5;<not supported>;;power/energy-ram/;0;100.00;;", (1.5, "energy-ram", 0.0, "says")),
        ("1.5;43,26;Joules;power/energy-pkg/;1;100.00;;", (1.5, "energy-pkg", 0.0, "no number")),
        ("# time counts unit events", None),
        ("1.5;12;;cycles;1;100.00;;", None),
        ("x;1;Joules;power/energy-pkg/;1;1;;", None),
    ],
)
def test_a_line_of_perf(line: str, found: tuple[float, str, float, str] | None):
    interval = perf.read_interval(line)
    if found is None or interval is None:
        assert interval is found is None
        return
    assert (interval.to_s, interval.channel, interval.joules) == found[:3]
    assert bool(interval.invalid) == bool(found[3])
    assert found[3] in interval.invalid


def perf_root(root: Path, *events: str) -> Path:
    folder = root / perf.EVENTS
    folder.mkdir(parents=True)
    for event in events:
        (folder / event).write_text("event=0x02\n")
    return root


def test_perf_runs_through_the_trial(install: Install, journal: Journal, tmp_path: Path):
    install(
        "perf",
        '[ "$LC_ALL" = C ] || exit 3\n'
        "for n in 1 2 3 4; do\n"
        '  echo "$n.0;<not supported>;;power/energy-psys/;0;100.00;;"\n'
        '  [ $n = 3 ] && e="<not counted>" || e=${n}0.0\n'
        '  echo "$n.0;$e;Joules;power/energy-pkg/;1;100.00;;"\n'
        '  echo "$n.0;5.5;Joules;power/energy-cores/;1;100.00;;"\n'
        "done\nexec sleep 600",
    )
    root = perf_root(tmp_path, "energy-pkg", "energy-cores", "energy-psys")
    meter = PerfMeter(PerfSpec(), root)
    meter.open(journal)
    (pid,) = meter.helpers()
    package, cores = meter.channels()
    assert (package.name, package.scope, package.form) == ("energy-pkg", "package", "gauge")
    assert (cores.parts_of, cores.mean_over_s, cores.simulated) == ("energy-pkg", 1.0, True)
    meter.close()
    assert not psutil.pid_exists(pid)


def test_an_interval_that_was_not_counted_has_no_watts(
    install: Install, journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(
        "perf",
        'echo "1.0;10.0;Joules;power/energy-pkg/;1;100.00;;"\nread go <"$GO"\n'
        'echo "2.0;<not counted>;Joules;power/energy-pkg/;1;100.00;;"\n'
        'echo "4.0;60.0;Joules;power/energy-pkg/;1;100.00;;"\nexit 5',
    )
    go = tmp_path / "go"
    os.mkfifo(go)
    meter = PerfMeter(PerfSpec(), perf_root(tmp_path, "energy-pkg"))
    monkeypatch.setenv("GO", str(go))
    meter.open(journal)
    go.write_text("now\n")
    readings = read_until(meter, 2)
    assert [(each.value, bool(each.invalid)) for each in readings] == [(0.0, True), (30.0, False)]
    with pytest.raises(MeterError, match="perf ended with exit code 5"):
        while True:
            meter.read()
    meter.close()


def test_perf_without_energy_events_says_why(install: Install, journal: Journal, tmp_path: Path):
    (found,) = PerfMeter.found(tmp_path)
    assert "no energy events" in found.missing
    with pytest.raises(MeterError, match="no energy events"):
        PerfMeter(PerfSpec(), tmp_path).open(journal)
    perf_root(tmp_path, "energy-pkg")
    (tmp_path / "sys/class/powercap/intel-rapl:0").mkdir(parents=True)
    (found,) = PerfMeter.found(tmp_path)
    assert found.twin_of == "powercap, package"
    install("perf", 'echo "1.0;<not supported>;;power/energy-pkg/;0;100.00;;"; exec sleep 600')
    meter = PerfMeter(PerfSpec(), tmp_path)
    with pytest.raises(MeterError, match="perf says <not supported>"):
        meter.open(journal)
    meter.close()
    install("perf", "echo access to performance monitoring is limited >&2; exit 255")
    meter = PerfMeter(PerfSpec(), tmp_path)
    with pytest.raises(MeterError, match="monitoring is limited"):
        meter.open(journal)
    meter.close()


# -- a command of the user ---------------------------------------------------------------------
def command_of(*words: str, **fields: object) -> CommandMeter:
    given = {"command": list(words), "scope": "wall", **fields}
    return CommandMeter(CommandSpec.model_validate(given))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "ENDS_S", 30.0)


@pytest.mark.usefixtures("quick")
def test_a_program_that_ends_is_asked_anew(install: Install, journal: Journal, tmp_path: Path):
    script = install("wattage", f"n=$(cat {tmp_path}/n)\necho $((n+1)) >{tmp_path}/n\necho $n.5 W")
    (tmp_path / "n").write_text("100\n")
    meter = command_of(str(script))
    meter.open(journal)
    assert meter.helpers() == ()
    values = [meter.read()[0].value for _ in range(2)]
    meter.close()
    assert values == [101.5, 102.5]


def test_a_program_that_runs_on_is_read_line_by_line(
    install: Install, journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(command, "ENDS_S", 0.01)
    go = tmp_path / "go"
    os.mkfifo(go)
    later = "echo 8.5\necho -1\necho none\nsleep 600 &\nwait"
    script = install("counter", f"echo 5\nread go <{go}\n{later}")
    meter = command_of(str(script), unit="J")
    meter.open(journal)
    go.write_text("now\n")
    (pid,) = meter.helpers()
    readings = read_until(meter, 3)
    below = psutil.Process(pid).children()
    (channel,) = meter.channels()
    meter.close()
    assert channel.form == "counter"
    assert [each.value for each in readings if not each.invalid] == [8.5]
    assert [each.invalid for each in readings[1:]] == ["-1 is negative", "'none' is not a number"]
    assert not any(lives(each) for each in below)
    assert {notice.code for notice in meter.notices()} == {"meter-invalid"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exit 3", "ended with exit code 3"),
        ("echo 3 J", "it says J, and W was stated"),
        ("echo much", "'much' is not a number"),
        ("echo 7; exit 9", "ended with exit code 9"),
        ("exit 0", "ended with exit code 0"),
    ],
)
@pytest.mark.usefixtures("quick")
def test_a_program_that_tells_no_power_is_refused(
    text: str, why: str, install: Install, journal: Journal
):
    meter = command_of(str(install("meter", text)))
    with pytest.raises(MeterError, match=why):
        meter.open(journal)
    meter.close()


def test_a_program_that_is_not_there_is_told_without_its_words(journal: Journal):
    meter = command_of("/nowhere/meter", "--password=hush")
    with pytest.raises(MeterError, match="the program meter is not installed") as raised:
        meter.open(journal)
    assert "hush" not in str(raised.value)
    with pytest.raises(WrongInputError, match="'outlet'"):
        command_of("echo", "7", channels=["outlet"]).open(journal)


KILLED = """
import sys
from pathlib import Path
from loadstone.journal import Journal
from loadstone.meters.programs import Lines
lines = Lines(["sh", "-c", "echo 7; sleep 600"], "sh", Journal(Path(sys.argv[1]), "test"))
lines.wait(60)
print(lines.pid, flush=True)
sys.stdin.read()
"""


def test_nothing_is_left_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    words = [sys.executable, "-c", KILLED, str(tmp_path / "journal.jsonl")]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    left = [psutil.Process(pid), *psutil.Process(pid).children()]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (journal,) = open_journals()
    assert [entry.kind for entry in journal.entries()] == [programs.UNDO]
    assert journal.recover(lambda _entry, error: pytest.fail(str(error)) if error else None)
    assert not any(lives(each) for each in left)
