"""The target `superset`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, cast

from loadstone.errors import LoadstoneError, TargetError, WrongInputError
from loadstone.host.locality import at_address
from loadstone.placements import tree
from loadstone.probes.base import Probe
from loadstone.protocol.programs import DRIVER
from loadstone.results.answers import KeptAnswer
from loadstone.results.limits import POOL, RATE_LIMIT
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.dashboards import Content
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.bi import Actions, BiServer, Shown
from loadstone.targets.blame import Chosen
from loadstone.targets.capabilities import BI, FIRST_VISITS, MANY_ACCOUNTS
from loadstone.targets.connection import Reach
from loadstone.targets.database import Database
from loadstone.targets.local.sessions import room_for
from loadstone.targets.postgresql import OwnedPostgreSQL
from loadstone.targets.postgresql.client import Client
from loadstone.targets.superset import (
    accounts,
    accounts_file,
    catalogue,
    installation,
    kept,
    provision,
    settings,
    warming,
)
from loadstone.targets.superset.actions import PASSWORD_VARIABLE, actions_of
from loadstone.targets.superset.balancer import HOST, Balancer, wanted_port
from loadstone.targets.superset.cache import RedisCache
from loadstone.targets.superset.configuration import Surroundings
from loadstone.targets.superset.installation import Environment
from loadstone.targets.superset.kept import Secrets, State
from loadstone.targets.superset.names import OWN
from loadstone.targets.superset.node import NodeMaker, Nodes
from loadstone.targets.superset.pool_use import PoolProbe
from loadstone.targets.superset.rest import Rest, logged_in
from loadstone.targets.superset.runs_as import runs_as
from loadstone.targets.superset.shown import shown
from loadstone.targets.superset.warming import Visits
from loadstone.targets.system import SystemOfParts
from loadstone.targets.web import WebConnection

DATABASE, CACHE, NODES, BALANCER = "database", "cache", "nodes", "balancer"
_PREPARED = "prepared"
"""Snapshot of a catalogue without content, beside a warehouse without tables."""
CONNECTIONS = 6
"""Of a browser to one origin."""
_MAINTENANCE = "postgres"
_OWN: Mapping[str, type[Target]] = {CACHE: RedisCache, NODES: Nodes, BALANCER: Balancer}


class Superset(SystemOfParts, BiServer):
    """Apache Superset: catalogue and warehouse in PostgreSQL, Redis, nodes behind haproxy."""

    engine = "superset"
    capabilities: ClassVar[frozenset[str]] = frozenset({BI, FIRST_VISITS, MANY_ACCOUNTS})
    part_names = (DATABASE, CACHE, NODES, BALANCER)
    part_engines: ClassVar[Mapping[str, str]] = {
        DATABASE: "postgresql",
        **{name: kind.engine for name, kind in _OWN.items()},
    }

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self._states: dict[str, State] = {}
        self._present: State | None = None
        super().__init__(spec, context)

    # -- parts ---------------------------------------------------------------------------------
    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        """Those of Superset's own, and PostgreSQL."""
        return _OWN.get(part) or super().part_class(spec, part)

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        """The nodes have the settings of the system; the database lets all of them in."""
        found = super().part_spec(spec, part)
        if part == NODES:
            own = {name: each for name, each in spec.settings.items() if name in settings.NAMES}
            return found.model_copy(update={"settings": {**found.settings, **own}})
        if part == DATABASE:
            # To the catalogue and to the warehouse, at a time.
            sessions = 2 * settings.settings_of(spec.settings).most_at_a_time
            room = room_for(sessions, map(str.lower, found.settings))
            chosen = {name: Chosen(str(level)) for name, level in room.items()}
            return found.model_copy(update={"settings": {**found.settings, **chosen}})
        return found

    def make_part(self, name: str, spec: TargetSpec) -> Target:
        """Hands over to each what it needs of those before it."""
        of_part = self.part_spec(spec, name)
        if name == NODES:
            maker = NodeMaker(environment=lambda: self._environment, around=self._around)
            return Nodes(of_part, self.context, maker)
        if name == BALANCER:
            return Balancer(of_part, self.context, self._sockets, lambda: self._nodes.threads)
        return super().make_part(name, spec)

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """By whether it names an address."""
        from loadstone.targets.superset.remote import PeopledSuperset, RemoteSuperset

        if not at_address(spec):
            return cls
        return RemoteSuperset if spec.accounts is None else PeopledSuperset

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Versions and programs of all parts, and whether Superset is installed already."""
        of_database = super().part_spec(spec, DATABASE)
        if of_database.engine != "postgresql" or "://" in of_database.server:
            raise WrongInputError(
                "Superset has its catalogue and warehouse in a PostgreSQL that Loadstone starts",
                advice="leave parts.database.engine out, and write server: embedded or local",
            )
        settings.settings_of(spec.settings)
        found = installation.environment()
        where = str(found.folder) if found.is_there else f"first: {installation.first_told()}"
        described = super().describe(spec)
        return {**described, "version": installation.VERSION, "installed": where}

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Nodes, workers, caches and lives, see `settings`."""
        return settings.info(name, level)

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """Room in the balancer for the connections of so many browsers."""
        of_part = cls.part_spec(spec, BALANCER)
        room = Balancer.for_sessions(of_part, CONNECTIONS * sessions)
        return {f"{BALANCER}.{name}": level for name, level in room.items()}

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """That of the database, and whether accounts and roles are tuned."""
        return {**super().layout(spec), **settings.layout(spec.settings)}

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """What is installed first, and what is tuned."""
        found = super().cautions(spec, profile)
        if not installation.environment().is_there:
            message = (
                f"Superset {installation.VERSION} is not installed yet: {installation.first_told()}"
            )
            found.append(Notice(code="installed-first", severity="info", message=message))
        if settings.settings_of(spec.settings).tuned:
            message = f"Superset is tuned: {'; '.join(settings.TUNINGS)}"
            found.append(Notice(code="superset-tuned", severity="info", message=message))
        if why := runs_as().why:
            message = f"Redis, the nodes and haproxy run as root: {why}"
            found.append(Notice(code="superset-as-root", severity="info", message=message))
        return found

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """Those that the front end is told; not those of the database, which nobody sees."""
        return {"rate_limited": RATE_LIMIT, "status_429": RATE_LIMIT, "pool_exhausted": POOL}

    @classmethod
    def reached(cls, spec: TargetSpec) -> WebConnection:
        """To this machine, at a port that is not known before it is open, unless it was chosen."""
        port = wanted_port(cls.part_spec(spec, BALANCER).settings)
        return _to(f"http://{HOST}:{port}", port)

    # -- life and state ------------------------------------------------------------------------
    def open(self) -> None:
        """Installs Superset if it must, starts the database, and has a catalogue prepared."""
        _ = self._environment
        super().open()

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """A catalogue without content, a warehouse without tables."""
        if _PREPARED not in self._states:
            self._prepare()
        return self.restore(_PREPARED, spec)

    def snapshot(self, key: str) -> None:
        """Keeps catalogue and warehouse; the parts after them stand still from now on."""
        self._stop_all_but_first()
        self._database.start()
        self._database.snapshot(key)
        self._states[key] = self._state

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts catalogue and warehouse back; cache and nodes begin anew."""
        self._present = self._states.get(key)
        readings = super().restore(key, spec)
        # One that an earlier run has kept knows where the warehouse was then.
        with closing(Client(self._catalogue)) as client:
            provision.move_warehouse(client, self._database.connection())
        return readings

    def recall(self, key: str) -> dict[str, float] | None:
        """Looks among the states of earlier runs."""
        found = kept.found(self._place(key))
        if found is None:
            return None
        self._database.adopt_snapshot(key, found.cluster)
        self._states[key] = found.state
        return dict(found.facts)

    def retain(self, key: str, facts: Mapping[str, float]) -> None:
        """Keeps the state beside those of earlier runs; without space for it nothing is kept."""
        try:
            kept.keep(
                self._place(key),
                lambda to: self._database.copy_snapshot(key, to),
                facts,
                self._states[key],
            )
        except (OSError, LoadstoneError) as error:
            self.context.journal.note(f"the state of Superset is not kept: {error}")

    def settle(self, cache: str) -> None:
        """Fills the caches, or leaves all of them empty; every worker has served before."""
        if cache == "warm":
            self._warm()
        super().settle(cache)
        self._nodes.serve_once()

    def own_readings(self, spec: TargetSpec) -> list[FactorReading]:
        """As all workers of all nodes have them."""
        return settings.readings(spec.settings, self._nodes.has())

    # -- a BI server ---------------------------------------------------------------------------
    def warehouse(self) -> Database:
        """A database of its own beside the catalogue."""
        return self._database

    def provision(self, content: Content) -> dict[str, float]:
        """By REST; the accounts by SQL."""
        began = monotonic()
        own, tuned = self._state.secrets, self._nodes.has()["tuned"]
        with Rest(self._balancer.url, spread=True) as rest:
            rest.log_in(catalogue.ADMIN, own.admin)
            schema = str(self._database.client.value("SELECT current_schema()"))
            warehouse = provision.Warehouse(self._database.connection(), schema)
            numbers = provision.provision(rest, content, warehouse, reads_all=tuned, names=OWN)
        accounts.make(self._catalogue, content.accounts, numbers.roles, own.people, tuned=tuned)
        self._present = State(own, Visits.of(content, numbers))
        made = accounts.count(self._catalogue, content.accounts)
        return {"provision_s": monotonic() - began, "accounts": float(made)}

    def accounts_file(self, content: Content) -> Path:
        """Kept in Loadstone's cache."""
        return accounts_file.file_of(content)

    def actions(self, content: Content) -> Actions:
        """The requests of a browser."""
        with closing(Client(self._catalogue)) as client:
            return actions_of(content, provision.numbers_in(client, content))

    def shown(self, content: Content, kept: KeptAnswer) -> Shown | None:
        """The rows of an answer to a chart's request."""
        return shown(content, kept)

    def connection(self) -> WebConnection:
        """To the balancer, with the password of the accounts."""
        variables = {PASSWORD_VARIABLE: self._state.secrets.people}
        return replace(_to(self._balancer.url, self._balancer.port), variables=variables)

    def probes(self) -> list[Probe]:
        """Those of the parts, and the pool of connections to the catalogue."""
        return [*super().probes(), PoolProbe(self._catalogue, self._nodes.pool)]

    def inventory(self) -> dict[str, Any]:
        """Versions of Superset and its libraries, and where they lie."""
        return {
            **super().inventory(),
            "version": installation.VERSION,
            "environment": str(self._environment.folder),
            "packages": installation.pinned(),
        }

    # -- inside --------------------------------------------------------------------------------
    @cached_property
    def _environment(self) -> Environment:
        return installation.installed()

    @property
    def _state(self) -> State:
        if self._present is None:
            raise TargetError("Superset has no catalogue yet")
        return self._present

    @property
    def _database(self) -> OwnedPostgreSQL:
        return cast("OwnedPostgreSQL", self.part(DATABASE))

    @property
    def _nodes(self) -> Nodes:
        return cast("Nodes", self.part(NODES))

    @property
    def _balancer(self) -> Balancer:
        return cast("Balancer", self.part(BALANCER))

    @property
    def _catalogue(self) -> Any:
        return replace(self._database.connection(), database=catalogue.DATABASE)

    def _around(self) -> Surroundings:
        cache = cast("RedisCache", self.part(CACHE))
        return Surroundings(self._catalogue, cache.socket, self._state.secrets.key)

    def _sockets(self) -> dict[str, Path]:
        return {name: node.socket for name, node in self._nodes.members.items()}

    def _place(self, key: str) -> Path:
        postgresql = str(self._database.client.value("SELECT version()"))
        return kept.place(self._environment, postgresql, key)

    def _warm(self) -> None:
        has = self._nodes.has()
        # A pool that is smaller than this would refuse some of it.
        most = has["nodes"] * has["workers"] * (has["pool_size"] or warming.AT_A_TIME)
        url, password = self._balancer.url, self._state.secrets.people
        warming.warm(
            lambda account: logged_in(url, account, password, spread=True),
            self._state.visits,
            at_a_time=min(warming.AT_A_TIME, most),
        )

    def _prepare(self) -> None:
        """Makes the catalogue, or takes one that an earlier run has made."""
        if self.recall(_PREPARED) is not None:
            return
        self._present = State(Secrets.made())
        catalogue.create(replace(self._database.connection(), database=_MAINTENANCE))
        around = Surroundings(self._catalogue, None, self._state.secrets.key)
        folder, entry = tree.make(
            self.context.journal, tree.DEFAULT_PARENT, runs_as().account, self.context.owner
        )
        try:
            password, journal = self._state.secrets.admin, self.context.journal
            catalogue.fill(self._environment, around, password, folder, journal)
        finally:
            self.context.journal.undo(entry)
        self.snapshot(_PREPARED)
        self.retain(_PREPARED, {})


def _to(url: str, port: int) -> WebConnection:
    program = replace(DRIVER, logs_in=False)
    reaches = (Reach(HOST, port, CONNECTIONS),)
    return WebConnection(url=url, host=HOST, port=port, reaches=reaches, program=program)
