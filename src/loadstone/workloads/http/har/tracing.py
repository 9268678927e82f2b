"""What stands in the place of each recorded value: a reference, or the value itself.

In this order: the password and the user's name; the newest earlier answer that holds the value; a
cookie of the same value; a secret that the user gives. All else stays as it was recorded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.workloads.http.har.credentials import Credentials
from loadstone.workloads.http.har.entries import Exchange
from loadstone.workloads.http.har.names import BUILT_IN, USER_NAME, Names, variable_name
from loadstone.workloads.http.har.sources import Source, Wanted, sources_of
from loadstone.workloads.http.har.templates import (
    AsRecorded,
    Reference,
    Template,
    Use,
    is_plain,
)
from loadstone.workloads.http.har.values import (
    is_ordinary,
    is_signed,
    looks_random,
    may_be_traced,
    mentions_password,
    names_csrf,
    names_id,
    names_password,
    names_token,
    stem,
    user_rank,
    words_of,
)

_TOKEN = re.compile(r"(?<![$\w])[A-Za-z0-9_.~-]{8,}")
_PER_REQUEST = ("x-request-id", "x-correlation-id", "idempotency-key", "x-idempotency-key")
"""Headers whose value is new in each request, and made by the page."""
_COOKIES_OF_HEADERS = {"x-csrftoken": "csrftoken", "x-xsrf-token": "XSRF-TOKEN"}
"""Headers into which pages copy a cookie: Django; Angular, axios, Laravel, Spring."""
_PEOPLE = ("user", "people", "person", "profile", "account", "member", "u")
_SAME_EVERYWHERE = ("api", "v", "rest", "id", "ids", "pk", "uuid", "data", "result", "json")
_LEAST_ID = 5
"""Digits of an id that stands by itself; a shorter one must be of the same kind of thing."""
_LEAST_WORD = 4
"""Characters of a password or a name that is replaced within other words."""


@dataclass(frozen=True)
class Untraced:
    """A value that looks like a token, and that no earlier answer holds."""

    number: int
    """Of the entry that sends it."""
    what: str
    """Method and address."""
    where: str
    """As `header x-csrftoken`."""
    becomes: str
    """What stands in its place."""


class Collector(AsRecorded):
    """Notes the values of requests that are worth a look, and replaces none."""

    def __init__(self) -> None:
        self.texts = set[str]()

    def text(self, value: str, use: Use) -> Template:
        """Notes a text, and the tokens within it."""
        if may_be_traced(value, use.name, in_path=use.in_path):
            self.texts.add(value)
        self.texts.update(each[0] for each in _TOKEN.finditer(value) if looks_random(each[0]))
        return super().text(value, use)

    def number(self, value: int, use: Use) -> Reference | None:
        """Notes a number that is an id."""
        if names_id(use.name):
            self.texts.add(str(value))
        return super().number(value, use)

    def credential(self, value: str) -> Template:
        """Notes the credential of a header `Authorization`."""
        self.texts.add(value.partition(" ")[2] or value)
        return super().credential(value)


class Tracer:
    """Finds where values come from, and collects what has to be extracted.

    Args:
        steps: The exchanges in the order in which a user makes them; those of one step at once.
        log_in: How many of the steps are the log-in.
        wanted: The values of their requests that are worth a look.
        credentials: Who logs in.
        origin: The application's.
    """

    def __init__(
        self,
        steps: Sequence[Sequence[Exchange]],
        log_in: int,
        wanted: Wanted,
        credentials: Credentials,
        origin: str,
    ) -> None:
        self.extracts = defaultdict[int, dict[str, dict[str, Any]]](dict)
        """Entry: what is extracted from its answer, by the name of the value."""
        self.secrets = {name: _variable_of(name) for name in credentials.passwords.values()}
        """Name of a secret: the environment variable that has it."""
        self.withheld = dict[str, str]()
        """Values that became secrets because they could not be traced, and their names."""
        self.values = dict[str, Any]()
        """Constants by name: of fields that are called as passwords are, and hold none."""
        self.untraced = list[Untraced]()
        self.credentials = credentials
        self._names = Names((*BUILT_IN, USER_NAME, *self.secrets))
        self._variables = dict[tuple[bool, str], str]()
        self._constants = dict[tuple[type, Any], str]()
        self._steps, self._log_in = steps, log_in
        self._at = {each.number: at for at, step in enumerate(steps) for each in step}
        self._found = self._all_sources(wanted)
        self._needles, self._needle = _needles(credentials, origin)
        hops = [hop for step in steps for each in step for hop in each.hops]
        self._no_cookies = not any(each.cookies or each.answer.cookies for each in hops)

    def _all_sources(
        self, wanted: Wanted
    ) -> dict[str, list[tuple[int, Exchange, Sequence[Source]]]]:
        found = defaultdict[str, list[tuple[int, Exchange, Sequence[Source]]]](list)
        avoid = [
            each
            for each in (*self.credentials.hidden, self.credentials.user_name)
            if len(each) >= _LEAST_WORD
        ]
        for at, step in enumerate(self._steps):
            for exchange in step:
                for value, sources in sources_of(exchange, wanted, avoid).items():
                    found[value].append((at, exchange, sources))
        return found

    def at(self, exchange: Exchange) -> Rewriting:
        """Rewrites the values of a request."""
        return Rewriting(self, exchange)

    # -- what is known ---------------------------------------------------------------------------
    def known(self, value: str, use: Use) -> Reference | None:
        """The password or the user's name, if a value is one of them."""
        is_user = value == self.credentials.user_name and value != ""
        secret = self.credentials.passwords.get(value)
        if secret and (names_password(use.name) or not (is_user or is_ordinary(value))):
            return Reference(secret)
        if not is_user:
            return None
        around = words_of(use.context)[-1:]
        beside = user_rank(use.name) is not None or any(stem(each) in _PEOPLE for each in around)
        return Reference(USER_NAME) if beside or not is_ordinary(value) else None

    def constant(self, value: Any) -> Reference:
        """A value as it was recorded, where only references may stand."""
        key = (type(value), value)
        if key not in self._constants:
            name = self._names.unused("plain", "_")
            self._constants[key] = name
            self.values[name] = value
        return Reference(self._constants[key])

    def within(self, text: str) -> Template:
        """A text with passwords, the user's name and the application's address replaced in it."""
        return _split(text, self._needle, lambda found: self._needles[found])

    # -- earlier answers -------------------------------------------------------------------------
    def traced(
        self, value: str, use: Use, exchange: Exchange, *, is_number: bool = False
    ) -> Reference | None:
        """A value that is extracted from the newest earlier answer that holds it."""
        here = self._at[exchange.number]
        found: Reference | None = None
        for at, answered, sources in reversed(self._found.get(value, ())):
            # A user may leave before the newest answer: what the log-in tells is kept, too.
            if at >= here or (found is not None and at >= self._log_in):
                continue
            source = _likely(sources, use, answered, is_number=is_number)
            if source is not None:
                found = self._extracted(answered, source, use)
        return found

    def _extracted(self, answered: Exchange, source: Source, use: Use) -> Reference:
        key = (isinstance(source.value, int), str(source.value))
        if key not in self._variables:
            self._variables[key] = self._names.unused(variable_name(use, source), "_")
        name = self._variables[key]
        self.extracts[answered.number].setdefault(name, source.rule)
        return Reference(name)

    def of_cookie(self, value: str, use: Use, exchange: Exchange) -> Reference | None:
        """A value that is a cookie, too: the one that the user has after the request before."""
        before = self._before(exchange)
        if before is None:
            return None
        for name, own in exchange.asked.cookies:
            if own == value and not value.isdigit():
                return self._extracted(before, Source("cookie", name, name, value), use)
        usual = _COOKIES_OF_HEADERS.get(use.name)
        if usual is None or not self._no_cookies:
            return None
        reference = self._extracted(before, Source("cookie", usual, usual, value), use)
        self.extracts[before.number][reference.name] = {"cookie": usual, "default": ""}
        told = f"the recording has no cookies: it is taken from the cookie {usual}, as is usual"
        self._note(exchange, use, told)
        return reference

    def _before(self, exchange: Exchange) -> Exchange | None:
        """The newest request to the same origin that has ended before another begins."""
        for step in reversed(self._steps[: self._at[exchange.number]]):
            for each in reversed(step):
                if each.answered.origin == exchange.asked.origin:
                    return each
        return None

    # -- what is not found -----------------------------------------------------------------------
    def missed(self, value: str, use: Use, exchange: Exchange) -> Reference | None:
        """Notes a value that looks like a token and comes from nowhere; None: it stays."""
        if use.name in _PER_REQUEST:
            return Reference("unique")
        is_hidden = value in self.credentials.hidden
        if not is_hidden and not looks_random(value) and not names_csrf(use.name):
            return None
        if is_hidden or names_token(use.name) or is_signed(value):
            return self.withhold(value, use, exchange)
        self._note(exchange, use, "it stays as it was recorded")
        return None

    def withhold(self, value: str, use: Use, exchange: Exchange) -> Reference:
        """A secret in the place of a value; the user has to say it."""
        if value not in self.withheld:
            name = self._names.unused(variable_name(use), "_")
            self.withheld[value] = name
            self.secrets[name] = _variable_of(name)
        name = self.withheld[value]
        self._note(exchange, use, f"it is the secret {name}, env:{self.secrets[name]}")
        return Reference(name)

    def _note(self, exchange: Exchange, use: Use, becomes: str) -> None:
        found = Untraced(exchange.number, exchange.asked.shown, use.where, becomes)
        if found not in self.untraced:
            self.untraced.append(found)


