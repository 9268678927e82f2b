"""The workload, and the session of each of its users."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.runner.acknowledgements import Acknowledgements
from loadstone.runner.archive.actor import Actor
from loadstone.runner.archive.closer import Closer
from loadstone.runner.archive.common import Common
from loadstone.runner.archive.keeper import Keeper
from loadstone.runner.archive.operator import Operator
from loadstone.runner.archive.parameters import (
    OPERATIONS,
    Role,
    part_of,
    read_parameters,
)
from loadstone.runner.archive.replay import read_replay
from loadstone.runner.archive.station import Station
from loadstone.runner.clock import Clock
from loadstone.runner.database import Database, Link
from loadstone.runner.engines.connections import read_connection
from loadstone.runner.plan import Plan, RefusalError
from loadstone.runner.session import LOST, FailureError, Outcome, Session, Workload, WorkloadEvent
from loadstone.runner.usage import EngineMeter


def open_archive(plan: Plan, clock: Clock) -> Archive:
    """The archive of a plan.

    Raises:
        RefusalError: It names what is wrong.
    """
    plan.refuse_open()
    parameters = read_parameters(plan)
    connection = read_connection(plan.connection)
    if plan.workload.role != "run":
        raise RefusalError("workload.role", f"archive has no role {plan.workload.role}")
    if connection.protocol != "duckdb":
        raise RefusalError("connection.protocol", f"{connection.protocol} is none of duckdb")
    events = parameters.events
    replay = None if events is None else read_replay(events, parameters.elements)
    meter = EngineMeter()
    database = Database(connection, meter)
    acknowledgements = Acknowledgements(plan.acknowledgements, clock)
    common = Common(database, parameters, clock, plan.seed, replay, acknowledgements)
    return Archive(common, meter)


class Archive(Workload):
    """The archive on DuckDB."""

    operations = OPERATIONS

    def __init__(self, common: Common, meter: EngineMeter) -> None:
        self._common = common
        self._meter = meter

    @property
    def engine(self) -> str:
        """Name and version of the engine."""
        return self._common.database.version

    def open(self, user: int) -> ArchiveSession:
        """Opens the session of a user.

        Raises:
            FailureError: The engine does not.
        """
        return ArchiveSession(self._common, user)

    def engine_cpu_s(self) -> float:
        """Processor time that DuckDB has used so far."""
        return self._meter.total_s()

    def counters(self) -> dict[str, int]:
        """Events and bytes since the start."""
        totals = self._common.totals()
        return {
            "events_offered": totals.offered,
            "events_accepted": totals.accepted,
            "events_stored": totals.stored,
            "events_lost": totals.lost,
            "inserts_over_threshold": totals.over_threshold,
            "bytes_sent": self._common.bytes_sent,
        }

    def gauges(self) -> dict[str, float]:
        """What the stations hold back."""
        totals = self._common.totals()
        return {
            "events_buffered": totals.buffered + totals.in_doubt,
            "deepest_buffer": self._common.deepest(),
        }

    def facts(self) -> dict[str, float]:
        """The counts of the whole run."""
        totals = self._common.totals()
        return {
            "events_offered": totals.offered,
            "events_accepted": totals.accepted,
            "events_stored": totals.stored,
            "events_lost": totals.lost,
            "events_buffered": totals.buffered,
            "events_in_doubt": totals.in_doubt,
            "inserts_over_threshold": totals.over_threshold,
        }

    def close(self) -> None:
        """Closes the database."""
        self._common.database.close()


class ArchiveSession(Session):
    """One user with its cursor."""

    def __init__(self, common: Common, user: int) -> None:
        self._database = common.database
        self._link: Link | None = common.database.connect()
        try:
            self._actor = _actor_of(common, self._link, user)
        except BaseException:
            self._let_go()
            raise

    @property
    def hurries(self) -> bool:
        """Whether what is next is due as soon as the last operation has ended."""
        return self._actor.hurries

    def choose(self) -> str:
        """What this user does next."""
        return self._actor.choose()

    def execute(self, operation: str) -> Outcome:
        """Makes one attempt.

        Raises:
            FailureError: It did not end well.
        """
        if self._link is None:
            raise FailureError(LOST, "there is no connection")
        return self._actor.execute(self._link, operation)

    def workload_events(self) -> Sequence[WorkloadEvent]:
        """Events since the last operation."""
        events, self._actor.workload_events = self._actor.workload_events, []
        return events

    def reconnect(self) -> None:
        """Replaces a lost cursor.

        Raises:
            FailureError: Others still hold the lost database, or it does not open.
        """
        self._let_go(is_lost=True)
        self._link = self._database.connect()

    def close(self) -> None:
        """Gives the cursor back; no events come any more."""
        self._actor.stop()
        self._let_go()

    def _let_go(self, *, is_lost: bool = False) -> None:
        link, self._link = self._link, None
        if link is not None:
            self._database.give_back(link, is_lost=is_lost)


def _actor_of(common: Common, link: Link, user: int) -> Actor:
    part = part_of(common.parameters, user)
    match part.role:
        case Role.KEEPER:
            return Keeper(common)
        case Role.CLOSER:
            return Closer(common)
        case Role.OPERATOR:
            return Operator(common, user)
        case Role.STATION:
            return Station(common, link, part.station, user)
