"""The NumPy reference of `temperature` against exact arithmetic, the ledger's figures and brute force."""

import itertools
import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from snippets.temperature.numpy_reference import (
    annealing_schedule,
    apply_temperature,
    entropy_from_logits,
    expected_calibration_error,
    fit_temperature,
    gumbel_max,
    gumbel_noise,
    inverse_cdf,
    min_p_filter,
    power_temperature,
    sample,
    sampling_distribution,
    temperature_derivatives,
    temperature_for_entropy,
    temperature_softmax,
    temperature_softmax_simple,
    top_k_filter,
    top_p_filter,
    top_p_mask,
)

inf, nan = float("inf"), float("nan")
ARTICLE = [5.0, 3.0, 2.0, 1.0]
RTOL = {np.float64: 1e-12, np.float32: 2e-6, np.float16: 2e-3}

getcontext().prec = 60


def exact_softmax(logits, temperature):
    """Softmax of finite numbers with 60 digits, as float64."""
    logits = [Decimal(float(z)) / Decimal(float(temperature)) for z in logits]
    weights = [(z - max(logits)).exp() for z in logits]
    return np.array([float(w / sum(weights)) for w in weights])


# ---- temperature_softmax


@pytest.mark.parametrize(
    ("temperature", "probs", "entropy"),
    [  # ledger A15 to A20
        (0.1, [0.999999997939, 2.06115362e-9, 9.35762e-14, 4.24835e-18], 4.33e-8),
        (0.5, [0.979307378, 0.017936640, 0.002427460, 0.000328521], 0.109849205),
        (1.0, [0.830952661, 0.112457214, 0.041370697, 0.015219429], 0.595086686),
        (2.0, [0.579258530, 0.213097304, 0.129250049, 0.078394117], 1.109767002),
        (5.0, [0.374747891, 0.251201024, 0.205666003, 0.168385082], 1.340089846),
        (10.0, [0.309610078, 0.253487293, 0.229364787, 0.207537842], 1.374963617),
    ],
)
def test_corrected_table(temperature, probs, entropy):
    np.testing.assert_allclose(temperature_softmax(ARTICLE, temperature), probs, rtol=2e-6, atol=0)
    np.testing.assert_allclose(entropy_from_logits(apply_temperature(ARTICLE, temperature)), entropy, rtol=1e-3)
    assert abs(entropy_from_logits(apply_temperature(ARTICLE, temperature)) - entropy) < 6e-10


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("temperature", [0.07, 0.5, 1, 3.3, 1e4])
def test_equals_exact_arithmetic(dtype, temperature):
    logits = np.random.default_rng(1).normal(0, 3, (20, 6)).astype(dtype)
    probs = temperature_softmax(logits, temperature)
    assert probs.dtype == dtype
    exact = np.array([exact_softmax(row, temperature) for row in logits])
    floor = 2 * float(np.finfo(dtype).smallest_subnormal)
    np.testing.assert_allclose(probs.astype(float), exact, rtol=RTOL[dtype], atol=floor)
    np.testing.assert_allclose(probs.astype(float).sum(-1), 1, rtol=RTOL[dtype])


def test_simple_version_agrees():
    logits = np.random.default_rng(2).normal(0, 5, (10, 7))
    for temperature in (0.1, 1, 30):
        simple = temperature_softmax_simple(logits, temperature)
        np.testing.assert_allclose(simple, temperature_softmax(logits, temperature), rtol=1e-12)


def test_limits_split_ties_and_leave_masked_out():
    """A12, A13, B21: T = 0 is uniform over the maxima, T = inf over the finite logits."""
    logits = [5, 5, 1, -inf]
    np.testing.assert_array_equal(temperature_softmax(logits, 0), [0.5, 0.5, 0, 0])
    np.testing.assert_array_equal(temperature_softmax(logits, 1e-3), [0.5, 0.5, 0, 0])
    np.testing.assert_allclose(temperature_softmax(logits, inf), [1 / 3, 1 / 3, 1 / 3, 0], rtol=1e-15)
    np.testing.assert_allclose(temperature_softmax([1, 0, -inf], 1e6), [0.50000025, 0.49999975, 0], rtol=1e-12)
    np.testing.assert_array_equal(temperature_softmax([0.999, 1.0], 0), [0, 1])  # a near tie is no tie


@pytest.mark.parametrize("temperature", [0, 1e-310, 1e-3, 1, 1e3, 1e308, inf])
@pytest.mark.parametrize("dtype", RTOL)
def test_broken_rows_are_nan_at_every_temperature(temperature, dtype):
    logits = np.array([[-inf, -inf], [inf, 0], [nan, 0], [-inf, inf], [3, 3]], dtype)
    expected = [[nan, nan]] * 4 + [[0.5, 0.5]]
    np.testing.assert_array_equal(temperature_softmax(logits, temperature), expected)
    np.testing.assert_array_equal(temperature_softmax(logits.T, temperature, axis=0).T, expected)


