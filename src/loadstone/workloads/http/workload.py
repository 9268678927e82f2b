"""The workload `http`."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

from loadstone.errors import WrongInputError
from loadstone.protocol.programs import Program
from loadstone.results.answers import ANSWERS_FILE
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.paths import whole
from loadstone.spec.problems import Path as Way
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.referred import referred
from loadstone.spec.target import TargetSpec
from loadstone.targets.capabilities import WEB
from loadstone.targets.connection import Connection
from loadstone.targets.web import WebApplication, WebConnection
from loadstone.workloads.base import NO_WAITS, LoadContext, Workload, spans
from loadstone.workloads.charts import Charts
from loadstone.workloads.http import first
from loadstone.workloads.http.checks import CHECKS, check_answers, check_left
from loadstone.workloads.http.metrics import (
    HEADLINE,
    METRICS,
    errors_of,
    metric_values,
    resent_of,
)
from loadstone.workloads.http.origins import reaches_of
from loadstone.workloads.http.parameters import WebParameters
from loadstone.workloads.http.people import People, read_people
from loadstone.workloads.http.places import paths_in
from loadstone.workloads.http.reading import in_full, is_text, read_scenario
from loadstone.workloads.http.scenario import FIRST_VISIT, LOG_IN, LOG_OUT, Scenario
from loadstone.workloads.measured import Measured
from loadstone.workloads.search import LoadSearch

_VARIABLE = "LOADSTONE_SECRET_{}"
"""Of the driver's environment, with the number of the secret."""
_SHARE = "share "
"""How the facts begin that tell how many connections went to an address."""


class WebSearch(LoadSearch):
    """Users are raised, or the rate of the transactions."""

    rate_unit: ClassVar[str] = "transactions/s"


