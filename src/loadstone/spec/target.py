"""The system under test, as an experiment file names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from loadstone.spec.base import Level, Spec
from loadstone.spec.paths import REFERENCE
from loadstone.spec.problems import Path

LEAST_QUOTA = 0.01
"""Of a processor: the kernel gives no less than 1 ms of a period of 100 ms."""


class StorageSpec(Spec):
    """Where the data of a system that Loadstone starts lie, as placements by role.

    Which roles there are its target says: `data` of most, `log` and `archive` of servers.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, str]

    data: str | None = Field(
        default=None, description="Placement of the data; default: a plain folder."
    )

    @model_validator(mode="before")
    @classmethod
    def _named_only(cls, value: object) -> object:
        """A role without a placement is one that is not named."""
        if not isinstance(value, Mapping):
            return value
        return {role: placement for role, placement in value.items() if placement is not None}

    @property
    def named(self) -> dict[str, str]:
        """Role: the placement of what has that role."""
        return {role: text for role, text in self.model_dump().items() if text is not None}

    def placed(self, role: str, placement: str | None) -> StorageSpec:
        """The same with another placement for a role; None: the default."""
        return StorageSpec.model_validate(self.named | {role: placement})


class ProcessSpec(Spec):
    """How the processes of a server are started."""

    cpus: str | None = Field(
        default=None, description="Processors they may run on, as a list: `0`, `0-3,8`."
    )
    nofile: int | None = Field(default=None, ge=64, description="Files that each may open.")
    quota: float | None = Field(
        default=None,
        ge=LEAST_QUOTA,
        description="Processor time that all of them together may use, by a control group: `0.25` "
        "is a quarter of one processor.",
    )

    @property
    def named(self) -> dict[str, Level]:
        """Those that are set, by name."""
        return {name: level for name, level in self.model_dump().items() if level is not None}

    def over(self, other: ProcessSpec) -> ProcessSpec:
        """These options, and those of another where these say nothing."""
        return ProcessSpec.model_validate({**other.named, **self.named})


_INSTALLED = ("mariadb",)
"""Engines that Loadstone does not bring along."""


def default_server(engine: str) -> str:
    """What `server` is where it is not said."""
    return "local" if engine in _INSTALLED else "embedded"


def _own_paths(fields: Mapping[str, Any]) -> Iterator[Path]:
    for name in ("data", "ca", "accounts"):
        if isinstance(fields.get(name), str):
            yield (name,)
    password = fields.get("password")
    if isinstance(password, str) and password.startswith(REFERENCE):
        yield ("password",)


PlaceOfSystem = tuple[
    str, str, str | None, tuple[tuple[str, str | None, str | None, str | None], ...]
]
"""Engine, server and data of a system, and the name and the same of its parts."""


def _with_url(schema: dict[str, Any]) -> None:
    """The schema knows the other name of `server`, too."""
    schema["properties"]["url"] = {
        "title": "Url",
        "type": "string",
        "description": "Another name of `server`: the address of a web application "
        "(`https://app.example`).",
    }


def _reference(value: str | None) -> str | None:
    if value is not None and not value.startswith(("env:", "file:")):
        raise ValueError("a password is a reference: write env:NAME or file:PATH")
    return value


Password = Annotated[
    str | None,
    AfterValidator(_reference),
    Field(description="Where the password is: `env:NAME` or `file:PATH`, never itself."),
]


class PartSpec(Spec):
    """A part of a system: a system itself. What it leaves open, the system under test decides."""

    engine: str | None = Field(default=None, description="Name of an engine.")
    server: str | None = Field(default=None, description="As of a target.")
    password: Password = None
    data: str | None = Field(default=None, description="Folder for its data.")
    settings: dict[str, Level] = Field(
        default_factory=dict,
        description="Settings that all trials share; a factor is named `target.PART.SETTING`.",
    )
    storage: StorageSpec = StorageSpec()
    process: ProcessSpec = ProcessSpec()


