"""What holds for every input of the temperature chapter, tried on generated ones."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snippets.temperature.numpy_reference import (
    apply_temperature,
    entropy_from_logits,
    fit_temperature,
    gumbel_noise,
    inverse_cdf,
    min_p_filter,
    power_temperature,
    sampling_distribution,
    temperature_derivatives,
    temperature_for_entropy,
    temperature_softmax,
    top_k_filter,
    top_p_filter,
)

sizes = st.integers(1, 8)
moderate = st.floats(-30, 30, width=32)
logits = arrays(np.float64, sizes, elements=moderate)
masked = arrays(np.float64, sizes, elements=moderate | st.just(-np.inf)).filter(lambda z: np.isfinite(z).any())
wild = arrays(np.float64, sizes, elements=st.floats(allow_nan=False, allow_infinity=False))
temperatures = st.floats(0.05, 50)
any_temperature = st.floats(0, allow_nan=False)
fractions = st.floats(0, 1)

fast = settings(max_examples=30, deadline=None, derandomize=True)


@fast
@given(wild | masked, any_temperature)
def test_always_a_distribution(z, temperature):
    probs = temperature_softmax(z, temperature)
    assert np.all((probs >= 0) & (probs <= 1))
    np.testing.assert_allclose(probs.sum(), 1, rtol=1e-12)
    assert np.all(probs[z == -np.inf] == 0)
    assert np.all(probs[z == z.max()] == probs.max())


@fast
@given(wild, any_temperature, st.randoms(use_true_random=False))
def test_order_of_the_options_does_not_matter(z, temperature, random):
    order = random.sample(range(len(z)), len(z))
    np.testing.assert_allclose(temperature_softmax(z[order], temperature), temperature_softmax(z, temperature)[order])


@fast
@given(logits, temperatures)
def test_log_odds_times_temperature_are_the_logit_gaps(z, temperature):
    """The invariant that the published table breaks (A20)."""
    probs = temperature_softmax(z, temperature)
    assume(np.all(probs > 1e-300))
    gaps = temperature * (np.log(probs) - np.log(probs[0]))
    np.testing.assert_allclose(gaps, z - z[0], atol=1e-12 * temperature + 1e-12)


@fast
@given(logits, temperatures, st.floats(-100, 100))
def test_a_shift_changes_nothing(z, temperature, shift):
    moved = temperature_softmax(z + shift, temperature)
    np.testing.assert_allclose(moved, temperature_softmax(z, temperature), rtol=1e-10, atol=1e-300)


@fast
@given(logits, temperatures, st.integers(-4, 4))
def test_only_the_ratio_of_logits_and_temperature_counts(z, temperature, exponent):
    factor = 2.0**exponent
    np.testing.assert_allclose(
        temperature_softmax(factor * z, factor * temperature),
        temperature_softmax(z, temperature),
        rtol=1e-12,
        atol=1e-300,
    )


@fast
@given(masked, temperatures, temperatures)
def test_hotter_is_flatter_and_keeps_the_order(z, one, other):
    cold, hot = (temperature_softmax(z, t) for t in sorted((one, other)))
    assert hot.max() <= cold.max() + 1e-12
    ascending = np.argsort(z)
    for probs in (cold, hot):
        assert np.all(np.diff(probs[ascending]) >= 0)
    entropies = [entropy_from_logits(apply_temperature(z, t)) for t in sorted((one, other))]
    assert entropies[0] <= entropies[1] + 1e-12


@fast
@given(masked, temperatures, temperatures)
def test_power_temperature_composes(z, first, second):
    probs = temperature_softmax(z, first)
    assume(np.all(probs[np.isfinite(z)] > 1e-250))
    np.testing.assert_allclose(
        power_temperature(probs, second), temperature_softmax(z, first * second), rtol=1e-9, atol=1e-300
    )


@fast
@given(masked)
def test_entropy_lies_between_its_limits(z):
    entropy = entropy_from_logits(z)
    assert 0 <= entropy <= np.log(np.isfinite(z).sum()) + 1e-12
    probs = temperature_softmax(z, 1)
    terms = [-p * np.log(p) for p in probs if p > 0]
    np.testing.assert_allclose(entropy, sum(terms), rtol=1e-9, atol=1e-15)


@fast
@given(masked, temperatures)
def test_derivatives_have_their_signs(z, temperature):
    dp, dh = temperature_derivatives(z, temperature)
    assert abs(dp.sum()) <= 1e-12 * (1 + np.abs(dp).sum())
    assert dh >= 0
    if len(z) > 1 and np.ptp(z[np.isfinite(z)]) > 0:
        assert dp[np.argmax(z)] <= 0


@fast
@given(masked, st.integers(1, 9), fractions)
def test_filters_only_take_out(z, k, p):
    for kept in (top_k_filter(z, k), top_p_filter(z, p), min_p_filter(z, p)):
        assert np.all((kept == z) | (kept == -np.inf))
        assert kept.max() >= z.max() - 1e-15  # closer ones have the same probability
        np.testing.assert_array_equal(np.isfinite(kept) & (z < kept[np.isfinite(kept)].min()), False)


@fast
@given(logits, fractions)
def test_top_p_reaches_p_and_not_without_its_last_option(z, p):
    probs = temperature_softmax(z, 1)
    kept = np.isfinite(top_p_filter(z, p))
    assert probs[kept].sum() >= p - 1e-12
    if p < 1:
        assert kept.sum() == 1 or probs[kept].sum() - probs[kept].min() < p + 1e-12


@fast
@given(arrays(np.float64, sizes, elements=st.integers(-30, 30), unique=True), temperatures, st.integers(1, 8))
def test_top_k_commutes_with_temperature(z, temperature, k):
    first = sampling_distribution(z, temperature, top_k=k, order="temperature_first")
    last = sampling_distribution(z, temperature, top_k=k, order="temperature_last")
    np.testing.assert_allclose(first, last, rtol=1e-12, atol=1e-300)


@fast
@given(arrays(np.float32, sizes, elements=st.floats(0, 1, width=32)), fractions)
def test_inverse_cdf_never_draws_the_impossible(probs, u):
    assume(probs.sum() > 0)
    assert probs[inverse_cdf(probs, u)] > 0


@fast
@given(arrays(np.float64, sizes, elements=st.floats(0.001, 1)), st.floats(0, 1), st.floats(0, 1))
def test_inverse_cdf_is_monotone(probs, one, other):
    low, high = inverse_cdf(probs, sorted((one, other)))
    assert low <= high


@fast
@given(st.floats(0, 1, exclude_max=True) | st.floats(0, 1, exclude_max=True, width=32).map(np.float32))
def test_gumbel_noise_is_finite(u):
    assert np.isfinite(gumbel_noise(u))


@fast
@given(logits, st.floats(0.02, 0.98))
def test_temperature_for_entropy_hits_its_target(z, fraction):
    assume(len(z) > 1 and np.ptp(z) > 1e-3)
    lowest, highest = np.log(np.sum(z == z.max())), np.log(len(z))
    target = lowest + fraction * (highest - lowest)
    temperature = temperature_for_entropy(z, target)
    np.testing.assert_allclose(entropy_from_logits(apply_temperature(z, temperature)), target, rtol=1e-9)


@settings(fast, max_examples=15)
@given(arrays(np.float64, (6, 3), elements=st.floats(-5, 5)), arrays(np.int64, 6, elements=st.integers(0, 2)))
def test_fitted_temperature_is_a_minimum(z, targets):
    try:
        fitted = fit_temperature(z, targets)
    except ValueError:
        assume(False)

    def nll(temperature):
        chosen = apply_temperature(z, temperature)
        weights = np.exp(chosen)
        return -np.mean(chosen[np.arange(6), targets] - np.log(weights.sum(-1)))

    for factor in (0.9, 1.1):
        assert nll(fitted) <= nll(factor * fitted) + 1e-12
