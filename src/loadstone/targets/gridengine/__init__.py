"""Clusters with Grid Engine: one that Loadstone makes, or a queue of an existing one."""

from loadstone.targets.gridengine.owned import GridEngine
from loadstone.targets.gridengine.remote import GridEngineAtAddress

__all__ = ["GridEngine", "GridEngineAtAddress"]
