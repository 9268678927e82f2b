"""`loadstone doctor` as people call it, and what it writes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from command_line import Done, loadstone
from doctor_facts import WELL
from test_doctor_rules import CASES

from loadstone.doctor.catalogue import put_into
from loadstone.doctor.document import experiment_file
from loadstone.doctor.measure import Base, base_of, experiment_of, superset_base
from loadstone.doctor.model import Finding
from loadstone.doctor.rules import RULES
from loadstone.errors import ExitCode
from loadstone.experiments.file import load_experiment, parse_experiment
from loadstone.factors.registry import factor_kind

DOCS = Path(__file__).parents[2] / "docs"
MEASURED = [name for name in RULES if not isinstance(RULES[name].look(CASES[name][0]).measure, str)]


def doctor(*arguments: str) -> Done:
    return loadstone("doctor", *arguments)


pytestmark = pytest.mark.usefixtures("own_places")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA page_size = 1024")
        connection.execute("CREATE TABLE item (id integer PRIMARY KEY)")
    connection.close()
    return path


def test_the_host_is_looked_at_without_a_server():
    code, told, said = doctor()
    assert (code, said) == (0, "")
    assert told.startswith("Host  ")
    rules = sum(rule.subject == "host" for rule in RULES.values())
    assert f"{rules} rules looked" in " ".join(told.split())


def test_a_finding_is_told_with_all_that_belongs_to_it(database: Path):
    code, told, _ = doctor("--server", str(database))
    assert code == 0
    text = " ".join(told.split())
    rule = RULES["sqlite.page-size"]
    for part in (
        rule.about,
        "seen page_size = 1024",
        "why disks and the page cache",
        "change PRAGMA page_size = 4096",
        "risk VACUUM copies",
        "measure loadstone compare sqlite-page-size.yaml",
        rule.source.title,
        rule.source.url,
    ):
        assert part in text


def test_json_has_everything_and_nothing_else_is_printed(database: Path):
    code, told, said = doctor("--server", str(database), "--json")
    assert (code, said) == (0, "")
    document = json.loads(told)
    assert document["version"] == 1
    found = {each["rule"]: each for each in document["findings"]}
    finding = found["sqlite.page-size"]
    assert finding["severity"] == "look"
    assert finding["source"]["url"].startswith("https://www.sqlite.org/")
    assert finding["experiment"]["design"]["levels"] == [1024, 4096]
    assert document["facts"]["server"]["page_bytes"] == 1024
    assert document["facts"]["server"]["kind"] == "sqlite"


def test_experiments_are_saved_as_files_that_can_be_read(database: Path, tmp_path: Path):
    code, told, said = doctor("--server", str(database), "--save", "advice")
    assert code == 0
    files = sorted((tmp_path / "advice").iterdir())
    assert "sqlite-page-size.yaml" in {file.name for file in files}
    assert f"{len(files)} experiments written to advice" in said
    assert "compare advice/sqlite-page-size.yaml" in " ".join(told.split())
    for file in files:
        assert load_experiment(file).experiment.name == f"doctor-{file.stem}"


def test_the_exit_code_follows_what_it_is_told_to_fail_on(database: Path):
    assert doctor("--server", str(database), "--fail-on", "look")[0] == ExitCode.FINDINGS
    database.with_name("shop.sqlite-journal").write_bytes(
        bytes.fromhex("d9d505f920a163d7") + bytes(504)
    )
    assert doctor("--server", str(database), "--fail-on", "data")[0] == ExitCode.FINDINGS
    assert doctor("--server", str(database))[0] == ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--target", "postgresql"], "which server is missing"),
        (["--server", "nowhere"], "is neither an address nor a file"),
        (["--server", "mysql://me@h/d", "--password", "secret"], "a password is a reference"),
        (["plan.yaml", "--server", "x"], "an experiment file and a server were given"),
        (["missing.yaml"], "missing.yaml cannot be read"),
        (["--server", "postgresql://me:secret@h/d"], "--server: the word holds a password"),
        (["--target", "oracle", "--server", "x"], "oracle"),
    ],
)
def test_wrong_input_is_answered_in_a_line(arguments: list[str], told: str):
    code, out, said = doctor(*arguments)
    assert (code, out) == (ExitCode.WRONG_INPUT, "")
    assert told in said
    assert "secret" not in said.replace("a password is a reference", "")
    assert "Traceback" not in said


def test_all_rules_are_listed():
    listed = json.loads(doctor("--rules", "--json")[1])["rules"]
    assert [each["rule"] for each in listed] == list(RULES)
    assert "postgresql.fsync-off" in doctor("--rules")[1]


# -- experiments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURED)
def test_an_experiment_survives_its_file(name: str):
    facts = CASES[name][0]
    advice = RULES[name].look(facts)
    assert advice is not None
    assert not isinstance(advice.measure, str)
    base = base_of(facts, "local") if facts.superset is None else superset_base(facts.superset)
    experiment = experiment_of(RULES[name], advice.measure, base)
    text = experiment_file(Finding(RULES[name], advice, experiment, left_out=("jit",)))
    assert parse_experiment(text, name).experiment == experiment
    assert factor_kind(experiment.design.factor)
    assert advice.measure.factor.removeprefix("target.") not in experiment.target.settings
    assert all(len(line) <= 100 or "https" in line for line in text.splitlines())


def test_settings_of_the_server_go_into_its_experiments():
    base = base_of(WELL["postgresql"], "embedded")
    assert base == Base("postgresql", "embedded", base.settings, 10)
    assert base.settings["shared_buffers"] == "4GB"
    assert base.settings["io_workers"] == 3
    assert "fsync" not in base.settings
    assert base_of(WELL["sqlite"], "embedded").settings == {
        "journal_mode": "wal",
        "page_size": 4096,
    }
    assert base_of(WELL["host"], "embedded") == Base("postgresql", "embedded", {}, 4)


# -- documents ------------------------------------------------------------------------------------


def test_every_rule_has_a_source_that_can_be_looked_up():
    hosts = (
        "https://www.postgresql.org/docs/18/",
        "https://mariadb.com/docs/server/",
        "https://docs.kernel.org/",
        "https://www.intel.com/content/www/us/en/developer/",
        "https://www.sqlite.org/",
        "https://man7.org/",
        "https://libguestfs.org/",
        "https://superset.apache.org/",
        "https://gunicorn.org/",
        "https://docs.haproxy.org/2.6/",
        "https://docs.sqlalchemy.org/en/20/",
        "https://redis.io/docs/",
        "https://flask-caching.readthedocs.io/",
        "https://werkzeug.palletsprojects.com/",
    )
    for rule in RULES.values():
        assert rule.source.url.startswith(hosts), rule.name
        assert rule.source.title


def test_the_table_of_rules_in_the_documents_is_current():
    text = (DOCS / "doctor.md").read_text(encoding="utf-8")
    assert put_into(text) == text, "run: python -m loadstone.doctor.catalogue docs/doctor.md"
