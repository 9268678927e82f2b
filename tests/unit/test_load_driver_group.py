"""Several driver processes behind one interface, with programs that speak as drivers do."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loadstone.load.acknowledgements import file_of, read_acknowledgements
from loadstone.load.driver import DriverFailedError, Failure, Limits
from loadstone.load.driver_group import DriverGroup
from loadstone.load.processes import processes_for
from loadstone.protocol.frames import PROTOCOL_VERSION
from loadstone.protocol.programs import DRIVER, RUNNER, Program
from loadstone.targets.connection import (
    Connection,
    InProcessConnection,
    NoConnection,
    ServerConnection,
)

PLAN = {"version": PROTOCOL_VERSION, "connection": {"protocol": "none"}}
QUICK = Limits(stop_s=0.3, terminate_s=2.0, silence_s=30.0)

PRELUDE = f"""\
import json, os, select, signal, sys, time
if sys.argv[1:] == ["--version"]:
    print("loadstone-driver 9.9.9 (protocol {PROTOCOL_VERSION})")
    sys.exit(0)
born_s = time.monotonic()
plan = json.loads(sys.stdin.readline())
me = plan["process"]["index"]
def say(frame, **fields):
    print(json.dumps({{"frame": frame, "t_s": time.monotonic() - born_s, **fields}}), flush=True)
def hello():
    say("hello", version={PROTOCOL_VERSION}, driver="9.9.9", pid=os.getpid(), threads=1,
        workload="noop", operations=["noop"], unix_time_s=time.time(), nofile=1024,
        clock_resolution_ns=1, monotonic_s=born_s)
    assert plan["start"] == "told"
    say("event", kind="ready")
def begun():
    told = json.loads(sys.stdin.readline())
    if told["control"] != "begin":
        end("stopped")
        sys.exit(0)
    time.sleep(max(0, told["monotonic_s"] - time.monotonic()))
    say("event", kind="phase-begin", phase="measure", phase_kind="measure")
    return told["monotonic_s"]
def end(reason="completed", **fields):
    say("end", reason=reason, operations={{}}, cpu_user_s=0, cpu_system_s=0, max_rss_bytes=1,
        facts={{"process": me}}, **fields)