def test_extreme_temperatures_and_logits():
    """N15 and A27: shift first, divide second, in a type that holds the temperature."""
    np.testing.assert_array_equal(temperature_softmax([1, 2], 1e-310), [0, 1])
    np.testing.assert_array_equal(temperature_softmax([1, 1], 5e-324), [0.5, 0.5])
    np.testing.assert_array_equal(temperature_softmax(np.array([1, 2], np.float32), 1e-50), [0, 1])
    np.testing.assert_array_equal(temperature_softmax(np.array([6e4, -6e4], np.float16), 0.5), [1, 0])
    np.testing.assert_array_equal(temperature_softmax(np.array([300, 299], np.float16), 0.001), [1, 0])
    sigmoid = 1 / (1 + math.exp(-3.4))
    np.testing.assert_allclose(temperature_softmax([1.7e308, -1.7e308], 1e308), [sigmoid, 1 - sigmoid], rtol=1e-14)
    np.testing.assert_array_equal(temperature_softmax([1.7e308, -1.7e308], inf), [0.5, 0.5])
    sigmoid = 1 / (1 + math.exp(-6))
    huge = np.array([3e38, -3e38], np.float32)
    np.testing.assert_allclose(temperature_softmax(huge, 1e38), [sigmoid, 1 - sigmoid], rtol=1e-6)
    np.testing.assert_array_equal(temperature_softmax([-1e30, 1, -1e300], 1), [0, 1, 0])


def test_minus_zero_is_zero():
    for zero in (-0.0, np.float32(-0.0), -1e-400):
        np.testing.assert_array_equal(temperature_softmax([1, 2, 2], zero), [0, 0.5, 0.5])
        np.testing.assert_array_equal(power_temperature([0.2, 0.4, 0.4], zero), [0, 0.5, 0.5])


def test_a_large_offset_changes_nothing():
    np.testing.assert_allclose(temperature_softmax([1e15 + 2, 1e15], 3), exact_softmax([2, 0], 3), rtol=1e-14)


def test_subnormal_probabilities_survive():
    """N41: 27 quanta of 2**-149 in float32, nothing flushed."""
    probs = temperature_softmax(np.array([150, 50], np.float32), 1)
    np.testing.assert_allclose(probs[1], 3.72007597602049e-44, rtol=0, atol=1.5e-45)
    assert temperature_softmax([0.0, -740.0], 1)[1] > 0


def test_scalars_never_change_the_dtype():
    """N40: an np.float64 temperature beside float32 logits."""
    for temperature in (0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), 1, np.int64(1)):
        for dtype in RTOL:
            assert temperature_softmax(np.array([1, 2], dtype), temperature).dtype == dtype
    assert temperature_softmax([1, 2], 1).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.uint64, bool])
def test_integers_do_not_wrap(dtype):
    logits = np.array([0, 1, 2]).astype(dtype)
    np.testing.assert_array_equal(temperature_softmax(logits, 0.7), temperature_softmax(logits.astype(float), 0.7))
    if dtype is not bool:
        limits = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        np.testing.assert_allclose(temperature_softmax(limits, 1), exact_softmax(limits, 1), rtol=1e-14)


def test_shapes_views_and_inputs():
    logits = np.random.default_rng(3).normal(size=(3, 4, 5))
    before = logits.copy()
    np.testing.assert_allclose(
        temperature_softmax(logits, 0.7, axis=1),
        np.moveaxis(temperature_softmax(np.moveaxis(logits, 1, -1), 0.7), -1, 1),
        rtol=1e-15,
    )
    reverse = temperature_softmax(logits[..., ::-1], 2)[..., ::-1]
    np.testing.assert_allclose(reverse, temperature_softmax(logits, 2), rtol=1e-15)
    np.testing.assert_array_equal(logits, before)
    assert temperature_softmax(2.0, 3.0).shape == () and temperature_softmax(2.0, 3.0) == 1
    assert temperature_softmax(np.zeros((0, 3)), 1).shape == (0, 3)
    assert temperature_softmax(np.zeros((3, 0), np.float16), 0).dtype == np.float16


@pytest.mark.parametrize("function", [temperature_softmax, power_temperature, apply_temperature])
def test_wrong_temperatures_are_refused(function):
    for temperature in (-1, -1e-300, nan, -inf):
        with pytest.raises(ValueError, match=f"temperature must be >= 0, got {float(temperature)}"):
            function([0.4, 0.6], temperature)
    with pytest.raises(ValueError, match=r"shape \(2,\).*softmax\(logits / temperature\[\.\.\., None\]\)"):
        function([[0.4, 0.6], [0.5, 0.5]], np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="must be one number"):
        function([0.4, 0.6], [1.0])
    with pytest.raises(TypeError, match="complex128"):
        function(np.array([1 + 1j]), 1.0)


def test_near_tie_needs_a_tiny_temperature():
    """A12: a gap of 0.001 needs T <= 1.44786e-4 for p1 >= 0.999."""
    assert temperature_softmax([1.001, 1.0], 1.4478e-4)[0] > 0.999
    assert temperature_softmax([1.001, 1.0], 1.4479e-4)[0] < 0.999


