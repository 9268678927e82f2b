"""Slurm as a target: a cluster that Loadstone makes, or an existing one by its commands."""

from loadstone.targets.slurm.owned import Slurm
from loadstone.targets.slurm.remote import SlurmAtAddress

__all__ = ["Slurm", "SlurmAtAddress"]
