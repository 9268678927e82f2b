"""Every rule of the doctor fires on the fault that it is about, and is silent without it."""

from dataclasses import replace

import doctor_cases_host
import doctor_cases_servers
import doctor_cases_superset
import pytest
from doctor_facts import HOST, WELL, mariadb

from loadstone.doctor.facts import Facts, MariaDBFacts
from loadstone.doctor.rules import RULES

CASES = {
    **doctor_cases_host.CASES,
    **doctor_cases_servers.CASES,
    **doctor_cases_superset.CASES,
}


def test_every_rule_has_a_case_and_every_case_a_rule():
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_fires_on_its_fault(name: str):
    facts, _, told = CASES[name]
    advice = RULES[name].look(facts)
    assert advice is not None
    assert told in f"{advice.seen}\n{advice.why}\n{advice.change}\n{advice.risk}"
    for text in (advice.seen, advice.why, advice.change, advice.risk):
        assert text
        assert not text.endswith(".")


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_silent_without_its_fault(name: str):
    _, silent, _ = CASES[name]
    assert RULES[name].look(silent) is None


@pytest.mark.parametrize("name", RULES)
def test_a_rule_finds_nothing_where_nothing_is_wrong(name: str):
    assert [subject for subject, facts in WELL.items() if RULES[name].look(facts)] == []


@pytest.mark.parametrize(
    ("method", "version", "told"),
    [
        ("O_DSYNC", "10.11.19", "cached twice"),
        ("O_DSYNC", "11.4.2", None),
        ("nosync", "10.11.19", "power loss"),
        ("nosync", "11.4.2", "cached twice"),
        ("O_DIRECT_NO_FSYNC", "11.4.2", "power loss"),
        ("fsync", "", "cached twice"),
    ],
)
def test_what_a_flush_method_does_depends_on_the_version(
    method: str, version: str, told: str | None
):
    server = mariadb(innodb_flush_method=method).server
    assert isinstance(server, MariaDBFacts)
    advice = RULES["mariadb.flush-method"].look(Facts(HOST, replace(server, version=version)))
    lost = advice is not None and "power loss" in advice.why
    assert (advice is None, lost) == (told is None, told == "power loss")


@pytest.mark.parametrize("changed", [{"log_bin": "OFF"}, {"binlog_storage_engine": "innodb"}])
def test_sync_binlog_matters_only_with_a_binary_log_of_its_own(changed: dict[str, str]):
    assert RULES["mariadb.sync-binlog"].look(mariadb(sync_binlog=0, **changed)) is None
