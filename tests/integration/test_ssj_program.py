"""The program of `ssj` in a real JVM: plans in, frames out, and a company that adds up."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssj_jvm import (
    CLASSES,
    FLAGS,
    JAR,
    Frame,
    arriving,
    closed,
    counted,
    events,
    jvm,
    made,
    need_jar,
    plan,
    recorded,
    talk,
    ticks,
)

from loadstone.protocol.frames import End, Hello, parse_frame
from loadstone.results.latency import merge

MIX = {"new-order": 10, "payment": 10, "customer-report": 10}
ONCE = {"order-status": 1, "delivery": 1, "stock-level": 1}


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    need_jar()
    with jvm(tmp_path_factory.mktemp("jvm")) as ready:
        yield ready


def add_up(facts: Frame, *, wrong_cents: int = 0) -> None:
    """What must hold of the facts of a company."""
    of = facts.__getitem__
    assert of("orders_begin") + of("orders_made") - of("orders_delivered") == of("orders_live")
    assert of("orders_waiting") == of("orders_live")
    assert of("order_numbers") == of("orders_made")
    value = of("orders_begin_cents") + of("ordered_cents") - of("delivered_cents")
    assert value == of("orders_live_cents")
    for who in ("warehouse", "district", "customer"):
        assert of(f"{who}_paid_cents") == of("paid_cents")
    assert of("customer_payments") == of("payments_made")
    balance = of("balance_begin_cents") + of("delivered_cents") - of("paid_cents")
    assert of("balance_cents") - balance == wrong_cents
    stock = of("stock_begin_units") + of("restocked_units") - of("ordered_units")
    assert of("stock_units") == stock
    assert of("stock_sold_units") == of("ordered_units")


def test_the_tests_of_the_program_itself() -> None:
    need_jar()
    words = ("java", *FLAGS, "-classpath", f"{CLASSES}:{JAR}", "loadstone.ssj.Tests")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run(at: Path) -> None:
    frames = talk(at, plan(closed("calibration", 0.3), arriving("100 %", 0.5, 4000), seed=3))
    hello, end = parse_frame(frames[0]), parse_frame(frames[-1])
    assert isinstance(hello, Hello)
    assert isinstance(end, End)
    assert hello.operations == tuple(MIX | ONCE)
    assert hello.threads == 2
    assert end.reason == "completed"
    for frame in frames:
        parse_frame(frame)
    borders = [
        (each["kind"], each["phase"])
        for kind in ("phase-begin", "phase-end")
        for each in events(frames, kind)
    ]
    assert len(borders) == 4
    for phase in ("calibration", "100 %"):
        told = ticks(frames, phase)
        count = sum(made(told).values())
        assert count > 0
        assert recorded(told, "response") == recorded(told, "service") == count
        assert sum(tick["due"] for tick in told) == count
    assert {name: each.count for name, each in end.operations.items()} == made(
        [each for each in frames if each["frame"] == "tick"]
    )


def test_what_a_jvm_says_of_itself(at: Path) -> None:
    frames = talk(at, plan(counted("some", 10)))
    told = {each["name"]: each["data"] for each in events(frames, "workload")}
    assert told["jvm"]["collectors"] == "Copy, MarkSweepCompact"
    assert "-Xmx128m" in told["jvm"]["arguments"]
    assert told["jvm"]["processors"] >= 1
    assert told["jvm"]["pid"] == frames[0]["pid"]
    facts = frames[-1]["facts"]
    assert told["company"] == facts
    assert facts["heap_max_bytes"] == told["jvm"]["heap_max_bytes"]
    assert facts["live_end_bytes"] > 0


def test_operations_become_due_in_batches_at_the_rate(at: Path) -> None:
    parameters = {"batch": 10}
    frames = talk(at, plan(arriving("90 %", 1, 5000), parameters=parameters, seed=5))
    due = sum(tick["due"] for tick in ticks(frames, "90 %"))
    assert due % 10 == 0
    assert due == pytest.approx(5000, abs=5 * math.sqrt(500) * 10)
    again = talk(at, plan(arriving("90 %", 1, 5000), parameters=parameters, seed=5))
    assert sum(tick["due"] for tick in ticks(again, "90 %")) == due


def test_active_idle(at: Path) -> None:
    frames = talk(at, plan(arriving("active idle", 0.3, 0)))
    idle = ticks(frames, "active idle")
    assert len(idle) >= 2
    assert all(tick["due"] == tick["in_flight"] == tick["queued"] == 0 for tick in idle)
    assert "lag" not in idle[0]
    assert frames[-1]["reason"] == "completed"


def test_shares_of_the_mix_are_kept_to_the_card(at: Path) -> None:
    """A worker's deck may be in the middle at the begin and at the end."""
    frames = talk(at, plan(counted("decks", 2 * 33 * 5)))
    total = made(ticks(frames, "decks"))
    assert sum(total.values()) == 2 * 33 * 5
    for name, cards in (MIX | ONCE).items():
        assert abs(total[name] - 2 * 5 * cards) <= 2 * cards


