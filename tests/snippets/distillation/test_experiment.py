"""The parts of the digits experiment; its numbers are recomputed by tests/figures."""

import numpy as np
import pytest

from snippets.distillation import experiment
from snippets.distillation.numpy_reference import distillation_grad, distillation_loss
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import cross_entropy, cross_entropy_grad

RNG = np.random.default_rng(0)
LOGITS, TEACHER = RNG.normal(size=(3, 5, 10)), 4 * RNG.normal(size=(3, 5, 10))  # 3 networks, 5 images
DIGITS = RNG.integers(0, 10, (3, 5))


def test_digits_are_all_there_and_shuffled_once():
    images, digits = experiment.load()
    assert images.shape == (1797, 64)
    assert (images.min(), images.max()) == (0, 1)
    assert np.bincount(digits).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    np.testing.assert_array_equal(images, experiment.load()[0])


def test_gradients_are_the_chapters_own():
    for i in range(3):
        hard = experiment.from_labels(DIGITS)(LOGITS)[i]
        np.testing.assert_allclose(hard, cross_entropy_grad(LOGITS[i], DIGITS[i]), rtol=1e-12, atol=1e-16)
        for temperature in experiment.TEMPERATURES:
            soft = experiment.from_teacher(TEACHER, temperature)(LOGITS)[i]
            expected = distillation_grad(LOGITS[i], TEACHER[i], temperature)
            np.testing.assert_allclose(soft, expected, rtol=1e-12, atol=1e-16)


def test_backward_pass_is_the_slope_of_the_loss():
    """One step without momentum moves each weight by rate * slope."""
    images = RNG.random((2, 5, 64))
    weights = experiment.new_networks([1, 2], hidden=3)
    labels = experiment.from_labels(DIGITS[:2])
    stepped = experiment.train(weights, images, labels, steps=1, rate=1.0, decay=0.1, momentum=0.0)

    def loss(network):
        logits = experiment.forward(weights, images)[1]
        decay = sum(0.05 * np.sum(weights[k][network] ** 2) for k in (0, 2))
        return cross_entropy(logits[network], DIGITS[network]) + decay

    for k, index in [(0, (0, 7, 1)), (1, (1, 0, 2)), (2, (1, 2, 9)), (3, (0, 0, 4))]:
        slopes, before = [], weights[k][index]
        for step in (1e-5, -1e-5):
            weights[k][index] = before + step
            slopes.append(loss(index[0]))
        weights[k][index] = before
        assert before - stepped[k][index] == pytest.approx((slopes[0] - slopes[1]) / 2e-5, abs=1e-8)


def test_networks_are_independent():
    images = RNG.random((3, 5, 64))
    together = experiment.train(
        experiment.new_networks([1, 2, 3], 4), images, experiment.from_teacher(TEACHER, 4), steps=20, rate=0.01
    )
    alone = experiment.train(
        experiment.new_networks([2], 4), images[1:2], experiment.from_teacher(TEACHER[1:2], 4), steps=20, rate=0.01
    )
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_allclose(a[1], b[0], rtol=1e-12, atol=1e-15)


def test_a_student_learns_its_images():
    images, digits = experiment.load()
    images, digits = images[None, :60], digits[None, :60]
    start = experiment.new_networks([1], 16)
    end = experiment.train(start, images, experiment.from_labels(digits), steps=1000, rate=0.05)
    assert experiment.accuracy(start, images, digits)[0] < 0.5
    assert experiment.accuracy(end, images, digits)[0] == 1
    teacher = experiment.forward(end, images)[1]
    student = experiment.train(start, images, experiment.from_teacher(teacher, 8), steps=1000, rate=0.01)
    losses = [distillation_loss(experiment.forward(w, images)[1], teacher, 8) for w in (start, student)]
    assert losses[1] < 0.1 * losses[0]


def test_shuffling_keeps_all_but_which_wrong_class_is_likely():
    shuffled = experiment.shuffle_wrong_classes(TEACHER, np.random.default_rng(1))
    np.testing.assert_array_equal(np.argmax(shuffled, -1), np.argmax(TEACHER, -1))
    np.testing.assert_array_equal(np.sort(shuffled, -1), np.sort(TEACHER, -1))
    assert np.mean(shuffled != TEACHER) > 0.5
    again = experiment.shuffle_wrong_classes(TEACHER, np.random.default_rng(1))
    np.testing.assert_array_equal(shuffled, again)
    # every order is equally likely: each wrong class meets each wrong rank
    many = np.broadcast_to(np.arange(10.0, 0, -1), (5000, 10))
    places = experiment.shuffle_wrong_classes(many, np.random.default_rng(2))[:, 1:]
    shares = [[np.mean(places[:, i] == z) for z in range(1, 10)] for i in range(9)]
    np.testing.assert_allclose(shares, 1 / 9, atol=0.02)


def test_most_like_one_looks_at_right_sevens_only():
    logits = np.zeros((4, 10))
    logits[:, 7] = [5, 5, 1, 5]
    logits[:, 1] = [1, 2, 4, 4.5]  # the third is taken for a 1, the fourth is no seven
    logits[0, 4] = 3
    digits, images = np.array([7, 7, 7, 1]), np.arange(4 * 64.0).reshape(4, 64)
    picked = experiment.most_like_one(images, logits, digits)
    np.testing.assert_array_equal(picked["pixels"], images[1].reshape(8, 8))
    np.testing.assert_array_equal(picked["logits"], logits[1])
    assert picked["runner_up"].tolist() == [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(picked["prob_of_one"], softmax(logits[:2])[:, 1])


def test_run_returns_every_student(monkeypatch):
    real = experiment.train
    monkeypatch.setattr(experiment, "train", lambda *args, **kwargs: real(*args, **kwargs | {"steps": 2}))
    result = experiment.run()
    for kind in ("soft", "shuffled"):
        assert {h: np.shape(x) for h, x in result[kind].items()} == {4: (5, 10), 16: (5, 10)}
    assert {h: x.shape for h, x in result["labels"].items()} == {4: (10,), 16: (10,)}
    assert (np.shape(result["young"]), result["young_teachers"].shape) == ((5, 10), (10,))
    assert 0 <= result["teacher"] <= 1
    assert result["seven"]["pixels"].shape == (8, 8)
