"""Recorded experiments, idle and beside noise, and what rules would make of them."""