"""


def program(folder: Path, body: str) -> Path:
    path = folder / "driver"
    path.write_text(f"#!{sys.executable}\n{PRELUDE}\n{textwrap.dedent(body)}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def by(path: Path) -> Program:
    """The program of a file."""
    return Program("loadstone-driver", command=(str(path),))


def group_of(
    path: Path, processes: int = 3, **plan: Any
) -> tuple[DriverGroup, list[dict[str, Any]]]:
    frames: list[dict[str, Any]] = []
    group = DriverGroup(
        {**PLAN, **plan}, frames.append, processes=processes, program=by(path), limits=QUICK
    )
    return group, frames


def gone(pids: tuple[int, ...]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_all_begin_at_one_moment(tmp_path: Path) -> None:
    body = "hello(); at_s = begun(); say('event', kind='users', detail=repr(at_s)); end()"
    group, frames = group_of(program(tmp_path, body))
    with group:
        assert group.wait_hello().threads == 3
        assert group.wait(timeout_s=60).facts["process"] == 3
    moments = {frame["detail"] for frame in frames if frame.get("kind") == "users"}
    assert len(moments) == 1
    begin = next(frame for frame in frames if frame.get("kind") == "phase-begin")
    assert begin["spread_s"] < 0.5
    assert frames[0]["frame"] == "hello"
    assert frames[-1]["frame"] == "end"


def test_every_process_is_given_the_secrets(tmp_path: Path) -> None:
    body = """
    hello(); begun()
    say("event", kind="users", detail=os.environ["LOADSTONE_SECRET_0"])
    end()
    """
    frames: list[dict[str, Any]] = []
    group = DriverGroup(
        PLAN,
        frames.append,
        processes=2,
        secrets={"LOADSTONE_SECRET_0": "s3cret"},
        program=by(program(tmp_path, body)),
        limits=QUICK,
    )
    with group:
        group.wait(timeout_s=60)
    said = [frame["detail"] for frame in frames if frame.get("kind") == "users"]
    assert said == ["s3cret", "s3cret"]


def test_control_lines_reach_all(tmp_path: Path) -> None:
    body = """
    hello(); begun()
    for line in sys.stdin:
        say("event", kind="users", detail=line.strip())
        if "stop" in line:
            break
    end("stopped")
    """
    group, frames = group_of(program(tmp_path, body), processes=2)
    with group:
        group.wait_hello()
        while not any(frame.get("kind") == "phase-begin" for frame in frames):
            time.sleep(0.01)
        group.set_users(16)
        group.set_rate(2000)
        group.stop()
        assert group.wait(timeout_s=60).reason == "stopped"
    said = [(each["process"], each["detail"]) for each in frames if each.get("kind") == "users"]
    assert sorted(said)[:3] == [
        (0, '{"control":"rate","rate_per_s":2000}'),
        (0, '{"control":"stop"}'),
        (0, '{"control":"users","users":16}'),
    ]
    assert [number for number, _ in said].count(1) == 3


def test_the_process_that_fell_silent_is_named_and_not_the_one_that_spoke(tmp_path: Path) -> None:
    body = """
    hello(); begun()
    if me == 0:
        while not select.select([sys.stdin], [], [], 0.1)[0]:
            say("event", kind="users", t_s=time.monotonic() - born_s + 60)
    sys.stdin.readline(); end("stopped")
    """
    group, _ = group_of(program(tmp_path, body), processes=2)
    with group, pytest.raises(DriverFailedError, match=r"process 2 of 2.*told nothing") as caught:
        group.wait(timeout_s=60)
    assert caught.value.failure is Failure.SILENT


def test_a_killed_process_is_named_and_ends_the_others(tmp_path: Path) -> None:
    body = """
    hello(); begun()
    if me == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.readline(); end("stopped")
    """
    group, _ = group_of(program(tmp_path, body))
    with group, pytest.raises(DriverFailedError, match=r"process 2 of 3 \(pid \d+\).*SIGKILL") as e:
        group.wait(timeout_s=60)
    assert e.value.failure is Failure.KILLED
    assert gone(group.pids)


def test_a_process_that_dies_before_it_says_hello(tmp_path: Path) -> None:
    body = """
    if me == 2:
        print("no memory", file=sys.stderr); sys.exit(1)
    hello(); begun(); end()
    """
    group, _ = group_of(program(tmp_path, body))
    with group, pytest.raises(DriverFailedError, match=r"process 3 of 3.*no memory"):
        group.wait_hello()
    assert gone(group.pids)


def test_a_process_that_stops_by_itself_stops_the_others(tmp_path: Path) -> None:
    body = """
    hello(); begun()
    if me == 1:
        end("stopped"); sys.exit(0)
    sys.stdin.readline(); end("stopped")
    """
    group, _ = group_of(program(tmp_path, body))
    with group:
        assert group.wait(timeout_s=60).reason == "stopped"


def test_a_refused_plan_says_why(tmp_path: Path) -> None:
    group, _ = group_of(program(tmp_path, "print('x: unknown', file=sys.stderr); sys.exit(2)"))
    with group, pytest.raises(DriverFailedError, match="x: unknown") as caught:
        group.wait(timeout_s=60)
    assert caught.value.failure is Failure.REFUSED_PLAN


def test_an_error_in_the_callback_ends_all_and_is_raised(tmp_path: Path) -> None:
    def refuse(frame: dict[str, Any]) -> None:
        if frame["frame"] == "event":
            raise OSError("no space")

    path = program(tmp_path, "hello(); begun(); sys.stdin.readline(); end('stopped')")
    group = DriverGroup(PLAN, refuse, processes=2, program=by(path), limits=QUICK)
    with group, pytest.raises(OSError, match="no space"):
        group.wait(timeout_s=60)
    assert gone(group.pids)


def test_leaving_the_block_leaves_no_process_even_stubborn_ones(tmp_path: Path) -> None:
    body = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hello()
    while True:
        time.sleep(60)
    """
    group, _ = group_of(program(tmp_path, body), processes=2)
    with group:
        group.wait_hello()
        assert group.running()
    assert gone(group.pids)


