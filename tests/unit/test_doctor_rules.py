"""Every rule of the doctor fires on the fault that it is about, and is silent without it."""

import doctor_cases_host
import doctor_cases_servers
import pytest
from doctor_facts import WELL

from loadstone.doctor.rules import RULES

CASES = {**doctor_cases_host.CASES, **doctor_cases_servers.CASES}


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
