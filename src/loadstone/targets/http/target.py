"""The target `http`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import WrongInputError
from loadstone.results.limits import RATE_LIMIT
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec, default_server
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.capabilities import WEB
from loadstone.targets.http.address import FORM, WebAddress, parse
from loadstone.targets.http.first import FIRST_FILE
from loadstone.targets.http.greeting import Greeting, await_answer, greet, trust_of
from loadstone.targets.http.reset import run_reset
from loadstone.targets.web import WebApplication, WebConnection

URL = "url"
"""The one setting: the address, so that two applications can be the levels of a factor."""
READY_S = 60.0
"""So long an application may take to answer after it was reset."""


class Http(WebApplication):
    """A web application at an address, which somebody else runs."""

    engine = "http"
    first_file = FIRST_FILE
    capabilities: ClassVar[frozenset[str]] = frozenset({WEB})
    fields: ClassVar[frozenset[str]] = frozenset({"ca", "reset", "reset_timeout_s", "sources"})

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._present = spec
        """As the present trial has it."""
        self._state: str | None = None
        self._greeting: Greeting | None = None

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The address; nobody is asked yet."""
        address = address_of(spec)
        for field, given in (
            ("data", spec.data is not None),
            ("process", spec.process != ProcessSpec()),
            ("storage", spec.storage != StorageSpec()),
        ):
            if given:
                raise WrongInputError(
                    "a web application is not started here", advice=f"leave {field} out"
                )
        if spec.password is not None:
            raise WrongInputError(
                "target http has no password of its own",
                advice="leave it out: the scenario logs in, and names where its secrets are",
            )
        if spec.ca is not None:
            trust_of(str(_path(spec.ca)))
        return {"engine": cls.engine, "address": address.url}

    @classmethod
    def reached(cls, spec: TargetSpec) -> WebConnection:
        """By the address."""
        return connection_to(spec)

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Only `url`, another application in the place of the first."""
        if name != URL:
            raise WrongInputError(
                f"target http has no setting {name!r}",
                advice="vary target.url, workload.… or profile.… instead",
            )
        parse(str(level))
        return SettingInfo(URL, needs="nothing")

    @classmethod
    def keeps_caches(cls, spec: TargetSpec) -> str:
        """They are on the application's host."""
        return "the caches of a web application cannot be emptied from here; target.reset may do it"

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """That trials do not begin alike, where nothing makes them."""
        if spec.reset is not None:
            return []
        return [
            Notice(
                code="not-reset",
                severity="info",
                message="the web application is not reset: a trial begins with what those before "
                "it left there",
                advice="name a command that puts it back before each trial: target.reset",
            )
        ]

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """Too many requests."""
        return {"status_429": RATE_LIMIT}

    # -- life and state ------------------------------------------------------------------------
    def check_access(self) -> None:
        """Asks for the base of the application.

        Raises:
            TargetError: If nothing answers.
        """
        greet(address_of(self.spec), _ca(self.spec))

    def check_ready(self) -> None:
        """As `check_access`, of the application of the present trial."""
        greet(address_of(self._present), _ca(self._present))

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Resets the application by the user's command, and waits until it answers."""
        address, ca = address_of(spec), _ca(spec)
        self._present, self._state = spec, None
        if spec.reset is not None:
            self._state = run_reset(spec.reset, address.url, spec.reset_timeout_s)
        ready_s = READY_S if spec.reset is not None else 0.0
        self._greeting = await_answer(address, ca, ready_s)
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=level, how="plan")
            for name, level in spec.settings.items()
        ]

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """As `empty`: nothing of it is kept here."""
        return self.empty(spec)

    @property
    def state(self) -> str | None:
        """What the user's command wrote."""
        return self._state

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> WebConnection:
        """The address."""
        return connection_to(self._present)

    # -- observation ---------------------------------------------------------------------------
    def inventory(self) -> dict[str, Any]:
        """The address, and what the application says of itself."""
        found: dict[str, Any] = {
            "engine": self.engine,
            "url": address_of(self._present).url,
            "reset": self._present.reset is not None,
        }
        if self._greeting is not None:
            found |= {
                "server": self._greeting.server,
                "status": self._greeting.status,
                "address": self._greeting.at,
                "tls": self._greeting.tls,
            }
        return found

    def identity(self) -> str:
        """The address."""
        return address_of(self._present).url


def address_of(spec: TargetSpec) -> WebAddress:
    """The address that a spec names; a level of the factor `target.url` comes first.

    Raises:
        WrongInputError: If it names none, or one that cannot be read.
    """
    text = str(spec.settings.get(URL, spec.server))
    if text == default_server(spec.engine):
        raise WrongInputError(
            "target http needs an address", advice=f"{FORM}; or --on with the address"
        )
    return parse(text)


def connection_to(spec: TargetSpec) -> WebConnection:
    """How a load generator reaches the application of a spec, whether anything answers or not.

    Raises:
        WrongInputError: As `address_of`.
    """
    address = address_of(spec)
    return WebConnection(
        url=address.url,
        host=address.host,
        port=address.port,
        ca=_ca(spec),
        sources=tuple(spec.sources),
    )


def _ca(spec: TargetSpec) -> str | None:
    return None if spec.ca is None else str(_path(spec.ca))


def _path(file: str) -> Path:
    return Path(file).expanduser().absolute()
