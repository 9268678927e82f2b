"""Nodes as they are asked for: shares, links, addresses, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.cluster.network import (
    LinkCounters,
    Shape,
    far_lines,
    near_lines,
    parse_counters,
    parse_shape,
    shaping,
)
from loadstone.cluster.node import below_tmp, variables
from loadstone.cluster.plan import (
    FOR_DAEMONS,
    NodePlan,
    addresses,
    compute_plans,
    functional_only,
    hosts_text,
)
from loadstone.errors import WrongInputError
from loadstone.host.cgroup import CpuGroup
from loadstone.results.sample import Sample
from loadstone.targets.link_probe import LinkProbe
from loadstone.targets.share_probe import ShareProbe

NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0
 link0:    1500      10    0    0    0     0          0         0    99000      70    0    0    0
 link1:       7       1    0    0    0     0          0         0        8       1    0    0    0
"""
TBF = (
    '[{"kind":"tbf","handle":"8001:","root":true,"options":{"rate":12500000,"burst":65536,'
    '"lat":50000}}]'
)
NETEM = (
    '[{"kind":"netem","handle":"8001:","root":true,"options":{"limit":100000,"delay":{"delay":0.002,'
    '"jitter":0,"correlation":0},"rate":{"rate":1250000,"packetoverhead":0},"ecn":false}}]'
)


def test_the_shares_of_all_nodes_leave_room_for_daemons() -> None:
    plans = compute_plans(4, 2, processors=8)
    assert [each.name for each in plans] == ["n1", "n2", "n3", "n4"]
    assert sum(each.share or 0 for each in plans) == pytest.approx(8 - FOR_DAEMONS)


def test_a_share_that_was_asked_for_is_kept() -> None:
    assert {each.share for each in compute_plans(2, 1, processors=2, share=0.5)} == {0.5}


@pytest.mark.parametrize(
    ("nodes", "share", "said"),
    [
        (3, 1.0, "3 nodes with a share of 1 are 3 processors, and this machine has 2"),
        (0, None, "0 nodes"),
        (65, None, "65 nodes"),
        (2, -1.0, "share -1 of n1 is not above 0"),
    ],
)
def test_what_a_machine_cannot_give(nodes: int, share: float | None, said: str) -> None:
    with pytest.raises(WrongInputError, match=said):
        compute_plans(nodes, 1, processors=2, share=share)


@pytest.mark.parametrize("name", ["", "N1", "1n", "n 1", "n1.x", "n" * 40])
def test_names_that_no_node_has(name: str) -> None:
    with pytest.raises(WrongInputError, match="is no name of a node"):
        NodePlan(name)


def test_ratios_mean_nothing_where_slots_share_a_processor() -> None:
    assert functional_only(compute_plans(2, 2, processors=2), 2) == (
        "2 slots of n1 share 0.85 processors"
    )
    # A rank that is alone on its node has the same time at any load.
    assert functional_only(compute_plans(2, 1, processors=2), 2) == ""
    assert functional_only(compute_plans(2, 2, processors=8), 8) == ""
    assert functional_only(compute_plans(2, 2, processors=2, by_slot=True), 2) == ""
    unbounded = [NodePlan("n1", 2), NodePlan("n2", 2)]
    assert functional_only(unbounded, 2) == "4 slots share the 2 processors of this machine"
    assert functional_only(unbounded, 4) == ""


def test_every_node_finds_every_other_by_its_name() -> None:
    of = addresses(["head", "n1"])
    assert of == {"head": "10.200.0.1", "n1": "10.200.0.2"}
    assert hosts_text(of) == "127.0.0.1 localhost\n10.200.0.1 head\n10.200.0.2 n1\n"


def test_a_link_has_one_end_at_the_bridge_and_one_with_the_node() -> None:
    assert far_lines("link3", 77) == [
        "link add link3 type veth peer name eth0 netns 77",
        "link set link3 master nodes up",
    ]
    assert near_lines("10.200.0.4") == ["addr add 10.200.0.4/24 dev eth0", "link set eth0 up"]


def test_only_links_that_are_to_be_slow_are_shaped() -> None:
    assert shaping("eth0", None, None) == []
    assert shaping("eth0", 100, None) == [
        "qdisc add dev eth0 root tbf rate 100000000bit burst 65536 latency 50ms"
    ]
    assert shaping("eth0", 10_000, None) == [
        "qdisc add dev eth0 root tbf rate 10000000000bit burst 5000000 latency 50ms"
    ]
    assert shaping("eth0", 0.5, 2.5) == [
        "qdisc add dev eth0 root netem delay 2500us rate 500000bit limit 100000"
    ]
    assert shaping("eth0", None, 1) == ["qdisc add dev eth0 root netem delay 1000us limit 100000"]