class Rewriting:
    """Rewrites the values of one request.

    Args:
        tracer: Knows the answers before it.
        exchange: The request.
    """

    def __init__(self, tracer: Tracer, exchange: Exchange) -> None:
        self._tracer, self._exchange = tracer, exchange

    def text(self, value: str, use: Use) -> Template:
        """What stands in the place of a text."""
        whole = self._tracer.known(value, use)
        is_hidden = value in self._tracer.credentials.hidden
        if whole is None and (is_hidden or may_be_traced(value, use.name, in_path=use.in_path)):
            whole = self._found(value, use)
        if whole is not None:
            return (whole,)
        parts: list[str | Reference] = []
        for each in self._tracer.within(value):
            if isinstance(each, Reference):
                parts.append(each)
            else:
                parts += self._tokens(each, value, use)
        if value and mentions_password(use.name) and is_plain(tuple(parts)):
            return (self._tracer.constant(value),)
        return tuple(parts)

    def number(self, value: int, use: Use) -> Reference | None:
        """What stands in the place of a number of JSON."""
        secret = self._tracer.credentials.passwords.get(str(value))
        if secret and names_password(use.name):
            return Reference(secret)
        if not names_id(use.name):
            return self.constant(value, use)
        return self._tracer.traced(str(value), use, self._exchange, is_number=True)

    def constant(self, value: float | bool, use: Use) -> Reference | None:
        """What stands in the place of any other value of JSON.

        A scenario takes only references where a field is called as passwords are.
        """
        return self._tracer.constant(value) if mentions_password(use.name) else None

    def credential(self, value: str) -> Template:
        """What stands in the place of a header `Authorization`: all of it may be a secret."""
        use = Use("header authorization", "authorization")
        scheme, between, own = value.partition(" ")
        found = self._tracer.traced(own or value, use, self._exchange)
        if found is None:
            return (self._tracer.withhold(value, use, self._exchange),)
        return (f"{scheme}{between}", found) if own else (found,)

    def _found(self, value: str, use: Use) -> Reference | None:
        return (
            self._tracer.traced(value, use, self._exchange)
            or self._tracer.of_cookie(value, use, self._exchange)
            or self._tracer.missed(value, use, self._exchange)
        )

    def _tokens(self, text: str, whole: str, use: Use) -> Template:
        """A text with the tokens within it replaced."""

        def found(token: str) -> Reference | None:
            # The whole text was looked for already.
            if token == whole or not looks_random(token):
                return None
            return self._found(token, use)

        return _split(text, _TOKEN, found)


