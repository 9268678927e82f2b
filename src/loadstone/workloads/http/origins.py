"""Which servers the users of a scenario connect to, and with how many connections each.

A user has connections of its own to each origin (scheme, host and port). A request takes one of
them, so a step needs as many as it has requests to that origin, up to `connections`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from loadstone.targets.connection import Reach
from loadstone.workloads.http.requests import Request
from loadstone.workloads.http.scenario import Parallel, Part, Scenario, plain_steps

_PORTS = {"http": 80, "https": 443}
_VALUE = "${"
_BASE = "${base}"


class Origin(NamedTuple):
    """Where a request goes (RFC 6454)."""

    scheme: str
    host: str
    port: int


def reaches_of(scenario: Scenario, url: str) -> tuple[Reach, ...]:
    """The servers that a user connects to, the application's own first.

    Requests count where their addresses lead; one whose host is a value may lead to any that is
    allowed. A host that no request names is there for redirects: all requests that go to one server
    at the same time may be led there. That a redirect leads to a host which requests name too is
    not foreseen.

    Args:
        scenario: What the users do.
        url: Of the application.
    """
    base = _read(url)
    most: Counter[Origin | None] = Counter()
    anywhere = redirected = 0
    for step in _steps(scenario):
        led = Counter(_of(request, base) for request in step)
        unknown = led.pop(None, 0)
        for origin, count in led.items():
            most[origin] = max(most[origin], count + unknown)
        anywhere = max(anywhere, unknown)
        followed = Counter(_of(each, base) for each in step if _follows(each, scenario))
        redirected = max(redirected, *followed.values(), 0)
    hosts = [_allowed(host, base, most) for host in scenario.hosts]
    reaches = []
    for origin in dict.fromkeys([base, *most, *hosts]):
        led_to = redirected if origin in hosts and origin not in most and origin != base else 0
        each = min(scenario.connections, max(most[origin], anywhere, led_to))
        if origin is not None and each:
            reaches.append(Reach(origin.host, origin.port, each))
    return tuple(reaches)


def _steps(scenario: Scenario) -> Iterator[Sequence[Request]]:
    """The requests that are made together, of each step that makes any."""
    others = (scenario.log_in, scenario.first_visit, scenario.log_out)
    parts: list[Part] = [step for each in scenario.transactions for step in each.steps]
    for sign in filter(None, others):
        parts += sign.steps
    for step in plain_steps(parts):
        if isinstance(step, Parallel):
            yield step.parallel
        elif isinstance(step, Request):
            yield (step,)


def _follows(request: Request, scenario: Scenario) -> bool:
    return scenario.redirects > 0 and request.redirects == "follow"


def _of(request: Request, base: Origin | None) -> Origin | None:
    """The origin that a request names; None if a value decides it."""
    url = request.url
    if url.startswith(("/", _BASE)):
        return base
    scheme, _, rest = url.partition("://")
    authority = rest.partition("/")[0].partition("?")[0]
    return None if _VALUE in scheme + authority else _read(f"{scheme}://{authority}")


def _allowed(host: str, base: Origin | None, named: Container[Origin | None]) -> Origin | None:
    """The origin that a host stands for: of those with and without TLS the one that is asked."""
    if "://" in host:
        return _read(host)
    first = _PORTS if base is None else (base.scheme, *_PORTS)
    kinds = [_read(f"{scheme}://{host}") for scheme in first]
    return next((each for each in kinds if each in named), kinds[0])


def _read(url: str) -> Origin | None:
    """The origin of an address; None of one that cannot be asked, which the driver refuses."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return Origin(parts.scheme, parts.hostname.lower(), port or _PORTS[parts.scheme])
