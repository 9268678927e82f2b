"""The workload `bi`: people at the dashboards of a BI server."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from time import monotonic
from typing import Any, ClassVar

from loadstone.results.answers import ANSWERS_FILE, read_answers
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.dashboards import LOG_IN, LOG_OUT, Content, default_content
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.bi import BiServer
from loadstone.targets.capabilities import BI, FIRST_VISITS, MANY_ACCOUNTS
from loadstone.workloads.base import (
    NO_WAITS,
    THINK_TIME_CAP,
    LoadContext,
    RunDriver,
    Workload,
    spans,
)
from loadstone.workloads.bi.load import told
from loadstone.workloads.bi.loaded_star import compare_star
from loadstone.workloads.bi.metrics import HEADLINE, METRICS, metric_values
from loadstone.workloads.bi.parameters import BiParameters
from loadstone.workloads.bi.shown_values import VALUES, check_values
from loadstone.workloads.bi.star import star, summed
from loadstone.workloads.bi.star_files import provide
from loadstone.workloads.bi.visits import reached
from loadstone.workloads.charts import Charts
from loadstone.workloads.http.checks import EXPECTED, LEFT, check_answers, check_left
from loadstone.workloads.http.metrics import retried_of
from loadstone.workloads.http.options import ErrorClass
from loadstone.workloads.measured import Measured
from loadstone.workloads.search import LoadSearch, SearchIncrements

_BYTES_AT_1 = 1.4e9
"""Of the star in a warehouse, with its keys."""
_LOAD_SESSIONS = 4
_FEW_ACCOUNTS = 500
"""That are made one by one in some minutes."""


class BiSearch(LoadSearch):
    """Users are raised until people wait too long for an action."""

    rate_unit: ClassVar[str] = "actions/s"
    objective: ClassVar[tuple[str, ...]] = (
        "list.p95 < 1 s",
        "filter.p95 < 2 s",
        "open.p95 < 4 s",
        "errors = 0",
    )

    def increments(self, over: str) -> SearchIncrements:
        """People think for long: ten are the first load worth a look."""
        return SearchIncrements(first=10.0 if over == "users" else 1.0)


class BusinessIntelligence(Workload[BiServer]):
    """People who log in, look for dashboards, open, filter and drill them, and log out."""

    name = "bi"
    origin = "50,000 users of Oracle BI EE on Sun SPARC Enterprise T5440, 2009"
    requires: ClassVar[frozenset[str]] = frozenset({BI})
    usual_engine = "sql-dashboards"
    usual_profile: ClassVar[Mapping[str, Any]] = {
        "users": 50,
        "think_time": "specified",
        "ramp": "25/s",
        "warm_up": "2s",
        "measure": "20s",
        "drain": "2s",
    }
    first_factor = None
    Parameters = BiParameters
    metrics = METRICS
    headline = HEADLINE
    checks = (EXPECTED, LEFT, VALUES)
    Search = BiSearch
    parameters: BiParameters

    @cached_property
    def content(self) -> Content:
        """What the server is provisioned with."""
        return default_content(self.parameters.accounts)

    @property
    def actions(self) -> tuple[str, ...]:
        """What people come to do, in order."""
        return reached(self.parameters.ways)

    def needs(self) -> frozenset[str]:
        """Static files, where browsers ask for them; accounts, where there are many people."""
        visits = {FIRST_VISITS} if self.parameters.first_visit else set()
        many = {MANY_ACCOUNTS} if self.parameters.accounts > _FEW_ACCOUNTS else set()
        return self.requires | visits | many

    @classmethod
    def fitting(cls, capabilities: frozenset[str]) -> dict[str, Any]:
        """Fewer people, where each account takes a while to be made."""
        return {} if MANY_ACCOUNTS in capabilities else {"accounts": 100}

    # -- data ----------------------------------------------------------------------------------
    def data_key(self) -> dict[str, Any]:
        """The star's scale, and what the server was provisioned with."""
        return {"scale": self.parameters.scale, "content": self.content.digest}

    def expected_size_bytes(self) -> int:
        """About that of the star."""
        return int(self.parameters.scale * _BYTES_AT_1)

    def build(self, target: BiServer, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Loads the star into the warehouse and provisions the server with the content.

        Returns:
            `load_time_s` and its parts `star_s` and `provision_s`; `generate_s`, which is not part
            of it; `rows`, `size_bytes`, and what the server tells besides.

        Raises:
            WrongInputError: If a file was altered.
            LoadstoneError: If the warehouse does not hold, or does not answer, what it must.
        """
        warehouse = target.warehouse()
        files = provide(self.parameters.scale, warehouse.files_form)
        files.refuse_altered()
        began = monotonic()
        tables = star(warehouse.usual_keys)
        warehouse.create_tables(tables)
        for table in tables:
            warehouse.load_files(table, files.files[table.name], sessions=_LOAD_SESSIONS)
        warehouse.finish_tables(tables)
        warehouse.analyse()
        star_s = monotonic() - began
        compare_star(warehouse, files, self.content)
        provisioned = target.provision(self.content)
        return {
            "load_time_s": star_s + provisioned.get("provision_s", 0.0),
            "star_s": star_s,
            "generate_s": files.generated_s,
            "rows": float(sum(files.rows.values())),
            "size_bytes": float(warehouse.size_bytes()),
            **provisioned,
        }

    def fingerprint(self, target: BiServer) -> Fingerprint:
        """Rows and sums of the star, and what the server was provisioned with."""
        warehouse = target.warehouse()
        of_star = warehouse.fingerprint(summed(warehouse.dialect))
        told_of = f"{of_star.digest} {self.content.digest}"
        digest = hashlib.sha256(told_of.encode()).hexdigest()
        return of_star.model_copy(update={"digest": digest})

    # -- load ----------------------------------------------------------------------------------
    def arrival(self, profile: ProfileSpec) -> str:
        """The users, and how long they think."""
        if self.loaded(profile).think_time != "specified":
            return super().arrival(profile)
        think = f"think time {self.parameters.think_time:g}s"
        return f"closed, {profile.users} users, {think}, {spans(profile)}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """The think time is the workload's, unless the profile has one of its own."""
        if profile.load == "open" or profile.think_time != "none":
            return profile
        return profile.model_copy(update={"think_time": "specified"})

    def pacing(self) -> dict[str, Any]:
        """The wait after each action, and after a log-in that failed."""
        mean_s = self.parameters.think_time
        think: dict[str, Any] = {"distribution": "none"}
        if mean_s:
            think = {
                "distribution": "negative-exponential",
                "mean_s": mean_s,
                "cap": THINK_TIME_CAP,
            }
        waits = {"keying_s": 0.0, "think": think}
        return {
            "default": NO_WAITS,
            "operations": dict.fromkeys((LOG_IN, *self.actions), waits),
        }

    def hurried(self) -> frozenset[str]:
        """A log-in: the first action follows."""
        return frozenset({LOG_IN})

    def idle(self, profile: ProfileSpec) -> Mapping[str, str]:
        """Without a think time in the profile the parameter holds."""
        if profile.load != "closed" or profile.think_time != "none":
            return {}
        if not self.parameters.think_time:
            return {}
        why = (
            "none leaves the think times of workload.think_time as they are: 0s means no think time"
        )
        return {"think_time": why}

    def plan(self, context: LoadContext[BiServer]) -> dict[str, Any]:
        """What people do on this server, and where answers are kept."""
        target = context.target
        return told(
            target.actions(self.content),
            self.content,
            self.parameters,
            people=target.accounts_file(self.content),
            answers=context.folder / ANSWERS_FILE,
        )

    # -- figures -------------------------------------------------------------------------------
    def charts(self) -> Charts:
        """The actions are judged; log-ins and log-outs stand beside them."""
        return Charts(judged=self.actions)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """Rates, errors and times of the actions, and what caches and retries did."""
        return metric_values(measured, self.actions)

    def notices(self, measured: Measured) -> list[Notice]:
        """What was tried again, and people who stand for several users."""
        return [*_retried(measured), *self._shared_accounts(measured)]

    def _shared_accounts(self, measured: Measured) -> list[Notice]:
        accounts = self.parameters.accounts
        if measured.users <= accounts:
            return []
        return [
            Notice(
                code="people-shared",
                severity="info",
                message=f"{measured.users:,} users had {accounts:,} accounts: several used the "
                "same",
                advice="give as many accounts as users: --param accounts=N",
            )
        ]

    def check(
        self, target: BiServer, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """The answers, whether everybody left, and what charts showed."""
        own = self.parameters
        actions = target.actions(self.content)
        classes = map(ErrorClass.model_validate, actions.scenario.get("classes", []))
        wrong = {each.name: each.is_wrong for each in classes}
        operations = (LOG_IN, *self.actions, LOG_OUT)
        checks = [check_answers(measured, operations, own.errors_allowed, wrong)]
        if measured.folder is None:
            return checks
        if LOG_OUT in actions.steps:
            checks += check_left(measured.folder)
        looked = sum(measured.total_operations.get(name, 0) for name in self.actions[1:])
        if own.sample and looked:
            kept = read_answers(measured.folder)
            checks.append(check_values(target, self.content, kept, own.sample))
        return checks


def _retried(measured: Measured) -> list[Notice]:
    """That the front end tried requests again, which people felt as a longer wait."""
    retried = retried_of(measured.ticks)
    if not retried:
        return []
    why = ", ".join(f"{count:,} {name}" for name, count in retried.most_common())
    return [
        Notice(
            code="requests-retried",
            severity="info",
            message=f"{retried.total():,} requests were tried again, as the front end does ({why})",
            advice="they are no errors: the waits between are part of the response times; "
            "--param retries=false shows them as errors",
        )
    ]
