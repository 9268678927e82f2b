"""A Superset at an address, which Loadstone does not own, and others may use."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, cast

from loadstone.errors import TargetError, WrongInputError
from loadstone.host.locality import at_address, is_here
from loadstone.journal import Entry
from loadstone.placements import tree
from loadstone.placements.account import own_account
from loadstone.protocol.programs import DRIVER
from loadstone.results.answers import KeptAnswer
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.dashboards import Content
from loadstone.spec.design import Failure
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec, default_server
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.bi import Actions, BiServer, Shown
from loadstone.targets.capabilities import BI, FIRST_VISITS, MANY_ACCOUNTS
from loadstone.targets.connection import Reach, ServerConnection
from loadstone.targets.database import Database
from loadstone.targets.http.greeting import greet, trust_of
from loadstone.targets.superset import (
    accounts_file,
    people,
    provision,
    removal,
    settings,
    warming,
)
from loadstone.targets.superset.actions import PASSWORD_VARIABLE, actions_of
from loadstone.targets.superset.address import SupersetAddress, parse
from loadstone.targets.superset.examination import examine, log_in
from loadstone.targets.superset.names import Names
from loadstone.targets.superset.people import Person, read_people
from loadstone.targets.superset.provision import DATABASES, Provisioned
from loadstone.targets.superset.rest import Rest, UnwillingError, logged_in
from loadstone.targets.superset.shown import shown
from loadstone.targets.superset.target import CONNECTIONS, DATABASE, Superset
from loadstone.targets.superset.warming import Visits
from loadstone.targets.system import SystemOfParts
from loadstone.targets.web import WebConnection

_OF_OWNER = ("cache", "nodes", "balancer")
"""Parts of a Superset that Loadstone starts; at an address they are its owner's business."""
_RULES = "!AAaaa11"
"""Ends a random password: an owner may want letters, digits and signs in each (FAB)."""
_ANOTHER = "name a PostgreSQL that both reach: --part database=postgresql://user@host/database"


@dataclass(frozen=True)
class _Content:
    """What was made there for one content, and who uses it."""

    numbers: Provisioned
    visits: Visits
    people: Mapping[str, Person] = field(repr=False)
    """By the name that the content has for each."""
    password: str | None = field(repr=False)
    """Of all of them; None: each has one of its own, which the file of accounts has."""
    file: Path


