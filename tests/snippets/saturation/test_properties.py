"""What holds for every input: properties of the Jacobian and of what bounds it, searched for counterexamples."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from snippets.probabilities.numpy_reference import softmax
from snippets.saturation.numpy_reference import (
    attention_entropy_floor,
    attention_statistics,
    entropy_grad,
    gini_simpson,
    jacobian_spectral_norm,
    log_softmax_vjp,
    one_minus,
    softcap,
    softmax_jacobian,
    softmax_off_by_one,
    softmax_vjp,
)

fast = settings(max_examples=40, deadline=None, derandomize=True)
wide = st.one_of(st.floats(-800, 800), st.floats(-5, 5), st.sampled_from([0.0, 1.0, -1e308, 1e308]))
moderate = st.floats(-30, 30)
sizes = st.integers(1, 8)
any_rows = hnp.arrays(np.float64, sizes, elements=wide)
rows = hnp.arrays(np.float64, sizes, elements=moderate)
pairs = sizes.flatmap(lambda n: hnp.arrays(np.float64, (2, n), elements=moderate))
far_pairs = sizes.flatmap(
    lambda n: st.tuples(hnp.arrays(np.float64, n, elements=wide), hnp.arrays(np.float64, n, elements=moderate))
)


def entropy(probs):
    positive = probs[probs > 0]
    return -math.fsum(positive * np.log(positive))


@fast
@given(any_rows)
def test_jacobian_is_symmetric_with_zero_sums_and_no_negative_eigenvalue_b50(logits):
    jacobian = softmax_jacobian(logits)
    assert np.array_equal(jacobian, jacobian.T)
    assert np.all(np.abs(jacobian.sum(axis=-1)) <= 1e-15 * np.abs(jacobian).max())
    assert np.all(np.linalg.eigvalsh(jacobian) >= -1e-15)
    assert np.all(np.diag(jacobian) <= 0.25)
    assert np.all(np.abs(jacobian) <= 0.25)


@fast
@given(pairs)
def test_jacobian_is_the_slope_of_softmax(pair):
    logits, direction = pair
    step = 1e-4 / (1 + np.abs(direction).max())
    moved = softmax(logits + step * direction) - softmax(logits - step * direction)
    np.testing.assert_allclose(softmax_vjp(logits, direction), moved / (2 * step), atol=2e-7)


@fast
@given(far_pairs)
def test_vjp_is_the_jacobian_times_the_gradient_omission_6(pair):
    logits, grad = pair
    result = softmax_vjp(logits, grad)
    size = np.abs(softmax_jacobian(logits)) @ np.abs(grad)
    assert np.all(np.abs(result - softmax_jacobian(logits) @ grad) <= 1e-14 * size + 1e-28)
    assert abs(math.fsum(result)) <= 1e-15 * np.abs(result).sum() + 1e-28


@fast
@given(far_pairs)
def test_every_gradient_is_exact_to_the_last_class(pair):
    """Pairwise: component i is the sum over j of p_i p_j (g_i - g_j), and nothing cancels before that sum."""
    logits, grad = pair
    p = softmax(logits)
    terms = p[:, None] * p * (grad[:, None] - grad)
    expected = np.array([math.fsum(row) for row in terms])
    assert np.all(np.abs(softmax_vjp(logits, grad) - expected) <= 1e-13 * np.abs(terms).sum(axis=-1) + 1e-28)
    terms = p * grad[:, None] - p[:, None] * grad  # for log p: the sum over j of p_j g_i - p_i g_j
    expected = np.array([math.fsum(row) for row in terms])
    size = np.abs(p * grad[:, None]).sum(axis=-1) + (p[:, None] * np.abs(grad)).sum(axis=-1)
    assert np.all(np.abs(log_softmax_vjp(logits, grad) - expected) <= 1e-13 * size + 1e-28)


@fast
@given(pairs, moderate)
def test_a_constant_gradient_changes_nothing(pair, constant):
    logits, grad = pair
    np.testing.assert_allclose(softmax_vjp(logits, grad + constant), softmax_vjp(logits, grad), atol=1e-13)
    np.testing.assert_allclose(softmax_vjp(logits + constant, grad), softmax_vjp(logits, grad), atol=1e-13)


@fast
@given(any_rows)
def test_norm_is_the_largest_eigenvalue_and_within_its_bounds_b47(logits):
    p = softmax(logits)
    norm = jacobian_spectral_norm(p)
    largest = np.linalg.eigvalsh(softmax_jacobian(logits))[-1]
    assert abs(norm - largest) <= 1e-14
    gershgorin = np.max(2 * p * one_minus(p))
    assert gershgorin / 2 * (1 - 1e-14) <= norm <= gershgorin * (1 + 1e-14)
    assert norm <= 0.5


@fast
@given(any_rows)
def test_norm_solves_its_equation_relatively(logits):
    """J v = norm v for v = p / (p - norm), in every component, however small the norm is."""
    p = np.sort(softmax(logits))[::-1]
    norm = jacobian_spectral_norm(p)
    if len(p) == 1 or p[0] - p[1] < 1e-6 or norm < 1e-290 or np.any(np.abs(p - norm) < 1e-9 * norm):
        return  # ties have eigenvectors of another form
    v = p / (p - norm)
    terms = p[:, None] * p * (v[:, None] - v)
    assert np.all(
        np.abs(terms.sum(axis=-1) - norm * v) <= 1e-5 * (np.abs(terms).sum(axis=-1) + norm * np.abs(v)) + 1e-300
    )


@fast
@given(any_rows)
def test_trace_and_entropy_omission_23_a47(logits):
    p = softmax(logits)
    trace = gini_simpson(p)
    assert trace <= entropy(p) / (2 * math.log(2)) * (1 + 1e-12) + 1e-280
    assert trace <= 2 * (1 - p.max()) + 1e-15  # b54
    assert jacobian_spectral_norm(p) <= trace * (1 + 1e-12)
    assert trace <= 1 - 1 / len(p) + 1e-15


@fast
@given(pairs)
def test_half_lipschitz_omission_5(pair):
    distance = np.linalg.norm(softmax(pair[0]) - softmax(pair[1]))
    assert distance <= 0.5 * np.linalg.norm(pair[0] - pair[1]) + 1e-15


@fast
@given(rows)
def test_entropy_grad_points_uphill(logits):
    grad = entropy_grad(logits)
    assert abs(math.fsum(grad)) <= 1e-13
    step = 1e-3
    assert entropy(softmax(logits + step * grad)) >= entropy(softmax(logits)) - 1e-14
    assert grad @ logits <= 1e-13  # smaller logits have more entropy: -z J z <= 0


@fast
@given(rows)
def test_no_row_lies_below_the_floor_omission_24(logits):
    sigma = np.linalg.norm(logits - logits.mean())
    floor = attention_entropy_floor(len(logits), sigma)
    assert entropy(softmax(logits)) >= floor * (1 - 1e-9) - 1e-14


@fast
@given(st.integers(2, 2000), st.floats(0, 100), st.floats(0, 100))
def test_floor_falls_with_the_norm(n, one, other):
    low, high = sorted((one, other))
    assert 0 <= attention_entropy_floor(n, high) <= attention_entropy_floor(n, low) * (1 + 1e-12)
    assert attention_entropy_floor(n, low) <= math.log(n) * (1 + 1e-15)


@fast
@given(any_rows)
def test_off_by_one_is_a_share_of_softmax(logits):
    weights = softmax_off_by_one(logits)
    assert np.all((weights >= 0) & (weights <= 1))
    total = math.fsum(weights)
    assert total <= 1 + 1e-15
    np.testing.assert_allclose(weights, total * softmax(logits), rtol=1e-12, atol=1e-300)


@fast
@given(st.one_of(moderate, wide), st.floats(1e-3, 1e3))
def test_softcap_bounds_keeps_sign_and_order(x, cap):
    y = softcap(x, cap)
    assert abs(y) <= min(cap, abs(x) * (1 + 1e-15) + 1e-306)  # x / cap may be subnormal
    assert y == -softcap(-x, cap)
    assert softcap(x + abs(x) * 0.1, cap) >= y


@fast
@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 3), sizes, sizes), elements=moderate))
def test_statistics_stay_in_their_ranges(logits):
    entropy_, first, likeness = attention_statistics(softmax(logits))
    assert -1e-15 <= entropy_ <= math.log(logits.shape[-1]) + 1e-12
    assert 0 <= first <= 1
    assert -1e-15 <= likeness <= 1 + 1e-12
