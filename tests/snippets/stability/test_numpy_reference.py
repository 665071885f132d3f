"""The NumPy reference of `stability` against exact values and its contract."""

import decimal
import math
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest

from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import (
    blockwise_softmax,
    cross_entropy,
    cross_entropy_grad,
    log_softmax,
    logsumexp,
    logsumexp_simple,
    masked_softmax,
    nll_from_probs,
    safe_softmax_simple,
    soft_cross_entropy,
    softmax_rows,
    subtract_max,
)

inf, nan = np.inf, np.nan
FLOATS = [np.float16, np.float32, np.float64]
RTOL = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-12}
TINY = {dtype: float(np.finfo(dtype).smallest_subnormal) for dtype in FLOATS}


def everything(logits, axis=-1):
    """The softmax of masked_softmax with nothing masked."""
    return masked_softmax(logits, np.ones(np.shape(logits), bool), axis)


# Each takes logits and an axis and returns an array of the same shape.
ROWS = {"log_softmax": log_softmax, "masked_softmax": everything, "blockwise_softmax": blockwise_softmax}
FAMILY = ROWS | {"logsumexp": logsumexp}
rows = pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
family = pytest.mark.parametrize("function", FAMILY.values(), ids=FAMILY)
LOSSES = {
    "cross_entropy": lambda z, **more: cross_entropy(z, [0] * len(z), **more),
    "cross_entropy_grad": lambda z, **more: cross_entropy_grad(z, [0] * len(z), **more),
    "soft_cross_entropy": lambda z: soft_cross_entropy(z, np.full(np.shape(z), 1 / np.shape(z)[-1])),
}


def exactly(logits):
    """Return (lse, log-probabilities, probabilities) of one row in 60 decimal digits, rounded to float64 at the end."""
    with decimal.localcontext(prec=60, Emin=-(10**9), Emax=10**9):
        z = [Decimal(float(value)) for value in logits]
        peak = max(z)
        others = sum((value - peak).exp() for n, value in enumerate(z) if n != z.index(peak))
        tail = (1 + others).ln()
        logs = [float(value - peak - tail) for value in z]
        return float(peak + tail), np.array(logs), np.array([float((value - peak - tail).exp()) for value in z])


HARD = {
    "article": [2, 1, 0.1],
    "large": [1000, 999, -500],
    "tail": [0, -40],
    "tie_and_tail": [3, 3, -30],
    "leader": [37.5, 0, -3],
    "offset": [-1e10] * 11,
    "far": [0, -800, -3],
    "near": [0.1, 0.1 + 1e-15, 0.1 - 1e-15],
    "long": list(np.random.default_rng(1).normal(0, 5, 1000)),
    "negative": [-1e4, -1e4 - 0.5, -1e4 - 7],
    "subnormal": [0, -95, -100, -103],
}
hard = pytest.mark.parametrize("logits", HARD.values(), ids=HARD)


# ---- values


@hard
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_digit_in_every_dtype(logits, dtype):
    """Exact for the numbers the dtype holds: also in the tail (N07) and for the leading class (N08)."""
    logits = np.clip(logits, -6e4 if dtype == np.float16 else -inf, None).astype(dtype)  # -1e10 is no float16
    lse, logs, probs = exactly(logits)
    rounded = float(np.finfo(dtype).eps) * np.ptp(logits.astype(float))  # what subtracting in float32 costs a softmax
    for actual, expected, more in [
        (logsumexp(logits), lse, 0),
        (log_softmax(logits), logs, 0),
        (everything(logits), probs, rounded),
        (blockwise_softmax(logits), probs, rounded),
    ]:
        assert actual.dtype == dtype
        np.testing.assert_allclose(actual, expected, rtol=RTOL[dtype] + more, atol=TINY[dtype])


