"""The real driver in several processes: one load, one stream of frames, one end."""

from __future__ import annotations

import functools
import json
import os
import resource
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import start
from drivers import drivers_of
from lengths import long_but
from session import until

from loadstone.errors import ExitCode
from loadstone.load.acknowledgements import read_acknowledgements
from loadstone.load.driver import DriverFailedError, Failure
from loadstone.load.driver_group import DriverGroup, generator
from loadstone.load.processes import processes_for
from loadstone.load.profiles import run_plan
from loadstone.load.totals import LoadLog
from loadstone.protocol.frames import parse_frame
from loadstone.protocol.programs import DRIVER
from loadstone.results.frames import read_frames
from loadstone.results.latency import merge
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import NoConnection, ServerConnection

PACING = {"default": {"keying_s": 0.0, "think": {"distribution": "none"}}}


def plan_for(parameters: dict[str, Any] | None = None, **profile: Any) -> dict[str, Any]:
    workload = {"name": "noop", "role": "run", "parameters": parameters or {"service_time_us": 200}}
    spec = ProfileSpec.model_validate({"warm_up": "0.2s", "measure": "1s", **profile})
    return run_plan(spec, workload, PACING, NoConnection(), 42)


def run(plan: dict[str, Any], processes: int) -> LoadLog:
    log = LoadLog()
    load = generator(plan, lambda frame: log.add(parse_frame(frame)), processes=processes)
    with load:
        load.wait(timeout_s=120)
    return log


@contextmanager
def open_files(limit: int) -> Iterator[None]:
    """The limits of this process, which those that it starts inherit."""
    soft, hard = resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)
    resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (min(soft, limit), hard))
    try:
        yield
    finally:
        resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (soft, hard))


def counts_of(texts: tuple[str, ...]) -> Counter[int]:
    return Counter(
        {
            item.value_iterated_to: item.count_at_value_iterated_to
            for item in merge(texts).get_recorded_iterator()
        }
    )


def test_twenty_thousand_users_on_two_processes() -> None:
    """Every user waits for a second: each does as many operations as there are seconds."""
    with open_files(256):
        log = run(plan_for({"service_time_us": 500_000}, users=20_000, measure="2s"), 2)
    assert max(tick.users for tick in log.ticks) == 20_000
    assert log.hello is not None
    assert len(log.hello.processes) == 2
    assert log.end is not None
    overall, measured = log.overall(), log.measured()
    totals = {name: total.count for name, total in log.end.operations.items()}
    assert {name: operation.count for name, operation in overall.operations.items()} == totals
    response = measured.response()
    assert response is not None
    assert response.count == measured.count > 20_000
    health = log.health()
    assert health is not None
    assert len({process.pid for process in health.processes}) == 2
    assert all(process.cpu_share > 0 for process in health.processes)


def test_two_processes_make_the_operations_of_one() -> None:
    """A fixed rate on a constant service time: as many arrivals, at the same values."""
    profile = {"load": "open", "rate_per_s": 500, "arrival": "uniform", "sessions": 8}
    one, two = run(plan_for(**profile, threads=2), 1), run(plan_for(**profile), 2)
    assert two.measured().due == pytest.approx(one.measured().due, abs=2)
    assert [phase.name for phase in two.phases()] == [phase.name for phase in one.phases()]
    for log in (one, two):
        measured = log.measured()
        assert measured.count == measured.due
        assert sum(counts_of(measured.operations["noop"].service).values()) == measured.count
        assert min(counts_of(measured.operations["noop"].service)) >= 199_000


def test_the_merged_stream_is_the_sum_of_what_each_process_wrote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside the merged frames the raw ones are kept, and added up by other means."""
    raw: list[list[dict[str, Any]]] = [[], []]
    taker = DriverGroup._taker

    def keeping(self: DriverGroup, number: int) -> Any:
        take = taker(self, number)

        def keep(frame: dict[str, Any]) -> None:
            raw[number].append(frame)
            take(frame)

        return keep

    monkeypatch.setattr(DriverGroup, "_taker", keeping)
    service = {"distribution": "exponential", "mean_us": 300}
    parameters = {"service_time_us": service, "error_rate": 0.05, "error_class": "23505"}
    merged = run(plan_for(parameters, users=6, measure="1s", ramp="0.2s"), 2).overall()
    apart = [LoadLog.of(parse_frame(frame) for frame in frames).overall() for frames in raw]
    for field in ("count", "errors", "retries", "due", "late_starts"):
        assert getattr(merged, field) == sum(getattr(each, field) for each in apart)
    assert merged.errors > 0
    for name, operation in merged.operations.items():
        texts = tuple(text for each in apart for text in each.operations[name].response)
        assert counts_of(operation.response) == counts_of(texts)


def test_a_killed_process_is_named_and_none_is_left() -> None:
    group = generator(plan_for(measure="600s", users=4), lambda _: None, processes=2)
    with group:
        group.wait_hello()
        os.kill(group.pids[1], signal.SIGKILL)
        with pytest.raises(DriverFailedError, match=r"process 2 of 2 \(pid \d+\)") as caught:
            group.wait(timeout_s=60)
    assert caught.value.failure is Failure.KILLED
    assert not any(Path(f"/proc/{pid}").exists() for pid in group.pids)


def test_control_lines_are_about_the_whole_load() -> None:
    frames: list[dict[str, Any]] = []
    group = generator(plan_for(measure="600s", users=4), frames.append, processes=2)

    def users() -> int:
        return int(next((f["users"] for f in reversed(frames) if f["frame"] == "tick"), 0))

    def wait_for(number: int) -> None:
        until(f"{number} users", lambda: users() == number)

    with group:
        wait_for(4)
        group.set_users(7)
        wait_for(7)
        group.stop()
        assert group.wait(timeout_s=60).reason == "stopped"


def test_connections_above_the_limit_of_files_get_more_processes() -> None:
    server = ServerConnection("postgresql", "/tmp/socket", "loadstone", "loadstone")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    enough = processes_for("auto", 1000, server, DRIVER, processors=2)
    assert enough == 1 if limit > 2000 else enough > 1
    assert processes_for("auto", 1000, server, DRIVER, nofile=420, processors=2) == 3


def experiment(folder: Path, text: str) -> str:
    path = folder / "experiment.yaml"
    path.write_text(text)
    return str(path)


OLTP = """
version: 1
name: shared
workload: {name: oltp, parameters: {warehouses: 1}}
target: {engine: postgresql}
profile: {users: 4, warm_up: 200ms, measure: 1s, processes: 2}
seed: 7
"""
EXPERIMENTS = {
    "noop": """