def test_all_die_with_their_parent(tmp_path: Path) -> None:
    path = program(tmp_path, "hello(); sys.stdin.readline(); begun()")
    parent = f"""
from loadstone.load.driver_group import DriverGroup
from loadstone.protocol.programs import Program
group = DriverGroup({PLAN!r}, lambda _: None, processes=2, program={by(path)!r}).start()
group.wait_hello()
print(*group.pids, flush=True)
group.wait()
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pids = tuple(int(pid) for pid in process.stdout.readline().split())
        process.send_signal(signal.SIGKILL)
        give_up_at = time.monotonic() + 30
        while not gone(pids) and time.monotonic() < give_up_at:
            time.sleep(0.01)
    assert gone(pids)


def test_each_process_has_its_own_acknowledgements_and_all_are_read(tmp_path: Path) -> None:
    body = """
    hello(); at_s = begun()
    with open(plan["acknowledgements"], "w") as file:
        file.write(json.dumps([at_s - born_s, me, "insert", me]) + chr(10))
    end()
    """
    path = tmp_path / "acknowledgements.jsonl"
    group, _ = group_of(program(tmp_path, body), acknowledgements=str(path))
    with group:
        group.wait(timeout_s=60)
    assert json.loads(file_of(path, 2).read_text())[1] == 2
    read = read_acknowledgements(path, group.origins_s)
    assert [each.keys for each in read] == [(0,), (1,), (2,)]
    assert max(each.t_s for each in read) - min(each.t_s for each in read) < 1e-6


def test_each_process_keeps_answers_in_a_file_of_its_own(tmp_path: Path) -> None:
    body = """
    hello(); begun()
    with open(plan["workload"]["parameters"]["answers"], "w") as file:
        file.write(str(me))
    end()
    """
    path = tmp_path / "answers.jsonl"
    workload = {"name": "http", "role": "run", "parameters": {"answers": str(path)}}
    group, _ = group_of(program(tmp_path, body), workload=workload)
    with group:
        group.wait(timeout_s=60)
    assert [file_of(path, number).read_text() for number in range(3)] == ["0", "1", "2"]


SERVER = ServerConnection("postgresql", "/tmp/socket", "loadstone", "loadstone")
FILE = InProcessConnection("sqlite", "/tmp/x.db")


@pytest.mark.parametrize(
    ("users", "connection", "threads", "processes"),
    [
        (50_000, SERVER, 1, 3),
        (50_000, SERVER, 2, 3),
        (19_980, SERVER, 1, 1),
        (19_981, SERVER, 1, 2),
        (39_960, SERVER, 1, 2),
        (39_961, SERVER, 1, 3),
        (50_000, NoConnection(), 1, 1),
        (50_000, FILE, 1, 1),
    ],
)
def test_as_many_processes_as_the_limit_of_files_asks_for(
    users: int, connection: Connection, threads: int, processes: int
) -> None:
    found = processes_for(
        "auto", users, connection, DRIVER, threads=threads, nofile=20_000, processors=2
    )
    assert found == processes


@pytest.mark.parametrize(
    ("users", "host", "threads", "processors", "processes"),
    [
        (8, "/tmp/socket", 1, 64, 1),
        (3000, "/tmp/socket", 1, 64, 3),
        (50_000, "127.0.0.1", 1, 64, 16),
        (50_000, "db.example.org", 1, 64, 50),
        (80_000, "db.example.org", 1, 64, 63),
        (80_000, "db.example.org", 4, 64, 15),
        (50_000, "localhost", 1, 2, 1),
        (50_000, "db.example.org", 1, 1, 1),
    ],
)
def test_many_sessions_are_shared_by_the_processors_to_spare(
    users: int, host: str, threads: int, processors: int, processes: int
) -> None:
    server, here = replace(SERVER, host=host), {"threads": threads, "processors": processors}
    assert processes_for("auto", users, server, DRIVER, nofile=10**6, **here) == processes
    assert processes_for(2, users, server, DRIVER, **here) == 2


def test_the_given_number_counts_but_an_engine_within_the_driver_is_never_doubled() -> None:
    assert processes_for(4, 1, SERVER, DRIVER) == 4
    assert processes_for(4, 1, SERVER, RUNNER) == 1
    assert processes_for(4, 1, FILE, DRIVER) == 1


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("users", [1, 999, 5_000, 12_345])
def test_no_process_needs_more_files_than_it_may_open(users: int, threads: int) -> None:
    nofile = 1024
    processes = processes_for(
        "auto", users, SERVER, DRIVER, threads=threads, nofile=nofile, processors=2
    )
    parts = processes * threads
    most = sum(users // parts + (index < users % parts) for index in range(threads))
    assert most + 16 + 4 * threads <= nofile
