"""The NumPy reference of `probabilities` against exact values and its contract."""

import math

import numpy as np
import pytest

from snippets.probabilities.numpy_reference import base_softmax, boltzmann, sigmoid, softmax, softmax_simple

inf, nan = np.inf, np.nan
FLOATS = [np.float16, np.float32, np.float64]
RTOL = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-12}

# Each takes logits and an axis and keeps the promises of softmax.
FAMILY = {
    "softmax": softmax,
    "base_softmax": lambda logits, axis=-1: base_softmax(logits, 2, axis=axis),
    "boltzmann": lambda logits, axis=-1: boltzmann(-np.asarray(logits, dtype=float), 1, axis=axis),
}
family = pytest.mark.parametrize("normalise", FAMILY.values(), ids=FAMILY)


def exact_softmax(logits, base=math.e):
    """Sums in exact arithmetic, one row; independent of the code under test."""
    weights = [math.exp((z - max(logits)) * math.log(base)) for z in logits]
    return np.array(weights) / math.fsum(weights)


# ---- values


def test_published_values_b06():
    np.testing.assert_allclose(softmax([2, 1, 0.1]), [0.6590011389, 0.2424329707, 0.0985658904], atol=5e-11)
    np.testing.assert_allclose(softmax([1000, 999, -500]), [0.7310585786, 0.2689414214, 0], atol=5e-11)


def test_third_probability_of_b07_is_exactly_zero():
    assert softmax([1000, 999, -500])[2] == 0
    # in logarithms it is 2.6438e-652
    assert (-1500 - math.log1p(math.exp(-1))) / math.log(10) == pytest.approx(math.log10(2.6438) - 652, abs=1e-5)


def test_r03_two_and_four():
    for offset in (0, 10, -1e3):
        assert softmax([2 + offset, 4 + offset])[0] == pytest.approx(0.119202922, abs=5e-10)
    assert softmax([2, 6])[0] == pytest.approx(0.017986210, abs=5e-10)


