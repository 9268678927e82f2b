"""What is refused, or warned of, before anything begins."""
