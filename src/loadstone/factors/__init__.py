"""Factors: what an experiment can vary, and how each is applied."""
