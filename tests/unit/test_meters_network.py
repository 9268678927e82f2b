"""A network meter, against a server that speaks the lines of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path

import pytest
from network_meter_server import Behaviour, NetworkMeterServer

from loadstone.errors import WrongInputError
from loadstone.journal import Journal, open_journals
from loadstone.meters import network_client, network_lines
from loadstone.meters.base import MeterError, Reading
from loadstone.meters.network import NetworkMeter
from loadstone.meters.network_client import NetworkClient, place_of
from loadstone.meters.series import Series
from loadstone.meters.watts import watts_between
from loadstone.spec.meters import NetworkMeterSpec

LINE = (
    "Time,11-13-2020 22:38:59.240,Watts,272.930000,Volts,-1.000000,Amps,-1.000000,PF,-1.000000,"
    "Mark,notset,Ch1,Watts,91.060000,Volts,-1.000000,Amps,-1.000000,PF,-1.000000,Ch2,Watts,nan"
)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "test") as found:
        yield found


def meter_of(server: NetworkMeterServer, **fields: object) -> NetworkMeter:
    spec = {"address": server.address, "every": "10ms", **fields}
    return NetworkMeter(NetworkMeterSpec.model_validate(spec))


def codes(meter: NetworkMeter) -> set[str]:
    return {notice.code for notice in meter.notices()}


# -- lines -------------------------------------------------------------------------------------
def test_watts_are_valid_beside_invalid_volts_and_channels():
    sample = network_lines.read_sample(LINE)
    told = {each.channel: (each.watts, each.invalid) for each in sample.channels}
    assert told["sum"] == (272.93, "")
    assert told["Ch1"] == (91.06, "")
    assert told["Ch2"][1] == "not a number"


def test_channels_without_names_are_numbered():
    sample = network_lines.read_sample(
        "Time,11-13-2020 22:38:59.240,Watts,3,Volts,1,Watts,1,Watts,2"
    )
    assert [(each.channel, each.watts) for each in sample.channels] == [
        ("sum", 3.0),
        ("Ch1", 1.0),
        ("Ch2", 2.0),
    ]


@pytest.mark.parametrize(
    "line", ["", "Time", "Time,x", LINE[:30], "Time,x,Watts", "Volts,1,Watts,2"]
)
def test_a_line_that_is_cut_off_is_none(line: str):
    with pytest.raises(network_lines.LineError):
        network_lines.read_sample(line)


@pytest.mark.parametrize(
    ("watts", "why"),
    [(24.3, ""), (0.0, ""), (-1.0, "invalid (-1)"), (-27.1, "too small"), (float("nan"), "number")],
)
def test_what_is_no_power(watts: float, why: str):
    found = network_lines.why_invalid(watts)
    assert bool(found) == bool(why)
    assert why in found


def test_ranges_that_are_not_known():
    ranges = network_lines.read_ranges("Ranges,-1,-1.0,-1,-1.0")
    assert ranges.amps.setting is None
    found = network_lines.read_ranges("Ranges,1,0.5,0,300.0")
    assert (found.amps.setting, found.volts.setting) == ("Auto", "300")
    for line in ("Ranges,1,2", "Error: busy", "Ranges,1,x,0,300"):
        with pytest.raises(network_lines.LineError):
            network_lines.read_ranges(line)


@pytest.mark.parametrize("fields", [12, 16])
def test_an_identity_has_12_or_16_fields(fields: int):
    assert network_lines.read_identity(",".join(["WT310", *["0"] * (fields - 1)])) == "WT310"
    with pytest.raises(network_lines.LineError, match="13 fields"):
        network_lines.read_identity("," * 12)


def test_an_uncertainty_is_a_share_or_per_cent():
    assert network_lines.percent(0.0042) == pytest.approx(0.42)
    assert network_lines.percent(1.4) == 1.4
    assert network_lines.percent(-1.0) is None
    statistic = network_lines.read_statistic("Watts,200.5,100,300,240,2,0", "Watts")
    assert (statistic.average, statistic.samples, statistic.errors) == (200.5, 240, 2)


@pytest.mark.parametrize(
    ("stamp", "lag"),
    [
        ("11-13-2020 22:38:59.240", 0.62),
        ("13-11-2020 22:38:59.240", 0.62),
        ("11-13-2020 21:38:59.240", None),
        ("11-13-2020 23:38:59.240", None),
        ("yesterday", None),
    ],
    ids=["late", "day first", "an hour behind", "an hour ahead", "no stamp"],
)
def test_a_lag_is_told_where_it_can_be_right(stamp: str, lag: float | None):
    sample = network_lines.read_sample(f"Time,{stamp},Watts,100")
    now = datetime(2020, 11, 13, 22, 38, 59, 240_000) + timedelta(milliseconds=620)
    assert network_lines.lag_s(sample.times, now, 60.0) == (lag and pytest.approx(lag))


def test_addresses():
    assert place_of("meter.lab") == ("meter.lab", 8888)
    assert place_of("10.0.0.7:9000") == ("10.0.0.7", 9000)
    assert place_of("[fd00::7]:9000") == ("fd00::7", 9000)
    for address in ("", "a:b", "meter:0", "meter:70000", "fd00::7"):
        with pytest.raises(WrongInputError):
            place_of(address)


# -- a meter -----------------------------------------------------------------------------------
@pytest.mark.parametrize("cut", [False, True], ids=["whole lines", "lines in two pieces"])
def test_samples_are_placed_by_arrival(journal: Journal, cut: bool):
    with NetworkMeterServer(Behaviour(cut=cut, late_s=0.62)) as server:
        meter = meter_of(server)
        meter.open(journal)
        before = time.monotonic()
        server.add("200.0", "nan", "-1", "-27.1", "201.5")
        readings = meter.read()
        meter.close()
    assert [each.value for each in readings if not each.invalid] == [200.0, 201.5]
    assert len(readings) == 5
    times = [each.t_s for each in readings]
    assert times == sorted(times)
    assert times[-1] >= before
    lag = readings[-1].t_s - (readings[-1].of_s or 0.0)
    assert 0.6 <= lag < 30
    assert "meter-range-too-small" in codes(meter)
    assert server.commands[0] == "Hello"
    assert not server.measures


def test_channels_are_parts_of_the_whole(journal: Journal):
    with NetworkMeterServer(Behaviour(first="300 200 100", fields=16)) as server:
        meter = meter_of(server, channels=["sum", "Ch2"], scope="wall")
        meter.open(journal)
        server.add("300 200 100")
        readings = meter.read()
        whole, part = meter.channels()
        with pytest.raises(WrongInputError, match="'Ch9'"):
            meter_of(server, channels=["Ch9"])._named(network_lines.read_sample("Time,x,Watts,1"))
        meter.close()
    assert (whole.name, whole.scope, whole.parts_of) == ("sum", "wall", "")
    assert (part.name, part.parts_of) == ("Ch2", "sum")
    assert part.mean_over_s == pytest.approx(0.017 + meter.interval_s)
    assert whole.accuracy_percent == pytest.approx(0.31)
    assert [(each.channel, each.value) for each in readings] == [("sum", 300.0), ("Ch2", 100.0)]


def test_lines_that_are_none_are_invalid_readings(journal: Journal):
    with NetworkMeterServer() as server:
        meter = meter_of(server)
        meter.open(journal)
        server.add_lines("Time,11-13-2020 22:38:59.240,Wat", "nonsense")
        readings = meter.read()
        meter.close()
    assert [bool(each.invalid) for each in readings] == [True, True]
    assert "meter-lines" in codes(meter)


def test_ten_thousand_unread_samples_are_set_back_by_the_interval(journal: Journal):
    with NetworkMeterServer() as server:
        server.add(*["999"] * 3)
        meter = meter_of(server)
        meter.open(journal)
        opened = meter._last_s
        server.add_lines(*["Time,x,Watts,100.0"] * 10_000)
        readings = meter.read()
        meter.close()
    assert len(readings) == 10_000
    assert readings[0].t_s >= opened
    assert {each.value for each in readings} == {100.0}
    assert "meter-older" in codes(meter)


def test_what_a_reader_should_know(journal: Journal):
    behaviour = Behaviour(uncertainty="1.400000", ranges=["0", "0.05", "1", "300"])
    with NetworkMeterServer(behaviour) as server:
        NetworkClient(*place_of(server.address)).go(1.0)
        server.drop()
        meter = meter_of(server)
        meter.open(journal)
        meter.close()
    assert {"meter-ranging", "meter-uncertain", "meter-errors", "meter-was-measuring"} <= codes(
        meter
    )
    stated = meter_of(server, accuracy="0.2%")
    stated._channels = meter._channels
    assert stated.channels()[0].accuracy_percent == 0.2


# -- ranges ------------------------------------------------------------------------------------
def test_ranges_are_set_and_put_back(journal: Journal):
    with NetworkMeterServer(Behaviour(ranges=["1", "0.5", "0", "300.0"])) as server:
        meter = meter_of(server, amps=2, volts=150)
        meter.open(journal)
        during = list(server.behaviour.ranges)
        meter.close()
        assert during == ["0", "2", "0", "150"]
        assert server.behaviour.ranges == ["1", "2", "0", "300"]
    assert "meter-ranging" not in codes(meter)


def test_a_range_that_could_not_be_put_back_is_not_set(journal: Journal):
    with NetworkMeterServer(Behaviour(ranges=["-1", "-1.0", "-1", "-1.0"])) as server:
        meter = meter_of(server, amps=2)
        with pytest.raises(MeterError, match="could not be put back"):
            meter.open(journal)
        meter.close()
        assert not any(command.startswith("SR") for command in server.commands)


def test_a_range_that_is_refused_ends_it(journal: Journal):
    with NetworkMeterServer(Behaviour(refuse_range=True, ranges=["0", "1", "0", "300"])) as server:
        meter = meter_of(server, amps=2)
        with pytest.raises(MeterError, match="Error: cannot set range A"):
            meter.open(journal)
        server.behaviour.refuse_range = False
        meter.close()


KILLED = """
import sys
from pathlib import Path
from loadstone.journal import Journal
from loadstone.meters.network import NetworkMeter
from loadstone.spec.meters import NetworkMeterSpec
journal = Journal(Path(sys.argv[2]), "test")
spec = NetworkMeterSpec.model_validate({"address": sys.argv[1], "every": "10ms", "amps": 2})
NetworkMeter(spec).open(journal)
print("open", flush=True)
sys.stdin.read()
"""


def test_ranges_are_put_back_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with NetworkMeterServer(Behaviour(ranges=["0", "0.5", "0", "300"])) as server:
        words = [sys.executable, "-c", KILLED, server.address, str(tmp_path / "journal.jsonl")]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        assert server.behaviour.ranges[1] == "2"
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        (left,) = open_journals()
        assert left.recover(lambda _entry, error: pytest.fail(str(error)) if error else None)
        assert server.behaviour.ranges == ["0", "0.5", "0", "300"]
        assert not server.measures


# -- what goes wrong ---------------------------------------------------------------------------
def test_a_connection_that_is_lost_is_made_again_once(journal: Journal):
    with NetworkMeterServer() as server:
        meter = meter_of(server)
        meter.open(journal)
        server.drop()
        assert meter.read() == []
        server.add("150.0")
        assert 150.0 in [each.value for each in meter.read()]
        server.drop()
        assert meter.read() == []
        server.drop()
        with pytest.raises(MeterError, match="has died"):
            meter.read()
        meter.close()
    assert "meter-lost" in codes(meter)


def test_silence_is_bounded(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    with NetworkMeterServer() as server:
        meter = meter_of(server)
        meter.open(journal)
        server.behaviour.silent_after = 0
        assert meter._client is not None
        meter._client._within_s = 0.05
        monkeypatch.setattr(network_client, "ANSWER_S", 0.05)
        with pytest.raises(MeterError, match=r"has died: .* does not answer within 0.05 s"):
            meter.read()
        meter.close()


def test_a_server_with_another_client_is_told(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    with NetworkMeterServer() as server:
        other = NetworkClient(*place_of(server.address))
        monkeypatch.setattr(network_client, "ANSWER_S", 0.05)
        with pytest.raises(MeterError, match="it may serve another client"):
            meter_of(server).open(journal)
        other.close()


def test_what_is_no_meter_is_told(journal: Journal):
    behaviour = Behaviour(hello="HTTP/1.1 400 Bad Request")
    no_meter = pytest.raises(MeterError, match="no network meter")
    with NetworkMeterServer(behaviour) as server, no_meter:
        meter_of(server).open(journal)
    with pytest.raises(MeterError, match="no meter answers"):
        meter_of(server).open(journal)


def test_the_stand_in_follows_its_script(journal: Journal, tmp_path: Path):
    """As it runs by itself beside an experiment."""
    script = tmp_path / "watts"
    script.write_text("0 100 60 40\n0.02 300 200 100\n")
    here = Path(__file__).parent.parent / "network_meter_server.py"
    words = [sys.executable, str(here), "--port", "0", "--watts", str(script)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().split()[-1]
        spec = NetworkMeterSpec.model_validate({"address": f"127.0.0.1:{port}", "every": "20ms"})
        meter = NetworkMeter(spec)
        meter.open(journal)
        found: list[float] = []
        while 300.0 not in found:
            found += [each.value for each in meter.read() if each.channel == "sum"]
        meter.close()
    finally:
        process.kill()
        process.communicate()
    assert set(found) <= {100.0, 300.0}


# -- a level -----------------------------------------------------------------------------------
@pytest.mark.parametrize("late_s", [0.0, 0.3, 0.62])
@pytest.mark.parametrize("begun_s", [0.05, 0.37, 0.81])
def test_no_ramp_leaks_into_a_level_by_a_late_sample(late_s: float, begun_s: float):
    """100 W from 30 to 50 s and 300 W before and after it; each sample is the mean of a second."""
    spec = NetworkMeterSpec.model_validate({"address": "meter.lab"})
    meter = NetworkMeter(spec)
    (channel,) = meter._named(network_lines.read_sample("Time,x,Watts,1"))
    series = Series(channel, 1.0)
    for second in range(60):
        end_s = second + begun_s
        within = max(0.0, min(end_s, 50) - max(end_s - 1, 30))
        seen_s = ceil((end_s + late_s) / meter.interval_s) * meter.interval_s
        series.append(Reading("sum", seen_s, 300 - 200 * within))
    found = watts_between(series, 30, 50)
    assert found.watts == pytest.approx(100, rel=0.005)
    assert found.covered == 1.0
