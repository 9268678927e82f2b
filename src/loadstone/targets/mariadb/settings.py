"""What may be set, what setting it needs, what it risks, and whether the server took it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from loadstone.errors import TargetError, WrongInputError
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo
from loadstone.targets.local.sessions import FEWEST_CONNECTIONS, MAX_CONNECTIONS
from loadstone.targets.mariadb import catalog, values
from loadstone.targets.mariadb.binaries import Binaries
from loadstone.targets.mariadb.catalog import Variable, plain_name
from loadstone.targets.mariadb.client import Client
from loadstone.targets.risks import Risk, Risks, is_unsafe

_SYNC_BINLOG = "sync_binlog"
"""It counts only beside a binary log: recovery rolls back what InnoDB prepared and that lacks."""

BASE: dict[str, Level] = {
    MAX_CONNECTIONS: FEWEST_CONNECTIONS,
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_bin",
    "innodb_buffer_pool_dump_at_shutdown": False,
    "innodb_buffer_pool_load_at_startup": False,
    "innodb_stats_auto_recalc": False,
    _SYNC_BINLOG: 1,
}
"""Set on every server that Loadstone starts (see docs/mariadb.md for the reasons)."""

OWN = frozenset(
    {
        "aria_log_dir_path",
        "basedir",
        "bind_address",
        "datadir",
        "extra_port",
        "init_file",
        "innodb_data_home_dir",
        "innodb_log_group_home_dir",
        "innodb_read_only",
        "innodb_undo_directory",
        "log_error",
        "pid_file",
        "plugin_dir",
        "port",
        "read_only",
        "secure_file_priv",
        "skip_grant_tables",
        "skip_networking",
        "slave_load_tmpdir",
        "socket",
        "tmpdir",
    }
)
"""Settings that decide how Loadstone reaches its own server, and where its files lie."""

OF_DATA = frozenset(
    {
        "aria_block_size",
        "innodb_data_file_path",
        "innodb_default_row_format",
        "innodb_file_per_table",
        "innodb_fill_factor",
        "innodb_page_size",
        "lower_case_table_names",
    }
)
"""Settings that decide what files and pages look like when they are made."""

PAGE_SIZES = tuple(str(1024 * each) for each in (4, 8, 16, 32, 64))

RISKS: Risks = {
    "innodb_flush_log_at_trx_commit": Risk.of(safe="1 3", unsafe="0 2"),
    # fast, of MariaDB 11: pages are not flushed to the data files.
    "innodb_doublewrite": Risk.of(safe="on", unsafe="off fast"),
    "innodb_flush_method": Risk.of(
        safe="fsync o_dsync o_direct", unsafe="nosync littlesync o_direct_no_fsync"
    ),
    "innodb_checksum_algorithm": Risk.of(
        safe="crc32 strict_crc32 full_crc32 strict_full_crc32 innodb strict_innodb",
        unsafe="none strict_none",
    ),
    "innodb_log_checksums": Risk.of(safe="on", unsafe="off"),
    "innodb_force_recovery": Risk.of(safe="0", unsafe=None),
    "debug_no_sync": Risk.of(safe="off", unsafe="on"),
    _SYNC_BINLOG: Risk.of(safe="1", unsafe=None),
}
"""Levels under which acknowledged commits can be lost, or damage can go unnoticed."""


def info(binaries: Binaries, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
    """What setting `name` to `level` would need on an owned server of these programs.

    Raises:
        WrongInputError: If it knows no such setting, or refuses the level, in its own words.
    """
    known = catalog.variables(binaries)
    variable = known.get(plain_name(name))
    if variable is None:
        close = difflib.get_close_matches(plain_name(name), known, n=1)
        raise WrongInputError(
            f"MariaDB {binaries.short_version} has no setting {name!r} that can be read back",
            advice=f"did you mean {close[0]}?" if close else "SHOW VARIABLES lists them",
        )
    refused = why_refused(variable)
    unsafe = False
    if refused is None:
        problem = objection(binaries, variable, level)
        if problem is not None:
            raise WrongInputError(
                f"{variable.name} cannot be {variable.text(level)!r}: {problem}",
                advice=_range(variable),
            )
        if variable.name in RISKS:
            made = catalog.made_of(binaries, variable, level)
            unsafe = at_risk(variable, made, has_binlog=_has_binlog(spec.settings))
    return SettingInfo(
        name=variable.name,
        needs=needs(variable),
        unsafe=unsafe,
        default=variable.default,
        unit="",
        refused=refused,
    )


def needs(variable: Variable) -> str:
    """`new data`, `restart`, or `reload` for what `SET GLOBAL` can change."""
    if variable.name in OF_DATA:
        return "new data"
    return "restart" if variable.read_only else "reload"


def why_refused(variable: Variable) -> str | None:
    """Why a setting cannot be a factor, or None if it can."""
    if variable.name in OWN:
        return "Loadstone sets it itself, to reach the server that it starts and to place its files"
    if not variable.has_option and variable.read_only:
        return "it was fixed when MariaDB was built, or the server finds it out itself"
    if not variable.has_option:
        return "it belongs to one session: the server has no option for it"
    return None


def why_refused_at_address(variable: Variable) -> str | None:
    """Why a setting cannot be changed on a server that somebody else runs, or None if it can."""
    refused = why_refused(variable)
    if refused is None and variable.read_only:
        return "it needs a restart, and a server at an address is not restarted"
    if refused is None and variable.name in OF_DATA:
        return "it decides how tables are made, which at an address stays as it is"
    return refused


def objection(binaries: Binaries, variable: Variable, level: Level) -> str | None:
    """Why the server would not take a level, or None."""
    value = variable.text(level)
    if variable.name == "innodb_page_size" and value not in PAGE_SIZES:
        sizes = ", ".join(values.size_text(int(each)) for each in PAGE_SIZES)
        return f"a page has one of {sizes}"
    if variable.name == "log_bin":
        return None if _is_truth(value) else "write on or off: Loadstone names the files"
    return catalog.objection(binaries, variable, level)


def at_risk(variable: Variable, value: str | None, *, has_binlog: bool) -> bool:
    """Whether acknowledged commits can be lost at a value.

    Args:
        variable: The setting.
        value: As the server gives it back, or reads it; None if that is not known.
        has_binlog: The server writes a binary log.

    Raises:
        WrongInputError: If nobody knows whether the value is safe.
    """
    if variable.name not in RISKS or (variable.name == _SYNC_BINLOG and not has_binlog):
        return False
    try:
        word = None if value is None else variable.plain(value)
    except ValueError:
        word = value
    return is_unsafe(RISKS, variable.name, word)


def layout(binaries: Binaries, settings: Mapping[str, Level]) -> dict[str, Level]:
    """The settings that decide what the data look like, if they are not the defaults."""
    known = catalog.variables(binaries)
    found: dict[str, Level] = {}
    for name, level in settings.items():
        variable = known.get(plain_name(name))
        if variable is None or variable.name not in OF_DATA:
            continue
        text = variable.text(level)
        if not variable.same(text, variable.default):
            found[variable.name] = values.normalised(text, variable.kind, variable.choices)
    return dict(sorted(found.items()))


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
        TargetError: If the server has another value.
    """
    readings = []
    has_binlog = bool(client.value("SELECT @@log_bin"))
    for name, level in wanted.items():
        found = row(client, name)
        if found is None:
            raise TargetError(f"the server has no setting {name!r}")
        variable, value, origin = found
        text = variable.text(level)
        chosen = origin == "AUTO" and variable.same(text, variable.default)
        if not (variable.same(text, value) or chosen):
            raise TargetError(
                f"{name} was set to {text!r}, but the server says {value!r}",
                advice="the server bounds or rounds it by what else it has (its log may say why); "
                f"name the value it takes: {value}",
            )
        readings.append(
            FactorReading(
                factor=f"target.{name}",
                requested=level,
                read_back=value,
                before=before.get(name),
                unsafe=at_risk(variable, value, has_binlog=has_binlog),
                how=how,
            )
        )
    return readings


