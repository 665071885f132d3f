"""What holds for every input: properties of the stability functions, searched for counterexamples."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import (
    blockwise_softmax,
    cross_entropy,
    cross_entropy_grad,
    log_softmax,
    logsumexp,
    masked_softmax,
    nll_from_probs,
    soft_cross_entropy,
)

fast = settings(max_examples=25, deadline=None, derandomize=True)
inf, nan = np.inf, np.nan
sizes = st.integers(1, 8)
moderate = st.floats(-30, 30)
any_float = st.floats(-1.7e308, 1.7e308)
rows = hnp.arrays(np.float64, sizes, elements=moderate)
any_rows = hnp.arrays(np.float64, sizes, elements=any_float)
with_infinities = st.one_of(moderate, st.sampled_from([-inf, inf, nan]))
broken_tables = hnp.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(0, 5)), elements=with_infinities)
float_dtypes = st.sampled_from([np.float16, np.float32, np.float64])


def masks(shape):
    return hnp.arrays(bool, shape)


def tables(elements=moderate):
    shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=elements))


def exact_logsumexp(logits):
    """The definition, with no shift, in 80 decimal digits."""
    with decimal.localcontext(prec=80, Emin=-(10**9), Emax=10**9):
        return float(sum(Decimal(float(z)).exp() for z in logits).ln())


# ---- logsumexp and log_softmax


@fast
@given(rows)
@example(np.array([0.0, -40]))
@example(np.array([-0.6931471805599453, -0.6931471805599453]))
def test_logsumexp_is_its_definition(logits):
    np.testing.assert_allclose(logsumexp(logits), exact_logsumexp(logits), rtol=1e-14, atol=1e-15)


@fast
@given(st.floats(-700, -1))
def test_a_small_rest_keeps_its_digits_n07(rest):
    assert logsumexp([0, rest]) == pytest.approx(exact_logsumexp([0, rest]), rel=1e-14)
    assert -log_softmax([0, rest])[0] == pytest.approx(exact_logsumexp([0, rest]), rel=1e-14)


@fast
@given(any_rows)
def test_logsumexp_bounds_b85(logits):
    lse = logsumexp(logits)
    assert logits.max() <= lse <= logits.max() + math.log(len(logits)) + abs(logits.max()) * 1e-15 + 1e-15


@fast
@given(rows, rows)
def test_logsumexp_of_two_parts(left, right):
    """Splitting a row and joining the parts gives the whole: what an online softmax relies on."""
    joined = logsumexp([logsumexp(left), logsumexp(right)])
    assert joined == pytest.approx(logsumexp(np.concatenate([left, right])), rel=1e-14, abs=1e-14)


@fast
@given(rows, st.randoms(use_true_random=False))
def test_where_equals_leaving_out(logits, random):
    mask = np.array([random.random() < 0.5 for _ in logits])
    left = pytest.approx(logsumexp(logits[mask]), rel=1e-14, abs=1e-14)  # added in another order
    assert logsumexp(logits, where=mask) == left
    assert logsumexp(np.where(mask, logits, nan), where=mask) == left


@fast
@given(any_rows)
def test_log_softmax_is_never_above_zero_and_has_one_peak_or_a_tie(logits):
    logs = log_softmax(logits)
    assert np.all(logs <= 0)
    assert logs[np.argmax(logits)] >= -math.log(len(logits)) * (1 + 1e-15)
    assert exact_logsumexp(np.maximum(logs, -1e4)) == pytest.approx(0, abs=1e-14)


@fast
@given(rows)
def test_log_softmax_is_the_log_of_softmax_where_both_exist(logits):
    np.testing.assert_allclose(log_softmax(logits), np.log(softmax(logits)), rtol=1e-12, atol=1e-15)


@fast
@given(rows)
def test_log_softmax_twice_is_once_r10(logits):
    once = log_softmax(logits)
    np.testing.assert_allclose(log_softmax(once), once, rtol=1e-13, atol=1e-15)


@fast
@given(hnp.arrays(np.float64, sizes, elements=st.integers(-50, 50)), st.integers(-(2**40), 2**40))
def test_shift_invariance_where_the_sum_is_exact(logits, shift):
    """Integers below 2**53: adding rounds nothing, so nothing at all may change."""
    np.testing.assert_array_equal(log_softmax(logits + shift), log_softmax(logits))
    np.testing.assert_array_equal(blockwise_softmax(logits + shift), blockwise_softmax(logits))
    assert logsumexp(logits + shift) == pytest.approx(logsumexp(logits) + shift, rel=1e-15, abs=1e-13)


# ---- rows


ROWS = {
    "log_softmax": log_softmax,
    "blockwise_softmax": blockwise_softmax,
    "masked_softmax": lambda z: masked_softmax(z, np.ones(np.shape(z), bool)),
    "logsumexp": logsumexp,
}
family = pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)


@family
@fast
@given(broken_tables)
def test_rows_do_not_notice_each_other(function, table):
    whole = function(table)
    assert whole.shape == (table.shape[:1] if function is logsumexp else table.shape)
    for row, expected in zip(table, whole, strict=True):
        np.testing.assert_allclose(function(row), expected, rtol=1e-14)


@family
@fast
@given(tables(), float_dtypes)
def test_dtype_and_input_are_kept(function, table, dtype):
    table = table.astype(dtype)
    before = table.copy()
    assert function(table).dtype == dtype
    np.testing.assert_array_equal(table, before)
    np.testing.assert_array_equal(function(table[::-1]), function(table[::-1].copy()))


@fast
@given(tables(any_float), st.data())
def test_blocks_equal_softmax(table, data):
    axis = data.draw(st.integers(-table.ndim, table.ndim - 1))
    np.testing.assert_allclose(blockwise_softmax(table, axis), softmax(table, axis), rtol=1e-14, atol=5e-324)


@fast
@given(broken_tables)
def test_blocks_break_where_softmax_breaks(table):
    np.testing.assert_allclose(blockwise_softmax(table), softmax(table), rtol=1e-14)


@fast
@given(st.data())
def test_masked_softmax_is_softmax_of_what_is_kept_n05(data):
    logits = data.draw(hnp.arrays(np.float64, st.integers(1, 8), elements=with_infinities))
    mask = data.draw(masks(logits.shape))
    probs = masked_softmax(logits, mask)
    assert np.all(probs[~mask] == 0)
    kept = logits[mask]
    expected = np.zeros(len(kept)) if np.all(kept == -inf) else softmax(kept)
    np.testing.assert_allclose(probs[mask], expected, rtol=1e-14)


@fast
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4))
def test_masks_broadcast_to_the_logits_and_never_beyond(shapes):
    shape, mask_shape = shapes.input_shapes
    mask = np.ones(mask_shape, bool)
    if shapes.result_shape == shape:
        assert masked_softmax(np.zeros(shape), mask).shape == shape
    else:
        with pytest.raises(ValueError, match="does not fit logits of shape"):
            masked_softmax(np.zeros(shape), mask)
        with pytest.raises(ValueError, match="does not fit logits of shape"):
            logsumexp(np.zeros(shape), where=mask)


# ---- losses


@st.composite
def batches(draw, elements=moderate):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    target = hnp.arrays(np.int64, shape[:1], elements=st.sampled_from([*range(shape[1]), -100]))
    return draw(hnp.arrays(np.float64, shape, elements=elements)), draw(target)


smoothings = st.floats(0, 1)


@fast
@given(batches(), smoothings)
def test_cross_entropy_is_at_least_the_entropy_of_its_target(batch, smoothing):
    logits, target = batch
    loss = cross_entropy(logits, target, label_smoothing=smoothing)
    if np.all(target == -100):
        assert np.isnan(loss)
    else:
        n = logits.shape[1]
        wanted = np.full(n, smoothing / n)
        wanted[0] += 1 - smoothing
        assert loss >= -np.sum(wanted * np.log(np.where(wanted > 0, wanted, 1))) - 1e-12


@fast
@given(batches(), smoothings)
def test_the_gradient_is_the_slope_and_its_rows_sum_to_zero(batch, smoothing):
    logits, target = batch
    grad = cross_entropy_grad(logits, target, label_smoothing=smoothing)
    np.testing.assert_allclose(grad.sum(axis=-1), 0, atol=1e-15)
    np.testing.assert_array_equal(grad[target == -100], 0)
    if np.any(target != -100):
        step, direction = 1e-5, np.sin(np.arange(logits.size)).reshape(logits.shape)
        ahead = cross_entropy(logits + step * direction, target, label_smoothing=smoothing)
        behind = cross_entropy(logits - step * direction, target, label_smoothing=smoothing)
        slope = (ahead - behind) / (2 * step)
        assert slope == pytest.approx(np.sum(grad * direction), abs=1e-7)


@fast
@given(batches(st.one_of(moderate, st.just(-inf))))
def test_ignored_rows_never_matter_n22(batch):
    logits, target = batch
    poisoned = np.where((target == -100)[:, None], nan, logits)
    np.testing.assert_array_equal(cross_entropy(poisoned, target), cross_entropy(logits, target))
    np.testing.assert_array_equal(cross_entropy_grad(poisoned, target), cross_entropy_grad(logits, target))


@fast
@given(batches())
def test_three_ways_to_one_loss_b86(batch):
    logits, target = batch
    loss = cross_entropy(logits, target)
    np.testing.assert_allclose(nll_from_probs(softmax(logits), target), loss, rtol=1e-12, atol=1e-15)
    kept = target != -100
    soft = soft_cross_entropy(logits[kept], np.eye(logits.shape[1])[target[kept]])
    np.testing.assert_array_equal(soft, loss)


@fast
@given(st.integers(2, 8).flatmap(lambda n: hnp.arrays(np.float64, n, elements=moderate)))
def test_softmax_twice_never_reaches_zero_r10(logits):
    n = len(logits)
    assert cross_entropy(softmax(logits), 0) >= math.log(1 + (n - 1) / math.e) - 1e-12


@fast
@given(rows)
def test_an_impossible_class_nobody_wants_costs_nothing_n23(logits):
    logits = np.append(logits, -inf)
    labels = np.append(softmax(logits[:-1] / 2), 0)
    expected = soft_cross_entropy(logits[:-1], labels[:-1])
    assert soft_cross_entropy(logits, labels) == pytest.approx(expected, rel=1e-12)
