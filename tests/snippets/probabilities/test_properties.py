"""What holds for every input: properties of softmax and its relatives, searched for counterexamples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from snippets.probabilities.numpy_reference import base_softmax, boltzmann, sigmoid, softmax

fast = settings(max_examples=60, deadline=None, derandomize=True)
finite = st.floats(-1.7e308, 1.7e308)
moderate = st.floats(-30, 30)
sizes = st.integers(1, 8)
any_rows = hnp.arrays(np.float64, sizes, elements=finite)
rows = hnp.arrays(np.float64, sizes, elements=moderate)
pairs_of_rows = sizes.flatmap(lambda n: hnp.arrays(np.float64, (2, n), elements=moderate))


def entropy(probs):
    positive = probs[probs > 0]
    return -np.sum(positive * np.log(positive))


@fast
@given(any_rows)
def test_entries_and_sum_at_any_size_of_logits_b07(logits):
    probs = softmax(logits)
    assert np.all((probs >= 0) & (probs <= 1))
    assert abs(probs.sum() - 1) < 1e-14


@fast
@given(any_rows)
def test_order_is_kept_b13(logits):
    order = np.argsort(logits, kind="stable")
    assert np.all(np.diff(softmax(logits)[order]) >= -1e-16)


@fast
@given(rows, moderate)
def test_shift_invariance(logits, shift):
    np.testing.assert_allclose(softmax(logits + shift), softmax(logits), rtol=1e-13)


@fast
@given(any_rows, st.randoms(use_true_random=False))
def test_permutation_moves_with_the_logits(logits, random):
    order = list(range(len(logits)))
    random.shuffle(order)
    np.testing.assert_allclose(softmax(logits[order]), softmax(logits)[order], rtol=1e-14)


@fast
@given(rows)
def test_odds_are_exp_of_the_difference_b16(logits):
    probs = softmax(logits)
    odds = probs[:, None] / probs
    np.testing.assert_allclose(odds, np.exp(logits[:, None] - logits), rtol=1e-12)


@fast
@given(rows)
def test_gaps_shrink_b15(logits):
    probs = softmax(logits)
    assert np.all(np.abs(probs[:, None] - probs) <= np.abs(logits[:, None] - logits) / 2 + 1e-15)


@fast
@given(moderate)
def test_gap_of_two_is_tanh_b15(gap):
    first, second = softmax([gap, 0])
    assert first - second == pytest.approx(math.tanh(gap / 2), rel=1e-12, abs=1e-15)


@fast
@given(pairs_of_rows)
def test_half_lipschitz_in_three_norms_a05(pair):
    step, moved = pair[0] - pair[1], softmax(pair[0]) - softmax(pair[1])
    for order in (1, 2, np.inf):
        assert np.linalg.norm(moved, order) <= np.linalg.norm(step, order) / 2 + 1e-15


@fast
@given(rows)
def test_spectral_norm_is_below_its_gershgorin_bound(logits):
    probs = softmax(logits)
    jacobian = np.diag(probs) - np.outer(probs, probs)
    bound = np.max(2 * probs * (1 - probs))
    assert np.linalg.norm(jacobian, 2) <= bound + 1e-15
    assert bound <= 0.5


@fast
@given(rows)
def test_slope_of_logsumexp_is_softmax(logits):
    step = 1e-5
    slopes = [
        (np.logaddexp.reduce(logits + step * e) - np.logaddexp.reduce(logits - step * e)) / (2 * step)
        for e in np.eye(len(logits))
    ]
    np.testing.assert_allclose(slopes, softmax(logits), atol=1e-8)


@fast
@given(rows, st.integers(0, 2**32 - 1))
def test_no_distribution_beats_softmax_in_the_variational_form(logits, seed):
    best, lse = softmax(logits), np.logaddexp.reduce(logits)
    assert best @ logits + entropy(best) == pytest.approx(lse, rel=1e-12, abs=1e-12)
    other = np.random.default_rng(seed).dirichlet(np.full(len(logits), 0.5))
    assert other @ logits + entropy(other) <= lse + 1e-12


@fast
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_no_distribution_with_the_same_mean_score_has_more_entropy(n, seed):
    rng = np.random.default_rng(seed)
    scores, other = rng.normal(size=n), rng.dirichlet(np.ones(n))
    low, high = -300.0, 300.0
    for _ in range(70):  # the mean score of softmax(slope * scores) grows with the slope
        slope = (low + high) / 2
        low, high = (slope, high) if softmax(slope * scores) @ scores < other @ scores else (low, slope)
    best = softmax(slope * scores)
    assert best @ scores == pytest.approx(other @ scores, abs=1e-9)
    assert entropy(best) >= entropy(other) - 1e-9


@fast
@given(rows, st.floats(1.001, 1e6))
def test_any_base_is_a_temperature_b11(logits, base):
    np.testing.assert_allclose(base_softmax(logits, base), softmax(logits * math.log(base)), rtol=1e-10)
    if math.log(base) * np.ptp(logits) < 700:
        weights = base ** (logits - logits.max())
        np.testing.assert_allclose(base_softmax(logits, base), weights / weights.sum(), rtol=1e-13)


@fast
@given(rows, st.floats(0.1, 5))
def test_only_exponentials_survive_a_shift(logits, shift):
    """f(z + c) = g(c) f(z) for all z and c leaves A * b**z: every other candidate moves somewhere."""
    for amplitude, base in [(1, 2), (3, 10), (0.5, 1.1)]:
        weights, shifted = amplitude * base**logits, amplitude * base ** (logits + shift)
        np.testing.assert_allclose(weights / weights.sum(), shifted / shifted.sum(), rtol=1e-11)
    grid = np.array([-1.0, 0.5, 2.0])
    others = [np.square, np.abs, lambda z: np.logaddexp(0, z), lambda z: 1 / (10 - z), lambda z: np.exp(z) + 1, np.cosh]
    for f in others:
        moved = f(grid) / f(grid).sum() - f(grid + shift) / f(grid + shift).sum()
        assert np.max(np.abs(moved)) > 1e-4


@fast
@given(st.floats(allow_nan=False))
def test_sigmoid_is_softmax_of_two(x):
    if math.isfinite(x):
        np.testing.assert_allclose(sigmoid(x), softmax([x, 0])[0], rtol=1e-14, atol=5e-324)
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1, rel=1e-15)


@fast
@given(rows, st.floats(0.2, 1e6))
def test_boltzmann_is_softmax_of_minus_energy_over_kt(energies, kt):
    np.testing.assert_allclose(boltzmann(energies, kt), softmax(-energies / kt), rtol=1e-12)
    np.testing.assert_allclose(boltzmann(energies + 7, kt), boltzmann(energies, kt), rtol=1e-11)