class TargetSpec(Spec):
    """The system under test."""

    model_config = ConfigDict(json_schema_extra=_with_url)

    engine: str = Field(description="Name of an engine: `loadstone list targets`.")
    server: str = Field(
        default_factory=lambda known: default_server(known.get("engine", "")),
        description="`embedded`, `local`, `local:MAJOR`, or an address "
        "(`postgresql://user@host:port/db`, `spark://host:port`, `https://app.example`). Default: "
        "`embedded`; `local` for mariadb.",
    )
    password: Password = None
    data: str | None = Field(
        default=None, description="Folder for the data of a server that Loadstone starts."
    )
    settings: dict[str, Level] = Field(
        default_factory=dict, description="Settings of the server that all trials share."
    )
    storage: StorageSpec = StorageSpec()
    process: ProcessSpec = ProcessSpec()
    parts: dict[str, PartSpec] = Field(
        default_factory=dict,
        description="Of a system of several parts: what is said of each, by its name.",
    )
    ca: str | None = Field(
        default=None,
        description="Of a web application: file of the certificates (PEM) by which it is trusted, "
        "instead of those of the system.",
    )
    accounts: str | None = Field(
        default=None,
        description="Of a BI server at an address: CSV file (`username,password`) of people who "
        "have accounts there. Default: accounts are made, and taken away at the end.",
    )
    reset: str | list[str] | None = Field(
        default=None,
        description="Of a web application: the command that puts it into its start state before "
        "each trial, for the shell, or as a list of words. What it writes to its standard output "
        "tells one state from another; a failure ends the trial.",
    )
    reset_timeout_s: int = Field(
        default=300, ge=1, le=86_400, description="Seconds that `reset` may take."
    )
    sources: list[str] = Field(
        default=[],
        description="Of a web application: addresses of this machine that connections come from, "
        "where the ports of one are not enough. Default: the system's choice; at a loopback "
        "address as many as are needed.",
    )
    others: dict[str, TargetSpec] = Field(
        default_factory=dict,
        description="Further systems by name, as levels of the factor `target.engine`. A level "
        "that is not among them is an engine with nothing else said.",
    )

    @classmethod
    def paths(cls, fields: Mapping[str, Any]) -> Iterator[Path]:
        """The ways to the paths of files and folders among the fields of a target.

        Those in an experiment file are relative to that file. Placements are named from the root.

        Args:
            fields: As they were written; nobody has judged them yet.
        """
        yield from _own_paths(fields)
        others = fields.get("others")
        for name, other in others.items() if isinstance(others, Mapping) else ():
            if isinstance(other, Mapping):
                yield from (("others", name, *way) for way in _own_paths(other))

    def other(self, name: str) -> TargetSpec:
        """The system that a level of `target.engine` means."""
        if name in self.others:
            found = self.others[name]
        elif name == self.engine:
            found = self
        else:
            found = TargetSpec(engine=name)
        return found.model_copy(update={"others": self.others})

    @property
    def site(self) -> PlaceOfSystem:
        """Specs that are equal in this are about the same server, or file, with the same parts."""
        places = {
            name: (part.engine, part.server, part.data) for name, part in sorted(self.parts.items())
        }
        said = tuple((name, *place) for name, place in places.items() if any(place))
        return self.engine, self.server, self.data, said

    @property
    def alone(self) -> TargetSpec:
        """This system without the others."""
        return self.model_copy(update={"others": {}})

    @property
    def bare(self) -> TargetSpec:
        """This system, and its parts, where they lie and run if nobody says so."""
        plain = {"storage": StorageSpec(), "process": ProcessSpec()}
        parts = {name: part.model_copy(update=plain) for name, part in self.parts.items()}
        return self.model_copy(update={**plain, "parts": parts})

    @property
    def named_settings(self) -> dict[str, Level]:
        """All settings that it names, those of its parts as `PART.SETTING`."""
        of_parts = {
            f"{name}.{setting}": level
            for name, part in self.parts.items()
            for setting, level in part.settings.items()
        }
        return {**of_parts, **self.settings}

    def with_only(self, settings: Mapping[str, Level]) -> TargetSpec:
        """The same target with these settings and no others.

        Args:
            settings: Those of its parts as `PART.SETTING`.
        """
        parts = {
            name: part.model_copy(update={"settings": {}}) for name, part in self.parts.items()
        }
        return self.model_copy(update={"settings": dict(settings), "parts": parts})

    def with_part(self, name: str, **fields: StorageSpec | ProcessSpec) -> TargetSpec:
        """The same target with other fields of a part."""
        part = self.parts.get(name, PartSpec()).model_copy(update=fields)
        return self.model_copy(update={"parts": {**self.parts, name: part}})

    def with_settings(self, settings: Mapping[str, Level]) -> TargetSpec:
        """The same target with further settings."""
        return self.model_copy(update={"settings": {**self.settings, **settings}})

    @model_validator(mode="before")
    @classmethod
    def _one_address(cls, value: object) -> object:
        """`url` is the other name of `server`, which people have for a web application."""
        if not isinstance(value, Mapping) or "url" not in value:
            return value
        if "server" in value and value["server"] != value["url"]:
            raise ValueError("url and server both name the address: write one of the two")
        rest = {name: given for name, given in value.items() if name != "url"}
        return {**rest, "server": value["url"]}

    @field_validator("others")
    @classmethod
    def _flat(cls, value: dict[str, TargetSpec]) -> dict[str, TargetSpec]:
        nested = [name for name, spec in value.items() if spec.others]
        if nested:
            raise ValueError(f"{nested[0]} has others of its own: name all of them in one place")
        return value

    @field_validator("reset")
    @classmethod
    def _some_command(cls, value: str | list[str] | None) -> str | list[str] | None:
        if value is not None and (not value or not value[0].strip()):
            raise ValueError("is empty: write a command, or leave it out")
        return value

    @field_validator("sources")
    @classmethod
    def _addresses(cls, value: list[str]) -> list[str]:
        for each in value:
            try:
                ip_address(each)
            except ValueError:
                raise ValueError("each is an IP address of this machine: 192.0.2.7") from None
        return value