@hard
def test_simple_versions_inside_their_domain(logits):
    logits = np.array(logits, float)
    lse, _, probs = exactly(logits)
    np.testing.assert_allclose(logsumexp_simple(logits), lse, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(safe_softmax_simple(logits), probs, rtol=1e-12, atol=5e-324)
    assert subtract_max(logits).max() == 0


def test_published_values_b83_b85():
    np.testing.assert_allclose(log_softmax([1000, 999, -500]), [-0.313262, -1.313262, -1500.313262], atol=5e-7)
    assert logsumexp([1000] * 3) == pytest.approx(1000 + math.log(3), rel=1e-15)
    assert logsumexp([1000, 999, -500]) == pytest.approx(1000.3132616875182, rel=1e-15)


def test_logsumexp_lies_between_the_maximum_and_the_maximum_plus_ln_n_b85():
    for logits in HARD.values():
        logits = np.array(logits, float)
        assert logits.max() <= logsumexp(logits) <= logits.max() + math.log(len(logits)) * (1 + 1e-15)


def test_a_confident_float32_class_keeps_its_loss_n08():
    logits = np.array([17, 0], np.float32)
    assert log_softmax(logits)[0] == pytest.approx(-4.139937633e-8, rel=1e-6)
    assert cross_entropy(logits, 0) == pytest.approx(4.139937633e-8, rel=1e-6)
    assert cross_entropy_grad(logits, 0) == pytest.approx([-4.139937633e-8, 4.139937633e-8], rel=1e-6)


@pytest.mark.parametrize("n", [65_536, 100_000])
def test_a_float16_sum_beyond_its_range_a03_b79_n10(n):
    logits = np.zeros(n, np.float16)
    assert logsumexp(logits) == pytest.approx(math.log(n), rel=1e-3)
    assert log_softmax(logits)[0] == pytest.approx(-math.log(n), rel=1e-3)
    assert cross_entropy(logits, 0) == pytest.approx(math.log(n), rel=1e-3)
    for probs in (everything(logits), blockwise_softmax(logits)):
        assert np.sum(probs, dtype=float) == pytest.approx(1, rel=5e-3)  # 1e-5 is a float16 subnormal
        assert probs[0] == pytest.approx(1 / n, rel=5e-3)


def test_float32_sums_keep_their_mass_down_any_axis():
    n = 2**24 + 2**18  # a running float32 sum of ones stops at 2**24
    logits = np.broadcast_to(np.float32(0), (n, 2))
    assert blockwise_softmax(logits, axis=0)[0, 0] == pytest.approx(1 / n, rel=2e-6)


def test_a_logsumexp_outside_float16_is_inf():
    assert logsumexp(np.full(9_000_000, 65504, np.float16)) == inf  # 65504 + 16.01 rounds up


def test_far_apart_at_the_ends_of_the_range():
    for logits in (np.array([1.7e308, -1.7e308]), np.array([3e38, -3e38], np.float32)):
        assert logsumexp(logits) == logits[0]
        np.testing.assert_array_equal(log_softmax(logits), [0, -inf])
        for function in (everything, blockwise_softmax):
            np.testing.assert_array_equal(function(logits), [1, 0])
    half = np.array([6e4, -6e4], np.float16)
    np.testing.assert_array_equal(log_softmax(half), [0, -inf])
    np.testing.assert_array_equal(everything(half), [1, 0])


# ---- infinities, NaN, nothing


def test_logsumexp_at_the_edges_n06():
    cases = [([-inf, -inf], -inf), ([-inf], -inf), ([inf, 0], inf), ([inf, inf], inf), ([inf, -inf], inf)]
    cases += [([nan, 0], nan), ([nan, inf], nan), ([-inf, nan], nan), ([-inf, 5], 5), ([], -inf)]
    for logits, expected in cases:
        np.testing.assert_array_equal(logsumexp(logits), expected, err_msg=str(logits))
    table = [row for row, _ in cases if len(row) == 2]
    np.testing.assert_array_equal(logsumexp(table), [expected for row, expected in cases if len(row) == 2])


@rows
def test_a_broken_row_is_nan_and_alone(function):
    table = np.array([[-inf, -inf, -inf], [inf, 0, 1], [inf, inf, 0], [nan, 0, 1], [-inf, 0, 0], [1, 2, 3]])
    actual, expected = function(table), softmax(table)
    if function is log_softmax:
        with np.errstate(divide="ignore"):
            expected = np.log(expected)
    if function is everything:
        expected[0] = 0  # nothing to choose
    np.testing.assert_allclose(actual, expected, rtol=1e-14)


def test_where_leaves_entries_out_whatever_they_hold_n06():
    for held in (0, 1e300, inf, nan):
        logits = np.array([[-1000, held, -1001], [held, held, held]])
        lse = logsumexp(logits, where=np.array([True, False, True]) & np.array([[True], [False]]))
        assert lse[0] == pytest.approx(-1000 + math.log1p(math.exp(-1)), rel=1e-15)
        assert lse[1] == -inf
    assert logsumexp([-1000, 0], where=[True, False]) == -1000


def test_where_is_stretched_and_axis_goes():
    logits = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(logsumexp(logits, 0, where=[[True], [False]]), logits[0])
    np.testing.assert_allclose(logsumexp(logits, where=[False, True, False]), logits[:, 1])
    assert logsumexp(logits).shape == (2,)
    assert logsumexp(logits, axis=0).shape == (3,)


def test_masked_slots_never_leak_n03_n05():
    for held in (100, inf, -inf, nan):
        probs = masked_softmax([1, 1, held], [True, True, False])
        np.testing.assert_array_equal(probs, [0.5, 0.5, 0])
        np.testing.assert_array_equal(masked_softmax([held, held], [False, False]), [0, 0])
    np.testing.assert_array_equal(masked_softmax([nan, 0, 5], [True, True, False]), [nan, nan, 0])
    np.testing.assert_array_equal(masked_softmax([inf, 0, 5], [True, True, False]), [nan, nan, 0])


def test_a_row_with_nothing_to_choose_is_zeros_n01():
    logits = np.array([[1.0, 2], [3, 4], [-inf, 5]])
    probs = masked_softmax(logits, np.array([[True, True], [False, False], [True, False]]))
    np.testing.assert_allclose(probs, [softmax([1, 2]), [0, 0], [0, 0]], rtol=1e-15)


def test_no_sentinel_a_score_could_beat_n04():
    np.testing.assert_array_equal(masked_softmax([-5e9, 0], [True, False]), [1, 0])
    half = masked_softmax(np.array([-30000, 0], np.float16), [True, False])
    np.testing.assert_array_equal(half, np.array([1, 0], np.float16))


def test_masks_along_another_axis():
    logits, mask = np.arange(6.0).reshape(3, 2), np.array([[True], [True], [False]])
    np.testing.assert_allclose(masked_softmax(logits, mask, axis=0), masked_softmax(logits.T, mask.T).T)


def test_empty_and_0d_n14():
    assert logsumexp([]) == -inf
    np.testing.assert_array_equal(logsumexp(np.zeros((0, 3)), axis=0), [-inf] * 3)
    assert logsumexp(np.zeros((0, 3))).shape == (0,)
    assert (log_softmax(2.0), everything(2.0), blockwise_softmax(2.0), logsumexp(2.0)) == (0, 1, 1, 2)
    for function in ROWS.values():
        for shape in [(0,), (4, 0), (0, 4), (2, 0, 3)]:
            assert function(np.zeros(shape)).shape == shape
        assert function(np.float32(2)).shape == ()


# ---- dtypes, memory, shapes


@family
def test_integers_do_not_wrap_n12(function):
    for dtype in (np.uint8, np.int8, np.int32, np.uint64):
        limits = np.iinfo(dtype)
        logits = np.array([limits.min, 1, 2, limits.max], dtype)
        actual = function(logits)
        assert actual.dtype == np.float64
        np.testing.assert_array_equal(actual, function(logits.astype(float)))
    np.testing.assert_allclose(function([True, False]), function([1.0, 0.0]))


def test_integer_values_n12():
    probs = blockwise_softmax(np.array([1, 2, 3], np.uint8))
    np.testing.assert_allclose(probs, [0.0900305732, 0.2447284711, 0.6652409558], rtol=1e-8)
    probs = blockwise_softmax(np.array([-128, 127, 0], np.int8))
    np.testing.assert_allclose(probs, [1.798486220279e-111, 1, 6.991989996646e-56], rtol=1e-12)


@family
def test_refuses_what_is_no_real_number(function):
    for wrong in (np.zeros(2, complex), ["a"], [None]):
        with pytest.raises(TypeError, match="expected real numbers"):
            function(wrong)


@family
def test_any_axis_and_any_view(function):
    logits = np.random.default_rng(2).normal(size=(3, 4, 5))
    for axis in (0, 1, 2, -1, -2, -3):
        inside = function(np.moveaxis(logits, axis, -1))
        inside = inside if function is logsumexp else np.moveaxis(inside, -1, axis)
        np.testing.assert_allclose(function(logits, axis), inside, rtol=1e-14)
    for view in (logits[::-1], logits[:, ::-2], logits[..., ::-1], logits.T, np.broadcast_to(logits[0], (3, 4, 5))):
        np.testing.assert_allclose(function(view), function(view.copy()), rtol=1e-14)


@family
def test_wrong_axis(function):
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        function(np.zeros((2, 3)), 2)


@family
def test_input_is_left_alone_and_may_be_read_only(function):
    logits = np.array([[1.0, -inf, 2], [3, 4, nan]])
    before = logits.copy()
    logits.flags.writeable = False
    function(logits)
    np.testing.assert_array_equal(logits, before)


@family
def test_no_floating_point_error_escapes(function):
    """Even where the caller has turned every floating-point event into an exception."""
    table = [[-inf, -inf], [inf, 1], [nan, 1], [1.7e308, -1.7e308], [0, -800]]
    with np.errstate(all="raise", under="ignore"):
        function(table)
        function(np.array([3e38, -3e38], np.float32))
        function(np.array([6e4, -6e4], np.float16))


@pytest.mark.parametrize("function", LOSSES.values(), ids=LOSSES)
def test_no_floating_point_error_escapes_from_a_loss(function):
    with np.errstate(all="raise", under="ignore"):
        function([[0, -800], [-inf, 0], [-800, 0]])
        function(np.array([[6e4, -6e4], [-6e4, 6e4]], np.float16))
        function(np.zeros((0, 3)))


@pytest.mark.parametrize("use", [lambda z, m: logsumexp(z, where=m), masked_softmax])
def test_masks_are_boolean_and_fit(use):
    for wrong in ([0.0, -inf], [1, 0]):
        with pytest.raises(TypeError, match="mask must be boolean, True = takes part, got dtype"):
            use([1.0, 2.0], np.array(wrong))
    for shape in [(3,), (3, 2), (1, 2)]:
        with pytest.raises(ValueError, match=r"mask of shape \(.*\) does not fit logits of shape \(2,\)"):
            use([1.0, 2.0], np.ones(shape, bool))
    assert use([1.0, 2.0], True) is not None


# ---- losses


def test_published_values_b86():
    assert cross_entropy([2, 1, 0.1], 0) == pytest.approx(0.41703001627783354, rel=1e-14)
    assert nll_from_probs(softmax([2, 1, 0.1]), 0) == pytest.approx(0.41703001627783354, rel=1e-14)
    assert cross_entropy(softmax([2, 1, 0.1]), 0) == pytest.approx(0.8021208912128679, rel=1e-14)


def test_softmax_twice_has_a_floor_r10():
    for n, floor in [(2, 0.313262), (3, 0.551445), (4, 0.743668), (10, 1.461150), (1000, 5.909472)]:
        assert cross_entropy(np.eye(n)[0], 0) == pytest.approx(floor, abs=5e-7)


def test_b87_gradient_of_cross_entropy_where_it_is_confidently_wrong():
    np.testing.assert_allclose(cross_entropy_grad([-10, 10, 0], 0), [-1, 0.9999546, 4.539787e-5], rtol=1e-6)
    np.testing.assert_allclose(cross_entropy_grad([2, 1, 0.1], 0), [-0.3409989, 0.2424330, 0.09856589], rtol=1e-6)
    assert cross_entropy(np.array([0, 200], np.float32), 0) == 200


def test_n25_p3_and_n21():
    np.testing.assert_allclose(cross_entropy_grad([[-431, 279, 427]], [0]), [[-1, 5.301718666092e-65, 1]], rtol=1e-12)
    assert cross_entropy([[0, 0, 0, 100]], [3]) == pytest.approx(1.11602279280625e-43, rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5, 1.0])
