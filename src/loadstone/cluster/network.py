"""Links between nodes: a bridge in a network of its own, and a pair of interfaces for each node.

Nothing of it is in the network of the machine. The bridge's network is held by a process: when that
is killed, bridge and links go. See veth(4), ip-link(8), tc-tbf(8) and tc-netem(8).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.cluster.holder import Holder
from loadstone.cluster.plan import PREFIX_BITS, NodePlan
from loadstone.errors import TargetError
from loadstone.placements import programs

BRIDGE = "nodes"
INTERFACE = "eth0"
"""Of a node."""
_BURST_S = 0.004
"""A bucket holds so much of a link's rate: the timer of a slow kernel ticks once in that time."""
_LEAST_BURST = 65_536
"""Bytes of the largest packet that the kernel hands on in one piece."""
_QUEUE_MS = 50
"""A packet that would wait longer is dropped, as a switch with a small buffer does."""
_TIMEOUT_S = 30


@dataclass(frozen=True)
class LinkCounters:
    """Bytes that crossed a node's link since it was made, counted at the other end of it."""

    to_node: int = 0
    from_node: int = 0

    def __add__(self, other: LinkCounters) -> LinkCounters:
        """Of two links, one after the other."""
        return LinkCounters(self.to_node + other.to_node, self.from_node + other.from_node)

    @property
    def both(self) -> int:
        """Both ways together."""
        return self.to_node + self.from_node


class Switch:
    """The bridge, and the far ends of all links."""

    def __init__(self, holder: Holder) -> None:
        """Makes nothing yet.

        Args:
            holder: Of its network.
        """
        self._holder = holder

    def start(self) -> None:
        """Makes the bridge."""
        self._holder.start(
            f"ip link add name {BRIDGE} type bridge\nip link set {BRIDGE} up\n", arguments=()
        )

    def plug_in(self, number: int, node: Holder, address: str, plan: NodePlan) -> None:
        """Gives a node its link.

        Args:
            number: Of the node, from 0.
            node: Its namespaces; a link that it had went with those.
            address: Of the node.
            plan: Says how fast the link is.

        Raises:
            TargetError: If the kernel refuses, with its words.
        """
        far = far_end(number)
        for holder, program, lines in (
            (self._holder, "ip", far_lines(far, node.pid)),
            (node, "ip", near_lines(address)),
            (node, "tc", shaping(INTERFACE, plan.link_mbit, plan.link_delay_ms)),
            (self._holder, "tc", shaping(far, plan.link_mbit, None)),
        ):
            _batch(holder, program, lines, f"making the link of {node.title}")

    def counters(self, numbers: Mapping[str, int]) -> dict[str, LinkCounters]:
        """What crossed the links so far; a node that is down has none.

        Args:
            numbers: Node: its number.
        """
        found = dict(parse_counters(Path(f"/proc/{self._holder.pid}/net/dev").read_text()))
        return {
            name: found[far_end(number)]
            for name, number in numbers.items()
            if far_end(number) in found
        }

    def close(self) -> None:
        """Removes bridge and links."""
        self._holder.close()


def far_end(number: int) -> str:
    """The interface at the bridge of a node with this number."""
    return f"link{number}"


def far_lines(far: str, pid: int) -> list[str]:
    """Of ip: a pair of interfaces, one at the bridge, the other with a process of the node."""
    return [
        f"link add {far} type veth peer name {INTERFACE} netns {pid}",
        f"link set {far} master {BRIDGE} up",
    ]


def near_lines(address: str) -> list[str]:
    """Of ip, in a node: its address."""
    return [f"addr add {address}/{PREFIX_BITS} dev {INTERFACE}", f"link set {INTERFACE} up"]


def shaping(interface: str, mbit: float | None, delay_ms: float | None) -> list[str]:
    """Of tc: what makes packets that leave by an interface slow or late; nothing if nothing does.

    Args:
        interface: Its name.
        mbit: Million bits a second.
        delay_ms: Of each packet.
    """
    root = f"qdisc add dev {interface} root"
    if delay_ms is not None:
        rate = "" if mbit is None else f" rate {_bits(mbit)}bit"
        return [f"{root} netem delay {round(delay_ms * 1000)}us{rate} limit 100000"]
    if mbit is None:
        return []
    burst = max(_LEAST_BURST, round(mbit * 1e6 / 8 * _BURST_S))
    return [f"{root} tbf rate {_bits(mbit)}bit burst {burst} latency {_QUEUE_MS}ms"]


@dataclass(frozen=True)
class Shape:
    """What makes packets slow or late at one end of a link, as the kernel has it."""

    mbit: float | None = None
    delay_ms: float | None = None


def shape_of(holder: Holder) -> Shape:
    """The shape of the link of a node, read from the kernel.

    Args:
        holder: Of the node.

    Raises:
        TargetError: If tc fails, with its words.
    """
    command = [*holder.enter_network(), str(programs.needed("tc")), "-json"]
    done = subprocess.run(
        [*command, "qdisc", "show", "dev", INTERFACE],
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
    )
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise TargetError(f"reading the link of {holder.title} failed: {said}")
    return parse_shape(done.stdout)


def parse_shape(text: str) -> Shape:
    """The shape in what `tc -json qdisc show` prints: rates are bytes, delays seconds."""
    for each in json.loads(text or "[]"):
        options = each.get("options", {})
        if each.get("kind") == "tbf":
            return Shape(mbit=options["rate"] * 8 / 1e6)
        if each.get("kind") == "netem":
            rate = options.get("rate", {}).get("rate")
            return Shape(
                mbit=None if rate is None else rate * 8 / 1e6,
                delay_ms=options["delay"]["delay"] * 1000,
            )
    return Shape()


def parse_counters(text: str) -> Iterator[tuple[str, LinkCounters]]:
    """Interfaces and what they carried, of `/proc/PID/net/dev` (proc_pid_net(5)).

    What a far end received came from the node.
    """
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(":")
        fields = rest.split()
        yield name.strip(), LinkCounters(to_node=int(fields[8]), from_node=int(fields[0]))


def _bits(mbit: float) -> int:
    return round(mbit * 1e6)


def _batch(holder: Holder, program: str, lines: Sequence[str], doing: str) -> None:
    """Runs commands of a program in a network, where numbers of processes are the machine's."""
    if not lines:
        return
    command = [*holder.enter_network(), str(programs.needed(program)), "-batch", "-"]
    done = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
    )
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise TargetError(f"{doing} failed: {said}")