def row(client: Client, name: str) -> tuple[Variable, str, str] | None:
    """A variable of the running server, its value and where that comes from."""
    rows = client.query(
        f"SELECT {catalog.COLUMNS}, global_value, global_value_origin "
        "FROM information_schema.SYSTEM_VARIABLES WHERE variable_name = %s",
        (plain_name(name),),
    )
    if not rows:
        return None
    *columns, value, origin = rows[0]
    texts = tuple(None if each is None else str(each) for each in columns)
    return catalog.from_row(texts), "" if value is None else str(value), str(origin)


def _has_binlog(others: Mapping[str, Level]) -> bool:
    level = {plain_name(name): value for name, value in others.items()}.get("log_bin", False)
    try:
        return values.normalised(values.text(level, "BOOLEAN"), "BOOLEAN") == "ON"
    except ValueError:
        return False


def _is_truth(value: str) -> bool:
    try:
        values.normalised(value, "BOOLEAN")
    except ValueError:
        return False
    return True


def _range(variable: Variable) -> str | None:
    if variable.kind == "ENUM" and variable.choices:
        return f"choose one of {', '.join(variable.choices)}"
    if variable.kind in values.INTEGERS and variable.least is not None:
        return f"choose from {variable.least} to {variable.greatest}"
    return None