def test_cross_entropy_term_by_term(smoothing):
    logits, target = np.random.default_rng(3).normal(0, 3, (2, 3, 5)), np.array([[0, 4, -100], [2, -100, 1]])
    losses, grad = [], np.zeros(logits.shape)
    for at in np.ndindex(2, 3):
        if target[at] != -100:
            wanted = np.full(5, smoothing / 5)
            wanted[target[at]] += 1 - smoothing
            _, logs, probs = exactly(logits[at])
            losses.append(-math.fsum(wanted * logs))
            grad[at] = (probs - wanted) / 4
    assert cross_entropy(logits, target, label_smoothing=smoothing) == pytest.approx(np.mean(losses), rel=1e-14)
    np.testing.assert_allclose(cross_entropy_grad(logits, target, label_smoothing=smoothing), grad, atol=1e-16)


def test_smoothing_has_a_finite_best_gap():
    """Omission 36: with 0.1 over 10 classes the loss is least, 0.500288, at a lead of 4.510860."""
    best = math.log(0.91 / 0.01)
    assert best == pytest.approx(4.510860, abs=5e-7)
    loss, *around = (cross_entropy([gap] + [0] * 9, 0, label_smoothing=0.1) for gap in (best, best - 0.1, best + 0.1))
    assert loss == pytest.approx(0.500288, abs=5e-7)
    assert min(around) > loss