def test_simple_version_agrees_inside_its_domain():
    logits = np.random.default_rng(0).uniform(-700, 700, (50, 6))
    np.testing.assert_allclose(softmax_simple(logits), softmax(logits), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_per_dtype(dtype):
    logits = np.array([2, 1, 0.125, -3], dtype)
    probs = softmax(logits)
    assert probs.dtype == dtype
    np.testing.assert_allclose(probs, exact_softmax(logits.astype(float)), rtol=RTOL[dtype])
    assert abs(probs.sum(dtype=float) - 1) < RTOL[dtype]


def test_float16_row_whose_sum_leaves_float16_a03():
    probs = softmax(np.zeros(70_000, np.float16))
    assert probs.dtype == np.float16
    np.testing.assert_allclose(probs.astype(float), 1 / 70_000, rtol=5e-3)


def test_gaps_at_which_a_probability_becomes_zero_a03():
    assert softmax(np.array([17.25, 0], np.float16))[1] > 0
    assert softmax(np.array([17.5, 0], np.float16))[1] == 0
    assert softmax(np.array([104, 0], np.float32))[1] == 0


def test_long_float32_sum_down_the_first_axis_keeps_its_mass():
    rows = 2**24 + 2**20  # a running float32 sum of ones stops at 2**24
    probs = softmax(np.broadcast_to(np.float32(0), (rows, 2)), axis=0)
    assert probs.dtype == np.float32
    np.testing.assert_allclose(probs[[0, rows // 2, -1]], 1 / rows, rtol=2e-6)


# ---- bases (B11, B12)


@pytest.mark.parametrize("base", [1 + 1e-9, 1.5, 2, math.e, 10, 1e300, np.nextafter(inf, 0)])
def test_base_is_a_temperature_b11(base):
    logits = np.array([2, 1, 0.1])
    np.testing.assert_allclose(base_softmax(logits, base), softmax(logits * math.log(base)), rtol=1e-12)


def test_base_two_published_values_b11():
    np.testing.assert_allclose(base_softmax([2, 1, 0.1], 2), [0.5656289785, 0.2828144893, 0.1515565322], atol=5e-11)
    np.testing.assert_allclose(base_softmax([2, 1, 0.1], 10), [0.8988042948, 0.0898804295, 0.0113152757], atol=5e-11)


@pytest.mark.parametrize("base", [1, 0.5, 0, -2, nan, inf, -inf, [2, 3], np.array([2.0])])
def test_wrong_base(base):
    with pytest.raises(ValueError, match="base must be one finite number > 1, got "):
        base_softmax([0, 1], base)


# ---- sigmoid


@pytest.mark.parametrize(
    ("x", "expected"),
    [(0, 0.5), (1.3, 0.7858349830425586), (-1.3, 1 - 0.7858349830425586), (inf, 1), (-inf, 0), (800, 1), (-800, 0)],
)
def test_sigmoid_values(x, expected):
    assert sigmoid(x) == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(sigmoid(x), softmax([x, 0])[0] if np.isfinite(x) else expected, rtol=1e-14)


def test_sigmoid_of_very_negative_numbers_keeps_its_digits():
    x = np.array([-40.0, -300.0, -700.0, -740.0])
    np.testing.assert_allclose(sigmoid(x), np.exp(x), rtol=1e-12)  # exp(x) / (1 + exp(x)) = exp(x) to 1e-17


def test_sigmoid_halves_add_to_one():
    x = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(sigmoid(x) + sigmoid(-x), 1, rtol=1e-15)


def test_sigmoid_nan_and_integers():
    assert np.isnan(sigmoid(nan))
    np.testing.assert_allclose(sigmoid(np.array([0, 255], np.uint8)), [0.5, 1])
    assert sigmoid(np.int8(-128)) == pytest.approx(math.exp(-128), rel=1e-12)


# ---- Boltzmann (B17 to B21)


def test_boltzmann_is_softmax_of_minus_energy_over_kt_b18():
    energies = np.array([0.3, -1.0, 2.5, 0.0])
    for kt in (0.05, 1, 30):
        weights = [math.exp(-e / kt) for e in energies]
        np.testing.assert_allclose(boltzmann(energies, kt), np.array(weights) / math.fsum(weights), rtol=1e-12)


def test_boltzmann_degenerate_ground_state_b21():
    probs = boltzmann([0, 0, 1], 0.01)
    np.testing.assert_allclose(probs, [0.5, 0.5, 1.860037988e-44], rtol=1e-9)
    for g in range(1, 6):
        probs = boltzmann([0] * g + [1, 2], 1e-3)
        assert -np.sum(probs[:g] * np.log(probs[:g])) == pytest.approx(math.log(g), abs=1e-12)


def test_boltzmann_limits():
    assert boltzmann([0, 5, 5], 1e-310).tolist() == [1, 0, 0]
    np.testing.assert_allclose(boltzmann([0, 5, 5], 1e300), [1 / 3] * 3, rtol=1e-12)
    np.testing.assert_allclose(boltzmann(np.array([-3e38, 3e38], np.float32), 1e-5), [1, 0])
    assert boltzmann([inf, 0, inf], 2).tolist() == [0, 1, 0]


def test_boltzmann_of_a_gap_beyond_the_largest_number():
    """The gap overflows, the gap in units of kt does not: odds e**3.4 and e**6."""
    odds = boltzmann([1.7e308, -1.7e308], 1e308)
    np.testing.assert_allclose(odds[1] / odds[0], math.exp(3.4), rtol=1e-12)
    odds = boltzmann(np.array([3e38, -3e38], np.float32), 1e38)
    np.testing.assert_allclose(odds[1] / odds[0], math.exp(6), rtol=2e-6)


def test_boltzmann_is_stationary_at_every_temperature_b20():
    """The law is thermal equilibrium at every temperature: Metropolis moves leave it as it is."""
    energies = np.array([0.0, 1.0, 2.0, 0.5])
    for kt in (0.1, 1, 10):
        step = np.minimum(1, np.exp((energies[:, None] - energies) / kt)) / 4
        np.fill_diagonal(step, 0)
        step += np.diag(1 - step.sum(axis=1))
        probs = boltzmann(energies, kt)
        np.testing.assert_allclose(probs @ step, probs, rtol=1e-12)


def test_boltzmann_hotter_is_more_uniform_b19():
    entropies = []
    for kt in (0.1, 0.3, 1, 3, 10, 1e6):
        probs = boltzmann([0.0, 1.0, 2.0], kt)
        entropies.append(-np.sum(probs * np.log(probs)))
    assert entropies == sorted(entropies)
    assert entropies[-1] == pytest.approx(math.log(3))


@pytest.mark.parametrize("kt", [0, -1, nan, inf, [1, 2], np.array([1.0])])
def test_wrong_kt(kt):
    with pytest.raises(ValueError, match="kt must be one finite number > 0, got "):
        boltzmann([0, 1], kt)


# ---- what the whole family promises


@family
def test_infinities_stay_in_their_row(normalise):
    probs = normalise(np.array([[-inf, -inf], [inf, 0], [nan, 0], [-inf, 3], [1, 1]]))
    assert np.isnan(probs[:3]).all()
    assert probs[3:].tolist() == [[0, 1], [0.5, 0.5]]


@family
def test_shapes_and_axes(normalise):
    logits = np.random.default_rng(1).normal(size=(2, 3, 4))
    assert normalise(3.5) == 1
    assert normalise(np.zeros((0, 3))).shape == (0, 3)
    assert normalise(np.zeros((3, 0))).shape == (3, 0)
    for axis in (0, 1, 2, -1, -3):
        moved = np.moveaxis(normalise(np.moveaxis(logits, axis, -1)), -1, axis)
        np.testing.assert_allclose(normalise(logits, axis), moved, rtol=1e-14)
    np.testing.assert_array_equal(normalise(logits[:, ::-1, ::2]), normalise(logits[:, ::-1, ::2].copy()))


@family
def test_input_is_not_modified(normalise):
    logits = np.array([3.0, 1.0, -2.0])
    before = logits.copy()
    normalise(logits)
    np.testing.assert_array_equal(logits, before)
    logits.flags.writeable = False
    normalise(logits)


@family
def test_huge_logits_do_not_warn(normalise):
    assert normalise([1.7e308, -1.7e308]).tolist() == [1, 0]
    assert normalise([-9.026e13, -2.48e13, 7.504e13, 9.836e13]).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("function", [softmax, sigmoid, lambda z: base_softmax(z, 2), lambda z: boltzmann(z, 1)])
def test_dtypes_of_all(function):
    for dtype in FLOATS:
        assert function(np.array([1, 2, 3], dtype)).dtype == dtype
        assert function(dtype(1)).dtype == dtype
    for dtype in (np.uint8, np.int8, np.int32, np.int64, bool):
        assert function(np.array([0, 1, 1], dtype)).dtype == np.float64
    assert function([1, 2]).dtype == np.float64
    with pytest.raises(TypeError, match="expected real numbers"):
        function(np.array([1 + 2j]))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64])
def test_integers_do_not_wrap(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    logits = np.array([low, high, high - 1], dtype)
    np.testing.assert_allclose(softmax(logits), softmax(logits.astype(float)), rtol=1e-15)
    np.testing.assert_allclose(boltzmann(logits, 1), boltzmann(logits.astype(float), 1), rtol=1e-15)
    assert np.argmax(softmax(logits)) == 1
    assert np.argmax(boltzmann(logits, 1)) == 0


# ---- facts of the chapter


def test_dividing_by_the_sum_b08():
    shares = np.array([3.0, 2.0, -1.0]) / 4
    assert shares.sum() == 1
    assert shares.min() < 0
    assert np.sum([1.0, -1.0]) == 0


def test_squares_break_order_and_shift_b12():
    squares = np.array([-2.0, 1.0]) ** 2
    assert (squares / squares.sum()).tolist() == [0.8, 0.2]
    squares = np.array([-1.0, 2.0]) ** 2
    assert (squares / squares.sum()).tolist() == [0.2, 0.8]


def test_difference_and_ratio_b14():
    gap = np.linspace(-3, 6, 90_001)
    assert np.all(np.exp(gap) >= 1 + gap)
    assert np.min(2**gap - gap) == pytest.approx(0.913929, abs=5e-7)
    first, second = softmax([0.1, 0.01])
    assert first / second == pytest.approx(1.094174, abs=5e-7)  # where the logits' own ratio is 10


def test_gap_is_tanh_b15():
    for gap, expected in [(0.1, 0.04995837), (1, 0.46211716), (2, 0.76159416), (5, 0.98661430)]:
        first, second = softmax([gap, 0])
        assert first - second == pytest.approx(expected, abs=5e-9)
        assert first - second == pytest.approx(math.tanh(gap / 2), rel=1e-13)
        assert first - second <= gap / 2


def test_half_lipschitz_attained_at_a_tie_a05():
    moved = softmax([1e-4, -1e-4]) - softmax([0, 0])
    assert np.linalg.norm(moved) / np.linalg.norm([1e-4, -1e-4]) == pytest.approx(0.4999999983335, rel=1e-9)
    moved = softmax([1e-4, -1e-4, -60]) - softmax([0, 0, -60])
    assert np.linalg.norm(moved) / np.linalg.norm([1e-4, -1e-4]) == pytest.approx(0.5, rel=1e-8)


def test_small_change_a05():
    assert math.exp(0.1) == pytest.approx(1.105171, abs=5e-7)
    assert sigmoid(0.05) - sigmoid(-0.05) == pytest.approx(0.02499479296842072, rel=1e-12)


def test_variational_form():
    scores = np.array([2, 1, 0.1])
    probs = softmax(scores)
    value = probs @ scores - np.sum(probs * np.log(probs))
    assert value == pytest.approx(2.4170300162778338, rel=1e-14)
    assert value == pytest.approx(math.log(sum(math.exp(z) for z in scores)), rel=1e-14)


def test_argmax_does_not_depend_on_temperature_a06():
    logits = np.random.default_rng(2).normal(size=(200, 5))
    for temperature in (0.5, 2):
        np.testing.assert_array_equal(np.argmax(softmax(logits / temperature), -1), np.argmax(logits, -1))
