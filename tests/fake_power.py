"""The knobs of speed and power of a made-up server: two packages, four processors, one domain each
for two of them.

What the kernel would do by itself (another governor moves the energy preference) files do not do.
"""

from __future__ import annotations

from pathlib import Path

from fake_machine import fake_machine

from loadstone.host.machine import Machine

_CPU = "/sys/devices/system/cpu"
_ZONES = "/sys/class/powercap"
_STATES = (("POLL", 0), ("C1", 2), ("C1E", 10), ("C6", 133))
_REGISTER = 0x1A4
_RESERVED = 0x20
"""A bit of the register that is none of the prefetchers' and must stay."""


def power_files() -> dict[str, str]:
    """Path: text."""
    files = {
        "/proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
        "model\t\t: 85\nmodel name\t: Made-up 8000\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\n",
        f"{_CPU}/intel_pstate/status": "active\n",
        f"{_CPU}/intel_pstate/max_perf_pct": "100\n",
        f"{_CPU}/intel_pstate/min_perf_pct": "21\n",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0\n",
    }
    for number in (0, 1):
        policy = f"{_CPU}/cpufreq/policy{number}"
        files |= {
            f"{policy}/energy_performance_preference": "balance_performance\n",
            f"{policy}/energy_performance_available_preferences": "default performance "
            "balance_performance balance_power power \n",
            f"{policy}/scaling_min_freq": "800000\n",
            f"{policy}/scaling_max_freq": "3700000\n",
            f"{policy}/cpuinfo_min_freq": "800000\n",
            f"{policy}/cpuinfo_max_freq": "3700000\n",
        }
    for cpu in range(4):
        files[f"/dev/cpu/{cpu}/msr"] = "\0" * _REGISTER + chr(_RESERVED) + "\0" * 7
        for depth, (name, latency) in enumerate(_STATES):
            state = f"{_CPU}/cpu{cpu}/cpuidle/state{depth}"
            files |= {
                f"{state}/name": f"{name}\n",
                f"{state}/disable": "0\n",
                f"{state}/latency": f"{latency}\n",
            }
    for zone, package in (("intel-rapl:0", 1), ("intel-rapl:1", 0), ("intel-rapl-mmio:0", 1)):
        files |= _package(f"{_ZONES}/{zone}", package)
    files[f"{_ZONES}/intel-rapl:0:0/name"] = "dram\n"
    return files


def _package(zone: str, package: int) -> dict[str, str]:
    return {
        f"{zone}/name": f"package-{package}\n",
        f"{zone}/enabled": "1\n",
        f"{zone}/constraint_0_name": "long_term\n",
        f"{zone}/constraint_0_power_limit_uw": "205000000\n",
        f"{zone}/constraint_0_time_window_us": "27983872\n",
        f"{zone}/constraint_1_name": "short_term\n",
        f"{zone}/constraint_1_power_limit_uw": "246000000\n",
        f"{zone}/constraint_1_time_window_us": "7808\n",
    }


def fake_server(root: Path, **change: str | None) -> Machine:
    """Such a server below a folder.

    Args:
        root: An empty folder.
        change: Not a path but its last parts, joined by `__`: another text, or None to leave it
            out: `intel_pstate__status="passive"`.
    """
    files: dict[str, str | None] = dict(power_files())
    for ending, text in change.items():
        named = [path for path in files if path.endswith("/" + ending.replace("__", "/"))]
        assert named, ending
        files |= dict.fromkeys(named, text)
    return fake_machine(root, files)


def prefetchers_of(machine: Machine, cpu: int) -> int:
    """The register as it is in the file."""
    raw = machine.at(f"/dev/cpu/{cpu}/msr").read_bytes()
    return int.from_bytes(raw[_REGISTER : _REGISTER + 8], "little")
