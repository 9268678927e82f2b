"""Processors of the host: frequency, clock, virtual machine, NUMA."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts
from loadstone.doctor.model import Advice, Measure, Severity, Source
from loadstone.doctor.rules.base import host_rule, kernel, postgresql_manual
from loadstone.host import prefetchers
from loadstone.host.frequency import CLOCK

_SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen")
_A_A = Measure(
    "profile.users",
    (8, 8),
    "an A/A comparison: it shows how large a difference must be to be seen on this machine",
)


@host_rule(
    "governor",
    "the processor saves power by running slower",
    Severity.SPEED,
    kernel(
        "CPU performance scaling, governors",
        "admin-guide/pm/cpufreq.html#generic-scaling-governors",
    ),
)
def governor(host: HostFacts) -> Advice | None:
    """The governor is powersave, conservative, ondemand or userspace."""
    if host.governor not in ("powersave", "conservative", "ondemand", "userspace"):
        return None
    return Advice(
        seen=f"scaling_governor is {host.governor}",
        why="between short bursts of work the frequency falls, and each burst begins slow; with "
        "intel_pstate powersave is mild, with others it is the lowest frequency",
        change="performance: cpupower frequency-set -g performance",
        risk="none for data; more power and heat",
        measure=Measure("host.cpu.governor", (host.governor, "performance")),
    )


@host_rule(
    "energy-preference",
    "the processor was told to save energy rather than time",
    Severity.SPEED,
    kernel(
        "intel_pstate, Energy vs Performance Hints",
        "admin-guide/pm/intel_pstate.html#energy-vs-performance-hints",
    ),
)
def energy_preference(host: HostFacts) -> Advice | None:
    """The preference is power or balance_power."""
    if host.energy_preference not in ("power", "balance_power"):
        return None
    return Advice(
        seen=f"energy_performance_preference is {host.energy_preference}",
        why="where the processor chooses its frequency itself it goes up later and less far with "
        "this hint: response times grow, and figures per watt may be better or worse",
        change="balance_performance, in each energy_performance_preference below "
        "/sys/devices/system/cpu/cpufreq",
        risk="none for data; more power and heat",
        measure=Measure(
            "host.cpu.energy_preference", (host.energy_preference, "balance_performance")
        ),
    )


@host_rule(
    "frequency-limited",
    "the processor is kept below the highest frequency that it has",
    Severity.LOOK,
    kernel("CPU performance scaling, policy interface", "admin-guide/pm/cpufreq.html"),
)
def frequency_limited(host: HostFacts) -> Advice | None:
    """The upper limit of a frequency domain is below what the hardware has."""
    limit, most = host.frequency_limit_khz, host.frequency_most_khz
    if limit is None or most is None or limit >= most:
        return None
    levels = (CLOCK.shown(str(limit)), CLOCK.shown(str(most)))
    return Advice(
        seen=f"scaling_max_freq is {levels[0]}; cpuinfo_max_freq is {levels[1]}",
        why="somebody set it, or the firmware did because of heat or a weak supply: the machine "
        "cannot show what it can do",
        change=f"{most} into each scaling_max_freq, unless it was set on purpose",
        risk="none for data; more power and heat",
        measure=Measure("host.cpu.max_freq", levels),
    )


@host_rule(
    "prefetchers-off",
    "hardware prefetchers are switched off",
    Severity.LOOK,
    Source(
        "Intel: Disclosure of Hardware Prefetcher Control on Some Intel Processors",
        prefetchers.SOURCE,
    ),
)
def prefetchers_off(host: HostFacts) -> Advice | None:
    """At least one of the four is off."""
    if host.prefetchers is None or host.prefetchers == "on":
        return None
    return Advice(
        seen=f"register {prefetchers.REGISTER:#x} says of the prefetchers: {host.prefetchers}",
        why="most firmware leaves all on; off helps loads of scattered reads and costs those that "
        "read in order, such as scans",
        change=f"wrmsr -a {prefetchers.REGISTER:#x} 0, or the firmware's settings",
        risk="none for data",
        measure=Measure("host.cpu.prefetchers", ("off", "on")),
    )


@host_rule(
    "turbo-off",
    "the processor may not run faster than its base frequency",
    Severity.LOOK,
    kernel("CPU performance scaling, boost", "admin-guide/pm/cpufreq.html#frequency-boost-support"),
)
def turbo_off(host: HostFacts) -> Advice | None:
    """Turbo is there and off."""
    if host.turbo is not False:
        return None
    return Advice(
        seen="turbo (boost) is off",
        why="often off on purpose, for figures that repeat; otherwise single sessions run slower "
        "than they could",
        change="echo 1 > /sys/devices/system/cpu/cpufreq/boost, or 0 > intel_pstate/no_turbo",
        risk="none for data; more power, and figures that depend on temperature",
        measure=Measure("host.cpu.turbo", ("off", "on")),
    )


@host_rule(
    "smt",
    "two threads share each core",
    Severity.NOTE,
    kernel("core scheduling", "admin-guide/hw-vuln/core-scheduling.html"),
)
def smt(host: HostFacts) -> Advice | None:
    """SMT is active."""
    if not host.smt:
        return None
    return Advice(
        seen="SMT is on",
        why="the threads of a core share its hardware, so twice the threads are not twice the "
        "work: beyond half of the CPUs busy, throughput rises less than that figure and response "
        "times grow; how much depends on the load",
        change="nothing; do not take 50 % busy for half loaded",
        risk="turning it off halves the threads",
        measure=Measure("host.cpu.smt", ("on", "off"), users=2 * host.cores),
    )


@host_rule(
    "clock-source",
    "asking for the time is slow",
    Severity.SPEED,
    postgresql_manual("pg_test_timing: Changing Time Sources", "pgtesttiming.html"),
)
def clock_source(host: HostFacts) -> Advice | None:
    """The kernel's clock source needs a system call or a device."""
    if host.clock_source not in _SLOW_CLOCKS:
        return None
    fast = next((each for each in ("tsc", "kvm-clock") if each in host.clock_sources), None)
    change = (
        f"echo {fast} > /sys/devices/system/clocksource/clocksource0/current_clocksource"
        if fast
        else "a fast one (tsc) is not offered: see why the kernel gave it up (dmesg | grep -i tsc)"
    )
    return Advice(
        seen=f"clock source {host.clock_source}; offered: {', '.join(host.clock_sources)}",
        why="databases ask for the time many times in each transaction, and load drivers for each "
        "operation: a slow clock costs microseconds each time and blurs what is measured",
        change=change,
        risk="a time stamp counter that the kernel called unstable may run unevenly",
        measure="the clock source is no factor yet; pg_test_timing measures it",
    )


