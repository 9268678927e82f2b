"""The settings of Spark that can be varied, as Spark itself knows them.

They are asked of a JVM of its own, without a context: Spark would take any name and find a wrong
level only when it uses it. Source of the meanings:
https://spark.apache.org/docs/latest/configuration.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.targets.base import SettingInfo
from loadstone.targets.risks import Risk, Risks, is_unsafe
from loadstone.targets.script_process import answer_of
from loadstone.targets.spark.jvm import check_installed

_ASK = """
import json, subprocess, sys, warnings
warnings.simplefilter("ignore")
from pyspark.java_gateway import launch_gateway
from py4j.protocol import Py4JJavaError
name, value = sys.argv[1:]
gateway = launch_gateway(None, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})
jvm = gateway.jvm
jvm.java.lang.Class.forName("org.apache.spark.internal.config.package$")
for more in ("internal.SQLConf$", "internal.StaticSQLConf$"):
    jvm.java.lang.Class.forName("org.apache.spark.sql." + more)
entries = getattr(jvm, "org.apache.spark.internal.config.ConfigEntry")
entry = entries.findEntry(name)
told = {"known": entry is not None, "default": "", "made": None, "error": None, "near": []}
if entry is None:
    companion = jvm.java.lang.Class.forName("org.apache.spark.internal.config.ConfigEntry$")
    field = companion.getDeclaredField("knownConfigs")
    field.setAccessible(True)
    told["near"] = list(field.get(companion.getField("MODULE$").get(None)).keySet())
else:
    told["default"] = str(entry.defaultValueString())
    try:
        told["made"] = str(entry.valueConverter().apply(value))
    except Py4JJavaError as error:
        told["error"] = str(error.java_exception.getMessage())
gateway.proc.stdin.close()
gateway.proc.wait()
print(json.dumps(told))
"""
_OUTSIDE = re.compile(
    r"spark\.(app|submit|master|jars|files|archives|repl|ui|history|eventLog|yarn|kubernetes|ssl"
    r"|authenticate|acls|admin|modify|deploy|dynamicAllocation|executorEnv"
    r"|driver\.(host|bindAddress|supervise|log)|local\.dir|metrics|plugins|port|pyspark|python"
    r"|redaction|hadoop|extraListeners|api|connect|worker|files"
    r"|sql\.(warehouse|catalogImplementation|catalog\.|hive|streaming|session\.timeZone|ui))\b.*"
)
"""They are about other systems, other machines, or where Loadstone keeps things."""

RISKS: Risks = {
    "spark.sql.files.ignoreCorruptFiles": Risk.of(safe="false", unsafe="true"),
    "spark.sql.files.ignoreMissingFiles": Risk.of(safe="false", unsafe="true"),
}
"""Levels under which damage of the data goes unnoticed."""

_OF_CLUSTERS = re.compile(
    r"spark\.(executor\.(instances|cores|memory|memoryOverhead)|cores\.max|driver\.port"
    r"|blockManager\.port)"
)
"""They say nothing where one JVM is all."""


def info(name: str, level: Level, *, is_cluster: bool = False) -> SettingInfo:
    """What setting `name` to `level` needs, in one JVM or on a cluster.

    Raises:
        WrongInputError: If there is no such setting, or the level is not one of its values.
    """
    if not name.startswith("spark."):
        raise WrongInputError(
            f"Spark has no setting {name!r}; their names begin with `spark.`",
            advice="https://spark.apache.org/docs/latest/configuration.html lists them",
        )
    if _OUTSIDE.fullmatch(name):
        refused = "it is about other systems or machines, or decided by Loadstone"
        return SettingInfo(name=name, needs="restart", refused=refused)
    if _OF_CLUSTERS.fullmatch(name) and not is_cluster:
        refused = "it is about the workers of a cluster: name a master, `server: spark://host:port`"
        return SettingInfo(name=name, needs="restart", refused=refused)
    told = _told(name, written(level))
    return SettingInfo(
        name=name,
        needs="restart",
        unsafe=is_unsafe(RISKS, name, told["made"]),
        default=str(told["default"]),
    )


def written_all(settings: Mapping[str, Level]) -> dict[str, str]:
    """The settings as Spark takes them."""
    return {name: written(level) for name, level in settings.items()}


def written(level: Level) -> str:
    """A level as Spark takes it."""
    return str(level).lower() if isinstance(level, bool) else str(level).strip()


@cache
def _told(name: str, text: str) -> dict[str, Any]:
    """The default of a setting that can be `text`, and what Spark makes of that."""
    check_installed()
    told = answer_of("Spark", _ASK, name, text)
    if not told["known"]:
        raise WrongInputError(
            f"Spark has no setting {name!r}; {near(name, told['near'])}",
            advice="https://spark.apache.org/docs/latest/configuration.html lists them",
        )
    if told["error"] is not None:
        raise WrongInputError(f"{name} cannot be {text!r}: {told['error']}")
    return dict(told)
