"""What Grid Engine's commands say, as values; the texts were recorded from 8.1.9."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.schedulers import gridengine_output
from loadstone.schedulers.base import SchedulerError

AT_S = 1_795_824_600.0
"""2026-11-28T00:10:00 UTC."""
HEAD = """<?xml version='1.0'?>
<job_info  xmlns:xsd="http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qstat/qstat.xsd">
"""


def _queue(node: str, *jobs: str, state: str = "", slots: int = 2) -> str:
    told = f"<state>{state}</state>" if state else ""
    return f"""    <Queue-List>
      <name>loadstone.q@{node}</name>
      <qtype>BP</qtype>
      <slots_used>0</slots_used>
      <slots_resv>0</slots_resv>
      <slots_total>{slots}</slots_total>
      <arch>lx-amd64</arch>
      {told}{"".join(jobs)}
    </Queue-List>
"""


def _job(name: str, letters: str, *, number: int = 7, when: str = "JAT_start_time") -> str:
    return f"""<job_list state="running">
        <JB_job_number>{number}</JB_job_number>
        <JAT_prio>0.55500</JAT_prio>
        <JB_name>{name}</JB_name>
        <JB_owner>root</JB_owner>
        <state>{letters}</state>
        <{when}>2026-11-28T00:10:00</{when}>
        <slots>1</slots>
      </job_list>
"""


def _listing(queues: str = "", waiting: str = "") -> str:
    rest = f"  <queue_info>\n{queues}  </queue_info>\n  <job_info>\n{waiting}  </job_info>\n"
    return f"{HEAD}{rest}</job_info>\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17\n", "17"),
        ("17.1-4:1\n", "17"),
        ('Your job 17 ("a") has been submitted\n', "17"),
        ("Welcome!\n 1 project\nprice: 3\n17\nBye\n", "17"),
        ("", None),
        ("no 17 here\n", None),
        ("17\n18\n", None),
    ],
)
def test_the_id_is_found_whatever_a_site_prints(text: str, expected: str | None) -> None:
    assert gridengine_output.submitted(text) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("qw", "waiting"),
        ("hqw", "held"),
        ("t", "running"),
        ("r", "running"),
        ("dr", "running"),
        ("Rr", "requeued"),
        ("Rq", "requeued"),
        ("s", "held"),
        ("S", "held"),
        ("T", "held"),
        ("Eqw", "failed"),
        ("z", "unknown"),
        ("", "unknown"),
    ],
)
def test_letters_that_are_not_known_are_never_an_end(letters: str, expected: str) -> None:
    assert gridengine_output.state_of(letters) == expected


def test_a_job_on_two_nodes_is_one_job() -> None:
    job = _job("ls-a", "r")
    found = gridengine_output.listed(_listing(_queue("n1", job) + _queue("n2", job)))
    assert found.jobs["ls-a"].nodes == ("n1", "n2")
    assert (found.jobs["ls-a"].state, found.jobs["ls-a"].began_s) == ("running", AT_S)
    assert [(node.name, node.slots, node.up) for node in found.nodes] == [
        ("n1", 2, True),
        ("n2", 2, True),
    ]


def test_a_job_whose_node_does_not_answer_has_lost_it() -> None:
    job = _job("ls-a", "r")
    queues = _queue("n1", job) + _queue("n2", job, state="au")
    found = gridengine_output.listed(_listing(queues))
    assert found.jobs["ls-a"].state == "node-failed"
    assert "n2" in found.jobs["ls-a"].reason
    assert found.jobs["ls-a"].nodes == ("n1", "n2")


@pytest.mark.parametrize(
    ("state", "up"), [("", True), ("a", True), ("au", False), ("E", False), ("d", False)]
)
def test_the_state_of_a_queue_says_whether_its_node_takes_jobs(state: str, up: bool) -> None:
    (found,) = gridengine_output.listed(_listing(_queue("n1", state=state))).nodes
    assert found.up == up


def test_a_job_that_waits_has_no_node_and_no_begin() -> None:
    waiting = _job("ls-b", "qw", when="JB_submission_time")
    found = gridengine_output.listed(_listing(_queue("n1"), waiting)).jobs["ls-b"]
    assert (found.state, found.nodes, found.reason) == ("waiting", (), "")
    assert (found.submitted_s, found.began_s) == (AT_S, None)


def test_text_before_the_document_is_not_part_of_it() -> None:
    assert gridengine_output.listed("Welcome to the cluster\n" + _listing()).jobs == {}


def test_text_that_is_no_document_is_not_guessed_at() -> None:
    with pytest.raises(SchedulerError, match="qstat said what cannot be read"):
        gridengine_output.listed("down for maintenance\n")


DETAILS = """<?xml version='1.0'?>
<detailed_job_info  xmlns:xsd="http://arc.liv.ac.uk/detailed_job_info.xsd">
  <djob_info>
    <element>
      <JB_job_number>2</JB_job_number>
      <JB_ja_tasks>
        <ulong_sublist>
          <JAT_status>16</JAT_status>
          <JAT_task_number>1</JAT_task_number>
          <JAT_message_list>
            <ulong_sublist>
              <QIM_type>1</QIM_type>
              <QIM_message>11/28/2026 01:47:21 [0:18]: error: can&apos;t chdir to /gone: \
