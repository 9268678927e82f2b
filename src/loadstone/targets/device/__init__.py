"""A block device, with no file system on it."""

from loadstone.targets.device.target import Device

__all__ = ["Device"]