def test_the_company_lives_on_from_plan_to_plan(at: Path) -> None:
    ends = [talk(at, plan(counted("some", 3300), seed=seed))[-1] for seed in (1, 2)]
    first, second = (end["facts"] for end in ends)
    assert second["orders_made_before"] == first["orders_made"]
    assert second["payments_made_before"] == first["payments_made"]
    for end in ends:
        facts, operations = end["facts"], end["operations"]
        add_up(facts)
        made_now = facts["orders_made"] - facts["orders_made_before"]
        assert made_now == operations["new-order"]["count"] > 0
        paid_now = facts["payments_made"] - facts["payments_made_before"]
        assert paid_now == operations["payment"]["count"]
        assert abs(facts["orders_live"] - facts["orders_begin"]) <= 2 * 2 * 10
        assert abs(facts["records_live"] / facts["records_begin"] - 1) < 0.1


def test_a_planted_cent_is_found(tmp_path: Path) -> None:
    need_jar()
    with jvm(tmp_path, warehouses=1) as other:
        parameters = {"fault": "wrong-balance"}
        frames = talk(other, plan(counted("some", 330, 1), parameters=parameters))
    add_up(frames[-1]["facts"], wrong_cents=1)


def test_what_does_not_fit_is_dropped_and_counted(at: Path) -> None:
    slow = {**arriving("too much", 0.4, 2000, queue=20), "backlog": "discard"}
    frames = talk(at, plan(slow, parameters={"batch": 1}, delay_s=0.01, seed=1))
    told = ticks(frames, "too much")
    count, dropped = sum(made(told).values()), sum(tick["dropped"] for tick in told)
    (ended,) = events(frames, "phase-end")
    assert dropped > 0
    assert 0 < ended["discarded"] <= 20
    assert sum(tick["due"] for tick in told) == count + dropped + ended["discarded"]
    assert sum(tick["late_starts"] for tick in told) > 0
    add_up(frames[-1]["facts"])


def test_a_backlog_is_drained(at: Path) -> None:
    slow = arriving("behind", 0.2, 1000, queue=10_000)
    frames = talk(at, plan(slow, closed("next", 0.05), parameters={"batch": 1}, delay_s=0.004))
    told = ticks(frames, "behind")
    ended = events(frames, "phase-end")[0]
    assert ended["drained"] > 0
    assert ended["drain_s"] > 0
    assert sum(tick["due"] for tick in told) == sum(made(told).values())
    first = made([tick for tick in told if tick["to_s"] <= ended["t_s"] - ended["drain_s"] + 0.01])
    assert sum(first.values()) < sum(made(told).values())


def test_the_load_is_shared_by_processes(at: Path) -> None:
    """Each of two takes a share; both are this JVM, one after the other."""
    of_all = []
    for index in (0, 1):
        share = {"index": index, "of": 2}
        frames = talk(at, plan(counted("some", 1001, 3), process=share))
        of_all.append(sum(made(ticks(frames, "some")).values()))
    assert sum(of_all) == 1001
    assert of_all[0] > of_all[1] > 0


def test_several_begin_at_a_moment_that_is_told(at: Path) -> None:
    told_s: list[float] = []

    def begin(frame: Frame) -> list[Frame]:
        if frame.get("kind") != "ready":
            return []
        told_s.append(time.monotonic() + 0.2)
        return [{"control": "begin", "monotonic_s": told_s[0]}]

    frames = talk(at, plan(closed("some", 0.1), start="told"), begin)
    (begun,) = events(frames, "phase-begin")
    assert frames[0]["monotonic_s"] + begun["t_s"] == pytest.approx(told_s[0], abs=1e-6)


