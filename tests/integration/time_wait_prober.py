"""Fills the ports of a network, ends all connections, and asks for as many again.

    python time_wait_prober.py ADDRESS PORT SECONDS

Prints how many ports Loadstone takes for free after so many seconds, and how many the kernel gives.
"""

from __future__ import annotations

import contextlib
import errno
import json
import socket
import sys
import time

from loadstone.host.tcp import PortRules, sockets_to

MOST = 1000


def connected(server: tuple[str, int]) -> list[socket.socket]:
    """As many connections as the system has ports for."""
    made: list[socket.socket] = []
    for _ in range(MOST):
        client = socket.socket()
        try:
            client.connect(server)
        except OSError as error:
            client.close()
            assert error.errno == errno.EADDRNOTAVAIL
            break
        made.append(client)
    return made


def main(address: str, port: int, after_s: float) -> None:
    """Prints `{"ports": 20, "told": 20, "given": 20}`."""
    with socket.create_server((address, port), backlog=MOST) as server:
        clients = connected((address, port))
        accepted = [server.accept()[0] for _ in clients]
        for client in clients:
            client.close()
        for each in accepted:
            assert each.recv(1) == b""
            each.close()
        time.sleep(after_s)
        rules, ports = PortRules.present(), len(clients)
        ended = [each for each in sockets_to({port}) if each.ends and each.address == address]
        told = ports - sum(rules.free_in_s(each) > 0 for each in ended)
        with contextlib.ExitStack() as stack:
            given = [stack.enter_context(client) for client in connected((address, port))]
            print(json.dumps({"ports": ports, "told": told, "given": len(given)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