def test_ignored_rows_do_not_matter_n22():
    for held in (0, -inf, inf, nan):
        logits = np.array([[held, held], [1, 2]])
        assert cross_entropy(logits, [-100, 0]) == pytest.approx(1.3132616875, rel=1e-10)
        grad = cross_entropy_grad(logits, [-100, 0])
        np.testing.assert_allclose(grad, [[0, 0], [-0.7310585786, 0.7310585786]], rtol=1e-9)
    assert cross_entropy([[1, 2], [3, 4]], [1, 0], ignore_index=0) == cross_entropy([1, 2], 1)
    assert np.array_equal(cross_entropy_grad([[1, 2], [3, 4]], [1, 0], ignore_index=0)[1], [0, 0])


def test_no_target_kept_is_nan_with_gradient_zero():
    for logits, target in [([[1, 2]], [-100]), (np.zeros((0, 3)), []), (np.zeros((0, 3)), np.zeros(0, int))]:
        assert np.isnan(cross_entropy(logits, target))
        np.testing.assert_array_equal(cross_entropy_grad(logits, target), np.zeros(np.shape(logits)))
    assert np.isnan(soft_cross_entropy(np.zeros((0, 3)), np.zeros((0, 3))))
    assert np.isnan(nll_from_probs([[0.5, 0.5]], [-100]))


