"""A recording as a scenario: the mapping that an experiment names, and what is to be said of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.workloads.http.har.choosing import Choice
from loadstone.workloads.http.har.credentials import Credentials, find_credentials
from loadstone.workloads.http.har.entries import Entry, Exchange, LeftOut
from loadstone.workloads.http.har.hiding import STARS, Hidden
from loadstone.workloads.http.har.keeping import asked_again
from loadstone.workloads.http.har.names import Names, request_name
from loadstone.workloads.http.har.requests import Writer
from loadstone.workloads.http.har.sources import Wanted
from loadstone.workloads.http.har.templates import AsRecorded
from loadstone.workloads.http.har.tracing import Collector, Tracer, Untraced
from loadstone.workloads.http.har.transactions import Step, Story, tell

_ACCESS = re.compile(r'"((?:access|id|auth)_?token|jwt|bearer)"\s*:\s*"', re.IGNORECASE)
_LEAST_THINK_S = 0.1
_MOST_AT_ONCE = 1000
"""Requests of a step."""


@dataclass(frozen=True)
class Composed:
    """A scenario, and what is to be said of it."""

    scenario: dict[str, Any]
    """As the experiment file has it, without `people`."""
    origin: str
    """The target's address."""
    user_name: str
    """Of who was recorded; empty: nobody logged in."""
    secrets: dict[str, str]
    """Name of a secret: the environment variable that it is read from."""
    hidden: frozenset[str]
    """Texts that no file may hold."""
    left_out: tuple[LeftOut, ...]
    untraced: tuple[Untraced, ...]
    notes: tuple[str, ...]


def compose(choice: Choice, entries: Sequence[Entry], gap_s: float) -> Composed:
    """Makes a scenario.

    Args:
        choice: The requests that are made again.
        entries: All of the recording.
        gap_s: A pause that is longer ends a transaction.

    Raises:
        WrongInputError: If there is nothing but a log-in and a log-out.
    """
    credentials = find_credentials(choice.exchanges, entries)
    exchanges = [each for each in choice.exchanges if each.number not in credentials.failed]
    known = {credentials.user_name, *credentials.passwords} - {""}
    story = tell(exchanges, credentials.log_in, gap_s, known)
    if not story.transactions:
        raise WrongInputError(
            "the recording holds nothing but a log-in",
            advice="record what users do, too: pages, lists, forms",
        )
    writer = Writer(choice.origin, credentials.mark if credentials.log_in is not None else "")
    collector = Collector()
    for exchange in exchanges:
        writer.request(exchange, "", collector)
    tracer = Tracer(
        story.steps, len(story.log_in), Wanted(collector.texts), credentials, choice.origin
    )
    again = asked_again(choice.static, story.steps)
    scenario = _scenario(choice, story, _Operations(writer, tracer, known, again))
    left_out = [*choice.left_out, *_failed(choice, credentials)]
    return _redacted(
        Composed(
            scenario,
            choice.origin,
            credentials.user_name,
            tracer.secrets,
            credentials.hidden | tracer.withheld.keys(),
            tuple(sorted(left_out, key=lambda each: each.number)),
            tuple(tracer.untraced),
            tuple(_notes(exchanges, story)),
        )
    )


class _Operations:
    """Writes the requests of transactions, all of them before what is extracted is known."""

    def __init__(
        self,
        writer: Writer,
        tracer: Tracer,
        known: set[str],
        again: Mapping[int, Sequence[Entry]],
    ) -> None:
        self.writer, self.tracer, self.known, self.again = writer, tracer, known, again
        self._written = list[tuple[int, dict[str, Any]]]()

    def steps(self, steps: Sequence[Step]) -> list[dict[str, Any]]:
        """The steps of one operation.

        A request that stands alone is a page as a rule: its files come after it.
        """
        names = Names()
        found: list[dict[str, Any]] = []
        for step in steps:
            requests = [self._request(each, names) for each in step]
            files = [self._file(each, names) for each in self.again.get(step[0].number, ())]
            if len(requests) == 1:
                found += [*requests, *_together(files)]
            else:
                found += _together([*requests, *files])
        return found

    def _request(self, exchange: Exchange, names: Names) -> dict[str, Any]:
        name = names.unused(request_name(exchange.asked, self.known), " ")
        request = self.writer.request(exchange, name, self.tracer.at(exchange))
        self._written.append((exchange.number, request))
        return request

    def first_visit(self, static: Sequence[Entry]) -> list[dict[str, Any]]:
        """Steps that ask for all static files, each once."""
        names, files = Names(), dict[str, Entry]()
        for each in static:
            files.setdefault(each.url, each)
        return _together([self._file(each, names) for each in files.values()])

    def _file(self, entry: Entry, names: Names) -> dict[str, Any]:
        """A request whose answer the browser keeps, of the address as it was recorded."""
        request: dict[str, Any] = {
            "request": names.unused(request_name(entry, self.known), " "),
            entry.method.lower(): self.writer.address(entry.url, AsRecorded()),
        }
        return {**request, "cache": True} if entry.method == "GET" else request

    def put_extractions(self) -> None:
        """Adds to each request what others take from its answer."""
        for number, request in self._written:
            if extracts := self.tracer.extracts.get(number):
                request["extract"] = dict(extracts)


