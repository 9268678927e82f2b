"""What is said beside the comparison of two results that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.report.hosts import POWER_METERS, are_two_hosts
from loadstone.report.model.comparisons import ComparisonReport, HostDifference
from loadstone.report.model.variants import MetricInfo
from loadstone.report.reading import RecordedTrial
from loadstone.results.record import Notice
from loadstone.results.statistics import Method


def notices_of(
    sides: Mapping[str, Sequence[RecordedTrial]],
    compared: Sequence[tuple[MetricInfo, ComparisonReport]],
    wanted: Sequence[str],
) -> list[Notice]:
    """Of what was compared, of how the two were made, and under which settings.

    Args:
        sides: Label: its trials that count.
        compared: Each figure with what came of it.
        wanted: The figures that were to be compared.
    """
    notices = []
    names = [metric.name for metric, _ in compared]
    if missing := [name for name in wanted if name not in names]:
        notices.append(
            Notice(
                code="another-figure",
                severity="warning",
                message=f"compared by {', '.join(names)}: the two do not both have "
                f"{', '.join(missing)}",
            )
        )
    if any(report.test == Method.UNPAIRED for _, report in compared):
        notices.append(
            Notice(
                code="not-interleaved",
                severity="warning",
                message="the two were made one after the other: what drifted between them, the "
                "machine included, looks like a difference of the two",
                advice="to defend a difference, run both in one experiment: loadstone compare "
                "WORKLOAD --factor NAME --levels A,B",
            )
        )
    unsafe = [
        label for label, trials in sides.items() if any(trial.result.unsafe for trial in trials)
    ]
    if unsafe:
        notices.append(
            Notice(
                code="unsafe-setting",
                severity="warning",
                message=f"unsafe: {', '.join(unsafe)} ran under settings that can lose "
                "acknowledged commits",
            )
        )
    return notices


def notices_of_hosts(hosts: Sequence[HostDifference]) -> list[Notice]:
    """That nothing can be laid to one of them where several things differ."""
    if not hosts:
        return []
    facts = ", ".join(each.fact for each in hosts)
    if not are_two_hosts(hosts):
        return [_of_one_host([each.fact for each in hosts])]
    return [
        Notice(
            code="two-hosts",
            severity="warning",
            message=f"the two were made on hosts that differ in {facts}: a difference may come of "
            "any of these",
            advice="to tell physical from virtual, take the same hardware, system and disk for "
            "both, and change nothing else",
        )
    ]


def _of_one_host(facts: Sequence[str]) -> Notice:
    """What was another on the same host."""
    if list(facts) == [POWER_METERS]:
        return Notice(
            code="other-meter",
            severity="warning",
            message="the power of the two was not measured by the same meters: a difference of "
            "watts may come of that",
        )
    return Notice(
        code="changed-host",
        severity="warning",
        message=f"the two were made on one host, with another {', '.join(facts)}: a difference "
        f"may come of {'any of these' if len(facts) > 1 else 'that'}",
        advice="hardware is no factor: change one thing of it between two results, and nothing "
        "else",
    )


def notices_of_power(
    apart: str, compared: Sequence[tuple[MetricInfo, ComparisonReport]], left_out: Sequence[str]
) -> list[Notice]:
    """That figures of power were not compared, because their scopes differ."""
    if not apart:
        return []
    instead = ", ".join(metric.name for metric, _ in compared)
    asked = f" ({', '.join(left_out)})" if left_out else ""
    return [
        Notice(
            code="other-scope",
            severity="warning",
            message=f"figures of power{asked} are not compared: {apart}; compared by {instead}",
            advice="compare results whose experiment's meters have the same scope",
        )
    ]
