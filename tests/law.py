"""Whether what was drawn has the law that it should have: one harness for all statistical tests.

Seeds are fixed. `LEVEL` is the false-alarm rate of a call: how often, over the choice of the seeds,
it fails although the law is right. A call may compare many quantities, which share that rate
(Bonferroni). The whole suite makes fewer than two hundred calls: one false alarm in 500 choices of
all seeds. `test_law.py` measures the rate, and the power.
"""

import numpy as np
from scipy import stats

LEVEL = 1e-5
# Of noise, all with variance 1.
LAWS = {
    "gaussian": stats.norm(),
    "uniform": stats.uniform(-(3**0.5), 2 * 3**0.5),
    "triangular": stats.triang(0.5, -(6**0.5), 2 * 6**0.5),
}


def p_value(found, right):
    """Kolmogorov-Smirnov: `right` is a second sample, or a distribution of SciPy."""
    if hasattr(right, "cdf"):
        return stats.kstest(found, right.cdf).pvalue
    return stats.ks_2samp(found, right, method="asymp").pvalue


def _by_name(samples):
    if isinstance(samples, dict):
        return samples
    samples = np.asarray(samples)
    return dict(enumerate(samples.reshape(len(samples), -1).T))


def p_values(found, right):
    """Of every quantity: samples by name, or arrays (draw, quantity, ...), on either side."""
    found, right = _by_name(found), _by_name(right)
    return {name: p_value(found[name], law) for name, law in right.items()}


def assert_law(found, right):
    values = p_values(found, right)
    assert min(values.values()) > LEVEL / len(values), values


def assert_other_law(found, right, by=1):
    """The power of `assert_law`: at least so many quantities are told from a wrong law."""
    values = p_values(found, right)
    assert sum(p < LEVEL / len(values) for p in values.values()) >= by, values


def count_p_value(seen, chances=None):
    """Of counts of independent draws, by chi-square (equal chances unless given). Rare cells are
    taken together, those of no chance must be empty."""
    seen = np.asarray(seen)
    chances = np.full(len(seen), 1 / len(seen)) if chances is None else np.asarray(chances)
    assert not seen[chances == 0].any()
    seen, expected = seen[chances > 0], seen.sum() * chances[chances > 0]
    rare = expected < 2
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(seen, expected).pvalue


def assert_counts(seen, chances=None):
    assert count_p_value(seen, chances) > LEVEL


def assert_other_counts(seen, chances=None):
    assert count_p_value(seen, chances) < LEVEL


def assert_independent(table):
    """Rows and columns of a table of counts."""
    assert stats.chi2_contingency(table).pvalue > LEVEL


def errors_off(values, mean, variance=None):
    """How far the mean of independent rows is off, in units of what `LEVEL` allows; by Student's
    law if their variance is not known."""
    values = np.asarray(values, float)
    level, count = LEVEL / max(values[0].size, 1) / 2, len(values)
    known = variance is not None
    limit = stats.norm.isf(level) if known else stats.t.isf(level, count - 1)
    error = np.sqrt((variance if known else values.var(0, ddof=1)) / count)
    return np.abs(values.mean(0) - mean) / np.maximum(limit * error, 1e-12)


def assert_mean(values, mean, variance=None):
    off = errors_off(values, mean, variance)
    assert np.all(off < 1), off
