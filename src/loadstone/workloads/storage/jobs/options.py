"""Which options of fio a job file may have, and why others may not.

A file that came from somewhere may say how bytes move. It may not say where, nor what else happens
on the machine. So an option is allowed by name, with the form of its value, or it is refused.
Options that no table has are refused too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SIZE = r"[1-9]\d*[kKmMgGtT]?[bB]?"
_BLOCK = r"\d+[kKmM]?[bB]?"
_TIME = r"\d+(us|ms|s|m|h|d)?"
_COUNT = r"\d+"
_FLAG = r"[01]?"
_NAME = r"[A-Za-z0-9_.-]+"


@dataclass(frozen=True)
class Allowed:
    """An option that a job file may have.

    Attributes:
        form: What its whole value matches.
        what: The form in words, for who wrote another.
        why: It does no harm.
        told: Whether fio is told it; else Loadstone does what it says itself, or needs not.
    """

    form: str
    what: str
    why: str
    told: bool = True

    def takes(self, value: str) -> bool:
        """Whether a value is of the form."""
        return re.fullmatch(self.form, value) is not None


def _flags(why: str, *names: str, told: bool = True) -> dict[str, Allowed]:
    return {name: Allowed(_FLAG, "0 or 1", why, told) for name in names}


def _counts(why: str, *names: str) -> dict[str, Allowed]:
    return {name: Allowed(_COUNT, "a whole number", why) for name in names}


def _words(why: str, words: str, *names: str, told: bool = True) -> dict[str, Allowed]:
    what = f"one of {', '.join(words.split())}"
    return {name: Allowed("|".join(words.split()), what, why, told) for name in names}


_ACCESS = "only which bytes move in which order"
_DATA = "only what the bytes hold"
_FLUSH = "only when written bytes are flushed"
_QUEUE = "only how many requests are in flight"
_PACE = "only how fast requests follow each other"
_OURS = "Loadstone does it: its figures are merged from bins, each job apart"
_THERE = "the files are there in full before a test"

ALLOWED: Mapping[str, Allowed] = {
    "description": Allowed(
        r'[^"$]*', "text without quotation marks and $", "only text", told=False
    ),
    "filename": Allowed(
        _NAME, "the name of one file, without folders", "a test file of that name", told=False
    ),
    "ioengine": Allowed(
        "sync|psync|vsync|pvsync|pvsync2|libaio|posixaio|io_uring|mmap|null",
        "an engine that reads and writes files, as psync, libaio or io_uring",
        "they open the file that they are told and no other, and load no library",
    ),
    **_words(
        "it reads and writes, and trims nothing",
        "read write randread randwrite rw readwrite randrw",
        "rw",
    ),
    "bs": Allowed(rf"{_BLOCK}(,{_BLOCK})?", "a block size as 4k, or of reads,writes", _ACCESS),
    "ba": Allowed(_BLOCK, "a size as 4k", _ACCESS),
    "bsrange": Allowed(
        rf"{_BLOCK}-{_BLOCK}(,{_BLOCK}-{_BLOCK})?", "a range of sizes as 4k-64k", _ACCESS
    ),
    "bssplit": Allowed(
        rf"{_BLOCK}/\d*(:{_BLOCK}/\d*)*(,{_BLOCK}/\d*(:{_BLOCK}/\d*)*)?",
        "sizes with percent as 8k/70:16k/30",
        _ACCESS,
    ),
    "size": Allowed(_SIZE, "a size in bytes as 64m", "bytes are known before the start"),
    "io_size": Allowed(_SIZE, "a size in bytes as 64m", "bytes are known before the start"),
    "offset": Allowed(r"\d+[kKmMgGtT]?[bB]?", "a size in bytes as 64m", _ACCESS),
    "numjobs": Allowed(
        r"[1-9]\d{0,2}", "a number from 1 to 999", "threads are counted before", told=False
    ),
    "runtime": Allowed(_TIME, "a time as 30s", "seconds are known before the start"),
    "ramp_time": Allowed(_TIME, "a time as 30s", "seconds are known before the start"),
    "random_distribution": Allowed(
        r"random|zipf(:[\d.]+){0,2}|pareto(:[\d.]+){0,2}|normal(:[\d.]+){0,2}",
        "random, or zipf, pareto or normal with their figures",
        _ACCESS,
    ),
    "random_generator": Allowed(
        "tausworthe|lfsr|tausworthe64", "tausworthe, lfsr or tausworthe64", _ACCESS
    ),
    "rw_sequencer": Allowed("sequential|identical", "sequential or identical", _ACCESS),
    "percentage_random": Allowed(
        r"\d{1,3}(,\d{1,3})?", "percent, or that of reads,writes", _ACCESS
    ),
    "sync": Allowed(r"none|sync|dsync|[01]", "none, sync, dsync, 0 or 1", _FLUSH),
    "rate": Allowed(r"\d*[kKmMgG]?(,\d*[kKmMgG]?)?", "bytes a second as 10m", _PACE),
    "rate_iops": Allowed(r"\d*(,\d*)?", "requests a second", _PACE),
    "rate_process": Allowed("linear|poisson", "linear or poisson", _PACE),
    "thinktime": Allowed(_TIME, "a time as 10us", _PACE),
    "thinktime_spin": Allowed(_TIME, "a time as 10us", _PACE),
    "thinktime_blocks_type": Allowed("complete|issue", "complete or issue", _PACE),
    "io_submit_mode": Allowed("inline|offload", "inline or offload", _QUEUE),
    "buffer_compress_chunk": Allowed(_BLOCK, "a size as 4k", _DATA),
    "fadvise_hint": Allowed("0|1|random|sequential", "0, 1, random or sequential", _ACCESS),
    "fallocate": Allowed(
        "none|native|posix|keep|truncate|0|1", "a word as none", _THERE, told=False
    ),
    "percentile_list": Allowed(r"[\d.]+(:[\d.]+)*", "percent as 50:99", _OURS, told=False),
    "significant_figures": Allowed(_COUNT, "a whole number", _OURS, told=False),
    **_flags(_ACCESS, "randrepeat", "allrandrepeat", "norandommap", "bs_unaligned", "direct"),
    **_flags(_ACCESS, "buffered", "invalidate", "time_based", "thread", "serialize_overlap"),
    **_flags(_FLUSH, "end_fsync", "fsync_on_close"),
    **_flags(_DATA, "zero_buffers", "refill_buffers", "scramble_buffers"),
    **_flags(_PACE, "rate_ignore_thinktime"),
    **_flags(_QUEUE, "hipri", "fixedbufs", "registerfiles", "sqthread_poll", "nonvectored"),
    **_flags(_QUEUE, "userspace_reap"),
    **_flags(_THERE, "overwrite", told=False),
    **_flags(_OURS, "group_reporting", "clat_percentiles", "lat_percentiles", told=False),
    **_flags(_OURS, "slat_percentiles", "disk_util", told=False),
    **_flags("groups become tests, one after the other", "stonewall", "new_group", told=False),
    **_counts(_ACCESS, "randseed", "number_ios", "rwmixread", "rwmixwrite"),
    **_counts(_FLUSH, "fsync", "fdatasync", "write_barrier"),
    **_counts(_QUEUE, "iodepth", "iodepth_batch", "iodepth_batch_complete_min"),
    **_counts(_QUEUE, "iodepth_batch_complete_max", "iodepth_low", "hipri_percentage"),
    **_counts(_PACE, "thinktime_blocks", "rate_cycle"),
    **_counts(_DATA, "buffer_compress_percentage", "dedupe_percentage"),
}
"""Option, as fio calls it: what it may be."""

ALIASES: Mapping[str, str] = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blockalign": "ba",
    "io_limit": "io_size",
    "fileoffset": "offset",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
}
"""Other names that fio has for allowed options."""

_REASONS: Mapping[str, str] = {
    "it runs a program, or loads code": "exec_prerun exec_postrun profile",
    "it changes settings of the machine, which are factors of the host": (
        "ioscheduler cgroup cgroup_weight cgroup_nodelete lockmem nice prio prioclass cpumask "
        "cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy uid gid gtod_cpu "
        "log_compression_cpus hugepage-size mem thp sqthread_poll_cpu"
    ),
    "it replays or reads a file of somebody": (
        "read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align "
        "replay_time_scale replay_skip merge_blktrace_file merge_blktrace_scalars "
        "merge_blktrace_iters verify_state_load buffer_pattern"
    ),
    "it writes files of its own": (
        "write_iolog write_bw_log write_lat_log write_iops_log write_hist_log verify_state_save "
        "verify_dump per_job_logs log_entries log_avg_msec log_hist_msec log_hist_coarseness "
        "log_max_value log_offset log_prio log_compression log_store_compressed log_unix_epoch "
        "log_alternate_epoch log_alternate_epoch_clock_id bwavgtime iopsavgtime lockfile"
    ),
    "where bytes lie is for the target to say (--on), and Loadstone makes the files": (
        "directory filename_format unique_filename opendir nrfiles openfiles file_service_type "
        "filesize file_append fill_device create_serialize create_fsync create_on_open "
        "create_only allow_file_create allow_mounted_write pre_read unlink unlink_each_loop uri "
        "offset_increment offset_align name"
    ),
    "it discards what is on the disk, or resets zones of it": (
        "trim_percentage trim_verify_zero trim_backlog trim_backlog_batch zonemode zonesize "
        "zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones "
        "ignore_zone_limits zone_reset_threshold zone_reset_frequency cmd_type"
    ),
    "it reads back what was written, which is no part of a baseline": (
        "verify do_verify verify_interval verify_offset verify_pattern verify_fatal verify_async "
        "verify_backlog verify_backlog_batch experimental_verify verify_only"
    ),
    "bytes, seconds and jobs could not be told before the start": (
        "loops startdelay wait_for exitall exit_what exitall_on_error flow flow_id flow_sleep "
        "steadystate steadystate_duration steadystate_ramp_time latency_target latency_window "
        "latency_percentile latency_run max_latency rate_min rate_iops_min ignore_error "
        "continue_on_error error_dump kb_base unit_base thinktime_iotime"
    ),
    "figures would be missing, or of another meaning": (
        "gtod_reduce disable_lat disable_clat disable_slat disable_bw_measurement stats "
        "unified_rw_reporting clocksource block_error_percentiles"
    ),
    "it needs hardware or files of a kind that no target has": (
        "atomic write_hint sync_file_range dedupe_mode dedupe_working_set_percentage "
        "dedupe_global cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit nowait "
        "force_async uncached"
    ),
}

REFUSED: Mapping[str, str] = {
    name: reason for reason, names in _REASONS.items() for name in names.split()
}
"""Option, as fio calls it: why a job file may not have it."""


def refusal(option: str, value: str) -> str | None:
    """Why a job file may not have an option with a value; None if it may.

    Args:
        option: As fio calls it.
        value: With its variables put in.
    """
    allowed = ALLOWED.get(option)
    if allowed is None:
        return REFUSED.get(option, "it is no option that Loadstone knows")
    if not allowed.takes(value):
        return f"its value must be {allowed.what}"
    return None
