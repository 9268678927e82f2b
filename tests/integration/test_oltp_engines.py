"""Order entry on every engine: the driver loads the same data, runs, and passes every check."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import order_entry
import pytest
from order_entry import ENGINES

from loadstone.experiments.model import ProfileSpec
from loadstone.load.driver import Driver
from loadstone.load.frames import parse_frame
from loadstone.load.profiles import load_plan, run_plan
from loadstone.load.totals import LoadLog
from loadstone.results.record import Fingerprint
from loadstone.targets.base import Target
from loadstone.workloads.base import LoadRequest, Measured, Observation
from loadstone.workloads.oltp.parameters import OrderEntryParameters
from loadstone.workloads.oltp.workload import OrderEntry

WAREHOUSES, SEED, USERS = 1, 11, 3
LOADED = "loaded"
FINGERPRINTS: dict[str, Fingerprint] = {}


def workload(**parameters: object) -> OrderEntry:
    given = {"warehouses": WAREHOUSES, "load_sessions": 2, **parameters}
    return OrderEntry(OrderEntryParameters.model_validate(given))


@pytest.fixture(scope="module", params=ENGINES)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """An engine with order entry as the driver loaded it."""
    if not order_entry.available(request.param):
        pytest.skip(f"no {request.param} here")
    with order_entry.opened(request.param, tmp_path_factory.mktemp("oltp")) as target:

        def run_driver(asked: LoadRequest) -> Mapping[str, float]:
            with Driver(load_plan("oltp", asked, target.connection()), lambda _: None) as driver:
                return driver.wait().facts

        workload().build(target, run_driver, SEED)
        target.snapshot(LOADED)
        yield target


def run(target: Target, own: OrderEntry) -> Measured:
    target.restore(LOADED, target.spec)
    own.prepare(target)
    profile = ProfileSpec.model_validate({"users": USERS, "warm_up": "1s", "measure": "2s"})
    plan = run_plan(profile, own.driver_workload(), own.pacing(), target.connection(), SEED)
    log, before = LoadLog(), own.observe(target)
    with Driver(plan, lambda frame: log.add(parse_frame(frame))) as driver:
        driver.wait()
    begin, end = Observation(0.0, before), Observation(profile.measure, own.observe(target))
    return replace(log.of_workload(begin, end, None), users=USERS)


def test_one_seed_makes_the_same_data_on_every_engine(target: Target):
    target.restore(LOADED, target.spec)
    found = target.fingerprint(workload().fingerprint_tables(target.dialect))
    FINGERPRINTS[target.engine] = found
    for other in FINGERPRINTS.values():
        assert (other.rows, other.sums, other.digest) == (found.rows, found.sums, found.digest)


@pytest.mark.parametrize("style", ["statements", "procedures"])
def test_a_run_passes_all_its_checks(target: Target, style):
    own = workload(style=style)
    if not own.needs() <= target.capabilities:
        pytest.skip(f"{target.engine} has no procedures")
    measured = run(target, own)
    results = own.check(target, measured.begin.counters, measured)
    assert {each.name: each.detail for each in results if not each.passed} == {}
    assert min(measured.total_operations.values()) > 0
    assert measured.total_errors == 0
    assert (measured.server_cpu_s is not None) == target.in_process
