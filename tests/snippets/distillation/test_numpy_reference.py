"""The NumPy reference of `distillation` against exact values and its contract."""

import math

import numpy as np
import pytest

from snippets.distillation.numpy_reference import (
    distillation_grad,
    distillation_loss,
    distillation_objective,
    kl_divergence,
    kl_divergence_simple,
)
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import cross_entropy, soft_cross_entropy

inf, nan = np.inf, np.nan
FLOATS = [np.float16, np.float32, np.float64]

TEACHER, STUDENT = np.array([6.0, 2, -1, -7]), np.array([3.0, 1, 0.5, -4.5])  # both with mean 0
PAIR = np.array([[1, 2, 0.5], [0, -1, 3]]), np.array([[2, 1, 0], [0.5, 0.5, 4]])  # student, teacher of N24


def exact_kl(p, logits):
    """One row by the definition, summed exactly."""
    lse = math.log(math.fsum(math.exp(z) for z in logits))
    return math.fsum(a * (math.log(a) - (z - lse)) for a, z in zip(p, logits, strict=True) if a > 0)


# ---- KL divergence


def test_kl_values():
    assert kl_divergence([0, 0.4, 0.6], [-inf, 0, 1]) == pytest.approx(0.0402500205089664, rel=1e-14)
    assert kl_divergence([0.5, 0.5], [0, 0]) == 0
    assert kl_divergence([1.0, 0.0], [0, 0]) == pytest.approx(math.log(2), rel=1e-15)
    assert kl_divergence([0.2, 0.3, 0.5], [1, 2, -1]) == pytest.approx(exact_kl([0.2, 0.3, 0.5], [1, 2, -1]), rel=1e-14)


def test_kl_is_not_symmetric():
    p, q = np.array([0.5, 0.49, 0.01]), np.array([0.98, 0.01, 0.01])
    forward = math.fsum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    backward = math.fsum(b * math.log(b / a) for a, b in zip(p, q, strict=True))
    assert kl_divergence(p, np.log(q)) == pytest.approx(forward, rel=1e-14)
    assert kl_divergence(q, np.log(p)) == pytest.approx(backward, rel=1e-14)


def test_kl_with_impossible_classes():
    assert kl_divergence([0, 1], [-inf, 3]) == 0
    assert kl_divergence([0.2, 0.8], [-inf, 3]) == inf
    assert kl_divergence([0, 1], [5, 0]) == pytest.approx(math.log1p(math.exp(5)), rel=1e-14)
    assert kl_divergence([0.0, 1.0], [-800.0, 0.0]) == 0


def test_kl_of_distributions_at_the_edge_of_the_range():
    assert kl_divergence([1e-320, 1], [0, -800]) == pytest.approx(800, rel=1e-14)  # log q - log p = 737
    assert 0 < kl_divergence([1, 1e-320], [0, -800]) < 1e-318  # 1e-320 * (800 - 737)
    assert kl_divergence([1e-300, 1], [0, 0]) == pytest.approx(math.log(2), rel=1e-14)


@pytest.mark.parametrize("step", [1e-1, 1e-4, 1e-7, 1e-10, 1e-13])
def test_kl_of_close_distributions_keeps_its_digits(step):
    """Two classes: KL(1/2 || sigmoid) = -log(1 - tanh(step / 2)^2) / 2 = step^2 / 8 - step^4 / 192 ..."""
    assert kl_divergence([0.5, 0.5], [0, step]) == pytest.approx(-math.log1p(-(math.tanh(step / 2) ** 2)) / 2, rel=2e-3)
    if step >= 1e-10:
        assert kl_divergence([0.5, 0.5], [0, step]) == pytest.approx(step**2 / 8 - step**4 / 192, rel=1e-5)


def test_kl_simple_agrees_inside_its_domain():
    rng = np.random.default_rng(0)
    p, logits = rng.dirichlet(np.ones(5), size=20), rng.normal(size=(20, 5))
    np.testing.assert_allclose(kl_divergence_simple(p, logits), kl_divergence(p, logits), rtol=1e-12)