@host_rule(
    "virtual-machine",
    "the host is a virtual machine or a container",
    Severity.NOTE,
    postgresql_manual("28.1. Reliability", "wal-reliability.html"),
)
def virtual_machine(host: HostFacts) -> Advice | None:
    """Virtualisation was detected."""
    if host.virtualisation is None or host.virtualisation.startswith("none"):
        return None
    return Advice(
        seen=f"runs in a virtual machine or container: {host.virtualisation}",
        why="processor, disk and clock are shared with others: figures move by what these do, and "
        "an fsync reaches only as far as the hypervisor lets it",
        change="nothing; compare interleaved, with repeats, and look at steal",
        risk="none",
        measure=_A_A,
    )


@host_rule(
    "steal",
    "the hypervisor gives this machine's processor to others",
    Severity.SPEED,
    kernel(
        "/proc/stat, steal", "filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat"
    ),
)
def steal(host: HostFacts) -> Advice | None:
    """More than 2 % of all time since boot was stolen."""
    if host.steal_percent is None or host.steal_percent <= 2:
        return None
    return Advice(
        seen=f"{host.steal_percent:.1f} % of CPU time since boot was stolen",
        why="a thread that is ready to run waits for the hypervisor: response times grow, and "
        "their "
        "high percentiles grow most",
        change="a machine with CPUs of its own, or fewer neighbours: ask who runs the hypervisor",
        risk="none",
        measure=_A_A,
    )


@host_rule(
    "numa-balancing",
    "the kernel moves memory between NUMA nodes by itself",
    Severity.LOOK,
    kernel("sysctl kernel, numa_balancing", "admin-guide/sysctl/kernel.html#numa-balancing"),
)
def numa_balancing(host: HostFacts) -> Advice | None:
    """There are several nodes and kernel.numa_balancing is not 0."""
    if host.numa_nodes < 2 or not host.number("kernel.numa_balancing"):
        return None
    return Advice(
        seen=f"kernel.numa_balancing = {host.sysctl['kernel.numa_balancing']} with "
        f"{host.numa_nodes} nodes",
        why="it unmaps pages to see who uses them; memory that all sessions share belongs to no "
        "node, "
        "so the faults bring little",
        change="kernel.numa_balancing = 0 if the comparison shows a gain",
        risk="none for data; programs with memory of their own may lose",
        measure=Measure(
            "host.kernel.numa_balancing", (int(host.sysctl["kernel.numa_balancing"]), 0)
        ),
    )


@host_rule(
    "mitigations",
    "what the kernel does about weaknesses of the processor",
    Severity.NOTE,
    kernel("page table isolation, overhead", "arch/x86/pti.html#overhead"),
)
def mitigations(host: HostFacts) -> Advice | None:
    """At least one mitigation is active or one weakness open."""
    active = sum(text.startswith("Mitigation") for text in host.mitigations.values())
    open_ = sorted(name for name, text in host.mitigations.items() if "Vulnerable" in text)
    if not active and not open_:
        return None
    return Advice(
        seen=f"{active} mitigations active"
        + (f"; vulnerable: {', '.join(open_)}" if open_ else ""),
        why="mitigations cost time at each system call and context switch: figures of machines "
        "with "
        "different ones cannot be compared. Loadstone records them with each result",
        change="nothing: turning them off opens the machine to its own programs",
        risk="without them other programs can read the database's memory",
        measure="Loadstone does not turn them off",
    )