version: 1
name: shared
workload: {name: noop, parameters: {service_time_us: 500}}
target: {engine: none}
profile: {users: 4, warm_up: 200ms, measure: 1s, processes: 2}
""",
    "order entry": OLTP,
    "crash": OLTP + "design: {kind: crash, failure: kill, crashes: 1}\n",
}


class Trial(NamedTuple):
    """The only one of an experiment."""

    result: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def trial_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trial]:
    """Runs an experiment when its trial is first asked for."""

    @functools.cache
    def run_once(name: str) -> Trial:
        at = tmp_path_factory.mktemp("shared")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOADSTONE_STATE", str(at / "state"))
            patch.chdir(at)
            process = start("run", experiment(at, EXPERIMENTS[name]), "--json")
            out, err = process.communicate()
        # On a busy machine the generator may be late: that is none of what these tests ask.
        assert process.returncode in (ExitCode.OK, ExitCode.INVALID_TRIAL), err
        result = json.loads(out)["trials"][0]["result"]
        return Trial(result, at / "results" / "shared" / result["trial"])

    return run_once


@pytest.mark.parametrize("name", long_but(["noop"], ["noop", "order entry"]))
def test_a_trial_counts_what_every_process_did(trial_of: Callable[[str], Trial], name: str) -> None:
    result, folder = trial_of(name)
    assert len(result["generator"]["processes"]) == 2
    total = sum(operation["count"] for operation in result["operations"])
    told = sum(
        operation["count"]
        for frame in read_frames(folder)
        if frame["frame"] == "tick" and frame["phase_kind"] == "measure"
        for operation in frame["operations"].values()
    )
    assert total == told > 0


@pytest.mark.parametrize("name", long_but(["crash"], ["order entry", "crash"]))
def test_order_entry_on_a_real_server_keeps_its_checks(
    trial_of: Callable[[str], Trial], name: str
) -> None:
    result, _ = trial_of(name)
    assert result["checks"]
    assert all(check["passed"] for check in result["checks"])


def test_a_crash_reads_the_acknowledgements_of_every_process(
    trial_of: Callable[[str], Trial],
) -> None:
    result, folder = trial_of("crash")
    files = sorted(path.name for path in folder.glob("acknowledgements*"))
    assert files == ["acknowledgements-2.jsonl", "acknowledgements.jsonl"]
    both = len(read_acknowledgements(folder / files[1], (0.0, 0.0)))
    first = len(read_acknowledgements(folder / files[1]))
    durability = result["durability"]
    assert first < durability["acknowledged"] <= both
    assert durability["lost"] == 0


@pytest.mark.usefixtures("own_places")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_end_of_the_parent_ends_all(own_places: Path, how: signal.Signals) -> None:
    text = """
version: 1
name: long
workload: {name: noop, parameters: {service_time_us: 500}}
target: {engine: none}
profile: {users: 4, warm_up: 0s, measure: 600s, processes: 3}
"""
    process = start("run", experiment(own_places, text))
    pids = wait_for_children(process.pid, 3)
    process.send_signal(how)
    process.communicate(timeout=60)
    until("the end of all", lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    if how is signal.SIGINT:
        assert process.returncode == ExitCode.INTERRUPTED


def wait_for_children(pid: int, count: int) -> list[int]:
    """The driver processes, once their load runs: a tick was kept."""

    def found() -> list[int]:
        drivers = [driver.pid for driver in drivers_of(pid)]
        kept = list(Path("results/long").glob("*/frames.jsonl.zst"))
        loads = kept and kept[0].stat().st_size > 0
        return drivers if loads and len(drivers) == count else []

    drivers: list[int] = until(f"load of {count} drivers", found)
    return drivers