def test_kl_broken_rows_stay_alone():
    probs = np.array([[nan, 0.5], [0.5, 0.5], [0, 1], [0.5, 0.5], [0.5, 0.5]])
    logits = np.array([[0, 0], [nan, 0], [inf, 0], [-inf, -inf], [3, 3]])
    kl = kl_divergence(probs, logits)
    assert np.isnan(kl[:4]).all()
    assert kl[4] == 0


@pytest.mark.parametrize("probs", [[-0.1, 1.1], [0.5, 0.4], [2.0, 1.0], [0.0, 0.0], [inf, 0]])
def test_kl_refuses_what_is_no_distribution(probs):
    with pytest.raises(ValueError, match="probs must be >= 0 and sum to 1, got sum"):
        kl_divergence(probs, [0, 0])


def test_kl_takes_rounded_float16_probabilities():
    probs = softmax(np.random.default_rng(1).normal(size=(3, 1000)).astype(np.float16))
    assert np.abs(probs.sum(axis=-1, dtype=float) - 1).max() < 0.01
    assert np.all(kl_divergence(probs, np.log(np.maximum(probs, 1e-7))) >= 0)


# ---- the loss and its gradient


def test_published_case_n24():
    student, teacher = PAIR
    assert distillation_loss(student, teacher, 4) == pytest.approx(0.225960642173357, rel=1e-13)
    expected = [
        [-0.206850165030581, 0.158008717611421, 0.0488414474191597],
        [0.0587115981850891, -0.0548461673693164, -0.00386543081577272],
    ]
    np.testing.assert_allclose(distillation_grad(student, teacher, 4), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("temperature", "length"),
    [(1, 0.19679817), (2, 0.63208255), (5, 1.00384062), (20, 1.08118719), (100, 1.07805617)],
)
def test_gradient_lengths_b39(temperature, length):
    grad = np.linalg.norm(distillation_grad(STUDENT, TEACHER, temperature))
    assert grad == pytest.approx(length, abs=5e-9)


def test_without_the_square_the_gradient_vanishes_b39():
    for temperature, length in [(5, 0.04015362), (20, 0.00270297)]:
        grad = np.linalg.norm(distillation_grad(STUDENT, TEACHER, temperature)) / temperature**2
        assert grad == pytest.approx(length, abs=5e-9)


def test_hot_limits_omission_37():
    """T -> inf: the gradient tends to (z - v) / n, the loss to ||z - v||^2 / 2n, means taken off."""
    gap = STUDENT - TEACHER
    assert gap.mean() == 0
    assert np.linalg.norm(gap) / 4 == pytest.approx(1.07529066, abs=5e-9)
    for temperature, error in [(1e3, 1e-2), (1e5, 1e-4)]:
        np.testing.assert_allclose(distillation_grad(STUDENT, TEACHER, temperature), gap / 4, rtol=error)
        assert distillation_loss(STUDENT, TEACHER, temperature) == pytest.approx(np.sum(gap**2) / 8, rel=error)
    assert distillation_loss(STUDENT, TEACHER, 1e6) == pytest.approx(np.sum(gap**2) / 8, rel=1e-6)


def test_article_example_loses_contrast_b40():
    logits = np.log([0.95, 0.03] + [0.02 / 8] * 8)
    for temperature, expected in [(1, 12), (4, 1.861210), (20, 1.132294), (100, 1.025160)]:
        probs = softmax(logits / temperature)
        assert probs[1] / probs[2] == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("temperature", [0.3, 1, 4.0, 20])
def test_gradient_is_that_of_the_loss(temperature):
    student, teacher = PAIR
    grad, step = distillation_grad(student, teacher, temperature), 1e-5
    for index in np.ndindex(student.shape):
        up, down = student.copy(), student.copy()
        up[index] += step
        down[index] -= step
        slope = distillation_loss(up, teacher, temperature) - distillation_loss(down, teacher, temperature)
        assert slope / (2 * step) == pytest.approx(grad[index], abs=1e-9)