def test_low_temperature_is_no_certainty():
    """B31: T = 0.2 is nearly sure for [5, 3, 2, 1], not for [2.0, 1.9]. B24, B28, B33: the second article's vector."""
    np.testing.assert_allclose(temperature_softmax(ARTICLE, 0.2)[0], 0.99995429, rtol=1e-8)
    np.testing.assert_allclose(temperature_softmax([2.0, 1.9], 0.2)[0], 0.622459, rtol=1e-6)
    second = [3, 1, 0.5]
    np.testing.assert_allclose(temperature_softmax(second, 0.01), [1, 1.3838965e-87, 2.6691902e-109], rtol=1e-7)
    np.testing.assert_allclose(temperature_softmax(second, 1000), [0.333833514, 0.333166514, 0.332999972], rtol=2e-9)
    np.testing.assert_allclose(temperature_softmax(second, 1.5), [0.688481, 0.181482, 0.130037], atol=5e-7)


def test_readers_temperatures():
    """R02 and R04."""
    for temperature, probs in {
        0.5: [0.015876, 0.117310, 0.866813],
        1: [0.090031, 0.244728, 0.665241],
        2: [0.186324, 0.307196, 0.506480],
    }.items():
        np.testing.assert_allclose(temperature_softmax([1, 2, 3], temperature), probs, atol=5e-7)
    np.testing.assert_allclose(temperature_softmax([3, 1, 0], 0.7), [0.933536, 0.053615, 0.012849], atol=5e-7)


# ---- apply_temperature


def test_apply_temperature_has_the_limits():
    logits = [3, 1, -inf, 3]
    np.testing.assert_array_equal(apply_temperature(logits, 0), [0, -inf, -inf, 0])
    np.testing.assert_array_equal(apply_temperature(logits, 0.5), [0, -4, -inf, 0])
    np.testing.assert_array_equal(apply_temperature(logits, 4), [0, -0.5, -inf, 0])
    np.testing.assert_array_equal(apply_temperature(logits, inf), [0, 0, -inf, 0])
    assert apply_temperature(np.float32(logits), 1).dtype == np.float64


# ---- power_temperature


def test_power_temperature():
    """N16, R01: p ** (1 / T) renormalised; the reader's vectors are 4.17 apart."""
    np.testing.assert_array_equal(power_temperature([0.5, 0.5, 0], 2), [0.5, 0.5, 0])
    temperature = math.log(98) / math.log(3)
    assert temperature == pytest.approx(4.1734172518943)
    np.testing.assert_allclose(power_temperature([0.01, 0.01, 0.98], temperature), [0.2, 0.2, 0.6], rtol=1e-14)
    probs = np.random.default_rng(4).dirichlet(np.ones(6), size=8)
    for temperature in (0.3, 1, 5):
        powers = probs ** (1 / temperature)
        np.testing.assert_allclose(
            power_temperature(probs, temperature), powers / powers.sum(-1, keepdims=True), rtol=1e-12
        )
    np.testing.assert_allclose(power_temperature(probs.T, 3, axis=0).T, power_temperature(probs, 3), rtol=1e-14)


@pytest.mark.parametrize("temperature", [0.5, 1, 2, 10, 1e3, 1e6])
@pytest.mark.parametrize("probs", [[0.9, 1.5e-323], [1e300, 1e-300], [1.7e308, 5e-324], [1e-320, 3e-320]])
def test_power_temperature_of_numbers_far_apart(probs, temperature):
    """Their ratio underflows, its root need not."""
    probs = np.array(probs)
    powers = [Decimal(float(p)) ** (1 / Decimal(temperature)) for p in probs]
    expected = [float(power / sum(powers)) for power in powers]
    np.testing.assert_allclose(power_temperature(probs, temperature), expected, rtol=1e-12)
    np.testing.assert_array_equal(power_temperature(probs, inf), [0.5, 0.5])


def test_power_temperature_limits_and_edges():
    np.testing.assert_array_equal(power_temperature([0.2, 0.4, 0.4, 0], 0), [0, 0.5, 0.5, 0])
    np.testing.assert_array_equal(power_temperature([0.3, 0.7, 0], inf), [0.5, 0.5, 0])
    np.testing.assert_array_equal(power_temperature([[0.0, 0.0], [1, 3]], 1), [[nan, nan], [0.25, 0.75]])
    np.testing.assert_array_equal(power_temperature([1e-300, np.nextafter(1e-300, 1)], 0), [0, 1])
    assert power_temperature(np.array([1, 3], np.float16), 1).dtype == np.float16
    assert power_temperature(np.zeros((2, 0)), 1).shape == (2, 0)
    with pytest.raises(ValueError, match=r"probs must be >= 0, got -0\.1"):
        power_temperature([0.5, -0.1], 1)


# ---- entropy


def test_entropy_against_the_definition():
    probs = np.random.default_rng(5).dirichlet(np.ones(7), size=20)
    expected = [-math.fsum(p * math.log(p) for p in row) for row in probs]
    np.testing.assert_allclose(entropy_from_logits(np.log(probs)), expected, rtol=1e-13)
    np.testing.assert_allclose(entropy_from_logits(np.log(probs).T + 40, axis=0), expected, rtol=1e-12)


