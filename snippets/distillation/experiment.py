"""Does a small network learn more digits from a teacher than from labels?

On scikit-learn's 1797 scans of 8 x 8 pixels. Everything is seeded; `run()` takes well
under a minute.
"""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import softmax
from snippets.temperature.numpy_reference import temperature_softmax

TEMPERATURES = (1, 2, 4, 8, 20)
SEEDS = range(1, 11)  # one student each, with images and starting weights of its own
IMAGES = 60  # that a student sees; the teacher saw 1000
HIDDEN = (4, 16)  # units of a student; the teacher has 100


def load():
    """Return (images, digits), shuffled: (1797, 64) in [0, 1] and (1797,)."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    return data.data[order] / 16, data.target[order]


def new_networks(seeds, hidden):
    """Return random weights for 64 pixels -> hidden units -> 10 logits.

    One network a seed, stacked along the first axis: they are trained together.
    """
    generators = [np.random.default_rng(seed) for seed in seeds]
    inner = np.stack([rng.normal(0, 1 / 8, (64, hidden)) for rng in generators])
    outer = np.stack([rng.normal(0, hidden**-0.5, (hidden, 10)) for rng in generators])
    return [inner, np.zeros_like(inner[:, :1]), outer, np.zeros_like(outer[:, :1])]


def forward(weights, images):
    """Return (hidden activations, logits); images (n, 64) or (networks, n, 64)."""
    inner, inner_bias, outer, outer_bias = weights
    hidden = np.tanh(images @ inner + inner_bias)
    return hidden, hidden @ outer + outer_bias


def train(weights, images, logit_grad, steps, rate, decay=0.0, momentum=0.9):
    """Return the weights after `steps` of gradient descent with momentum.

    logit_grad maps logits (networks, n, 10) to the gradient of each network's own loss.
    Every step sees all images. decay pulls the weights, not the biases, towards 0.
    """
    speed = [np.zeros_like(w) for w in weights]
    for _ in range(steps):
        hidden, logits = forward(weights, images)
        d_logits = logit_grad(logits)
        d_hidden = d_logits @ weights[2].swapaxes(-1, -2) * (1 - hidden**2)
        grads = [
            images.swapaxes(-1, -2) @ d_hidden + decay * weights[0],
            np.sum(d_hidden, axis=-2, keepdims=True),
            hidden.swapaxes(-1, -2) @ d_logits + decay * weights[2],
            np.sum(d_logits, axis=-2, keepdims=True),
        ]
        speed = [momentum * v - rate * g for v, g in zip(speed, grads, strict=True)]
        weights = [w + v for w, v in zip(weights, speed, strict=True)]
    return weights


# --8<-- [start:from_labels]
def from_labels(digits):
    """Return the gradient of each network's mean cross-entropy, for digits (..., n)."""
    labels = digits[..., None] == np.arange(10)
    return lambda logits: (softmax(logits) - labels) / digits.shape[-1]


# --8<-- [end:from_labels]


# --8<-- [start:from_teacher]
def from_teacher(teacher, temperature):
    """Return the gradient of each network's `distillation_loss`, teacher (..., n, 10).

    The same as `distillation_grad` network by network, but the teacher's softmax is
    computed once, not in every step.
    """
    targets, images = temperature_softmax(teacher, temperature), teacher.shape[-2]
    return lambda logits: (
        temperature * (temperature_softmax(logits, temperature) - targets) / images
    )


# --8<-- [end:from_teacher]


# --8<-- [start:shuffle_wrong_classes]
def shuffle_wrong_classes(logits, rng):
    """Return the logits (..., n) with all but the largest of each row in random order.

    Answer, confidence and entropy stay as they are, at every temperature. Which wrong
    class is likely is lost.
    """
    rank = np.argsort(np.argsort(-logits, axis=-1), axis=-1)  # 0 for the largest
    new_rank = np.broadcast_to(np.arange(logits.shape[-1]), logits.shape).copy()
    new_rank[..., 1:] = rng.permuted(new_rank[..., 1:], axis=-1)
    source = np.take_along_axis(new_rank, rank, axis=-1)
    return np.take_along_axis(-np.sort(-logits, axis=-1), source, axis=-1)


# --8<-- [end:shuffle_wrong_classes]


def accuracy(weights, images, digits):
    """Return the share of right answers of every network."""
    return np.mean(np.argmax(forward(weights, images)[1], axis=-1) == digits, axis=-1)


def most_like_one(images, logits, digits):
    """Return the seven to which the teacher gives the most probability of "1".

    Only among the sevens it gets right. "runner_up" counts, for each digit, the sevens
    that have it in second place; "prob_of_one" is every seven's probability of "1".
    """
    sevens = (digits == 7) & (np.argmax(logits, axis=-1) == 7)
    images, logits = images[sevens], logits[sevens]
    prob_of_one = softmax(logits)[:, 1]
    pick = np.argmax(prob_of_one)
    return {
        "pixels": images[pick].reshape(8, 8),
        "logits": logits[pick],
        "runner_up": np.bincount(np.argsort(logits, axis=-1)[:, -2], minlength=10),
        "prob_of_one": np.sort(prob_of_one),
    }


def run():
    """Return the accuracy of teacher and students on 797 test images, and a seven.

    Students learn from labels, from the teacher, or from the teacher with its wrong
    classes shuffled. Students of one seed see the same images and start from the same
    weights, so that they can be compared one by one. A "young" teacher has seen no more
    images than its student.
    """
    images, digits = load()
    test_images, test_digits = images[1000:], digits[1000:]

    def teach(networks, seen):
        labels = from_labels(digits[seen])
        return train(networks, images[seen], labels, steps=600, rate=0.2, decay=1e-4)

    teacher = teach(new_networks([0], hidden=100), np.arange(1000)[None])
    chosen = [np.random.default_rng(s).permutation(1000)[:IMAGES] for s in SEEDS]
    soft = forward(teacher, images[chosen])[1]
    shuffled = shuffle_wrong_classes(soft, np.random.default_rng(0))
    young_teachers = teach(new_networks(SEEDS, hidden=100), chosen)
    young = forward(young_teachers, images[chosen])[1]

    def score(hidden, logit_grad):
        networks = new_networks(SEEDS, hidden)
        # A larger rate makes hot students of 4 units jump about, from 1e-16 on.
        students = train(networks, images[chosen], logit_grad, steps=1000, rate=0.01)
        return accuracy(students, test_images, test_digits)

    def by_temperature(hidden, targets):
        return [score(hidden, from_teacher(targets, t)) for t in TEMPERATURES]

    return {
        "teacher": accuracy(teacher, test_images, test_digits)[0],
        "seven": most_like_one(
            test_images, forward(teacher, test_images)[1][0], test_digits
        ),
        "labels": {h: score(h, from_labels(digits[chosen])) for h in HIDDEN},
        "soft": {h: by_temperature(h, soft) for h in HIDDEN},
        "shuffled": {h: by_temperature(h, shuffled) for h in HIDDEN},
        "young": by_temperature(HIDDEN[-1], young),
        "young_teachers": accuracy(young_teachers, test_images, test_digits),
    }
