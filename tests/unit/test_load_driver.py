"""The parent's side of the driver, against programs that behave and misbehave as drivers can."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import DriverError
from loadstone.load.driver import Driver, DriverFailedError, Failure, Limits
from loadstone.load.locate import check_driver, find_driver
from loadstone.protocol.programs import DRIVER, Program
from loadstone.targets.connection import ServerConnection

PLAN = {"version": 4, "connection": {"protocol": "none"}}
QUICK = Limits(stop_s=0.3, terminate_s=2.0, silence_s=30.0)

PRELUDE = """\
import json, os, signal, sys, time
if sys.argv[1:] == ["--version"]:
    print("loadstone-driver 9.9.9 (protocol 4)")
    sys.exit(0)
plan = json.loads(sys.stdin.readline())
def say(frame, **fields):
    print(json.dumps({"frame": frame, "t_s": 0.5, **fields}), flush=True)
def hello():
    say("hello", version=4, driver="9.9.9", pid=os.getpid(), threads=1, workload="noop",
        operations=["noop"], unix_time_s=time.time(), nofile=1024, clock_resolution_ns=1)
def end(reason="completed", **fields):
    say("end", reason=reason, operations={}, cpu_user_s=0, cpu_system_s=0, max_rss_bytes=1,
        facts={}, **fields)
"""


def program(folder: Path, body: str, prelude: str = PRELUDE) -> Path:
    path = folder / "driver"
    path.write_text(f"#!{sys.executable}\n{prelude}\n{textwrap.dedent(body)}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def by(path: Path) -> Program:
    """The program of a file."""
    return Program("loadstone-driver", command=(str(path),))


def frames_of(path: Path, *, limits: Limits = QUICK) -> tuple[Driver, list[dict[str, Any]]]:
    frames: list[dict[str, Any]] = []
    return Driver(PLAN, frames.append, program=by(path), limits=limits), frames


def failure_of(path: Path) -> DriverFailedError:
    driver, _ = frames_of(path)
    with driver, pytest.raises(DriverFailedError) as caught:
        driver.wait(timeout_s=60)
    assert not driver.running()
    return caught.value


def test_frames_arrive_in_order_and_the_end_is_returned(tmp_path: Path) -> None:
    driver, frames = frames_of(program(tmp_path, "hello(); end()"))
    with driver:
        assert driver.wait_hello().operations == ("noop",)
        assert driver.wait(timeout_s=60).reason == "completed"
    assert [frame["frame"] for frame in frames] == ["hello", "end"]


def test_the_trials_clock_begins_at_the_drivers_start(tmp_path: Path) -> None:
    driver, _ = frames_of(program(tmp_path, "hello(); sys.stdin.read(); end()"))
    with driver:
        driver.wait_hello()
        first = driver.clock_s()
        assert first >= 0.5
        assert driver.clock_s() >= first


def test_the_password_is_in_the_environment_and_nowhere_else(tmp_path: Path) -> None:
    body = """
    variable = plan["connection"]["password_env"]
    assert "s3cret" not in json.dumps(plan) and "s3cret" not in " ".join(sys.argv)
    hello(); say("event", kind="users", detail=os.environ[variable]); end()
    """
    connection = ServerConnection("postgresql", "/socket", "u", "d", password="s3cret")
    frames: list[dict[str, Any]] = []
    driver = Driver(
        {**PLAN, "connection": connection.plan()},
        frames.append,
        secrets=connection.secrets,
        program=by(program(tmp_path, body)),
        limits=QUICK,
    )
    with driver:
        driver.wait(timeout_s=60)
    assert frames[1]["detail"] == "s3cret"
    assert "s3cret" not in repr(vars(driver).get("_plan"))
    assert "s3cret" not in repr(connection)


def test_secrets_of_the_workload_are_in_the_environment_too(tmp_path: Path) -> None:
    body = """
    hello()
    say("event", kind="users", detail=os.environ["LOADSTONE_SECRET_0"])
    say("event", kind="users", detail=str("s3cret" in json.dumps([plan, sys.argv])))
    end()
    """
    frames: list[dict[str, Any]] = []
    driver = Driver(
        PLAN,
        frames.append,
        secrets={"LOADSTONE_SECRET_0": "s3cret"},
        program=by(program(tmp_path, body)),
        limits=QUICK,
    )
    with driver:
        driver.wait(timeout_s=60)
    assert [frame["detail"] for frame in frames[1:3]] == ["s3cret", "False"]
    assert "LOADSTONE_SECRET_0" not in os.environ


def test_without_a_password_none_is_named() -> None:
    connection = ServerConnection("postgresql", "/socket", "u", "d")
    assert "password_env" not in connection.plan()
    assert connection.secrets == {}


def test_control_lines_reach_the_driver(tmp_path: Path) -> None:
    body = """
    hello()
    for line in sys.stdin:
        control = json.loads(line)
        say("event", kind=control.pop("control"), detail=json.dumps(control))
        if "stop" in line:
            break
    end("stopped")
    """
    driver, frames = frames_of(program(tmp_path, body))
    with driver:
        driver.set_rate(2000)
        driver.set_users(16)
        driver.stop()
        assert driver.wait(timeout_s=60).reason == "stopped"
    said = [(frame["kind"], frame["detail"]) for frame in frames[1:-1]]
    assert said == [("rate", '{"rate_per_s": 2000}'), ("users", '{"users": 16}'), ("stop", "{}")]


def test_it_ends_when_its_standard_input_closes(tmp_path: Path) -> None:
    driver, _ = frames_of(program(tmp_path, "hello(); sys.stdin.read(); end('stopped')"))
    with driver:
        driver.wait_hello()
        driver._close_stdin()
        assert driver.wait(timeout_s=60).reason == "stopped"


def test_leaving_the_block_leaves_no_process_even_a_stubborn_one(tmp_path: Path) -> None:
    body = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hello()
    while True:
        time.sleep(60)
    """
    driver, _ = frames_of(program(tmp_path, body), limits=Limits(0.1, 0.3, 30))
    with driver:
        driver.wait_hello()
        pid = driver.pid
    assert pid is not None
    assert not Path(f"/proc/{pid}").exists()