def test_what_a_stopped_jvm_does_afterwards_was_not_done_in_time(at: Path) -> None:
    """It is stopped before its phase begins, and goes on when that is over."""
    pids: list[int] = []

    def begin(frame: Frame) -> list[Frame]:
        if frame["frame"] == "hello":
            pids.append(frame["pid"])
        if frame.get("kind") != "ready":
            return []
        begin_s = time.monotonic() + 1.0
        os.kill(pids[0], signal.SIGSTOP)
        threading.Timer(1.5, os.kill, (pids[0], signal.SIGCONT)).start()
        return [{"control": "begin", "monotonic_s": begin_s}]

    frames = talk(at, plan(arriving("70 %", 0.2, 4000, queue=10_000), start="told"), begin)
    told = ticks(frames, "70 %")
    (ended,) = events(frames, "phase-end")
    due = sum(tick["due"] for tick in told)
    assert due == ended["drained"] == sum(made(told).values()) > 0
    responses = [each["response"] for tick in told for each in tick["operations"].values()
                 if "response" in each]  # fmt: skip
    assert merge(responses).get_min_value() > 0.29e9


def test_control_lines(at: Path) -> None:
    """The rate is set to nothing; when nothing becomes due any more, the run is stopped."""
    wishes: list[Frame] = []

    def wish(frame: Frame) -> list[Frame]:
        if frame["frame"] != "tick":
            return []
        if not wishes:
            wishes.append({"control": "rate", "rate_per_s": 0})
            return [*wishes, {"control": "users", "users": 1}, {"control": "other"}]
        return [{"control": "stop"}] if frame["due"] == 0 else []

    frames = talk(at, plan(arriving("some", 60, 1000)), wish)
    assert frames[-1]["reason"] == "stopped"
    assert [each["detail"] for each in events(frames, "stopping")] == ["asked to"]
    refused = [each["detail"] for each in events(frames, "refused")]
    assert refused == [
        "users: this phase is open",
        "control: is none of stop, begin, rate, users",
    ]
    add_up(frames[-1]["facts"])


def test_users_come_and_go(at: Path) -> None:
    wishes: list[Frame] = []

    def wish(frame: Frame) -> list[Frame]:
        if frame["frame"] != "tick":
            return []
        if not wishes:
            wishes.append({"control": "users", "users": 0})
            return wishes
        return [{"control": "stop"}] if frame["users"] == frame["due"] == 0 else []

    frames = talk(at, plan(closed("some", 60, 1)), wish)
    told = ticks(frames, "some")
    assert [tick["users"] for tick in (told[0], told[-1])] == [1, 0]


def test_who_goes_away_stops_its_run(at: Path) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(at))
        client.sendall(json.dumps(plan(closed("some", 60))).encode() + b"\n")
        assert json.loads(client.makefile("rb").readline())["frame"] == "hello"
    with socket.socket(socket.AF_UNIX) as curious:
        curious.connect(str(at))
    add_up(talk(at, plan(counted("some", 100)))[-1]["facts"])


def test_a_plain_loop_beside_timed_operations(at: Path) -> None:
    frames = talk(at, plan(closed("bare", 0.2), parameters={"bare": True}))
    told = ticks(frames, "bare")
    assert sum(made(told).values()) > 0
    assert recorded(told, "service") == 0
    add_up(frames[-1]["facts"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"version": 5}, "version: is not known; loadstone-ssj speaks version 4"),
        (plan(closed("some", 1, 3)), "phases[0].load.users: 3 are more than the 2 warehouses"),
        (plan(closed("some", 1), parameters={"batch": 0}), "workload.parameters.batch: 0 is not"),
        ({"ask": "weather"}, "ask: is none of jvm"),
        (7, ".: is no object"),
    ],
)
def test_what_makes_no_sense_is_refused(at: Path, given: object, said: str) -> None:
    (answer,) = talk(at, given)
    assert answer["refused"].startswith(said)


def test_a_question(at: Path) -> None:
    (answer,) = talk(at, {"ask": "jvm", "flags": ["UseSerialGC", "MaxHeapSize", "NoSuchFlag"]})
    assert answer["flags"] == {
        "UseSerialGC": {"value": "true", "origin": "VM_CREATION"},
        "MaxHeapSize": {"value": str(128 << 20), "origin": "VM_CREATION"},
    }
    assert answer["jvm"]["inherited"] == ""


@pytest.mark.parametrize(
    ("words", "given", "code", "said"),
    [
        (["--version"], "", 0, "loadstone-ssj 0.1.0 (protocol 4)\n"),
        (["check"], json.dumps(plan(counted("some", 1))), 0, ""),
        (["check"], "{", 2, "loadstone-ssj: plan refused: .: is no JSON: it ends too early"),
        (["--socket", "x"], "", 2, "loadstone-ssj: --warehouses: missing; give a whole number"),
    ],
)
def test_the_command_line(words: list[str], given: str, code: int, said: str) -> None:
    need_jar()
    command = ["java", *FLAGS, "-jar", str(JAR), *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (done.stdout + done.stderr).startswith(said)
