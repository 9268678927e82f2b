"""How far the machine's own speed moved: the calibrated probe before and after each trial."""

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import median
from sys import float_info


def moved_percent(
    own: Sequence[Mapping[str, float]], probes: Sequence[Mapping[str, float]]
) -> float:
    """The largest deviation of some probes from what is usual, signed, in per cent.

    Args:
        own: The probes around a trial: figures by name, any unit.
        probes: All that tell what is usual: the median of each figure over them.

    Returns:
        0 of probes without a figure.

    Raises:
        ValueError: A figure is not finite and above 0, or has no usual value above 0.
    """
    found = []
    for probe in own:
        for name, figure in probe.items():
            if not (isfinite(figure) and figure > 0.0):
                raise ValueError(f"probe {name!r} needs figures above 0, got {figure}")
            usual = median([each[name] for each in probes if name in each] or [0.0])
            if not (isfinite(usual) and usual > 0.0):
                raise ValueError(f"probe {name!r} needs a usual figure above 0")
            found.append(max(-100.0, min(100.0 * (figure / usual - 1.0), float_info.max)))
    return max(found, key=abs, default=0.0)
