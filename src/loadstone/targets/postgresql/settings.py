"""What may be set, what setting it needs, and whether the server took it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadstone.errors import TargetError
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.targets.local.sessions import FEWEST_CONNECTIONS, MAX_CONNECTIONS
from loadstone.targets.postgresql import values
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.session import SETTINGS
from loadstone.targets.risks import Risk, Risks, is_unsafe
from loadstone.units import format_duration

BASE: dict[str, Level] = {
    MAX_CONNECTIONS: FEWEST_CONNECTIONS,
    "logging_collector": "off",
    "log_checkpoints": "on",
    "log_timezone": "UTC",
    "autovacuum": "off",
}
"""Set on every server that Loadstone starts (see docs/postgresql.md for the reasons)."""

RISKS: Risks = {
    "fsync": Risk.of(safe="on", unsafe="off"),
    "full_page_writes": Risk.of(safe="on", unsafe="off"),
    "synchronous_commit": Risk.of(safe="on remote_apply remote_write local", unsafe="off"),
    "data_sync_retry": Risk.of(safe="off", unsafe="on"),
    "zero_damaged_pages": Risk.of(safe="off", unsafe="on"),
    "ignore_checksum_failure": Risk.of(safe="off", unsafe="on"),
    "ignore_invalid_pages": Risk.of(safe="off", unsafe="on"),
    "ignore_system_indexes": Risk.of(safe="off", unsafe="on"),
}
"""Levels under which acknowledged commits can be lost, or damage of the data goes unnoticed."""

LONG_S = 600.0
"""A load that is measured for so long says something about hours, in which servers vacuum."""

OWN = frozenset(
    {
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "listen_addresses",
        "log_destination",
        "logging_collector",
        "port",
        "syslog_facility",
        "unix_socket_directories",
        "unix_socket_group",
        "unix_socket_permissions",
    }
)
"""Settings that decide how Loadstone reaches its own server."""

_NEEDS = {
    "postmaster": "restart",
    "sighup": "reload",
    "superuser-backend": "reload",
    "backend": "reload",
    "superuser": "reload",
    "user": "reload",
}


@dataclass(frozen=True)
class Row:
    """A row of `pg_settings`."""

    name: str
    setting: str
    unit: str | None
    context: str
    kind: str
    source: str
    boot: str
    least: str | None
    greatest: str | None
    choices: list[str] | None

    @property
    def shown(self) -> str:
        """The value with its unit, as it may be written."""
        if self.unit is None or not self.setting.lstrip("-").isdigit() or int(self.setting) <= 0:
            return self.setting
        digits = "".join(each for each in self.unit if each.isdigit())
        return f"{int(self.setting) * int(digits or 1)}{self.unit[len(digits) :]}"


def row(client: Client, name: str) -> Row | None:
    """What the running server says of a setting, or None if it has none of that name."""
    rows = client.query(
        "SELECT name, setting, unit, context, vartype, source, boot_val, min_val, max_val, "
        f"enumvals FROM {SETTINGS} WHERE lower(name) = lower(%s)",
        (name,),
    )
    if not rows:
        return None
    found = rows[0]
    return Row(*found)


def needs(context: str) -> str:
    """`reload` or `restart`, from `pg_settings.context`."""
    return _NEEDS[context]


def why_refused(name: str, context: str) -> str | None:
    """Why a setting cannot be a factor, or None if it can."""
    if context == "internal":
        return "it was fixed when PostgreSQL was built or by initdb"
    if name == "search_path":
        return "it decides which tables a session finds: the load would not find Loadstone's"
    if name in ("transaction_isolation", "transaction_read_only", "transaction_deferrable"):
        return f"it belongs to one transaction: use default_{name}"
    return None


def cautions(settings: Mapping[str, Level], measure_s: float) -> list[Notice]:
    """That autovacuum is off for long, on a server that Loadstone starts.

    Args:
        settings: Of the experiment, which come after `BASE`.
        measure_s: How long load is measured.
    """
    own = {name.lower(): level for name, level in settings.items()}
    level = own.get("autovacuum", BASE["autovacuum"])
    is_off = values.same(values.text(level), "off", "bool", None)
    if not is_off or measure_s < LONG_S:
        return []
    return [
        Notice(
            code="autovacuum-off",
            severity="warning",
            message=f"autovacuum is off, and load is measured for {format_duration(measure_s)}: "
            "a server that runs for hours must vacuum, and what that costs is not in the figures",
            advice="set autovacuum: on in target.settings (--set autovacuum=on)",
        )
    ]


def read_back(
    client: Client, wanted: Mapping[str, Level], before: Mapping[str, str], how: str
) -> list[FactorReading]:
    """Reads settings from the running server and compares them with what was asked for.

    Args:
        client: Connected after the settings were applied.
        wanted: Setting: level.
        before: Setting: what the server had before, where it is known.
        how: `reload` or `restart`.

    Raises:
        TargetError: If the server has another value, with the place that it comes from.
    """
    readings = []
    for name, level in wanted.items():
        found = row(client, name)
        if found is None:
            raise TargetError(f"the server has no setting {name!r}")
        if not _took(found, values.text(level)):
            raise TargetError(
                f"{name} was set to {values.text(level)!r}, but the server says "
                f"{found.shown!r} (from: {found.source})",
                advice="remove what overrides it: ALTER DATABASE or ALTER ROLE ... SET, "
                "a command-line option, another configuration file",
            )
        readings.append(
            FactorReading(
                factor=f"target.{name}",
                requested=level,
                read_back=found.shown,
                before=before.get(name),
                unsafe=is_unsafe(RISKS, found.name, found.setting),
                how=how,
            )
        )
    return readings


def _took(found: Row, asked: str) -> bool:
    if values.same(asked, found.setting, found.kind, found.unit):
        return True
    # "Choose for me" (wal_buffers = -1): the server replaces its own default by what it chose.
    chosen = found.source in ("override", "default", "dynamic default")
    return chosen and values.same(asked, found.boot, found.kind, found.unit)