def test_entropy_at_the_edges():
    """N23: a -inf adds nothing. Small entropies keep their digits (exact: (1 + x) e^-x for a gap x)."""
    assert entropy_from_logits([-inf, 0, 1]) == pytest.approx(0.58220310888821795, rel=1e-14)
    assert entropy_from_logits([7.0]) == entropy_from_logits(3.0) == entropy_from_logits([0, -inf]) == 0
    assert entropy_from_logits([2, 2, 2, -inf]) == pytest.approx(math.log(3), rel=1e-15)
    assert entropy_from_logits([0.0, -60.0]) == pytest.approx(61 * math.exp(-60), rel=1e-13)
    assert entropy_from_logits([5, 5, -60.0]) == pytest.approx(math.log(2), rel=1e-14)
    np.testing.assert_array_equal(entropy_from_logits([[-inf, -inf], [inf, 0], [nan, 0]]), [nan, nan, nan])
    assert entropy_from_logits(np.zeros((2, 0))).shape == (2,)
    assert entropy_from_logits(np.zeros((0, 2))).shape == (0,)
    assert entropy_from_logits(np.zeros(70_000, np.float16)) == np.float16(math.log(70_000))
    np.testing.assert_array_equal(entropy_from_logits(np.array([0, 255], np.uint8)), entropy_from_logits([0.0, 255.0]))


# ---- derivatives


@pytest.mark.parametrize("temperature", [0.5, 1, 2, 10])
def test_derivatives_against_finite_differences(temperature):
    """A09, A10."""
    logits, step = np.array([[5.0, 3, 2, 1], [0, 0, -1, -inf]]), 1e-5
    dp, dh = temperature_derivatives(logits, temperature)
    high, low = temperature + step, temperature - step
    expected = (temperature_softmax(logits, high) - temperature_softmax(logits, low)) / (2 * step)
    np.testing.assert_allclose(dp, expected, atol=1e-9)
    expected = (entropy_from_logits(logits / high) - entropy_from_logits(logits / low)) / (2 * step)
    np.testing.assert_allclose(dh, expected, atol=1e-8)


def test_derivatives_of_the_article():
    """A09, A10 and the ledger's C3: who gains from T, and how fast entropy grows."""
    assert temperature_derivatives(ARTICLE, 1)[1] == pytest.approx(0.897654508, rel=1e-9)
    probs, gaps = exact_softmax(ARTICLE, 0.1), np.array([0, -2, -3, -4])
    variance = probs @ gaps**2 - (probs @ gaps) ** 2
    assert temperature_derivatives(ARTICLE, 0.1)[1] == pytest.approx(variance / 0.1**3, rel=1e-12)
    assert temperature_derivatives(ARTICLE, 10)[0][1] == pytest.approx(-6.393029261514883e-05, rel=1e-9)
    np.testing.assert_array_equal(np.sign(temperature_derivatives(ARTICLE, 1)[0]), [-1, 1, 1, 1])
    np.testing.assert_array_equal(np.sign(temperature_derivatives(ARTICLE, 10)[0]), [-1, -1, 1, 1])
    grid = np.arange(8, 10, 0.001)
    second = [temperature_softmax(ARTICLE, temperature)[1] for temperature in grid]
    assert grid[np.argmax(second)] == pytest.approx(9.012, abs=1e-3)
    assert max(second) == pytest.approx(0.2535223, abs=5e-8)


def test_derivatives_at_the_edges():
    dp, dh = temperature_derivatives([[2, 2, -inf], [1, 2, 3], [-inf, -inf, -inf]], 1e-310)
    np.testing.assert_array_equal(dp, [[0, 0, 0], [0, 0, 0], [nan, nan, nan]])
    np.testing.assert_array_equal(dh, [0, 0, nan])
    dp, dh = temperature_derivatives(np.array([3, 1], np.float16), 2.0)
    assert (dp.dtype, dh.dtype, dp.shape, dh.shape) == (np.float16, np.float16, (2,), ())
    for temperature in (0, inf):
        with pytest.raises(ValueError, match="temperature must be > 0 and finite, got"):
            temperature_derivatives(ARTICLE, temperature)


# ---- filters


def test_top_k():
    """N18: exactly k stay, ties by lowest index."""
    np.testing.assert_array_equal(top_k_filter([1, 2, 2, 2, 3], 3), [-inf, 2, 2, -inf, 3])
    np.testing.assert_array_equal(top_k_filter([1, 1, 1], 1), [1, -inf, -inf])
    np.testing.assert_array_equal(top_k_filter([[1, 3], [4, 2]], 1), [[-inf, 3], [4, -inf]])
    np.testing.assert_array_equal(top_k_filter([1, 2], np.int64(9)), [1, 2])
    np.testing.assert_array_equal(top_k_filter([1, nan, 2], 1), [-inf, nan, -inf])
    assert top_k_filter(np.array([1, 2], np.float16), 1).dtype == np.float16
    logits = np.random.default_rng(6).integers(0, 5, (50, 9)).astype(float)
    for k in range(1, 10):
        assert np.all(np.isfinite(top_k_filter(logits, k)).sum(-1) == k)
    for k in (0, -1, 1.5, nan):
        with pytest.raises(ValueError, match=f"k must be an integer >= 1, got {k}"):
            top_k_filter([1, 2], k)