def test_it_runs_in_a_session_of_its_own(tmp_path: Path) -> None:
    body = 'hello(); say("event", kind="users", detail=str(os.getsid(0) == os.getpid())); end()'
    driver, frames = frames_of(program(tmp_path, body))
    with driver:
        driver.wait(timeout_s=60)
    assert frames[1]["detail"] == "True"


def test_a_refused_plan_says_why(tmp_path: Path) -> None:
    error = failure_of(
        program(tmp_path, "print('phases[0].x: unknown', file=sys.stderr); sys.exit(2)")
    )
    assert error.failure is Failure.REFUSED_PLAN
    assert "phases[0].x: unknown" in error.message


def test_a_run_that_failed_says_why(tmp_path: Path) -> None:
    error = failure_of(program(tmp_path, "hello(); end('failed', error='no route'); sys.exit(1)"))
    assert error.failure is Failure.FAILED
    assert "no route" in error.message


@pytest.mark.parametrize(
    "said",
    [
        "sorry, too many clients already",
        "remaining connection slots are reserved for roles with the SUPERUSER attribute",
        "Too many connections (error 1040, SQLSTATE 08004)",
    ],
)
def test_a_server_that_lets_no_more_sessions_in_is_told_apart(tmp_path: Path, said: str) -> None:
    body = f"hello(); end('failed', error='cannot open session 300: {said}'); sys.exit(1)"
    error = failure_of(program(tmp_path, body))
    assert error.failure is Failure.CROWDED
    assert said in error.message
    assert "max_connections" in str(error.advice)


def test_a_killed_driver_names_the_signal(tmp_path: Path) -> None:
    error = failure_of(program(tmp_path, "hello(); os.kill(os.getpid(), signal.SIGKILL)"))
    assert error.failure is Failure.KILLED
    assert "SIGKILL" in error.message


@pytest.mark.parametrize("code", [0, 1, 101])
def test_an_end_without_its_frame_is_a_failure(tmp_path: Path, code: int) -> None:
    error = failure_of(
        program(tmp_path, f"hello(); print('panicked', file=sys.stderr); sys.exit({code})")
    )
    assert error.failure is Failure.NO_END
    assert error.stderr == "panicked"


@pytest.mark.parametrize(
    "body",
    [
        "print('garbage', flush=True); sys.stdin.read()",
        "print('[1]', flush=True); sys.stdin.read()",
        "say('surprise'); sys.stdin.read()",
        "end(); sys.stdin.read()",
        "hello(); say('tick'); sys.stdin.read()",
        "say('hello', version=99); sys.stdin.read()",
    ],
)
def test_what_is_no_frame_stops_the_driver(tmp_path: Path, body: str) -> None:
    path = program(tmp_path, body.replace("sys.stdin.read()", "sys.stdin.readline()"))
    assert failure_of(path).failure is Failure.PROTOCOL


