"""The runner: the load driver of workloads whose engine lives in the process, in Python.

It obeys `docs/driver-protocol.md` as the Rust driver does: a plan and control lines in, frames out.
"""