def test_filters_keep_every_broken_row_visible():
    """A NaN outranks +inf, wherever it stands; sums with it reach no p."""
    for row in ([inf, nan, 1], [nan, inf, 1]):
        assert np.isnan(top_k_filter(row, 1)[np.argmax(np.isnan(row))])
    assert np.all(top_p_mask([0.5, nan, 0.5], 0.4))


def test_filters_take_a_single_number():
    for filtered in (top_k_filter(3.0, 1), top_p_filter(3.0, 0.1), min_p_filter(3.0, 0.1)):
        assert filtered.shape == () and filtered == 3
    assert sampling_distribution(3.0, 0.5, top_k=1, top_p=0.5, min_p=0.5).shape == ()


def brute_force_nucleus(probs, p):
    """The smallest set of options with mass >= p; of equal ones the most probable, then the first."""
    for size in range(1, len(probs) + 1):
        sets = sorted(itertools.combinations(range(len(probs)), size), key=lambda s: -sum(probs[i] for i in s))
        if sum(probs[i] for i in sets[0]) >= p:
            return set(sets[0])
    return set(range(len(probs)))


def test_top_p_is_the_smallest_set():
    """N17: the option that crosses p belongs to it."""
    rng = np.random.default_rng(7)
    for probs, p in zip(rng.dirichlet(np.ones(5), 60), rng.uniform(0.01, 0.999, 60), strict=True):
        assert set(np.flatnonzero(top_p_mask(probs, p))) == brute_force_nucleus(probs, p)
        assert set(np.flatnonzero(np.isfinite(top_p_filter(np.log(probs), p)))) == brute_force_nucleus(probs, p)
    np.testing.assert_array_equal(top_p_mask([0.5, 0.25, 0.125, 0.125], 0.75), [True, True, False, False])
    np.testing.assert_array_equal(top_p_mask([0.25, 0.25, 0.25, 0.25], 0.5), [True, True, False, False])


def test_top_p_at_the_edges():
    np.testing.assert_array_equal(top_p_mask(np.array([0.25, 0.5, 0.25], np.float32), 1e-8), [False, True, False])
    np.testing.assert_array_equal(top_p_filter([1.0, 2, 2], 0), [-inf, 2, -inf])
    np.testing.assert_array_equal(top_p_filter([0, -800.0, 3], 1), [0, -800, 3])  # p = 1 keeps what underflows
    np.testing.assert_array_equal(top_p_filter([[nan, 0], [0, 9]], 0.5), [[nan, 0], [-inf, 9]])
    equal = np.zeros(100_000, np.float32)
    assert np.isfinite(top_p_filter(equal, 0.5)).sum() == pytest.approx(50_000, abs=1)  # no float32 running sum
    assert top_p_filter(np.zeros((2, 0)), 0.5).shape == (2, 0)
    for p in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match=f"p must be between 0 and 1, got {p}"):
            top_p_filter([1, 2], p)


def test_min_p():
    logits = np.random.default_rng(8).normal(0, 2, (40, 6))
    probs = temperature_softmax(logits, 1)
    for p in (0.05, 0.3, 0.9):
        kept = probs >= p * probs.max(-1, keepdims=True)
        np.testing.assert_array_equal(min_p_filter(logits, p), np.where(kept, logits, -inf))
    np.testing.assert_array_equal(min_p_filter([1, 2, -inf], 0), [1, 2, -inf])
    np.testing.assert_array_equal(min_p_filter([1, 2, 2], 1), [-inf, 2, 2])
    np.testing.assert_array_equal(min_p_filter([[nan, 0], [-inf, -inf]], 0.5), [[nan, 0], [-inf, -inf]])
    for p in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match=f"p must be between 0 and 1, got {p}"):
            min_p_filter([1, 2], p)


def test_order_of_filters_and_temperature():
    """A90: top-k commutes with temperature, top-p and min-p do not. N17: T = 0.5 as well."""
    first = {"order": "temperature_first"}
    last = {"order": "temperature_last"}
    for order in (first, last):
        probs = sampling_distribution(ARTICLE, 2, top_k=2, **order)
        np.testing.assert_allclose(probs, [0.7310585786, 0.2689414214, 0, 0], rtol=1e-9)
    probs = sampling_distribution(ARTICLE, 2, top_p=0.9, **first)
    np.testing.assert_allclose(probs, [0.6285317192, 0.2312238976, 0.1402443832, 0], rtol=1e-9)
    probs = sampling_distribution(ARTICLE, 2, top_p=0.9, **last)
    np.testing.assert_allclose(probs, [0.7310585786, 0.2689414214, 0, 0], rtol=1e-9)
    probs = sampling_distribution(ARTICLE, 2, min_p=0.1, **first)
    np.testing.assert_allclose(probs, temperature_softmax(ARTICLE, 2), rtol=1e-12)
    probs = sampling_distribution(ARTICLE, 2, min_p=0.1, **last)
    np.testing.assert_allclose(probs, [0.7310585786, 0.2689414214, 0, 0], rtol=1e-9)
    np.testing.assert_array_equal(sampling_distribution([3, 2, 1], 0.5, top_p=0.8, **first), [1, 0, 0])
    probs = sampling_distribution([3, 2, 1], 0.5, top_p=0.8, **last)
    np.testing.assert_allclose(probs, [0.880797077977882, 0.119202922022118, 0], rtol=1e-12)