def _together(requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps that make requests at the same time, as many as a step may have."""
    if len(requests) == 1:
        return list(requests)
    parts = range(0, len(requests), _MOST_AT_ONCE)
    return [{"parallel": list(requests[at : at + _MOST_AT_ONCE])} for at in parts]


def _scenario(choice: Choice, story: Story, operations: _Operations) -> dict[str, Any]:
    log_in = operations.steps(story.log_in)
    first_visit = operations.first_visit(choice.static)
    transactions = [
        {"name": each.name, "steps": operations.steps(each.steps)} for each in story.transactions
    ]
    log_out = operations.steps(story.log_out)
    operations.put_extractions()
    tracer = operations.tracer
    found: dict[str, Any] = {
        "values": tracer.values,
        "secrets": {name: f"env:{variable}" for name, variable in tracer.secrets.items()},
        "hosts": _other_hosts(choice),
        # Values of a transaction come from those before it, as they did when it was recorded.
        "order": "in-turn",
        "think_time": _think_time(story),
        "log_in": {"steps": log_in} if log_in else None,
        "first_visit": {"steps": first_visit} if first_visit else None,
        "log_out": {"steps": log_out} if log_out else None,
        "transactions": transactions,
    }
    return {name: value for name, value in found.items() if value}


def _other_hosts(choice: Choice) -> list[str]:
    hops = (hop for each in choice.exchanges for hop in each.hops)
    return sorted({each.origin for each in (*hops, *choice.static)} - {choice.origin})


def _think_time(story: Story) -> dict[str, Any] | None:
    if story.think_s is None:
        return None
    mean_s = max(_LEAST_THINK_S, round(story.think_s, 1))
    return {"distribution": "negative-exponential", "mean_s": mean_s}


# -- what is said ----------------------------------------------------------------------------------


def _failed(choice: Choice, credentials: Credentials) -> list[LeftOut]:
    reason = "a log-in that was not let in; the one after it is in the scenario"
    return [
        LeftOut(each.number, each.asked.shown, reason)
        for each in choice.exchanges
        if each.number in credentials.failed
    ]


def _notes(exchanges: Sequence[Exchange], story: Story) -> list[str]:
    notes = [
        f"entry {each.number}, {each.asked.shown}, redirects to another host: the redirect itself "
        "is its answer"
        for each in exchanges
        if each.keeps
    ]
    if story.think_s is None:
        notes.append("the recording has no pause, so that users do not wait: add think_time")
    if not any(hop.header("authorization") for each in exchanges for hop in each.hops):
        notes += _not_sent(exchanges)
    return notes


def _not_sent(exchanges: Sequence[Exchange]) -> list[str]:
    """Where a token for the header `Authorization` was given: exports leave that header out."""
    for each in exchanges:
        found = _ACCESS.search(each.answered.answer.text or "")
        if found:
            return [
                f"entry {each.number}, {each.asked.shown}, answers {found[1]}, and no request has "
                "a header Authorization, which browsers leave out of their export: if the "
                "application wants it, extract the token there and add the header"
            ]
    return []


def _redacted(composed: Composed) -> Composed:
    """The same with stars in the place of secrets, in all that is said."""
    all_of_it = [
        *(text for each in composed.left_out for text in (each.what, each.reason)),
        *(text for each in composed.untraced for text in (each.what, each.where, each.becomes)),
        *composed.notes,
    ]
    pattern = Hidden(composed.hidden).pattern_in("\n".join(all_of_it))
    if pattern is None:
        return composed

    def told(text: str) -> str:
        return pattern.sub(STARS, text)

    return replace(
        composed,
        left_out=tuple(
            LeftOut(each.number, told(each.what), told(each.reason)) for each in composed.left_out
        ),
        untraced=tuple(
            Untraced(each.number, told(each.what), told(each.where), told(each.becomes))
            for each in composed.untraced
        ),
        notes=tuple(map(told, composed.notes)),
    )
