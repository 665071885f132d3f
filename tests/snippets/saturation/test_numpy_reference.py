"""The NumPy reference of `saturation` against exact values, brute force and its contract."""

import math

import numpy as np
import pytest

from snippets.probabilities.numpy_reference import softmax
from snippets.saturation import experiment
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
    softmax_jacobian_simple,
    softmax_off_by_one,
    softmax_vjp,
    softmax_vjp_simple,
)

inf, nan = np.inf, np.nan
FLOATS = [np.float16, np.float32, np.float64]
RTOL = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-12}

# Each takes logits (..., n) and returns the shape of logits.
ROWS = {
    "softmax_vjp": lambda z: softmax_vjp(z, z),
    "log_softmax_vjp": lambda z: log_softmax_vjp(z, np.ones_like(z)),
    "entropy_grad": entropy_grad,
    "softmax_off_by_one": softmax_off_by_one,
}
# Each takes probabilities (..., n) and returns a number for every row.
NUMBERS = {"gini_simpson": gini_simpson, "jacobian_spectral_norm": jacobian_spectral_norm}
every_row = pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
every_number = pytest.mark.parametrize("function", NUMBERS.values(), ids=NUMBERS)


def brute_jacobian(logits):
    """Write out p_i (1[i = j] - p_j), entry by entry; 1 - p_i as the exact sum of the others."""
    top = max(logits)
    weights = [math.exp(z - top) for z in logits]
    p = [w / math.fsum(weights) for w in weights]
    n = range(len(p))
    rest = [math.fsum(p[k] for k in n if k != i) for i in n]
    return np.array([[p[i] * rest[i] if i == j else -p[i] * p[j] for j in n] for i in n])


def brute_norm(probs):
    return np.linalg.eigvalsh(np.diag(probs) - np.outer(probs, probs))[-1]


# ---- the Jacobian


def test_published_jacobian_b50():
    expected = [
        [0.0819250690649932, -0.0220330445201743, -0.0598920245448189],
        [-0.0220330445201743, 0.184836446509979, -0.162803401989804],
        [-0.0598920245448189, -0.162803401989804, 0.222695426534623],
    ]
    np.testing.assert_allclose(softmax_jacobian([1, 2, 3]), expected, rtol=1e-14)
    np.testing.assert_allclose(softmax_jacobian_simple([1, 2, 3]), expected, rtol=1e-13)


def test_diagonal_is_largest_at_one_half_b51_b52():
    assert softmax_jacobian([0, 0]).tolist() == [[0.25, -0.25], [-0.25, 0.25]]
    assert softmax_jacobian(np.zeros(1024))[0, 0] == pytest.approx(9.756e-4, abs=5e-8)  # b66: not dead, only spread


def test_jacobian_is_the_slope_of_softmax():
    logits, step = np.array([2.0, 1.0, 0.1, -4.0]), 1e-5
    measured = [(softmax(logits + push) - softmax(logits - push)) / (2 * step) for push in step * np.eye(4)]
    np.testing.assert_allclose(softmax_jacobian(logits), np.array(measured).T, atol=1e-10)


@pytest.mark.parametrize("logits", [[100.0, 0, 0], [700.0, 0, -3], [40.0, 40, 0], [0.0] * 5, [1e300, -1e300]])
def test_jacobian_keeps_what_a_saturated_row_holds(logits):
    jacobian = softmax_jacobian(logits)
    np.testing.assert_allclose(jacobian, brute_jacobian(logits), rtol=1e-14, atol=0)
    assert np.array_equal(jacobian, jacobian.T)
    assert np.all(np.abs(jacobian.sum(axis=-1)) <= 1e-15 * np.abs(jacobian).max())


def test_jacobian_of_batches():
    logits = np.random.default_rng(0).standard_normal((2, 3, 4))
    jacobian = softmax_jacobian(logits)
    assert jacobian.shape == (2, 3, 4, 4)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_allclose(jacobian[i, j], brute_jacobian(logits[i, j]), rtol=1e-13)


def test_jacobian_isolates_broken_rows():
    jacobian = softmax_jacobian([[1.0, 2.0], [-inf, -inf], [inf, 0], [nan, 1], [-inf, 1]])
    assert np.isnan(jacobian[1:4]).all()
    np.testing.assert_allclose(jacobian[0], brute_jacobian([1.0, 2.0]), rtol=1e-14)
    assert np.all(jacobian[4] == 0)


