"""Distillation in NumPy: how far one distribution is from another, and the losses by which a network teaches."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import cross_entropy, log_softmax
from snippets.temperature.numpy_reference import apply_temperature, check_temperature


# --8<-- [start:kl_divergence_simple]
def kl_divergence_simple(probs, logits):
    """Return sum(p * (log p - log q)) over the last axis, q = softmax(logits), for float64 and p > 0."""
    return np.sum(probs * (np.log(probs) - log_softmax(logits)), axis=-1)


# --8<-- [end:kl_divergence_simple]


# --8<-- [start:kl_divergence]
def kl_divergence(probs, logits):
    """Return KL(p || q) = sum(p * (log p - log q)) over the last axis, p = probs, q = softmax(logits), in nats.

    probs and logits (..., n) of one shape; result (...). A class with p = 0 costs nothing, whatever q is;
    q = 0 < p costs inf; a NaN spoils its own row only. Raises ValueError unless the shapes agree and probs is
    >= 0 with sum 1. With r = log q - log p the sum is sum(p * (e^r - 1 - r)), since p and q both sum to 1:
    no term is negative, and where p and q are close no digit is lost.
    """
    (probs, p_dtype), (logits, z_dtype) = as_floating(probs), as_floating(logits)
    if probs.shape != logits.shape:
        raise ValueError(f"probs of shape {probs.shape} does not fit logits of shape {logits.shape}")
    dtype = np.promote_types(p_dtype, z_dtype)
    p, log_q = probs.astype(np.float64), log_softmax(logits.astype(np.float64))
    total = np.sum(p, axis=-1)
    if p.size and (np.any(p < 0) or np.any(np.abs(total - 1) > 0.01)):  # float16 rounds by less
        raise ValueError(f"probs must be >= 0 and sum to 1 along the last axis, got sum {total}")
    q = np.exp(log_q)
    r = np.where(p == 0, 1, log_q - np.log(np.where(p == 0, 1, p)))
    near = np.minimum(r, 1)  # further out e^r could overflow, and nothing cancels
    terms = np.where(r < 1, p * (np.expm1(near) - near), q - p - p * r)
    return np.sum(terms, axis=-1).astype(dtype)


# --8<-- [end:kl_divergence]


# --8<-- [start:tempered_pair]
def tempered_pair(student, teacher, temperature):
    """Return (student / T, softmax(teacher / T), result dtype), both in float64, for logits (..., n) of one shape.

    Raises ValueError unless the shapes agree and 0 < temperature < inf.
    """
    (student, s_dtype), (teacher, t_dtype) = as_floating(student), as_floating(teacher)
    if student.shape != teacher.shape:
        raise ValueError(f"student of shape {student.shape} does not fit teacher of shape {teacher.shape}")
    if not 0 < check_temperature(temperature) < np.inf:
        raise ValueError(f"temperature must be > 0 and finite, got {temperature}")
    soft_targets = softmax(apply_temperature(teacher, temperature))
    return apply_temperature(student, temperature), soft_targets, np.promote_types(s_dtype, t_dtype)


# --8<-- [end:tempered_pair]


# --8<-- [start:distillation_loss]
def distillation_loss(student, teacher, temperature):
    """Return T^2 times the mean over rows of KL(softmax(teacher / T) || softmax(student / T)): one number.

    student, teacher: logits (..., n) of one shape; temperature: one number, 0 < T < inf, for both.
    T^2 keeps the size of the gradient when T changes. No rows at all give NaN.
    Source: Hinton, Vinyals and Dean 2015, section 2.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    losses = kl_divergence(soft_targets, scaled)
    with np.errstate(invalid="ignore", over="ignore"):  # the mean of nothing; a float16 ends at 65504
        return (temperature * (temperature * np.sum(losses)) / losses.size).astype(dtype)


# --8<-- [end:distillation_loss]


# --8<-- [start:distillation_grad]
def distillation_grad(student, teacher, temperature):
    """Return the gradient of `distillation_loss` in the student's logits: T * (q - p) / rows, q and p softened by T.

    Same shape as the logits. As T grows it tends to (student - teacher) / (n * rows), each row's
    mean taken off both. Source: Hinton, Vinyals and Dean 2015, equations 2 to 4.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    rows = np.prod(scaled.shape[:-1])
    return (temperature * (softmax(scaled) - soft_targets) / rows).astype(dtype)


# --8<-- [end:distillation_grad]


# --8<-- [start:distillation_objective]
def distillation_objective(student, teacher, target, temperature, soft_weight):
    """Return (1 - soft_weight) * cross_entropy + soft_weight * distillation_loss: learn from labels and teacher.

    The hard part sees the student at T = 1, target (...) integers; soft_weight: one number in [0, 1].
    A part of weight 0 is left out, even if it is inf or NaN. Source: Hinton, Vinyals and Dean 2015, section 2.
    """
    if not 0 <= soft_weight <= 1:
        raise ValueError(f"soft_weight must be between 0 and 1, got {soft_weight}")
    hard = cross_entropy(student, target) if soft_weight < 1 else 0.0
    soft = distillation_loss(student, teacher, temperature) if soft_weight > 0 else 0.0
    return (1 - soft_weight) * hard + soft_weight * soft


# --8<-- [end:distillation_objective]