def test_sampling_distribution_edges():
    np.testing.assert_array_equal(sampling_distribution(ARTICLE), temperature_softmax(ARTICLE, 1))
    np.testing.assert_array_equal(sampling_distribution([1, 3, 3], 0, top_p=0.9), [0, 0.5, 0.5])
    np.testing.assert_array_equal(
        sampling_distribution([1, 3, 2], inf, top_k=2, order="temperature_last"), [0, 0.5, 0.5]
    )
    probs = sampling_distribution([[1.0, nan], [2, 0]], 0.5, top_k=1, top_p=0.5, min_p=0.5)
    np.testing.assert_array_equal(probs, [[nan, nan], [1, 0]])
    assert sampling_distribution(np.array([1, 2], np.float32), 0.7, top_k=1).dtype == np.float32
    with pytest.raises(
        ValueError, match='order must be "temperature_first" or "temperature_last", got \'top_p_first\''
    ):
        sampling_distribution(ARTICLE, order="top_p_first")
    with pytest.raises(ValueError, match="temperature must be >= 0"):
        sampling_distribution(ARTICLE, -1)


# ---- drawing


def test_inverse_cdf_ends():
    """N19: never an option of probability 0, at either end."""
    np.testing.assert_array_equal(inverse_cdf([0, 0.5, 0.5, 0], [0, 0.25, 0.5, 0.75, 1]), [1, 1, 2, 2, 2])
    twelfths = np.full(12, float.fromhex("0x1.555556p-4"), np.float32)
    assert inverse_cdf(twelfths, 1 - 2**-53) == 11 and inverse_cdf(twelfths, 1) == 11
    assert inverse_cdf([1, 1e-30, 0], 1) == 1  # the last option with any mass
    np.testing.assert_array_equal(inverse_cdf([[1, 0], [0, 1]], [0.5, 0.5]), [0, 1])
    np.testing.assert_array_equal(inverse_cdf([3, 1], [0.7499, 0.7501]), [0, 1])  # not normalised
    long = np.full(2**20, 2**-20, np.float16)
    assert inverse_cdf(long, 0.5) == 2**19
    np.testing.assert_array_equal(inverse_cdf([0.5, 0.5], np.zeros((2, 3))), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("probs", "u", "message"),
    [
        ([0, 0], 0.5, "positive, finite sum"),
        ([[0.5, 0.5], [0, 0]], 0.5, "positive, finite sum"),
        ([nan, 1], 0.5, "positive, finite sum"),
        ([inf, 1], 0.5, "positive, finite sum"),
        ([-0.5, 1.5], 0.5, "probs must be >= 0"),
        ([0.5, 0.5], -0.1, "u must be between 0 and 1, got -0.1"),
        ([0.5, 0.5], 1.1, "u must be between 0 and 1, got 1.1"),
        ([0.5, 0.5], nan, "u must be between 0 and 1, got nan"),
    ],
)
def test_inverse_cdf_refuses(probs, u, message):
    with pytest.raises(ValueError, match=message):
        inverse_cdf(probs, u)


def test_gumbel_noise():
    """N20: finite at both ends."""
    u = np.array([2**-24, float.fromhex("0x1.fffffep-1")], np.float32)
    np.testing.assert_allclose(gumbel_noise(u), [-2.81154090976628, 16.6355323036364], rtol=1e-6)
    assert gumbel_noise(0.5) == pytest.approx(-math.log(math.log(2)), rel=1e-15)
    for dtype in RTOL:
        ends = gumbel_noise(np.array([0, np.nextafter(dtype(1), dtype(0))], dtype))
        assert ends.dtype == dtype and np.all(np.isfinite(ends)) and ends[0] < -1.9 and ends[1] > 6
    for u in (1, -0.1, nan):
        with pytest.raises(ValueError, match="u must be >= 0 and < 1"):
            gumbel_noise(u)


@pytest.mark.parametrize("temperature", [1, 2])
def test_both_samplers_follow_softmax(temperature):
    """C20: frequencies within five standard errors."""
    probs, draws = temperature_softmax(ARTICLE, temperature), 40_000
    scaled = apply_temperature(ARTICLE, temperature)
    for indices in (
        sample(probs, np.random.default_rng(0), draws),
        gumbel_max(scaled, np.random.default_rng(0), draws),
    ):
        error = np.bincount(indices, minlength=4) / draws - probs
        assert np.all(np.abs(error) < 5 * np.sqrt(probs * (1 - probs) / draws))


def test_the_largest_gumbel_sum_has_mean_lse_plus_gamma():
    noise = gumbel_noise(np.random.default_rng(1).random((50_000, 4)))
    mean = np.mean(np.max(ARTICLE + noise, axis=-1))
    assert mean == pytest.approx(5.185182452603812 + np.euler_gamma, abs=5 * math.pi / math.sqrt(6 * 50_000))


