"""What holds for every student and teacher: searched for counterexamples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from snippets.distillation.numpy_reference import distillation_grad, distillation_loss, kl_divergence
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import log_softmax

fast = settings(max_examples=60, deadline=None, derandomize=True)
sizes = st.integers(1, 6)
temperatures = st.floats(0.1, 1000)


def pairs(limit):
    values = st.floats(-limit, limit)
    return sizes.flatmap(lambda n: hnp.arrays(np.float64, (2, 3, n), elements=values))


@fast
@given(pairs(700))
def test_kl_is_never_negative_and_agrees_with_its_definition(pair):
    probs, logits = softmax(pair[0]), pair[1]
    kl = kl_divergence(probs, logits)
    assert np.all(kl >= 0)
    terms = np.where(probs == 0, 0, probs * (log_softmax(pair[0]) - log_softmax(logits)))
    np.testing.assert_allclose(kl, np.sum(terms, axis=-1), rtol=1e-11, atol=1e-13)


@fast
@given(pairs(30))
def test_kl_is_zero_only_for_the_same_distribution(pair):
    assert np.all(kl_divergence(softmax(pair[0]), pair[0] + 5) < 1e-24)
    apart = np.max(np.abs(softmax(pair[0]) - softmax(pair[1])), axis=-1)
    # Pinsker: KL >= 2 * (total variation)^2 >= 2 * (largest difference)^2
    assert np.all(kl_divergence(softmax(pair[0]), pair[1]) >= 2 * apart**2 * (1 - 1e-9) - 1e-24)


@fast
@given(pairs(30), temperatures)
def test_shifting_a_row_changes_nothing(pair, temperature):
    student, teacher = pair
    shift = np.array([[-3.0], [0.5], [11.0]])
    loss = distillation_loss(student, teacher, temperature)
    assert distillation_loss(student + shift, teacher - shift, temperature) == pytest.approx(loss, rel=1e-9, abs=1e-18)


@fast
@given(pairs(30), temperatures)
def test_gradient_rows_sum_to_zero_and_point_from_teacher_to_student(pair, temperature):
    student, teacher = pair
    grad = distillation_grad(student, teacher, temperature)
    np.testing.assert_allclose(np.sum(grad, axis=-1), 0, atol=1e-15 * (1 + temperature))
    # the loss is convex in the student's logits, and 0 at the teacher's
    loss = distillation_loss(student, teacher, temperature)
    assert loss <= np.sum(grad * (student - teacher)) + 1e-12 * (1 + temperature)


@fast
@given(pairs(8))
def test_gradient_tends_to_the_gap_of_the_logits(pair):
    student, teacher = pair
    gap = student - teacher
    gap = gap - np.mean(gap, axis=-1, keepdims=True)
    limit = gap / gap.size
    size = np.max(np.abs(np.concatenate([student, teacher])))
    error = np.abs(distillation_grad(student, teacher, 1e4) - limit)
    assert np.max(error) <= 1e-3 * size**2 + 1e-11


@fast
@given(pairs(8))
def test_hot_loss_tends_to_half_the_squared_gap(pair):
    student, teacher = pair
    gap = student - teacher
    gap = gap - np.mean(gap, axis=-1, keepdims=True)
    limit = np.mean(np.sum(gap**2, axis=-1)) / (2 * gap.shape[-1])
    assert distillation_loss(student, teacher, 1e4) == pytest.approx(limit, rel=1e-2, abs=1e-14)


@fast
@given(pairs(30), temperatures, temperatures)
def test_heat_flattens_the_teacher(pair, first, second):
    """B40: the odds of any two classes move towards 1 as T grows, the entropy towards ln n."""
    cold, hot = sorted((first, second))
    logits = pair[0]
    spread = np.ptp(log_softmax(logits / cold), axis=-1), np.ptp(log_softmax(logits / hot), axis=-1)
    assert np.all(spread[1] <= spread[0] + 1e-9)