def test_minimum_is_where_the_same_temperature_matches_b39():
    np.testing.assert_allclose(distillation_grad(TEACHER + 3, TEACHER, 4), 0, atol=1e-15)
    assert distillation_loss(TEACHER + 3, TEACHER, 4) == pytest.approx(0, abs=1e-15)
    # a student that is read at T = 1 in training would have to learn the teacher's logits / T
    np.testing.assert_allclose(softmax(TEACHER / 4), softmax((TEACHER / 4) / 1))
    assert distillation_loss(TEACHER / 4, TEACHER, 4) > 0.1


def test_loss_is_soft_cross_entropy_up_to_the_teachers_entropy():
    student, teacher = PAIR
    targets = softmax(teacher / 4)
    entropy = -np.mean(np.sum(targets * np.log(targets), axis=-1))
    expected = 16 * (soft_cross_entropy(student / 4, targets) - entropy)
    assert distillation_loss(student, teacher, 4) == pytest.approx(expected, rel=1e-12)


def test_mean_runs_over_rows_only_n24():
    student, teacher = PAIR
    rows = [distillation_loss(s, t, 4) for s, t in zip(student, teacher, strict=True)]
    assert distillation_loss(student, teacher, 4) == pytest.approx(np.mean(rows), rel=1e-14)
    stacked = distillation_loss(np.stack([student] * 3), np.stack([teacher] * 3), 4)
    assert stacked == pytest.approx(np.mean(rows), rel=1e-14)
    grads = np.array([distillation_grad(s, t, 4) for s, t in zip(student, teacher, strict=True)])
    np.testing.assert_allclose(distillation_grad(student, teacher, 4), grads / 2, rtol=1e-14)


def test_classes_that_both_rule_out_cost_nothing():
    student, teacher = np.array([-inf, 1, 2]), np.array([-inf, 2, 1])
    assert distillation_loss(student, teacher, 2) == pytest.approx(distillation_loss([1, 2], [2, 1], 2), rel=1e-14)
    assert distillation_grad(student, teacher, 2)[0] == 0
    assert distillation_loss(student, np.array([0, 2, 1]), 2) == inf
    assert np.isfinite(distillation_grad(student, np.array([0, 2, 1]), 2)).all()


def test_large_logits_do_not_overflow():
    assert distillation_loss([1e4, 0], [1e4, 0], 1) == 0
    assert distillation_loss([0.0, 1e4], [1e4, 0.0], 1) == pytest.approx(1e4)
    assert np.isfinite(distillation_grad([1e308, -1e308], [-1e308, 1e308], 1)).all()


def test_broken_rows():
    student = np.array([[nan, 0], [1.0, 2]])
    grad = distillation_grad(student, np.zeros((2, 2)), 2)
    assert np.isnan(grad[0]).all()
    assert np.isfinite(grad[1]).all()
    assert np.isnan(distillation_loss(student, np.zeros((2, 2)), 2))
    assert np.isnan(distillation_loss(np.zeros((2, 2)), student, 2))


# ---- labels and teacher together


def test_objective_mixes_both():
    student, teacher, target = *PAIR, np.array([0, 2])
    hard, soft = cross_entropy(student, target), distillation_loss(student, teacher, 4)
    assert distillation_objective(student, teacher, target, 4, 0) == hard
    assert distillation_objective(student, teacher, target, 4, 1) == soft
    expected = pytest.approx(0.3 * hard + 0.7 * soft, rel=1e-15)
    assert distillation_objective(student, teacher, target, 4, 0.7) == expected
    # cross-entropy by hand, at T = 1
    by_hand = -np.mean(np.log(softmax(student))[[0, 1], target])
    assert hard == pytest.approx(by_hand, rel=1e-14)


