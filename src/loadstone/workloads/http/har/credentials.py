"""Who logs in within a recording, with which request, and what must not be written anywhere."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from loadstone.workloads.http.har.bodies import groups_of
from loadstone.workloads.http.har.entries import Entry, Exchange
from loadstone.workloads.http.har.markup import password_fields, password_mark
from loadstone.workloads.http.har.values import (
    is_password,
    looks_random,
    names_token,
    user_rank,
)

_LEAST_HIDDEN = 6
"""Characters of a cookie that may identify a session."""
_LONGEST_USER_NAME = 200


@dataclass(frozen=True)
class Credentials:
    """What the recording tells of who used the application."""

    log_in: int | None
    """Number of the entry that sent the password and was let in; None: nobody logged in."""
    failed: frozenset[int]
    """Entries that tried to log in before, in vain."""
    passwords: Mapping[str, str]
    """Each password, and the name of the secret that stands for it."""
    user_name: str
    """Empty: nobody logged in."""
    hidden: frozenset[str]
    """Passwords, cookies and credentials: texts that no file may hold."""
    mark: str
    """What stands in the page of the log-in and in no page behind it; empty: not known."""


def find_credentials(exchanges: Sequence[Exchange], entries: Sequence[Entry]) -> Credentials:
    """Looks for the log-in, and for all that is secret.

    Args:
        exchanges: The requests of the scenario.
        entries: All of the recording.
    """
    pages = [each.answered.answer.text or "" for each in exchanges if _is_page(each)]
    marks = [mark for page in pages if (mark := password_mark(page))]
    typed = {name for page in pages if password_mark(page) for name in password_fields(page)}
    passwords: dict[str, str] = {}
    tries: list[tuple[Exchange, str]] = []
    for exchange in exchanges:
        for group in groups_of(exchange.asked):
            found = [value for name, value in group if _hides(name, value, typed)]
            for value in found:
                number = len(passwords) + 1
                passwords.setdefault(value, "password" if number == 1 else f"password_{number}")
            user = _user_beside(group, typed) if found else ""
            if user:
                tries.append((exchange, user))
    done = next((each for each in tries if _succeeded(each[0])), tries[0] if tries else None)
    failed = set[int]()
    if done is not None:
        before = [own for own, _ in tries if own.number != done[0].number]
        failed = {own.number for own in before if _is_try_of(own, done[0])}
    secrets = {*passwords, *_secrets(entries)}
    return Credentials(
        log_in=done[0].number if done else None,
        failed=frozenset(failed),
        passwords=passwords,
        user_name=done[1] if done else "",
        # Scripts decode cookies before they put them elsewhere.
        hidden=frozenset({*secrets, *map(unquote, secrets)}),
        mark=marks[0] if marks else "",
    )


def _is_page(exchange: Exchange) -> bool:
    return exchange.answered.answer.media_type in ("text/html", "application/xhtml+xml", "")


def _hides(name: str, value: str, typed: Collection[str]) -> bool:
    return is_password(name, value) or (name in typed and value != "")


def _user_beside(group: Sequence[tuple[str, str]], typed: Collection[str]) -> str:
    """The user's name in a form that has a password, or an empty text."""
    others = [
        (name, value)
        for name, value in _before_password(group, typed)
        if 0 < len(value) <= _LONGEST_USER_NAME and not names_token(name)
    ]
    ranked = [(rank, value) for name, value in others if (rank := user_rank(name)) is not None]
    if ranked:
        return min(ranked, key=lambda each: each[0])[1]
    # A field of any other name, where the page hides what is typed into the next one.
    plain = [value for _, value in others if not looks_random(value)]
    return plain[-1] if plain and any(name in typed for name, _ in group) else ""


def _before_password(
    group: Sequence[tuple[str, str]], typed: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The fields that are no passwords: those behind the first password come first."""
    hides = [_hides(name, value, typed) for name, value in group]
    first = hides.index(True)
    order = [*range(first, len(group)), *range(first)]
    yield from (group[index] for index in order if not hides[index])


def _succeeded(exchange: Exchange) -> bool:
    answer = exchange.answered.answer
    return answer.status < 400 and not (
        _is_page(exchange) and answer.text is not None and password_mark(answer.text)
    )


def _is_try_of(exchange: Exchange, done: Exchange) -> bool:
    """Whether it is an earlier log-in of the same form, in vain."""
    same = exchange.asked.path == done.asked.path
    return same and exchange.started_s <= done.started_s and not _succeeded(exchange)


def _secrets(entries: Sequence[Entry]) -> Iterator[str]:
    """Cookies and credentials in headers and addresses, of all entries."""
    for entry in entries:
        for name, value in (*entry.cookies, *entry.answer.cookies):
            if len(value) >= _LEAST_HIDDEN and (looks_random(value) or _is_session(name, value)):
                yield value
        _, _, of_address = entry.user_info.partition(":")
        credential = entry.header("authorization").partition(" ")[2].strip()
        yield from (each for each in (of_address, credential) if each)
        yield from _basic(entry.header("authorization"))


def _is_session(name: str, value: str) -> bool:
    return names_token(name) and len(value) > _LEAST_HIDDEN and any(map(str.isdigit, value))


def _basic(header: str) -> Iterator[str]:
    """The password of a header `Authorization: Basic`."""
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != "basic":
        return
    try:
        _, _, found = base64.b64decode(credential).decode("utf-8", "replace").partition(":")
    except ValueError:
        return
    if found:
        yield found