def test_impossible_classes():
    assert cross_entropy([-inf, 0], 0) == inf
    assert cross_entropy([-inf, 0], 1) == 0
    np.testing.assert_array_equal(cross_entropy_grad([-inf, 0], 0), [-1, 1])
    np.testing.assert_array_equal(cross_entropy_grad([-inf, 0], 1), [0, 0])
    for smoothing in (0.1, 1.0):
        assert cross_entropy([-inf, 0], 1, label_smoothing=smoothing) == inf
    assert np.isnan(cross_entropy([-inf, -inf], 0))
    assert np.all(np.isnan(cross_entropy_grad([[-inf, -inf], [0, 0]], [0, 0])[0]))


def test_soft_targets_n23():
    assert soft_cross_entropy([-inf, 0], [0, 1]) == 0
    assert soft_cross_entropy([[-inf, 0, 0]], [[0, 0.5, 0.5]]) == pytest.approx(math.log(2), rel=1e-15)
    assert soft_cross_entropy([0, -inf], [0, 1]) == inf
    logits, labels = np.array([[1.0, 2, 3], [3, 1, 0]]), np.array([[0.2, 0.3, 0.5], [0, 0.75, 0.25]])
    expected = np.mean([-math.fsum(label * exactly(row)[1]) for row, label in zip(logits, labels, strict=True)])
    assert soft_cross_entropy(logits, labels) == pytest.approx(expected, rel=1e-14)
    assert soft_cross_entropy(np.eye(3), np.eye(3)) == cross_entropy(np.eye(3), [0, 1, 2])


