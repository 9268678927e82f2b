"""For property tests: `conftest.py` states how many examples they take."""

from __future__ import annotations

from hypothesis import settings

SLOW = settings(max_examples=settings.default.max_examples // 4)
"""Of tests that make hundreds of histograms, or files, of each example."""
