"""Storage baselines: what a disk, a file system or network storage can do."""
