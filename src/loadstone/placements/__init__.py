"""Where the data of a server lie: file systems that Loadstone makes, mounts, breaks and removes."""
