"""Settings of this machine: read, checked, set, read back, put back."""
