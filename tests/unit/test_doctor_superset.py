"""What the doctor sees of a Superset: a plan, or a configuration that is read and never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_doctor_cli import doctor

from loadstone.doctor.collect import superset as collect
from loadstone.doctor.collect.superset import planned_superset, superset_at
from loadstone.doctor.collect.superset_config import read_config
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.errors import WrongInputError
from loadstone.spec.model import Experiment
from loadstone.targets.superset.settings import DEFAULT_POOL

CONFIG = """\
import os
from sqlalchemy.pool import NullPool

raise SystemExit("nobody runs this")
HOUR = 60 * 60
SECRET_KEY = "{key}"
SQLALCHEMY_DATABASE_URI: str = "postgresql+psycopg2://me:hunter2@db/superset"
DATA_CACHE_CONFIG = {{"CACHE_TYPE": "RedisCache", "CACHE_DEFAULT_TIMEOUT": HOUR // 2 if 0 else 600}}
SQLALCHEMY_ENGINE_OPTIONS = {options}
"""


@pytest.fixture(autouse=True)
def no_gunicorn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test, or somebody, may run a Superset on this machine."""
    monkeypatch.setattr(collect, "matching", lambda _serves: [])


def config(folder: Path, text: str) -> Path:
    path = folder / "superset_config.py"
    path.write_text(text)
    return path


def facts_of(folder: Path, **given: str) -> SupersetFacts:
    fields = {"key": "a-key-of-my-own", "options": "{'pool_size': 5, 'max_overflow': 2}", **given}
    return superset_at(config(folder, CONFIG.format(**fields)))


def planned(settings: dict[str, Any], **fields: Any) -> SupersetFacts:
    return planned_superset(
        Experiment.model_validate(
            {
                "version": 1,
                "name": "people",
                "workload": {"name": "bi", "parameters": {"accounts": 20_000}},
                "target": {"engine": "superset", "settings": settings},
                **fields,
            }
        )
    )


# -- a configuration ---------------------------------------------------------------------------
def test_plain_values_of_a_configuration_are_known_and_it_is_not_run(tmp_path: Path) -> None:
    found = facts_of(tmp_path)
    assert (found.pool, found.pool_is_default) == (7, False)
    assert (found.cache, found.cache_life_s) == ("RedisCache", None)
    assert (found.catalogue, found.key) == ("postgresql", "own")
    assert found.workers is None


@pytest.mark.parametrize(
    ("options", "pool"),
    [
        ("{'poolclass': NullPool}", 0),
        ("{'pool_size': 20}", 30),
        ("{'pool_size': int(os.environ['N'])}", None),
        ("options_of(os.environ)", None),
        ("{}", DEFAULT_POOL),
    ],
)
def test_the_pool_of_a_configuration_is_read(
    tmp_path: Path, options: str, pool: int | None
) -> None:
    assert facts_of(tmp_path, options=options).pool == pool


def test_a_configuration_that_says_nothing_has_the_defaults(tmp_path: Path) -> None:
    found = superset_at(config(tmp_path, "ROW_LIMIT = 5000\n"))
    assert (found.pool, found.pool_is_default) == (DEFAULT_POOL, True)
    assert (found.key, found.cache, found.catalogue) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SECRET_KEY = os.urandom(42)", "random"),
        ("SECRET_KEY = secrets.token_hex(16)", "random"),
        ("SECRET_KEY = 'thisISaSECRET_1234'", "known"),
        ("SECRET_KEY = os.environ['SUPERSET_SECRET_KEY']", None),
        ("SECRET_KEY = 'kept'", "own"),
    ],
)
def test_the_kind_of_key_is_told_and_never_the_key(
    tmp_path: Path, text: str, kind: str | None
) -> None:
    assert read_config(config(tmp_path, text)).key == kind


def test_sums_and_products_of_numbers_are_worked_out(tmp_path: Path) -> None:
    text = "DAY = 24 * 60 * 60\nCACHE = {'LIFE': DAY + 1, 'KEY': print(1)}\n"
    found = read_config(config(tmp_path, text))
    assert found.of("CACHE", "LIFE") == 86_401
    assert found.of("CACHE", "KEY") is found.of("DAY", "KEY") is None


def test_what_is_no_python_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="is no configuration of Superset"):
        superset_at(config(tmp_path, "SECRET_KEY = = 'hunter2'"))


# -- a plan ------------------------------------------------------------------------------------
def test_a_plan_has_the_settings_of_the_system_and_of_its_parts() -> None:
    found = planned(
        {"nodes": 2, "workers": 3, "query_cache": "off", "cache.maxmemory": "2gb"},
        profile={"users": 100, "ramp": "10/s"},
    )
    assert (found.nodes, found.workers, found.at_a_time) == (2, 3, 48)
    assert (found.cache, found.cache_bytes) == ("NullCache", 2 * 1024**3)
    assert (found.accounts, found.users) == (20_000, 100)
    assert found.log_ins_per_s == pytest.approx(10.0, rel=0.02)  # the first comes at once
    assert found.username_index is False


def test_a_tuned_plan_has_index_and_hash() -> None:
    found = planned({"tuned": "on", "pool_size": 4})
    assert (found.username_index, found.event_log, found.hashing) == (True, False, "pbkdf2:1000")
    assert (found.pool, found.pool_is_default) == (4, False)


# -- the command -------------------------------------------------------------------------------
def test_the_doctor_looks_at_a_configuration_and_repeats_no_secret(tmp_path: Path) -> None:
    path = config(tmp_path, CONFIG.format(key="thisISaSECRET_1234", options="{}"))
    code, told, _ = doctor("--target", "superset", "--server", str(path), "--json")
    assert code == 0
    found = {each["rule"]: each for each in json.loads(told)["findings"]}
    assert found["superset.secret-known"]["severity"] == "data"
    assert "hunter2" not in told
    assert "thisISaSECRET_1234" not in told


def test_the_doctor_plans_a_superset_where_none_is_named() -> None:
    code, told, said = doctor("--target", "superset")
    assert code == 0, said
    assert "1 nodes, 2 workers a node, 8 threads a worker" in told
    assert "superset.event-log" in told
