"""What a third party writes to measure a system that Loadstone does not know: a folder of files."""