def test_samplers_shapes_and_masks():
    rng = np.random.default_rng(2)
    probs = np.array([[0, 1, 0], [0.5, 0, 0.5]])
    assert sample(probs, rng).shape == (2,) and sample(probs, rng, 7).shape == (7, 2)
    assert sample(probs[0], rng).shape == () and sample(probs[0], rng) == 1
    with np.errstate(divide="ignore"):
        logits = np.log(probs)
    for draws in (sample(probs, rng, 2000), gumbel_max(logits, rng, 2000)):
        assert set(draws[:, 0]) == {1} and set(draws[:, 1]) == {0, 2}
    np.testing.assert_array_equal(
        sample(probs, np.random.default_rng(3), 20), sample(probs, np.random.default_rng(3), 20)
    )
    for row in ([-inf, -inf], [inf, 0], [nan, 0]):
        with pytest.raises(ValueError, match="every row needs a finite largest logit"):
            gumbel_max([[0, 0], row], rng)


# ---- choosing a temperature


def test_annealing_schedule():
    geometric = [annealing_schedule(step, 10, 5, 0.1) for step in range(11)]
    np.testing.assert_allclose(np.diff(np.log(geometric)), math.log(0.1 / 5) / 10, rtol=1e-12)
    linear = [annealing_schedule(step, 10, 5, 0.1, "linear") for step in range(11)]
    np.testing.assert_allclose(np.diff(linear), -0.49, rtol=1e-12)
    for temperatures in (geometric, linear):
        assert (temperatures[0], temperatures[-1]) == (5, 0.1)
    assert annealing_schedule(3, 7, 2.5, 2.5) == pytest.approx(2.5, rel=1e-15)  # as long as it is flat
    for arguments in ((-1, 10, 5, 1), (11, 10, 5, 1), (0, 0, 5, 1), (nan, 10, 5, 1)):
        with pytest.raises(ValueError, match="need 0 <= step <= total_steps"):
            annealing_schedule(*arguments)
    for ends in ((0, 1), (1, 0), (-1, 1), (1, inf), (nan, 1)):
        with pytest.raises(ValueError, match="start and end must be > 0 and finite"):
            annealing_schedule(0, 10, *ends)
    with pytest.raises(ValueError, match="kind must be"):
        annealing_schedule(0, 10, 5, 1, "cosine")


@pytest.mark.parametrize(
    ("temperature", "entropy"), [(1, 0.59508668616518), (2, 1.10976700149262), (10, 1.37496361672406)]
)
def test_temperature_for_entropy_undoes_entropy(temperature, entropy):
    assert temperature_for_entropy(ARTICLE, entropy) == pytest.approx(temperature, rel=1e-11)


def test_temperature_for_entropy_rows_and_limits():
    logits = np.array([[5.0, 3, 2, 1], [0, 0, -1, -inf], [1e30, 0, -1e30, 5]])
    temperature = temperature_for_entropy(logits, 0.8)
    np.testing.assert_allclose(
        entropy_from_logits((logits - logits.max(-1, keepdims=True)) / temperature[:, None]), 0.8
    )
    low, high = math.log(2), math.log(3)  # a tie for first, three finite logits
    assert temperature_for_entropy(logits[1], low + 1e-9) < temperature_for_entropy(logits[1], high - 1e-9)
    for target in (low, high, 0, 2, nan):
        with pytest.raises(ValueError, match=r"target_entropy must be between 0\.693.* and 1\.098.*, got"):
            temperature_for_entropy(logits[1], target)
    with pytest.raises(ValueError, match="target_entropy must be between"):
        temperature_for_entropy([-inf, -inf], 0.1)


@pytest.mark.parametrize("gap", [1e-310, 1e-306, 1.0, 1e306, 1.7e308])
def test_bisections_reach_every_temperature(gap):
    """Two options a gap apart: odds of 4 need T = gap / ln 4, whatever the size of the gap."""
    temperature = gap / math.log(4)
    entropy = math.log(5) - 0.8 * math.log(4)
    assert temperature_for_entropy([gap, 0.0], entropy) == pytest.approx(temperature, rel=1e-11, abs=0)
    targets = [0, 0, 0, 0, 1]
    assert fit_temperature([[gap, 0.0]] * 5, targets) == pytest.approx(temperature, rel=1e-11, abs=0)


def test_fit_temperature_finds_the_minimum():
    """A06: over-confident logits need T > 1; the choice with the largest probability stays."""
    rng = np.random.default_rng(5)
    logits = 3 * rng.normal(size=(500, 4))
    targets = gumbel_max(logits / 3, rng)
    fitted = fit_temperature(logits, targets)

    def nll(temperature):
        return -np.mean(np.log(temperature_softmax(logits, temperature)[np.arange(500), targets]))

    assert 2.5 < fitted < 3.5
    assert nll(fitted) < min(nll(0.999 * fitted), nll(1.001 * fitted), nll(1))
    probs = temperature_softmax(logits, fitted)
    np.testing.assert_array_equal(np.argmax(probs, -1), np.argmax(logits, -1))
    assert fit_temperature(logits + 7, targets) == pytest.approx(fitted, rel=1e-12)
    assert fit_temperature(10 * logits, targets) == pytest.approx(10 * fitted, rel=1e-12)