@pytest.mark.parametrize(
    ("told", "shape"),
    [
        (TBF, Shape(mbit=100)),
        (NETEM, Shape(mbit=10, delay_ms=2)),
        ('[{"kind":"noqueue","root":true,"options":{}}]', Shape()),
        ("", Shape()),
    ],
)
def test_what_the_kernel_says_of_a_link(told: str, shape: Shape) -> None:
    assert parse_shape(told) == shape


def test_what_a_far_end_received_came_from_the_node() -> None:
    found = dict(parse_counters(NET_DEV))
    assert found["link0"] == LinkCounters(to_node=99_000, from_node=1500)
    assert found["link1"].both == 15


def test_the_probe_leaves_out_a_node_whose_counters_began_anew() -> None:
    readings = iter(
        [
            {"n1": LinkCounters(100, 50), "n2": LinkCounters(500, 500)},
            {"n1": LinkCounters(1100, 50), "n2": LinkCounters(3, 0), "n3": LinkCounters(9, 9)},
        ]
    )
    probe = LinkProbe(lambda: next(readings))
    probe.start()
    to, sent = probe.sample(2.0)
    assert (to.metric, sent.metric) == ("to_bytes_per_s:n1", "from_bytes_per_s:n1")
    assert to.value > 0
    assert sent == Sample(2.0, "links", "from_bytes_per_s:n1", 0.0)
    probe.stop()


def test_the_probe_tells_how_long_a_slow_link_needed_for_what_it_carried() -> None:
    readings = iter(
        [
            {"n1": LinkCounters(0, 0), "n2": LinkCounters(0, 0)},
            {"n1": LinkCounters(250_000, 5), "n2": LinkCounters(5, 5)},
            {"n1": LinkCounters(300_000, 500_000), "n2": LinkCounters(9, 9)},
        ]
    )
    probe = LinkProbe(lambda: next(readings), {"n1": 2.0})
    probe.start()
    probe.sample(1.0)
    probe.sample(2.0)
    (both,) = probe.uses(0.0, 4.0)
    assert (both.resource, both.part, both.used, both.full) == ("link", "n1", 0.5, True)
    assert both.evidence == "0.477 MiB left it at 2 Mbit/s, which takes 2 of 4 s"
    (second,) = probe.uses(1.0, 2.0)
    assert second.evidence.startswith("0.477 MiB left it")
    (first,) = probe.uses(0.0, 1.0)
    assert first.evidence == "0.238 MiB reached it at 2 Mbit/s, which takes 1 of 1 s"


def test_the_probe_tells_how_often_the_share_of_a_node_was_used_up(tmp_path: Path) -> None:
    def tell(node: str, periods: int, used_up: int) -> CpuGroup:
        (tmp_path / node).mkdir(exist_ok=True)
        (tmp_path / node / "cpu.stat").write_text(f"nr_periods {periods}\nnr_throttled {used_up}\n")
        return CpuGroup(tmp_path / node, 0.25)

    groups = {"n1": [tell("n1", 10, 10)], "n2": [tell("n2", 10, 10), tell("n2b", 0, 0)]}
    probe = ShareProbe(lambda: groups)
    probe.start()
    assert probe.sample(1.0) == []
    tell("n1", 110, 40)
    tell("n2b", 50, 40)
    shares = {each.metric: each.value for each in probe.sample(2.0)}
    assert shares == {"used_up_percent:n1": 30.0, "used_up_percent:n2": 80.0}
    (use,) = probe.uses(1.0, 2.0)
    assert (use.resource, use.part, use.used, use.full) == ("part processors", "n2", 0.8, True)
    assert use.evidence == (
        "each of its slots has 0.25 processors, used up in 80 % of the periods in which it worked"
    )
    assert probe.uses(1.5, 2.0) == []
    probe.stop()


def test_only_folders_below_tmp_must_be_shown(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    shown = below_tmp([tmp_path / "a" / "b", tmp_path / "a", Path("/usr"), Path("/tmp")])
    expected = [(tmp_path / "a").resolve()]
    assert shown == (expected if expected[0].is_relative_to("/tmp") else [])
    assert below_tmp([tmp_path / "missing"]) == []


def test_programs_in_nodes_get_no_variables_of_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "x")
    found = variables({"A": "1"})
    assert set(found) == {"PATH", "LC_ALL", "A"}
    assert variables({"PATH": "/mine"})["PATH"] == "/mine"