class WebScenario(Workload[WebApplication]):
    """Users of a web application who do what a scenario says."""

    name = "http"
    origin = "what people use k6, Locust and LoadRunner for: a declared scenario, or a recording"
    requires: ClassVar[frozenset[str]] = frozenset({WEB})
    usual_engine = "http"
    Parameters = WebParameters
    metrics = METRICS
    headline = HEADLINE
    checks = CHECKS
    judges_secrets: ClassVar[frozenset[str]] = frozenset({"scenario"})
    rebuilds = True
    first_parameters: ClassVar[Mapping[str, str]] = {"scenario": first.SCENARIO}
    first_profile: ClassVar[Mapping[str, str]] = first.PROFILE
    Search = WebSearch
    parameters: WebParameters

    @cached_property
    def scenario(self) -> Scenario:
        """What the users do.

        Raises:
            WrongInputError: If its file cannot be read, or is wrong.
        """
        given = self.parameters.scenario
        return read_scenario(Path(given)) if isinstance(given, str) else given

    # -- files, secrets and people -------------------------------------------------------------
    @classmethod
    def paths(cls, parameters: Mapping[str, Any]) -> Sequence[Way]:
        """The file of the scenario, or those that the scenario itself names."""
        given = parameters.get("scenario")
        if isinstance(given, str):
            return [] if is_text(given) else [("scenario",)]
        return [("scenario", *way) for way in paths_in(given)]

    def files(self) -> Mapping[str, str]:
        """That of the scenario; none once its text is kept with the experiment."""
        given = self.parameters.scenario
        return {"scenario": given} if isinstance(given, str) else {}

    def file_in_full(self, parameter: str) -> str:
        """The scenario as it was written."""
        return in_full(Path(self.files()[parameter]))

    def examine_file(self, parameter: str) -> None:
        """Only a factor's level is still a path when a configuration is looked at."""
        read_scenario(Path(self.files()[parameter]))
        raise WrongInputError(
            "a scenario is no level of a factor: its transactions would not be those of another",
            advice="run each by itself, and compare the results",
        )

    def examine_place(self, target: TargetSpec, profile: ProfileSpec) -> None:
        """Its secrets are where they are said to be, and so are its people."""
        self.variables()
        self.people()

    def operations(self) -> Sequence[str]:
        """Transactions, and what users do before and after them."""
        return self.scenario.operations

    def variables(self) -> dict[str, str]:
        """The secrets, by the variable of the driver's environment that hands each over.

        Raises:
            WrongInputError: If one is not where it was said to be.
        """
        return {
            _VARIABLE.format(number): referred(reference, f"secret {name}")
            for number, (name, reference) in enumerate(self.scenario.secrets.items())
        }

    def people(self) -> People | None:
        """What the file of people has, if there is one.

        Raises:
            WrongInputError: If it cannot be read, or is no such file.
        """
        path = self._people_path
        return None if path is None else read_people(path)

    @property
    def _people_path(self) -> Path | None:
        given = self.scenario.people
        return None if given is None else Path(whole(given, Path.cwd()))

    def expected_size_bytes(self) -> int:
        """Nothing is loaded."""
        return 0

    def fingerprint(self, target: WebApplication) -> Fingerprint:
        """What was told of the application's state when it was reset; all are alike without."""
        state = target.state
        digest = hashlib.sha256((state or "").encode()).hexdigest()
        return Fingerprint(digest=digest, sums={} if state is None else {"reset": digest})

    # -- load ----------------------------------------------------------------------------------
    def arrival(self, profile: ProfileSpec) -> str:
        """The users, and that they think as the scenario says."""
        if self.loaded(profile).think_time != "specified" or not self.scenario.thinks:
            return super().arrival(profile)
        return f"closed, {profile.users} users, think times of the scenario, {spans(profile)}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """The think times are those of the scenario, unless the profile has one of its own."""
        if profile.load == "open" or profile.think_time != "none":
            return profile
        return profile.model_copy(update={"think_time": "specified"})

    def idle(self, profile: ProfileSpec) -> Mapping[str, str]:
        """`think_time: none`, where the scenario has think times of its own."""
        asks = profile.load == "closed" and profile.think_time == "none"
        if not (asks and self.scenario.thinks):
            return {}
        why = "none leaves the think times of the scenario as they are: 0s means no think time"
        return {"think_time": why}

    def pacing(self) -> dict[str, Any]:
        """The think time of each transaction.

        After a log-in that failed the driver waits for the usual one at least; one that succeeded
        is followed at once, and so is a first visit. Users who log out and come again wait in
        between, too.
        """
        usual = self.scenario.think_time
        thinks = {each.name: each.think_time or usual for each in self.scenario.transactions}
        if self.scenario.log_in is not None:
            thinks[LOG_IN] = usual
        if self.scenario.first_visit is not None:
            thinks[FIRST_VISIT] = usual
        if self.scenario.leaves:
            thinks[LOG_OUT] = usual
        return {
            "default": NO_WAITS,
            "operations": {
                name: {"keying_s": 0.0, "think": think.driver()} for name, think in thinks.items()
            },
        }

    def hurried(self) -> frozenset[str]:
        """A log-in and a first visit, where there are any: the first transaction follows."""
        first = {LOG_IN: self.scenario.log_in, FIRST_VISIT: self.scenario.first_visit}
        return frozenset(name for name, steps in first.items() if steps is not None)

    def plan(self, context: LoadContext[WebApplication]) -> dict[str, Any]:
        """The scenario, and where the answers go that it keeps."""
        told = self.known_plan()
        if self.scenario.keeps:
            told["parameters"]["answers"] = str((context.folder / ANSWERS_FILE).absolute())
        return told

    def known_plan(self) -> dict[str, Any]:
        """The scenario, which is the same wherever it is to run."""
        names = {
            name: _VARIABLE.format(number) for number, name in enumerate(self.scenario.secrets)
        }
        path = self._people_path
        people = None if path is None else str(path)
        return {
            "name": self.name,
            "role": "run",
            "parameters": {"scenario": self.scenario.driver(people, names)},
        }

    def connected(self, connection: Connection) -> Connection:
        """With the secrets of the scenario, and the servers that its requests go to."""
        web = cast(WebConnection, connection)  # so is that of every target that `requires` takes
        reaches = reaches_of(self.scenario, web.url)
        return replace(web, reaches=reaches, variables=self.variables())

    def program(self, connection: Connection) -> Program:
        """The load driver, whose users open their connections when they need them."""
        return replace(connection.program, logs_in=False)

    # -- figures -------------------------------------------------------------------------------
    def charts(self) -> Charts:
        """The transactions are judged; log-ins and log-outs stand beside them."""
        return Charts(judged=self.scenario.names)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """Rates, errors and the mean response time of the transactions."""
        return metric_values(measured, self.scenario.names)

    def notices(self, measured: Measured) -> list[Notice]:
        """Log-ins that failed, requests sent again, where connections went, people in common."""
        found = [*self._shut_out(measured), *_resent(measured), *_addresses(measured)]
        return [*found, *self._shared_people(measured)]

    def _shut_out(self, measured: Measured) -> list[Notice]:
        """That users stood before a closed door, and how long they waited there."""
        failed, log_in = errors_of(measured.ticks, (LOG_IN,)), self.scenario.log_in
        if log_in is None or not failed:
            return []
        why = ", ".join(f"{count:,} {name}" for name, count in failed.most_common())
        back_off = log_in.back_off_s
        return [
            Notice(
                code="log-ins-failed",
                severity="warning",
                message=f"{failed.total():,} log-ins failed ({why}): a closed user then held off, "
                f"{back_off.first:g} s at first and up to {back_off.longest:g} s, give or take a "
                "half",
                advice="fewer users were at work than there were: see what the application says "
                "to a log-in; log_in: back_off_s sets how long they hold off",
            )
        ]

    def _shared_people(self, measured: Measured) -> list[Notice]:
        people = None
        with contextlib.suppress(WrongInputError):  # it may be gone by now
            people = self.people()
        if people is None or people.rows >= measured.users:
            return []
        return [
            Notice(
                code="people-shared",
                severity="info",
                message=f"{measured.users:,} users had {people.rows:,} rows of people: several "
                "used the same",
                advice="give as many rows as users where one person can be there only once",
            )
        ]

    def check(
        self, target: WebApplication, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """The answers, and whether everybody left."""
        allowed = self.parameters.errors_allowed
        own = {each.name: each.is_wrong for each in self.scenario.classes}
        checks = [check_answers(measured, self.scenario.operations, allowed, own)]
        if self.scenario.log_out is not None:
            checks += check_left(measured.folder)
        return checks


def _resent(measured: Measured) -> list[Notice]:
    """That connections were closed while nothing went over them, as servers do."""
    resent = resent_of(measured.ticks)
    if not resent:
        return []
    why = ", ".join(f"{count:,} {name}" for name, count in resent.most_common())
    return [
        Notice(
            code="requests-resent",
            severity="info",
            message=f"{resent.total():,} requests were sent again, on a new connection: the "
            f"application had closed the one before ({why})",
            advice="it closes idle connections sooner than users ask again: that is no error, and "
            "the new connection is part of their response time",
        )
    ]


def _addresses(measured: Measured) -> list[Notice]:
    """To which addresses of a name connections went, where it has several."""
    shares = {
        name.removeprefix(_SHARE): int(count)
        for name, count in sorted(measured.facts.items())
        if name.startswith(_SHARE)
    }
    if len(shares) < 2:
        return []
    told = ", ".join(f"{count:,} to {address}" for address, count in shares.items())
    return [
        Notice(
            code="addresses",
            severity="info",
            message=f"the connections of the load went to {len(shares)} addresses: {told}",
        )
    ]
