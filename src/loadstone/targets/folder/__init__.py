"""A folder of a disk, or of a file system that Loadstone makes."""

from loadstone.targets.folder.target import Folder

__all__ = ["Folder"]