def test_an_error_in_the_callback_stops_the_driver_and_is_raised(tmp_path: Path) -> None:
    def refuse(_frame: dict[str, Any]) -> None:
        raise OSError("no space")

    path = program(tmp_path, "hello(); sys.stdin.readline(); end('stopped')")
    with (
        Driver(PLAN, refuse, program=by(path), limits=QUICK) as driver,
        pytest.raises(OSError, match="no"),
    ):
        driver.wait(timeout_s=60)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "say('event', kind='opening', detail='3 of 8 sessions are open')",
            "(3 of 8 sessions are open)",
        ),
        ("say('event', kind='phase-begin', detail='')", "was killed"),
    ],
)
def test_a_silent_driver_is_killed(tmp_path: Path, told: str, said: str) -> None:
    body = f"hello(); {told}; time.sleep(600)"
    driver, _ = frames_of(program(tmp_path, body), limits=Limits(0.1, 2, silence_s=0.3))
    with driver:
        driver.wait_hello()
        with pytest.raises(DriverFailedError) as caught:
            driver.wait()
    assert caught.value.failure is Failure.SILENT
    assert caught.value.message.endswith(said)


def test_waiting_may_be_given_up(tmp_path: Path) -> None:
    driver, _ = frames_of(program(tmp_path, "hello(); sys.stdin.readline(); end('stopped')"))
    with driver:
        with pytest.raises(TimeoutError):
            driver.wait(timeout_s=0.05)
        driver.stop()
        driver.wait(timeout_s=60)


def test_a_driver_that_dies_before_it_reads_a_long_plan(tmp_path: Path) -> None:
    path = program(tmp_path, "", prelude=PRELUDE.split("plan =", maxsplit=1)[0] + "sys.exit(2)")
    plan = {**PLAN, "padding": "x" * 1_000_000}
    driver = Driver(plan, lambda _: None, program=by(path), limits=QUICK)
    with driver, pytest.raises(DriverFailedError) as caught:
        driver.wait(timeout_s=60)
    assert caught.value.failure is Failure.REFUSED_PLAN


def test_the_variable_names_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path, "")
    monkeypatch.setenv(DRIVER.variable, str(path))
    assert find_driver() == path
    assert check_driver().version == "9.9.9"


def test_a_wrong_variable_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DRIVER.variable, "/nowhere/driver")
    with pytest.raises(DriverError, match="/nowhere/driver"):
        find_driver()


def test_every_place_is_named_when_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DRIVER.variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("loadstone.load.locate._script_folders", lambda: [tmp_path / "scripts"])
    with pytest.raises(DriverError) as caught:
        find_driver()
    for place in (
        DRIVER.variable,
        str(tmp_path / "scripts" / "loadstone-driver"),
        f"PATH ({tmp_path})",
    ):
        assert place in caught.value.message


def test_the_path_is_searched_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path, "").rename(tmp_path / "loadstone-driver")
    monkeypatch.delenv(DRIVER.variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("loadstone.load.locate._script_folders", lambda: [tmp_path / "scripts"])
    assert find_driver() == path


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('loadstone-driver 2.0 (protocol 99)')", "speaks protocol 99"),
        ("print('hello')", "hello"),
        ("sys.exit(3)", "ended with 3"),
    ],
)
def test_the_handshake_refuses_other_programs(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(DriverError, match=words):
        check_driver(by(program(tmp_path, body, prelude="import sys")))


def test_the_driver_dies_with_its_parent(tmp_path: Path) -> None:
    """The parent is killed with SIGKILL; the closed pipe tells the driver."""
    gone = tmp_path / "gone"
    os.mkfifo(gone)
    path = program(tmp_path, f"hello(); sys.stdin.read(); open({str(gone)!r}, 'w').write('gone')")
    parent = f"""
from loadstone.load.driver import Driver
from loadstone.protocol.programs import Program
driver = Driver({PLAN!r}, lambda _: None, program={by(path)!r}).start()
driver.wait_hello()
print("ready", flush=True)
driver.wait()
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
        assert gone.read_text() == "gone"