def test_a_broken_row_of_probabilities_stays_visible():
    assert np.isnan(nll_from_probs(softmax([[nan, 0], [0, 0]]), [1, 1]))
    assert np.isnan(soft_cross_entropy([[0, 0]], [[nan, 1]]))


def test_probabilities_that_have_rounded_to_zero():
    assert nll_from_probs([[1, 0]], [1]) == inf
    assert nll_from_probs([[0.9, 0.1], [0.5, 0.5]], [0, -100]) == pytest.approx(0.105360515657826, rel=1e-14)
    for ignored in ([0, 0], [inf, 0], [-1, 5]):  # masked_softmax gives zeros to a row of padding
        assert nll_from_probs([[0.9, 0.1], ignored], [0, -100]) == pytest.approx(0.105360515657826, rel=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
def test_losses_keep_the_dtype_of_the_logits(dtype):
    logits, target = np.array([[1, 2, 3], [3, 1, 0]], dtype), np.array([2, 1], np.uint8)
    labels = np.array([[0, 0, 1], [0, 1, 0]])
    wide = logits.astype(float)
    pairs = [
        (cross_entropy(logits, target), cross_entropy(wide, target)),
        (cross_entropy_grad(logits, target), cross_entropy_grad(wide, target)),
        (soft_cross_entropy(logits, labels), cross_entropy(wide, target)),
        (nll_from_probs(softmax(logits), target), cross_entropy(wide, target)),
    ]
    for actual, expected in pairs:
        assert actual.dtype == dtype
        np.testing.assert_allclose(actual, expected, rtol=RTOL[dtype], atol=TINY[dtype])


def test_integer_logits_in_losses():
    logits = np.array([[-128, 127, 0]], np.int8)
    assert cross_entropy(logits, [0]) == pytest.approx(255, rel=1e-14)
    np.testing.assert_allclose(cross_entropy_grad(logits, [0]), [[-1, 1, 6.991989996646e-56]], rtol=1e-12)
    assert soft_cross_entropy(logits, [[1, 0, 0]]) == pytest.approx(255, rel=1e-14)


TARGETED = {
    "cross_entropy": cross_entropy,
    "cross_entropy_grad": cross_entropy_grad,
    "nll_from_probs": nll_from_probs,
}


@pytest.mark.parametrize("loss", TARGETED.values(), ids=TARGETED)
def test_wrong_targets(loss):
    probs = np.full((2, 4), 0.25)
    for wrong in (np.zeros(3, int), np.zeros((2, 1), int), 0):
        with pytest.raises(ValueError, match=r"target of shape \(.*\) does not fit logits of shape \(2, 4\)"):
            loss(probs, wrong)
    with pytest.raises(ValueError, match=r"target of shape \(\) does not fit logits of shape \(\)"):
        loss(1.0, 0)
    for wrong in (4, -1, -101):
        with pytest.raises(ValueError, match=f"target must be >= 0 and < 4, or -100, got {wrong}"):
            loss(probs, [0, wrong])
    for wrong in (np.zeros(2), np.zeros(2, bool)):
        with pytest.raises(TypeError, match="target must hold integers, got dtype"):
            loss(probs, wrong)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, nan])