def test_shapes_of_the_jacobian():
    assert softmax_jacobian(0.3).tolist() == [[0.0]]
    assert softmax_jacobian([]).shape == (0, 0)
    assert softmax_jacobian(np.zeros((0, 3))).shape == (0, 3, 3)
    assert softmax_jacobian(np.zeros((2, 0))).shape == (2, 0, 0)


# ---- vector-Jacobian products


def test_published_vjp_n25():
    expected = [0.141817093609812, 0.14077035746963, -0.282587451079442]
    for vjp in (softmax_vjp, softmax_vjp_simple):
        np.testing.assert_allclose(vjp(np.array([1.0, 2, 3]), np.array([1.0, 0, -1])), expected, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_vjp_is_the_jacobian_times_the_gradient_omission_6(n):
    logits, grad = np.random.default_rng(n).standard_normal((2, 3, n))
    expected = np.array([brute_jacobian(z) @ g for z, g in zip(logits, grad, strict=True)])
    np.testing.assert_allclose(softmax_vjp(logits, grad), expected, rtol=1e-10, atol=1e-16)
    expected = np.array([g - softmax(z) * math.fsum(g) for z, g in zip(logits, grad, strict=True)])
    np.testing.assert_allclose(log_softmax_vjp(logits, grad), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("gap", [20.0, 37.42994775023705, 40.0, 100.0, 700.0])
def test_saturated_gradients_survive_n08(gap):
    """1 - p of the sure class rounds to 0 from a gap of 37 on; its gradient is what the other class has."""
    left = 1 / (1 + math.exp(gap))
    expected = np.array([left, -left])
    np.testing.assert_allclose(log_softmax_vjp([gap, 0], [1, 0]), expected, rtol=1e-14)
    np.testing.assert_allclose(softmax_vjp([gap, 0], [1, 0]), expected * (1 - left), rtol=1e-14)
    np.testing.assert_allclose(softmax_vjp([gap, 0], [1e6 + 1, 1e6]), expected * (1 - left), rtol=1e-9)


def test_a_gradient_among_many_others_survives():
    logits, grad = np.array([50.0, 0, 0, 0]), np.array([0.1, 0.7, -0.3, 0.2])
    p = softmax(logits)
    others = math.fsum(p[1:] * (grad[0] - grad[1:]))
    assert softmax_vjp(logits, grad)[0] == pytest.approx(others, rel=1e-14)
    expected = grad[0] * math.fsum(p[1:]) - math.fsum(grad[1:])
    assert log_softmax_vjp(logits, grad)[0] == pytest.approx(expected, rel=1e-13)


def test_cross_entropy_learns_where_a_loss_on_probabilities_stalls_b48_omission_22():
    logits, right, wrong = [10.0, 0, 0], np.array([1.0, 0, 0]), np.array([0.0, 1, 0])
    expected = [0.99990920838, -0.99995460420, 4.5395807831e-5]
    np.testing.assert_allclose(log_softmax_vjp(logits, -wrong), expected, rtol=1e-9)
    expected = [-9.0791615659e-5, 4.53958078295e-5, 4.53958078295e-5]
    np.testing.assert_allclose(log_softmax_vjp(logits, -right), expected, rtol=1e-10)
    squared_error = softmax_vjp(logits, 2 * (softmax(logits) - wrong))
    np.testing.assert_allclose(squared_error, [2.72325e-4, -1.81559e-4, -9.07669e-5], rtol=5e-6)


def test_value_path_keeps_its_gradient_b04():
    value = [[1.541, -0.2934, -2.1788, 0.5684], [-1.0845, -1.3986, 0.4033, 0.838], [-0.7193, -0.4033, -0.5966, 0.182]]
    weights = softmax([10.0, 0, 0])
    d_output = 2 * weights @ np.array(value)
    assert np.linalg.norm(np.outer(weights, d_output)) == pytest.approx(5.487, abs=1e-3)
    assert np.linalg.norm(softmax_vjp([10.0, 0, 0], value @ d_output)) == pytest.approx(0.00182, abs=5e-6)


@pytest.mark.parametrize("vjp", [softmax_vjp, log_softmax_vjp])
def test_vjp_isolates_broken_rows(vjp):
    logits = np.array([[1.0, 2.0], [-inf, -inf], [inf, 0], [nan, 1], [3, 1], [3, 1]])
    grad = np.array([[1.0, -2.0]] * 4 + [[nan, 1], [1, -2]])
    result = vjp(logits, grad)
    assert np.isnan(result[1:5]).all()
    np.testing.assert_array_equal(result[[0, 5]], vjp(logits[[0, 5]], grad[[0, 5]]))
    assert np.isfinite(result[[0, 5]]).all()


@pytest.mark.parametrize("vjp", [softmax_vjp, log_softmax_vjp])
def test_masked_logits_get_what_their_weight_says(vjp):
    result = vjp([-inf, 1, 2], [5.0, 1, 0])
    assert result[0] == (0 if vjp is softmax_vjp else 5)
    assert softmax_vjp([-inf, 1], [5.0, 1])[1] == 0
    assert np.isnan(softmax_vjp([0, 1], [inf, 1])).all()


@pytest.mark.parametrize("vjp", [softmax_vjp, log_softmax_vjp])
def test_vjp_wants_equal_shapes(vjp):
    with pytest.raises(ValueError, match=r"same shape, got \(2, 3\) and \(3,\)"):
        vjp(np.zeros((2, 3)), np.zeros(3))


@pytest.mark.parametrize("dtype", FLOATS)
def test_vjp_takes_the_dtype_of_logits(dtype):
    logits, grad = np.array([2, 1, 0.125, -3], dtype), np.array([1.0, -0.5, 0.25, 2])
    for vjp, expected in (
        (softmax_vjp, brute_jacobian(logits.astype(float)) @ grad),
        (log_softmax_vjp, grad - softmax(logits.astype(float)) * 2.75),
    ):
        result = vjp(logits, grad)
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, rtol=RTOL[dtype])
    assert softmax_vjp([1, 0], [1, 0]).dtype == np.float64


def test_long_float32_rows_keep_their_tail():
    """2**16 weights of 1.5e-8: one by one, float32 cannot add them to 1."""
    logits = np.full((2, 2**16 + 1), -18, np.float32, order="F")  # a row is no run of memory: no pairwise summation
    logits[:, 0] = 0
    tail = 2**16 * math.exp(-18) / (1 + 2**16 * math.exp(-18))
    grad = np.where(logits == 0, np.float32(1), np.float32(2))
    assert softmax_vjp(logits, grad)[0, 0] == pytest.approx(-(1 - tail) * tail, rel=1e-5)
    grad = np.full_like(logits, 2**-26)
    grad[:, :2] = 1  # the others' grads: 1, then 2**16 - 1 of 2**-26
    expected = tail - (1 - tail) * (1 + 2**-10)  # g (1 - p) - p times the others' grads
    assert log_softmax_vjp(logits, grad)[0, 0] == pytest.approx(expected, rel=1e-6)
    expected = 2**-26 - (2 + 2**-10) / (2**16 + 1)  # no class above one half: p times all grads
    assert log_softmax_vjp(np.zeros_like(logits), grad)[0, 2] == pytest.approx(expected, rel=1e-5)


# ---- entropy


def test_entropy_grad_is_the_slope_of_entropy():
    logits, step = np.array([2.0, 1.0, 0.1, -4.0]), 1e-5

    def entropy(z):
        p = softmax(z)
        return -math.fsum(p * np.log(p))

    measured = [(entropy(logits + push) - entropy(logits - push)) / (2 * step) for push in step * np.eye(4)]
    np.testing.assert_allclose(entropy_grad(logits), measured, atol=1e-9)


def test_entropy_grad_at_the_edges():
    assert np.all(entropy_grad([3.0, 3, 3]) == 0)
    assert entropy_grad([2.0, 1, -inf]).tolist() == [*entropy_grad([2.0, 1]), 0]
    assert np.all(np.isnan(entropy_grad([[-inf, -inf], [inf, 0], [nan, 0]])))
    assert np.all(entropy_grad([1.7e308, -1.7e308]) == 0)
    gap = 40.0  # dH/dz of the sure one: -p (1 - p) gap
    assert entropy_grad([gap, 0.0])[0] == pytest.approx(-gap * math.exp(-gap), rel=1e-12)


# ---- how large the Jacobian is


def test_largest_at_a_two_way_tie_not_at_uniform_b53_b122():
    for n, uniform in ((2, 0.5), (3, 1 / 3), (100, 0.01), (131_072, 7.62939453125e-6)):
        assert jacobian_spectral_norm(np.full(n, 1 / n)) == pytest.approx(uniform, rel=1e-12)
        assert jacobian_spectral_norm([0.5, 0.5] + [0.0] * (n - 2)) == 0.5


def test_saturated_norms_b44_b45_b47():
    np.testing.assert_allclose(softmax([10, 0, 0]), [0.999909208384, 4.53958078295e-5, 4.53958078295e-5], rtol=1e-11)
    np.testing.assert_allclose(softmax([100, 0, 0]), [1, 3.72007597602e-44, 3.72007597602e-44], rtol=1e-11)
    assert jacobian_spectral_norm(softmax([10, 0, 0])) == pytest.approx(1.3617505881e-4, rel=1e-10)
    for gap in (10, 40, 100, 300, 700):  # p, q, q has the eigenvalue 3 p q
        p = softmax([gap, 0, 0])
        assert jacobian_spectral_norm(p) == pytest.approx(3 * p[0] * p[1], rel=1e-14)


def test_article_example_a45():
    p = [0.99, 0.01, 0, 0]
    assert jacobian_spectral_norm(p) == pytest.approx(0.0198, rel=1e-12)
    assert 0.5 / jacobian_spectral_norm(p) == pytest.approx(25.2525, abs=1e-4)


def test_norm_equals_the_largest_eigenvalue():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = rng.integers(1, 9)
        p = rng.dirichlet(np.full(n, 10.0 ** rng.uniform(-2, 2)))
        assert jacobian_spectral_norm(p) == pytest.approx(brute_norm(p), rel=1e-14, abs=1e-15)


def test_norm_between_near_ties():
    for near in (0.5, 0.5 - 1e-9, 0.5 - 1e-15, 0.4, 0.25):
        p = np.array([near, near, 1 - 2 * near])
        assert jacobian_spectral_norm(p) == pytest.approx(brute_norm(p), rel=1e-13)
    p = np.array([0.4 + 1e-12, 0.4, 0.2 - 1e-12])
    assert jacobian_spectral_norm(p) == pytest.approx(brute_norm(p), rel=1e-12)


def test_entropy_is_no_measure_of_the_gradient_a46_a47():
    for p, ratio in ((0.5, 0.360674), (0.99, 0.176781), (0.9999, 0.097931)):
        entropy = -math.fsum(x * math.log(x) for x in (p, 1 - p))
        assert softmax_jacobian(np.log([p, 1 - p]))[0, 0] / entropy == pytest.approx(ratio, abs=5e-7)
    more_entropy, larger_norm = np.full(100, 0.01), np.array([0.5, 0.5] + [0.0] * 98)
    assert math.log(100) > math.log(2)
    assert jacobian_spectral_norm(more_entropy) < jacobian_spectral_norm(larger_norm) / 49


def test_trace_b54_omission_23():
    assert gini_simpson([0.5, 0.5]) == 0.5 == math.log(2) / (2 * math.log(2))  # the bound, reached
    assert gini_simpson(np.full(4, 0.25)) == 0.75
    p = [0.7, 0.2, 0.1]
    assert gini_simpson(p) == pytest.approx(1 - 0.49 - 0.04 - 0.01, rel=1e-15)
    assert gini_simpson(softmax([100, 0, 0])) == pytest.approx(4 * 3.72007597602e-44, rel=1e-11)


def test_one_minus():
    p = softmax([[40.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(one_minus(p)[0, 0], 2 * math.exp(-40), rtol=1e-14)
    np.testing.assert_allclose(one_minus(p)[1:], 1 - p[1:], rtol=1e-15)
    assert np.isnan(one_minus(np.array([nan, nan]))).all()
    row = np.full((2, 2**16 + 2), 2.0**-27, np.float32, order="F")  # one by one, float32 cannot add these to 0.25
    row[:, :2] = 0.75, 0.25
    assert one_minus(row)[0, 0] == pytest.approx(0.25 + 2**-11, rel=1e-7)


@every_number
def test_numbers_of_rows(function):
    rows = np.array([[0.5, 0.5, 0], [1, 0, 0], [nan, 0, 0], [0.2, 0.3, 0.5]])
    result = function(rows)
    assert result.shape == (4,)
    assert np.isnan(result[2])
    assert result[1] == 0
    for i in (0, 3):
        assert result[i] == function(rows[i])
    assert function(np.ones((2, 3, 1))).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert function(1.0) == 0
    assert function([]) == 0
    assert function(np.zeros((0, 3))).shape == (0,)
    assert function(np.zeros((3, 0))).tolist() == [0, 0, 0]
    for dtype in FLOATS:
        assert function(np.array([0.25, 0.75], dtype)).dtype == dtype
        assert function(np.array([0.25, 0.75], dtype)) == pytest.approx(0.375, rel=RTOL[dtype])


@every_number
@pytest.mark.parametrize("wrong", [[0.5, 0.6], [1.5, -0.5], [2.0, 1.0, 0.1], [0.5, 0.25]])
def test_refuses_what_is_no_distribution(function, wrong):
    with pytest.raises(ValueError, match=r"probs must be >= 0 and sum to 1 in a row, got sum"):
        function(wrong)


def test_float16_rounding_passes_for_a_distribution():
    uniform = softmax(np.zeros(100_000, np.float16))  # 1e-5 is no float16: the row sums to 1.0014
    assert uniform.sum(dtype=float) > 1.001
    assert gini_simpson(uniform) == pytest.approx(1, abs=2e-3)
    assert jacobian_spectral_norm(uniform) == uniform[0]


# ---- the floor of attention entropy


def test_floor_omission_24():
    expected = [6.930497, 6.431134, 0.487158, 4.4e-5]
    np.testing.assert_allclose(attention_entropy_floor(1024, [1, 5, 10, 20]), expected, rtol=3e-3, atol=5e-7)
    np.testing.assert_allclose(attention_entropy_floor(1024, [1, 5, 10]), expected[:3], atol=5e-7)


@pytest.mark.parametrize("n", [2, 3, 10, 1024])
@pytest.mark.parametrize("sigma", [0.0, 0.1, 2.0, 10.0, 40.0])
def test_floor_is_the_entropy_of_its_row(n, sigma):
    row = np.zeros(n)
    row[0] = sigma * math.sqrt(n / (n - 1))
    assert np.linalg.norm(row - row.mean()) == pytest.approx(sigma, rel=1e-13)
    p, log_p = softmax(row), row - row[0] - math.log1p((n - 1) * math.exp(-row[0]))
    assert attention_entropy_floor(n, sigma) == pytest.approx(-math.fsum(p * log_p), rel=1e-12, abs=1e-300)


def test_no_search_finds_a_row_below_the_floor():
    """Descend in entropy on the sphere of centred rows of norm sigma, from many starts."""
    rng = np.random.default_rng(0)
    for n, sigma in ((2, 1.0), (3, 0.5), (4, 3.0), (8, 2.0), (20, 5.0)):
        rows = rng.standard_normal((100, n))
        for step in range(400):
            rows = rows - rows.mean(axis=-1, keepdims=True)
            rows = sigma * rows / np.linalg.norm(rows, axis=-1, keepdims=True)
            slope = entropy_grad(rows)
            rows = rows - 0.3 * 0.99**step * sigma * slope / np.linalg.norm(slope, axis=-1, keepdims=True)
        rows = rows - rows.mean(axis=-1, keepdims=True)
        rows = sigma * rows / np.linalg.norm(rows, axis=-1, keepdims=True)
        p = softmax(rows)
        lowest = np.min(-np.sum(p * np.log(p), axis=-1))
        assert lowest >= attention_entropy_floor(n, sigma) * (1 - 1e-12)
        assert lowest == pytest.approx(attention_entropy_floor(n, sigma), rel=1e-3)


def test_floor_at_the_edges():
    assert attention_entropy_floor(1, [0, 3, inf]).tolist() == [0, 0, 0]
    assert attention_entropy_floor(7, 0) == pytest.approx(math.log(7), rel=1e-15)
    assert attention_entropy_floor(7, [inf, 1e300, 5e3]).tolist() == [0, 0, 0]
    assert attention_entropy_floor(7, np.float32(2)).dtype == np.float32
    assert attention_entropy_floor(np.int64(7), np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("n", [0, -1, 2.5, nan, "8"])
def test_floor_wants_a_whole_n(n):
    with pytest.raises(ValueError, match=f"n must be an integer >= 1, got {n}"):
        attention_entropy_floor(n, 1.0)


@pytest.mark.parametrize("sigma", [-1.0, nan, [1.0, -1e-9]])
def test_floor_wants_a_norm(sigma):
    with pytest.raises(ValueError, match="sigma must be >= 0, got"):
        attention_entropy_floor(8, sigma)


# ---- softmax off by one, softcap


def test_off_by_one_omission_25():
    np.testing.assert_allclose(softmax_off_by_one([-10, -10]), np.full(2, math.exp(-10) / (1 + 2 * math.exp(-10))))
    left = math.exp(-1) / (1 + math.exp(-1))
    np.testing.assert_allclose(softmax_off_by_one([1000, 999]), [1 - left, left], rtol=1e-14)
    np.testing.assert_allclose(softmax_off_by_one([0.0] * 3), [0.25] * 3, rtol=1e-15)


def test_off_by_one_is_softmax_with_a_zero_added():
    logits = np.random.default_rng(0).uniform(-40, 40, (20, 5))
    with_zero = softmax(np.append(logits, np.zeros((20, 1)), axis=-1))
    np.testing.assert_allclose(softmax_off_by_one(logits), with_zero[:, :-1], rtol=1e-13)


def test_off_by_one_at_the_edges():
    result = softmax_off_by_one([[-inf, -inf], [-inf, 0], [inf, 0], [nan, 0], [-1e308, 1e308], [-800, -900]])
    assert result[0].tolist() == [0, 0]
    assert result[1].tolist() == [0, 0.5]
    assert np.isnan(result[2:4]).all()
    assert result[4].tolist() == [0, 1]
    np.testing.assert_allclose(result[5], np.exp([-800, -900]))
    assert softmax_off_by_one(0.0) == 0.5
    np.testing.assert_array_equal(softmax_off_by_one([[0, 5], [1, 2]], axis=0).T, softmax_off_by_one([[0, 1], [5, 2]]))


def test_off_by_one_float16_and_long_rows():
    n = 70_000  # 70000 ones overflow float16
    assert softmax_off_by_one(np.zeros(n, np.float16))[0] == pytest.approx(1 / (n + 1), rel=2e-3)
    column = np.full((2**16 + 1, 2), -18, np.float32)  # 1.5e-8 each: float32 cannot add them to 1, one by one
    column[0] = 0
    assert softmax_off_by_one(column, axis=0)[0, 0] == pytest.approx(1 / (2 + 2**16 * math.exp(-18)), rel=1e-6)


def test_softcap_n33_omission_20():
    assert softcap(124, 30) == pytest.approx(29.9845875400922, rel=1e-14)
    expected = [50 * math.tanh(s / 50) for s in (1, 10, 50, 100, -1000)]
    np.testing.assert_allclose(softcap([1, 10, 50, 100, -1000], 50.0), expected, rtol=1e-15)
    slope = (softcap(50 + 1e-5, 50.0) - softcap(50 - 1e-5, 50.0)) / 2e-5
    assert slope == pytest.approx(0.419974, abs=5e-7)


def test_softcap_at_the_edges():
    assert softcap([inf, -inf, 0], 5).tolist() == [5, -5, 0]  # a mask before the cap is undone
    assert np.isnan(softcap(nan, 5))
    for dtype in FLOATS:
        assert softcap(np.array([1, 6e4], dtype), 30).dtype == dtype
        assert softcap(np.array([0, 1], dtype), 1e300).tolist() == [0, 1]
        assert softcap(np.array([0, 1], dtype), 1e-310).tolist() == [0, np.array(1e-310).astype(dtype)]
    assert softcap(np.array([200, 255], np.uint8), 255).tolist() == softcap([200.0, 255.0], 255).tolist()


@pytest.mark.parametrize("cap", [0, -1, nan, inf, [1.0, 2.0]])
def test_wrong_cap(cap):
    with pytest.raises(ValueError, match="cap must be one finite number > 0, got"):
        softcap([1.0], cap)


# ---- three things called collapse


def test_statistics_tell_the_three_apart_b58():
    n = 6
    uniform = np.full((2, n, n), 1 / n)
    own_key = np.stack([np.eye(n), np.roll(np.eye(n), 1, axis=1)])
    sink = np.zeros((2, n, n))
    sink[..., 0] = 1
    assert attention_statistics(uniform) == pytest.approx((math.log(n), 1 / n, 1))  # attention collapse only
    entropy, first, likeness = attention_statistics(own_key)  # entropy collapse only
    assert (entropy, likeness) == (0, 0)
    assert first == pytest.approx(1 / n)
    assert attention_statistics(sink) == (0, 1, 0)


def test_statistics_by_hand():
    weights = np.array([[[0.5, 0.3, 0.2]], [[0.1, 0.9, 0.0]]])
    entropy = -math.fsum(w * math.log(w) for w in (0.5, 0.3, 0.2, 0.1, 0.9)) / 2
    likeness = 0.3 / math.hypot(0.3, 0.2)
    assert attention_statistics(weights) == pytest.approx((entropy, 0.3, likeness))
    assert attention_statistics(np.ones((2, 1, 1))) == (0, 1, 0)


def test_statistics_refuse_wrong_shapes():
    for shape in ((1, 2, 2), (2, 2), (2, 2, 2, 2), (2, 0, 2), (2, 2, 0)):
        with pytest.raises(ValueError, match=r"weights must be \(layers >= 2, n_q >= 1, n_k >= 1\), got shape \("):
            attention_statistics(np.full(shape, 0.5))
    with pytest.raises(ValueError, match="sum to 1"):
        attention_statistics(np.ones((2, 2, 2)))


# ---- the contract, for every function of logits


@every_row
def test_integers_do_not_wrap(function):
    for dtype in (np.uint8, np.int8, np.int32):
        limits = np.iinfo(dtype)
        logits = np.array([limits.min, 1, limits.max], dtype)
        result = function(logits)
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, function(logits.astype(float)))
    assert function(np.array([True, False])).dtype == np.float64


@every_row
@pytest.mark.parametrize("dtype", FLOATS)
def test_dtype_shapes_and_views(function, dtype):
    logits = np.random.default_rng(0).uniform(-3, 3, (4, 6)).astype(dtype)
    before = logits.copy()
    result = function(logits)
    assert (result.dtype, result.shape) == (dtype, logits.shape)
    np.testing.assert_allclose(result, function(before.astype(float)), rtol=RTOL[dtype], atol=RTOL[dtype] / 10)
    np.testing.assert_array_equal(logits, before)
    view = logits[::-2, ::-1]
    np.testing.assert_allclose(function(view), function(view.copy()), rtol=RTOL[dtype], atol=RTOL[dtype] / 10)
    for shape in ((), (0, 3), (2, 0), (0,)):
        assert function(np.zeros(shape, dtype)).shape == shape


@every_row
def test_refuses_complex_numbers(function):
    with pytest.raises(TypeError, match="expected real numbers, got dtype complex128"):
        function(np.array([1j, 0]))


# ---- the experiments (small versions; figures/data holds the long ones)


def test_frobenius_norm():
    rng = np.random.default_rng(0)
    for alpha in (0.05, 1.0, 20.0):
        p = rng.dirichlet(np.full(6, alpha), size=5)
        expected = [np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in p]
        np.testing.assert_allclose(experiment.jacobian_frobenius_norm(p), expected, rtol=1e-9, atol=1e-12)
    assert experiment.jacobian_frobenius_norm(np.full(3, 1 / 3)) ** 2 == pytest.approx(0.2222, abs=5e-5)  # b53
    assert experiment.jacobian_frobenius_norm(np.array([0.5, 0.5, 0])) ** 2 == 0.25


def test_iid_model_without_a_scale_a45():
    """n = 2: the gradient dies. n = 128: the Jacobian is larger than with the scale, and so is dL/dq."""
    rng = np.random.default_rng(1)
    few = experiment.random_attention(2, 64, 1.0, 2000, rng), experiment.random_attention(2, 64, 1 / 8, 2000, rng)
    assert few[0][0] < 0.003 < 0.37 < few[1][0] < 0.45
    many = experiment.random_attention(128, 64, 1.0, 200, rng), experiment.random_attention(128, 64, 1 / 8, 200, rng)
    assert many[0][0] > 1.4 * many[1][0]
    assert many[0][2] > 8 * many[1][2]
    assert many[0][1] == pytest.approx(0.76, abs=0.05)
    assert many[1][1] == pytest.approx(0.07, abs=0.01)


@pytest.fixture(scope="module")
def study():
    runs, lengths = experiment.flow_study(points=5)
    assert lengths == pytest.approx([0.7002, 3.5008, 14.0034], abs=5e-5)
    return runs


def test_logistic_flow_sharpens_b61(study):
    assert study["logistic"]["time"][-1] == 1200
    assert study["logistic"]["entropy"][[0, -1]] == pytest.approx([math.log(8), 0.1322], abs=1e-4)
    assert study["logistic"]["top"][[0, -1]] == pytest.approx([0.125, 0.98068], abs=1e-4)


def test_where_the_flow_does_not_sharpen_b62_b63_b68(study):
    last = {name: run["entropy"][..., -1] for name, run in study.items()}
    assert last["equal columns"] == pytest.approx(math.log(8), abs=1e-12)
    assert last["peaked, frozen values"] == pytest.approx(math.log(8), abs=1e-5)
    assert last["peaked, entropy bonus"] == pytest.approx(math.log(8), abs=1e-3)
    assert last["peaked"] == pytest.approx(0.5505, abs=1e-4)
    for name in last:
        if name.startswith("peaked"):
            assert study[name]["entropy"][0] == pytest.approx(0.57519, abs=1e-5)


def test_square_loss_sharpens_as_far_as_the_target_is_long_b62(study):
    np.testing.assert_allclose(study["square"]["entropy"][:, -1], [2.0578, 1.1529, 0.0859], atol=1e-3)


def test_midpoint_rule_follows_the_flow():
    """One logit pair, values frozen: d(gap)/dt is known, and halving the step quarters the error."""
    flow = [
        experiment.value_softmax_flow(np.eye(2), np.array([1.0, 0.0]), lambda u: -u, (0, 4), step, learn_values=False)
        for step in (0.2, 0.1, 0.05)
    ]
    top = [run[1][1] for run in flow]
    assert abs(top[0] - top[1]) / abs(top[1] - top[2]) == pytest.approx(4, rel=0.1)


def test_growth_meets_each_remedy():
    before, after = (experiment.grown_attention(growth, np.random.default_rng(0), draws=50) for growth in (1, 16))
    top = {
        name: [np.mean(np.max(w / w.sum(axis=-1, keepdims=True), axis=-1)) for w in (before[name], after[name])]
        for name in before
    }
    assert top["softmax, no scale"][0] > 0.6
    assert top["scaled by 1/sqrt(d)"][0] < 0.1 < 0.8 < top["scaled by 1/sqrt(d)"][1]  # a scale does not stop growth
    assert top["scaled, capped at 50"][1] < top["scaled by 1/sqrt(d)"][1]
    assert top["QK-Norm"][0] == pytest.approx(top["QK-Norm"][1], rel=1e-12)  # b70: growth cancels
    assert top["scaled, off by one"][1] == pytest.approx(top["scaled by 1/sqrt(d)"][1], rel=1e-6)
    np.testing.assert_allclose(before["QK-Norm"].sum(axis=-1), 1, rtol=1e-13)
    assert np.all(after["scaled, sigmoid"] <= 1)


def test_a_row_learns_to_add_nothing_b64():
    values = np.random.default_rng(0).standard_normal((4, 8))
    values[:, 0] = 0
    runs = {kind: experiment.learn_silence(kind, values, 500) for kind in ("softmax", "off by one", "sigmoid")}
    assert runs["softmax"][0] + runs["softmax"][1] == pytest.approx(1)
    assert runs["softmax"][0] > 0.8  # the key with nothing to say becomes the sink
    assert runs["off by one"][0] > 0.7  # and here it still may
    assert runs["sigmoid"][0] == pytest.approx(1 / 9)  # here nothing pushes it up
    positive = np.abs(np.random.default_rng(0).standard_normal((4, 8)))
    silence = [experiment.learn_silence(kind, positive, 500)[2] for kind in ("softmax", "off by one", "sigmoid")]
    assert silence[0] > 1 > silence[1] > silence[2]


def test_attend_backward_is_its_slope():
    rng, step = np.random.default_rng(0), 1e-6
    logits, grad = rng.standard_normal((2, 5))
    for kind in ("softmax", "off by one", "sigmoid"):
        measured = [
            (experiment.attend(kind, logits + push)[0] - experiment.attend(kind, logits - push)[0]) @ grad / (2 * step)
            for push in step * np.eye(5)
        ]
        np.testing.assert_allclose(experiment.attend(kind, logits)[1](grad), measured, rtol=1e-6, atol=1e-9)


def test_qk_norm_without_a_gain_cannot_be_sure_b70():
    for n, bound in ((128, 0.05498257), (1024, 0.00717113)):
        best = np.where(np.arange(n) == 0, 1.0, -1.0)
        assert softmax(best)[0] == pytest.approx(bound, abs=5e-9)
        assert softmax(0.5 * math.log(99 * (n - 1)) * best)[0] == pytest.approx(0.99, rel=1e-12)


def test_massive_step_moves_a_saturated_row_b46():
    expected = [0.4999887, 0.4999887, 0.0000227]
    np.testing.assert_allclose(softmax([10, 10, 0]), expected, atol=5e-8)
    assert np.max(np.abs(softmax([10, 0.1, 0]) - softmax([10, 0, 0]))) < 1e-5
