"""No change that matters: two one-sided tests against a margin that was named in advance.

"No detectable change" says that nothing was found, which few trials say of any change. That a true
change lies within a margin is a claim of its own (Schuirmann 1987, J. Pharmacokinet. Biopharm.
15:657). It rests on the same t as the verdict: it holds at a level alpha where the interval of
confidence 1 - 2 alpha of the ratio lies within 1 / (1 + margin) and 1 + margin.
"""

from __future__ import annotations

from math import log1p

from loadstone.results.statistics.contrasts import Contrast
from loadstone.results.statistics.power import tails

_NO_ERROR = 1e-12
"""A standard error of logarithms below it is one of rounding."""


def p_beyond(contrast: Contrast, margin_percent: float) -> float:
    """The p-value of the claim that the true change is smaller than a margin.

    It is the larger one of the two tests: that of the side that is nearer.

    Args:
        contrast: What was seen.
        margin_percent: The largest change that does not matter, upwards; above 0. Downwards it is
            the reciprocal, as ratios are symmetric in logarithms.

    Returns:
        Small where the change is sure to lie within the margin; 1 where nothing can be said.
    """
    if contrast.error is None:
        return 1.0
    room = log1p(margin_percent / 100.0) - abs(contrast.shift)
    if contrast.error <= _NO_ERROR:
        return 0.0 if room > 0.0 else 1.0
    return tails(room / contrast.error, contrast.freedom)