def test_a_part_of_weight_zero_is_left_out():
    impossible = np.array([[-inf, 0.0, 1.0]])
    assert distillation_objective(impossible, impossible, [0], 2, 1) == 0
    assert distillation_objective(impossible, impossible, [0], 2, 0.5) == inf
    teacher = np.array([[nan, 0.0, 0.0]])
    assert distillation_objective(np.zeros((1, 3)), teacher, [0], 2, 0) == pytest.approx(math.log(3))


@pytest.mark.parametrize("soft_weight", [-0.1, 1.1, nan, inf])
def test_wrong_soft_weight(soft_weight):
    with pytest.raises(ValueError, match="soft_weight must be >= 0 and <= 1, got "):
        distillation_objective(*PAIR, [0, 2], 4, soft_weight)


# ---- shapes, dtypes, temperatures


def test_wrong_shapes():
    for function in (kl_divergence, lambda a, b: distillation_loss(a, b, 1), lambda a, b: distillation_grad(a, b, 1)):
        with pytest.raises(ValueError, match=r"need equal shapes, got \(2,\) and \(3,\)"):
            function(np.full(2, 0.5), np.zeros(3))
        with pytest.raises(ValueError, match=r"need equal shapes, got \(1, 2\) and \(2,\)"):
            function(np.full((1, 2), 0.5), np.zeros(2))


@pytest.mark.parametrize("function", [distillation_loss, distillation_grad])
def test_wrong_temperature(function):
    for temperature in (0, inf):
        with pytest.raises(ValueError, match="temperature must be > 0 and finite, got "):
            function(*PAIR, temperature)
    for temperature in (-1, nan):
        with pytest.raises(ValueError, match="temperature must be >= 0, got "):
            function(*PAIR, temperature)
    with pytest.raises(ValueError, match="temperature must be one number, got shape"):
        function(*PAIR, np.array([1.0, 2.0]))


def test_empty_inputs():
    assert kl_divergence(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
    assert kl_divergence(np.zeros((2, 0)), np.zeros((2, 0))).tolist() == [0, 0]
    assert np.isnan(distillation_loss(np.zeros((0, 3)), np.zeros((0, 3)), 2))
    assert distillation_grad(np.zeros((0, 3)), np.zeros((0, 3)), 2).shape == (0, 3)
    assert distillation_loss(np.zeros((2, 0)), np.zeros((2, 0)), 2) == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_dtypes(dtype):
    student, teacher = (x.astype(dtype) for x in PAIR)
    probs = softmax(teacher)
    results = [
        kl_divergence(probs, student),
        distillation_loss(student, teacher, 4.0),
        distillation_grad(student, teacher, 4.0),
        distillation_objective(student, teacher, [0, 2], 4.0, 0.5),
    ]
    assert [r.dtype for r in results] == [dtype] * 4
    assert distillation_loss(student, PAIR[1], 4).dtype == np.float64  # the wider of the two
    wide = [r.astype(float) for r in (student, teacher)]
    rtol = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-12}[dtype]
    np.testing.assert_allclose(results[1], distillation_loss(*wide, 4), rtol=rtol)
    np.testing.assert_allclose(results[2], distillation_grad(*wide, 4), rtol=rtol)


def test_integers_do_not_wrap():
    low, high = np.array([0, 255], np.uint8), np.array([255, 0], np.uint8)
    assert distillation_loss(low, high, 1) == pytest.approx(255)
    assert distillation_grad(np.array([0, 1]), np.array([1, 0]), 2).dtype == np.float64
    assert kl_divergence([1, 0], np.array([0, 0], np.int8)) == pytest.approx(math.log(2))
    with pytest.raises(TypeError, match="expected real numbers"):
        kl_divergence(np.array([1j, 0]), [0, 0])


def test_inputs_are_not_modified():
    student, teacher = (x.copy() for x in PAIR)
    student.flags.writeable = teacher.flags.writeable = False
    distillation_objective(student, teacher, [0, 2], 4, 0.5)
    distillation_grad(student[::-1, ::-1], teacher[::-1, ::-1], 4)
    np.testing.assert_array_equal(student, PAIR[0])