class RemoteSuperset(SystemOfParts, BiServer):
    """Content under names of Loadstone's own; one part, the warehouse that it lies over."""

    engine = Superset.engine
    capabilities: ClassVar[frozenset[str]] = frozenset({BI, FIRST_VISITS})
    fields: ClassVar[frozenset[str]] = frozenset({"accounts", "ca", "sources"})
    part_names = (DATABASE,)
    part_engines: ClassVar[Mapping[str, str]] = {DATABASE: "postgresql"}

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self.address = parse(spec)
        self._version = ""
        self._made: list[Entry] = []
        """What takes away the content that was made there."""
        self._contents: dict[str, _Content] = {}
        self._present: _Content | None = None
        self._folder: Path | None = None

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The address, and the warehouse; nothing is reached."""
        address = parse(spec)
        database = cls.part_spec(spec, DATABASE)
        if database.engine != "postgresql":
            raise WrongInputError(
                f"the warehouse of Superset at an address is PostgreSQL, not {database.engine}",
                advice=_ANOTHER,
            )
        if not at_address(database) and not is_here(address.web.host):
            raise WrongInputError(
                "Superset on another machine does not reach a warehouse that Loadstone starts here",
                advice=_ANOTHER,
            )
        if address.web.is_secure:
            trust_of(address.ca)
        if spec.accounts is not None:
            read_people(Path(spec.accounts))
        found = super().describe(spec.model_copy(update={"server": default_server(cls.engine)}))
        return {**found, "address": address.shown}

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """None: its owner sets them."""
        if name in settings.NAMES or name.partition(".")[0] in _OF_OWNER:
            raise WrongInputError(
                f"{name} is set by the owner of Superset at an address",
                advice="leave it out, or leave server out: Loadstone starts one then",
            )
        return super().own_setting(spec, name, level)

    @classmethod
    def keeps_caches(cls, spec: TargetSpec) -> str:
        """They are those of a server that is not ours."""
        return "the caches of Superset at an address cannot be emptied from here"

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """Those of any Superset."""
        return Superset.exhaustions(spec)

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """What is not seen of it from here, and how people come there."""
        message = (
            "Superset is at an address: what others do there is in the figures, and what its "
            "processes take is not"
        )
        found = [Notice(code="superset-of-others", severity="info", message=message)]
        return [*super().cautions(spec, profile), *found]

    @classmethod
    def reached(cls, spec: TargetSpec) -> WebConnection:
        """By the address."""
        return _to(parse(spec), spec)

    # -- life ----------------------------------------------------------------------------------
    def check_access(self) -> None:
        """Looks at the application and at what the account may do, and at the warehouse."""
        self._version = examine(self.address)
        super().check_access()

    def open(self) -> None:
        """Has a warehouse ready; nothing is made in Superset before there is content."""
        self.check_access()
        self._folder, _ = tree.make(
            self.context.journal, tree.DEFAULT_PARENT, own_account(), self.context.owner
        )
        super().open()

    def close(self) -> None:
        """Takes everything of Loadstone's away from Superset, then the warehouse."""
        try:
            while self._made:
                self.context.journal.undo(self._made[-1])
                self._made.pop()
        finally:
            super().close()

    def check_ready(self) -> None:
        """Asks Superset and the warehouse."""
        greet(self.address.web, self.address.ca)
        super().check_ready()

    def crash(self, failure: Failure) -> None:
        """Cannot be."""
        raise TargetError(
            f"Superset at {self.address.url} cannot be crashed from here",
            advice="leave server out: Loadstone starts one then",
        )

    # -- state ---------------------------------------------------------------------------------
    def snapshot(self, key: str) -> None:
        """Keeps the warehouse; the content in Superset stays."""
        super().snapshot(key)
        self._contents[key] = self._content

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the warehouse back; people use the content that was made over it."""
        self._present = self._contents.get(key)
        return super().restore(key, spec)

    def settle(self, cache: str) -> None:
        """Fills the caches, as far as its owner has any."""
        present, url, ca = self._content, self.address.url, self.address.ca

        def session(account: str) -> Rest:
            person = present.people[account]
            return logged_in(url, person.login, person.password, ca)

        warming.warm(session, present.visits)
        super().settle(cache)

    # -- a BI server ---------------------------------------------------------------------------
    def warehouse(self) -> Database:
        """The part."""
        return cast(Database, self.part(DATABASE))

    def provision(self, content: Content) -> dict[str, float]:
        """By REST, the accounts too."""
        began, names = monotonic(), Names.marked()
        known = None if self.spec.accounts is None else read_people(Path(self.spec.accounts))
        self._made.append(
            self.context.journal.before(
                f"make content of the mark {names.mark} in Superset at {self.address.shown}",
                removal.UNDO,
                address=self.address.to_journal(),
                mark=names.mark,
            )
        )
        with Rest(self.address.url, self.address.ca) as rest:
            log_in(self.address, rest)
            numbers = self._filled(rest, content, names)
            password = f"{secrets.token_urlsafe(18)}{_RULES}" if known is None else None
            if password is not None:
                logins = people.make(rest, content, numbers, password)
                used = [Person(login, password) for login in logins]
            else:
                used = people.join(rest, content, numbers, known or [])
        self._present = _Content(
            numbers,
            Visits.of(content, numbers),
            {account.name: each for account, each in zip(content.accounts, used, strict=True)},
            password,
            self._written(content, names, used, own_passwords=password is None),
        )
        return {"provision_s": monotonic() - began, "accounts": float(len(used))}

    def accounts_file(self, content: Content) -> Path:
        """In a folder that only Loadstone's account may enter, and that goes at the end."""
        return self._content.file

    def actions(self, content: Content) -> Actions:
        """The requests of a browser."""
        found = actions_of(content, self._content.numbers)
        return found if self._content.password is not None else replace(found, secrets={})

    def shown(self, content: Content, kept: KeptAnswer) -> Shown | None:
        """The rows of an answer to a chart's request."""
        return shown(content, kept)

    def connection(self) -> WebConnection:
        """By the address, with the password of the accounts that were made."""
        found, present = _to(self.address, self.spec), self._present
        if present is None or present.password is None:
            return found
        return replace(found, variables={PASSWORD_VARIABLE: present.password})

    # -- observation ---------------------------------------------------------------------------
    def inventory(self) -> dict[str, Any]:
        """Address and version."""
        return {**super().inventory(), "address": self.address.shown, "version": self._version}

    def identity(self) -> str:
        """The address."""
        return self.address.url

    def server_cpu_s(self) -> float | None:
        """Not known: it may be on another machine."""
        return None

    # -- inside --------------------------------------------------------------------------------
    @property
    def _content(self) -> _Content:
        if self._present is None:
            raise TargetError("Superset has no content yet")
        return self._present

    def _filled(self, rest: Rest, content: Content, names: Names) -> Provisioned:
        database = self.warehouse()
        schema = str(database.query("SELECT current_schema()")[0][0])
        connection = cast(ServerConnection, database.connection())
        try:
            return provision.provision(
                rest,
                content,
                provision.Warehouse(connection, schema),
                reads_all=False,
                names=names,
            )
        except UnwillingError as error:
            if error.path != DATABASES:
                raise
            raise TargetError(
                f"Superset does not reach the warehouse: {error.message}", advice=_ANOTHER
            ) from error

    def _written(
        self, content: Content, names: Names, used: list[Person], *, own_passwords: bool
    ) -> Path:
        if self._folder is None:
            raise TargetError("the target is not open")
        path = self._folder / f"{names.mark}.csv"
        more = [accounts_file.LOGIN, *([accounts_file.PASSWORD] if own_passwords else [])]
        of_each = [[p.login, *([p.password] if own_passwords else [])] for p in used]
        accounts_file.write(path, content, more, of_each)
        return path


class PeopledSuperset(RemoteSuperset):
    """One whose people have accounts already: none is made, however many there are."""

    capabilities = RemoteSuperset.capabilities | {MANY_ACCOUNTS}


def _to(address: SupersetAddress, spec: TargetSpec) -> WebConnection:
    web = address.web
    return WebConnection(
        url=address.url,
        host=web.host,
        port=web.port,
        ca=address.ca,
        sources=tuple(spec.sources),
        reaches=(Reach(web.host, web.port, CONNECTIONS),),
        program=replace(DRIVER, logs_in=False),
    )