No such file or directory</QIM_message>
            </ulong_sublist>
          </JAT_message_list>
        </ulong_sublist>
      </JB_ja_tasks>
    </element>
    <element><JB_job_number>4</JB_job_number></element>
    <element><JB_job_number>5</JB_job_number></element>
  </djob_info>
  <messages>
    <element>
      <SME_message_list>
        <element>
          <MES_job_number_list>
            <ulong_sublist><ULNG_value>4</ULNG_value></ulong_sublist>
          </MES_job_number_list>
          <MES_message_number>24</MES_message_number>
          <MES_message>cannot run in PE "ranks2" because it only offers 0 slots</MES_message>
        </element>
        <element>
          <MES_job_number_list>
            <ulong_sublist><ULNG_value>2</ULNG_value></ulong_sublist>
          </MES_job_number_list>
          <MES_message_number>32</MES_message_number>
          <MES_message>Job is in error state</MES_message>
        </element>
      </SME_message_list>
      <SME_global_message_list>
        <element>
          <MES_message_number>37</MES_message_number>
          <MES_message>queue instance &quot;loadstone.q@n2&quot; dropped because it is full\
</MES_message>
        </element>
      </SME_global_message_list>
    </element>
  </messages>
</detailed_job_info>
"""


def test_jobs_that_do_not_run_tell_why() -> None:
    """One in error, one whose parallel environment is full, one that no queue has room for."""
    assert gridengine_output.reasons(DETAILS) == {
        "2": "error: can't chdir to /gone: No such file or directory",
        "4": 'cannot run in PE "ranks2" because it only offers 0 slots',
        "5": 'queue instance "loadstone.q@n2" dropped because it is full',
    }


def _account(**fields: str) -> str:
    plain = {
        "qname": "loadstone.q",
        "hostname": "n1",
        "owner": "root",
        "jobname": "ls-a",
        "jobnumber": "7",
        "qsub_time": "Sat Nov 28 00:10:00 2026",
        "start_time": "Sat Nov 28 00:10:00 2026",
        "end_time": "Sat Nov 28 00:10:05 2026",
        "failed": "0",
        "exit_status": "0",
        "ru_wallclock": "5s",
        "ru_maxrss": "2048",
        "cpu": "1.500s",
        "category": "-u root -l h_rt=60 -pe ranks2 2",
    }
    lines = "".join(f"{name:<13}{value}\n" for name, value in {**plain, **fields}.items())
    return "=" * 62 + "\n" + lines


def test_the_fields_of_a_job_that_ended() -> None:
    found = gridengine_output.ended(_account())["ls-a"]
    told = found.accounted
    assert (told.id, told.state, told.nodes, found.owner) == ("7", "ended", ("n1",), "root")
    assert (told.began_s, told.ended_s, told.cpu_s, told.max_rss_mib) == (
        AT_S,
        AT_S + 5,
        1.5,
        2.0,
    )


@pytest.mark.parametrize(
    ("fields", "state", "reason"),
    [
        ({"exit_status": "3"}, "failed", "exit code 3"),
        ({"failed": "100 : assumedly after job", "exit_status": "137"}, "failed", "signal 9"),
        (
            {
                "failed": "100 : assumedly after job",
                "exit_status": "137",
                "ru_wallclock": "60s",
            },
            "timed-out",
            "h_rt of 60 s",
        ),
        ({"failed": "37  : qmaster enforced h_rt, h_cpu, or h_vmem limit"}, "timed-out", "h_rt"),
        ({"failed": "26  : opening input/output file"}, "failed", "failed 26: opening input"),
        ({"failed": "21  : in recognizing job"}, "node-failed", "recognizing"),
        ({"failed": "25  : rescheduling"}, "requeued", "rescheduling"),
    ],
)
def test_how_a_job_ended(fields: dict[str, str], state: str, reason: str) -> None:
    found = gridengine_output.ended(_account(**fields))["ls-a"]
    assert found.accounted.state == state
    assert reason in found.reason


def test_the_parts_of_a_job_are_added() -> None:
    text = _account(cpu="2.000s", ru_maxrss="4.000KB") + _account(hostname="n2")
    found = gridengine_output.ended(text)["ls-a"].accounted
    assert (found.cpu_s, found.max_rss_mib, found.nodes) == (3.5, 4.0, ("n1", "n2"))


def test_a_job_that_never_began_has_no_begin() -> None:
    found = gridengine_output.ended(_account(start_time="-/-", end_time="-/-"))["ls-a"].accounted
    assert (found.began_s, found.ended_s) == (None, None)


def test_parallel_environments_of_a_queue() -> None:
    text = "qname  all.q\npe_list  make smp,[n1=make mpi],\\\n[n2=orte]\nslots 1\n"
    assert gridengine_output.environments_of(text) == ["make", "smp", "mpi", "orte"]
    assert gridengine_output.environments_of("pe_list  NONE\n") == []
    assert gridengine_output.rule_of("pe_name  a\nallocation_rule  $pe_slots\n") == "$pe_slots"


@given(st.text())
def test_no_text_of_qsub_breaks_the_reader(text: str) -> None:
    found = gridengine_output.submitted(text)
    assert found is None or found in text