def test_wrong_smoothing(wrong):
    for loss in (cross_entropy, cross_entropy_grad):
        with pytest.raises(ValueError, match=f"label_smoothing must be between 0 and 1, got {wrong}"):
            loss([1, 2], 0, label_smoothing=wrong)


def test_logits_are_no_probabilities_n21():
    for wrong in ([[2, 1, 0.1]], [[0.5, 0.4, 0.05]], [[1.5, -0.5, 0]]):
        with pytest.raises(ValueError, match="probs must be >= 0 and sum to 1 along the last axis, got sum"):
            nll_from_probs(wrong, [0])
        with pytest.raises(ValueError, match="probs must be >= 0 and sum to 1 along the last axis, got sum"):
            soft_cross_entropy([[1, 2, 3]], wrong)
    for shape in [(3,), (2, 3), (1, 2)]:
        with pytest.raises(ValueError, match=r"probs of shape \(.*\) does not fit logits of shape \(1, 3\)"):
            soft_cross_entropy([[1, 2, 3]], np.ones(shape))
    with pytest.raises(ValueError, match=r"probs of shape \(\) does not fit logits of shape \(\)"):
        soft_cross_entropy(1.0, 1.0)


# ---- blocks


def plain(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("block_bytes", [1, 100, 10_000])
@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (7, 5), (300, 3)])
def test_blocks_of_every_size(block_bytes, shape):
    logits = np.random.default_rng(4).normal(0, 10, shape)
    out = np.empty(shape)
    softmax_rows(logits, out, block_bytes)
    np.testing.assert_allclose(out, plain(logits), rtol=1e-14)
    softmax_rows(logits, logits, block_bytes)  # in place
    np.testing.assert_array_equal(logits, out)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_writes_to_out(dtype, axis):
    logits = np.random.default_rng(5).normal(size=(4, 6, 3)).astype(dtype)
    expected = blockwise_softmax(logits, axis)
    outs = [np.empty_like(logits), np.empty((4, 6, 6), dtype)[..., ::2], np.empty((3, 6, 4), dtype).T, logits]
    for out in outs:
        assert blockwise_softmax(logits, axis, out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_out_that_overlaps_the_input():
    buffer = np.random.default_rng(6).normal(size=(9, 4))
    expected = plain(buffer[:-1])
    blockwise_softmax(buffer[:-1], out=buffer[1:])
    np.testing.assert_array_equal(buffer[1:], expected)
    square = np.random.default_rng(7).normal(size=(5, 5))
    expected = plain(square)
    blockwise_softmax(square, out=square.T)
    np.testing.assert_array_equal(square.T, expected)


def test_out_0d_and_empty():
    out = np.empty(())
    assert blockwise_softmax(3, out=out) is out
    assert out == 1
    out = np.empty((2, 0))
    assert blockwise_softmax(out, out=out) is out


def test_wrong_out():
    for wrong in (np.empty((3, 2)), np.empty(6), np.empty((2, 3), np.float32)):
        with pytest.raises(ValueError, match=r"out must be float64 of shape \(2, 3\), got float(32|64) of shape"):
            blockwise_softmax(np.zeros((2, 3)), out=wrong)
    with pytest.raises(ValueError, match="out must be float16"):
        blockwise_softmax(np.zeros(3, np.float16), out=np.empty(3, np.float32))


def test_no_second_array_of_the_size_of_the_input():
    logits = np.zeros((4000, 1000))
    out = np.empty_like(logits)
    tracemalloc.start()
    blockwise_softmax(logits, out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < logits.nbytes / 20