@pytest.mark.parametrize(
    ("label", "row", "fitted"),
    [
        (0.1, [0.999, 0.001, 0, 0], 0.2876),
        (0.5, [0.82, 0.14, 0.03, 0.01], 1.0001),
        (1, [0.64, 0.20, 0.11, 0.05], 1.6538),
        (2, [0.41, 0.27, 0.20, 0.12], 3.6455),
        (10, [0.28, 0.26, 0.24, 0.22], 17.1175),
    ],
)
def test_fit_of_the_published_rows(label, row, fitted):
    """A15 to A19: the temperature each published row would need."""
    targets = np.repeat(range(4), np.rint(np.array(row) * 1000).astype(int))
    assert fit_temperature(np.tile(ARTICLE, (1000, 1)), targets) == pytest.approx(fitted, abs=5e-5)
    assert abs(fitted - label) > 0.1


def test_fit_temperature_with_one_wrong_answer_in_closed_form():
    """Two options, gap 1, right three times in four: 1 / T = ln 3."""
    assert fit_temperature([[1.0, 0]] * 4, [0, 0, 0, 1]) == pytest.approx(1 / math.log(3), rel=1e-12)
    masked = [[1.0, 0, -inf]] * 4
    assert fit_temperature(masked, [0, 0, 0, 1]) == pytest.approx(1 / math.log(3), rel=1e-12)


def test_fit_temperature_refuses():
    with pytest.raises(ValueError, match=r"need logits \(N, n\) and targets \(N,\), got \(2, 3\) and \(3,\)"):
        fit_temperature(np.zeros((2, 3)), [0, 0, 0])
    for targets in ([0, 0], [1, 1], [0, 1]):  # always right, always wrong, no better than chance
        with pytest.raises(ValueError, match="no best temperature"):
            fit_temperature([[1.0, 0], [2.0, 0]] if targets != [0, 1] else [[1.0, 0], [1.0, 0]], targets)
    with pytest.raises(ValueError, match="no best temperature"):
        fit_temperature([[1.0, 0, -inf]] * 2, [0, 2])  # an impossible target
    with pytest.raises(ValueError, match="no best temperature"):
        fit_temperature(np.zeros((0, 2)), np.zeros(0, int))
    for target in (-1, -100, 2):  # -1 must not count from the end
        with pytest.raises(ValueError, match=f"targets must be >= 0 and < 2, got {target}"):
            fit_temperature([[1.0, 0]] * 4, [0, 0, 0, target])


def test_expected_calibration_error():
    probs = np.array([[0.95, 0.05], [0.9, 0.1], [0.35, 0.65], [0.62, 0.38]])
    targets = [0, 1, 1, 1]
    # bins (0.8, 0.9], (0.9, 1.0], (0.6, 0.7]: |0 - 0.9|, |1 - 0.95|, |1/2 - 0.635| weighted 1, 1, 2 of 4
    assert expected_calibration_error(probs, targets) == pytest.approx((0.9 + 0.05 + 2 * 0.135) / 4)
    assert expected_calibration_error(probs, targets, bins=1) == pytest.approx(abs(0.5 - 0.78))
    assert expected_calibration_error([[1.0, 0], [0, 1]], [0, 1]) == 0
    with pytest.raises(ValueError, match=r"need probs \(N, n\) and targets \(N,\), got \(2,\) and \(2,\)"):
        expected_calibration_error([0.5, 0.5], [0, 1])
    assert np.isnan(expected_calibration_error(np.zeros((0, 2)), np.zeros(0, int)))
    for bins in (0, -1, 2.5, nan):  # without bins everything would look perfect
        with pytest.raises(ValueError, match=f"bins must be an integer >= 1, got {bins}"):
            expected_calibration_error(probs, targets, bins)


# ---- together


def test_no_temperature_makes_a_token_impossible():
    """A24: a forbidden token behind by 0.5 keeps exp(-5) / (1 + exp(-5)) of the mass at T = 0.1."""
    assert temperature_softmax([0.5, 0.0], 0.1)[1] == pytest.approx(math.exp(-5) / (1 + math.exp(-5)), rel=1e-12)


def test_soft_maximum_does_not_keep_its_order():
    """R11."""
    for temperature, even, uneven in ((0.1, 1.109861, 1.900000), (10, 11.986123, 11.049006)):
        values = [
            temperature * math.log(math.fsum(math.exp(z / temperature) for z in row))
            for row in ([1, 1, 1], [1.9, -1, -1])
        ]
        np.testing.assert_allclose(values, [even, uneven], atol=5e-7)


def test_first_order_at_high_temperature():
    """A13: p = (1 + (z - mean) / T) / n up to 1 / T**2."""
    logits, temperature = np.array(ARTICLE), 1000.0
    first_order = (1 + (logits - logits.mean()) / temperature) / 4
    np.testing.assert_allclose(temperature_softmax(logits, temperature), first_order, atol=5e-7)