def _split(
    text: str, pattern: re.Pattern[str], replaced: Callable[[str], Reference | None]
) -> Template:
    """A text with what a pattern finds replaced, where there is something in its place."""

    def parts() -> Iterator[str | Reference]:
        begin = 0
        for found in pattern.finditer(text):
            reference = replaced(found[0])
            if reference is not None:
                yield text[begin : found.start()]
                yield reference
                begin = found.end()
        yield text[begin:]

    return tuple(part for part in parts() if part != "") or ("",)


def _needles(credentials: Credentials, origin: str) -> tuple[dict[str, Reference], re.Pattern[str]]:
    """Texts that are replaced wherever they stand, and a pattern that finds them.

    None is found behind a dollar sign: with a reference behind it, that would mean itself.
    """
    known = {value: Reference(name) for value, name in credentials.passwords.items()}
    if credentials.user_name:
        known[credentials.user_name] = Reference(USER_NAME)
    words = [each for each in known if len(each) >= _LEAST_WORD and not is_ordinary(each)]
    patterns = [
        rf"(?<![A-Za-z0-9$]){re.escape(each)}(?![A-Za-z0-9])"
        for each in sorted(words, key=len, reverse=True)
    ]
    patterns.append(rf"(?<!\$){re.escape(origin)}(?![\w.:-])")
    return {**known, origin: Reference("base")}, re.compile("|".join(patterns))


def _likely(
    sources: Sequence[Source], use: Use, answered: Exchange, *, is_number: bool
) -> Source | None:
    """The likeliest origin of a value in an answer: best one that is called as the value is."""
    fitting = [each for each in sources if _fits(each, use, answered, is_number=is_number)]
    return min(fitting, key=lambda each: each.name != use.name) if fitting else None


def _fits(source: Source, use: Use, answered: Exchange, *, is_number: bool) -> bool:
    """Whether a place in an answer is a likely origin of a value."""
    if use.in_json and isinstance(source.value, int) != is_number:
        return False
    text = str(source.value)
    if not text.isdigit() or len(text) >= _LEAST_ID:
        return True
    if use.name == source.name and len(words_of(use.name)) > 1:
        return True
    own = _kinds([*words_of(use.name), *words_of(use.context)])
    of_path = [*words_of(answered.asked.path), *words_of(answered.answered.path)]
    return bool(own & _kinds([*source.words, *of_path]))


def _kinds(words: Sequence[str]) -> set[str]:
    """Words that say what kind of thing something is."""
    plain = {stem(each) for each in words if not each.isdigit()}
    return plain - set(_SAME_EVERYWHERE)


def _variable_of(secret: str) -> str:
    """The environment variable that a secret is read from."""
    return f"LOADSTONE_{secret.upper()}"
