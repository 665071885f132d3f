"""Distillation in NumPy: how two distributions differ, and losses to teach with."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import cross_entropy, log_softmax
from snippets.temperature.numpy_reference import apply_temperature, check_temperature


# --8<-- [start:kl_divergence_simple]
def kl_divergence_simple(probs, logits):
    """Return sum(p * (log p - log q)) over the last axis, q = softmax(logits).

    For float64 and p > 0 everywhere.
    """
    return np.sum(probs * (np.log(probs) - log_softmax(logits)), axis=-1)


# --8<-- [end:kl_divergence_simple]


# --8<-- [start:kl_divergence]
def kl_divergence(probs, logits):
    """Return KL(p || q) = sum(p * (log p - log q)) in nats, for q = softmax(logits).

    probs = p and logits (..., n) of one shape; result (...). A class with p = 0 costs
    nothing, q = 0 < p costs inf, a NaN spoils its own row only. Raises ValueError
    unless the shapes agree and probs is >= 0 with sum 1. With r = log q - log p the sum
    equals sum(p * (e^r - 1 - r)), as p and q both sum to 1: no term is negative, and
    where p and q are close no digit is lost.
    """
    (probs, p_dtype), (logits, z_dtype) = as_floating(probs), as_floating(logits)
    if probs.shape != logits.shape:
        raise ValueError(f"need equal shapes, got {probs.shape} and {logits.shape}")
    p, total = probs.astype(np.float64), np.sum(probs, axis=-1, dtype=np.float64)
    # float16 rounds by less than 0.01; a NaN passes, it is a broken row's softmax.
    if p.size and (np.any(p < 0) or np.any(np.abs(total - 1) > 0.01)):
        raise ValueError(f"probs must be >= 0 and sum to 1, got sum {total}")
    log_q = log_softmax(logits.astype(np.float64))
    r = np.where(p == 0, 1, log_q - np.log(np.where(p == 0, 1, p)))
    near = np.minimum(r, 1)  # further out e^r could overflow, and nothing cancels
    far_terms = np.exp(log_q) - p - p * r
    terms = np.where(r < 1, p * (np.expm1(near) - near), far_terms)
    return np.sum(terms, axis=-1).astype(np.promote_types(p_dtype, z_dtype))


# --8<-- [end:kl_divergence]


# --8<-- [start:tempered_pair]
def tempered_pair(student, teacher, temperature):
    """Return (student / T, softmax(teacher / T), dtype of the result), both in float64.

    student, teacher: logits (..., n) of one shape. Raises ValueError unless the shapes
    agree and 0 < temperature < inf.
    """
    (student, s_dtype), (teacher, t_dtype) = as_floating(student), as_floating(teacher)
    if student.shape != teacher.shape:
        raise ValueError(f"need equal shapes, got {student.shape} and {teacher.shape}")
    if not 0 < check_temperature(temperature) < np.inf:
        raise ValueError(f"temperature must be > 0 and finite, got {temperature}")
    soft_targets = softmax(apply_temperature(teacher, temperature))
    dtype = np.promote_types(s_dtype, t_dtype)
    return apply_temperature(student, temperature), soft_targets, dtype


# --8<-- [end:tempered_pair]


# --8<-- [start:distillation_loss]
def distillation_loss(student, teacher, temperature):
    """Return T^2 times the mean of KL(softmax(teacher / T) || softmax(student / T)).

    student, teacher: logits (..., n) of one shape; the mean runs over the rows, no rows
    give NaN. temperature: one number, 0 < T < inf, for both. At high T, T^2 keeps the
    size of the gradient. Source: Hinton, Vinyals and Dean 2015, section 2.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    losses = kl_divergence(soft_targets, scaled)
    # The mean of nothing is NaN; T^2 KL may leave float16.
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.sum(losses) / losses.size
        return (temperature * (temperature * mean)).astype(dtype)


# --8<-- [end:distillation_loss]


# --8<-- [start:distillation_grad]
def distillation_grad(student, teacher, temperature):
    """Return the gradient of `distillation_loss` in the student: T * (q - p) / rows.

    q and p are student and teacher softened by T; same shape as the logits. As T grows
    it tends to (student - teacher) / (n * rows), each row's mean taken off both.
    Source: Hinton, Vinyals and Dean 2015, equations 2 to 4.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    rows = np.prod(scaled.shape[:-1])
    return (temperature * (softmax(scaled) - soft_targets) / rows).astype(dtype)


# --8<-- [end:distillation_grad]


# --8<-- [start:distillation_objective]
def distillation_objective(student, teacher, target, temperature, soft_weight):
    """Return (1 - soft_weight) * cross_entropy + soft_weight * distillation_loss.

    The student learns from labels, target (...) integers, at T = 1, and from the
    teacher at T. soft_weight: one number in [0, 1]; a part of weight 0 is left out,
    even if it is inf or NaN. Source: Hinton, Vinyals and Dean 2015, section 2.
    """
    if not 0 <= soft_weight <= 1:
        raise ValueError(f"soft_weight must be >= 0 and <= 1, got {soft_weight}")
    hard = soft = 0.0
    if soft_weight < 1:
        hard = cross_entropy(student, target)
    if soft_weight > 0:
        soft = distillation_loss(student, teacher, temperature)
    return (1 - soft_weight) * hard + soft_weight * soft


# --8<-- [end:distillation_objective]
