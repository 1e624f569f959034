"""Medians and ratios of rounds.

A round measures every side once, one after the other. The machine drifts between rounds, so a ratio
is taken inside each round first, and the median is of those ratios.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Summary:
    """Median of the rounds, the quartiles, and how many rounds there were."""

    median: float
    low: float
    high: float
    rounds: int

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a share of the median."""
        return 0.5 * (self.high - self.low) / self.median if self.median else 0.0


def summarize(values: Sequence[float]) -> Summary:
    """Median and quartiles (the extremes when there are fewer than four values).

    Raises: ValueError where there is no value.
    """
    if not values:
        raise ValueError("no rounds were measured")
    low, high = min(values), max(values)
    if len(values) >= 4:
        low, _, high = quantiles(values, n=4, method="inclusive")
    return Summary(median(values), low, high, len(values))


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> Summary:
    """Their time over ours, round by round.

    Raises: ValueError where the two were not measured in the same rounds.
    """
    if len(theirs) != len(ours):
        raise ValueError(f"rounds differ: {len(theirs)} and {len(ours)}")
    return summarize([a / b for a, b in zip(theirs, ours, strict=True)])
