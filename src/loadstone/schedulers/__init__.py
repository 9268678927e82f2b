"""Schedulers of clusters: submit, poll, cancel, accounting, and where a job ran."""
