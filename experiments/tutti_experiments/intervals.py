"""Medians and their intervals.

SPDX-License-Identifier: BSD-3-Clause"""
import math
import random

LEAST = 5  # minimum number of rounds for an interval


def quantile(values, fraction):
    """Return the quantile `fraction` (0 to 1) of the values, interpolated; 0 if the list is empty."""
    values = sorted(values)
    if not values:
        return 0.0
    at = fraction * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def median(values):
    return quantile(values, 0.5)


def bootstrap(values, samples=1000):
    """Return the 95 % interval of the median, by resampling; the samples are the same in every run."""
    draw = random.Random(1)
    medians = [median(draw.choices(values, k=len(values))) for _ in range(samples)]
    return quantile(medians, 0.025), quantile(medians, 0.975)


def bounds(values):
    """Return the 95 % interval of the median, or minimum and maximum of fewer than LEAST values."""
    return bootstrap(values) if len(values) >= LEAST else (quantile(values, 0), quantile(values, 1))


def sign_rank(n, p):
    """Return the largest k for which fewer than k of n fair coins fall on one side with a probability of at most p."""
    below = 0.0
    for k in range(n):
        below += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
        if below > p:
            return k
    return n


def sign_bounds(values, p):
    """Return bounds of the median by the sign test, each wrong with a probability of at most p; None if there are too few values.

    p = 0.05 gives one-sided 95 % bounds, which need 5 values; p = 0.025 gives a 95 % interval, which needs 6."""
    k = sign_rank(len(values), p)
    values = sorted(values)
    return (values[k - 1], values[len(values) - k]) if k else None


def ratio(slow, fast):
    """Return the median of slow / fast, round by round, and its 95 % interval by resampling."""
    rounds = [a / max(b, 1e-9) for a, b in zip(slow, fast)]
    return (median(rounds), *bootstrap(rounds, 2000))


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")
