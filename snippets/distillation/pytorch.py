"""Distillation in PyTorch: the reference's names and edges, any device, gradients.

Only shapes, dtypes and Python scalars are checked, never what a tensor holds.
"""

# --8<-- [start:imports]
import math

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import softmax
from snippets.stability.pytorch import cross_entropy, log_softmax
from snippets.temperature.pytorch import apply_temperature, check_temperature
from snippets.tensors import as_floating


# --8<-- [start:kl_divergence_simple]
def kl_divergence_simple(probs, logits):
    """Return sum(p * (log p - log q)) over the last dimension, q = softmax(logits).

    For float64 and p > 0 everywhere.
    """
    log_q = torch.log_softmax(logits, dim=-1)
    return torch.sum(probs * (torch.log(probs) - log_q), dim=-1)


# --8<-- [end:kl_divergence_simple]


# --8<-- [start:kl_divergence]
def kl_divergence(probs, logits):
    """Return KL(p || q) = sum(p * (log p - log q)) in nats, for q = softmax(logits).

    probs = p and logits (..., n) of one shape, else ValueError; result (...). A class
    with p = 0 costs nothing, q = 0 < p costs inf. Own code, because in float32 the
    plain sum has lost four of its seven digits for logits divided by T = 100; the equal
    sum(p * (e^r - 1 - r)), r = log q - log p, keeps them, and so does its gradient.
    """
    (probs, p_dtype), (logits, z_dtype) = as_floating(probs), as_floating(logits)
    if probs.shape != logits.shape:
        shapes = f"{tuple(probs.shape)} and {tuple(logits.shape)}"
        raise ValueError(f"need equal shapes, got {shapes}")
    p = probs.to(torch.promote_types(probs.dtype, logits.dtype))
    log_q = log_softmax(logits.to(p.dtype))
    r = log_q - torch.log(p.masked_fill(p == 0, 1.0))
    r = r.masked_fill(p == 0, 1.0)
    near = r.clamp(max=1.0)  # further out e^r could overflow, and nothing cancels
    far_terms = torch.exp(log_q) - p - p * r
    terms = torch.where(r < 1, p * (torch.expm1(near) - near), far_terms)
    return terms.sum(-1).to(torch.promote_types(p_dtype, z_dtype))


# --8<-- [end:kl_divergence]


# --8<-- [start:tempered_pair]
def tempered_pair(student, teacher, temperature):
    """Return (student / T, softmax(teacher / T), dtype of the result).

    student, teacher: logits (..., n) of one shape; float16 and bfloat16 are computed in
    float32. Raises ValueError unless the shapes agree and 0 < temperature < inf.
    """
    (student, s_dtype), (teacher, t_dtype) = as_floating(student), as_floating(teacher)
    if student.shape != teacher.shape:
        shapes = f"{tuple(student.shape)} and {tuple(teacher.shape)}"
        raise ValueError(f"need equal shapes, got {shapes}")
    if not 0 < check_temperature(temperature) < math.inf:
        raise ValueError(f"temperature must be > 0 and finite, got {temperature}")
    wide = torch.promote_types(student.dtype, teacher.dtype)
    soft_targets = softmax(apply_temperature(teacher.to(wide), temperature))
    dtype = torch.promote_types(s_dtype, t_dtype)
    return apply_temperature(student.to(wide), temperature), soft_targets, dtype


# --8<-- [end:tempered_pair]


# --8<-- [start:distillation_loss]
def distillation_loss(student, teacher, temperature):
    """Return T^2 times the mean of KL(softmax(teacher / T) || softmax(student / T)).

    student, teacher: logits (..., n) of one shape; the mean runs over the rows, while
    the default of `kl_div` also divides by n. temperature: one number, 0 < T < inf, for
    both. Gradients reach both; pass `teacher.detach()` to leave the teacher as it is.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    mean = kl_divergence(soft_targets, scaled).mean()
    return (temperature * (temperature * mean)).to(dtype)


# --8<-- [end:distillation_loss]


# --8<-- [start:distillation_grad]
def distillation_grad(student, teacher, temperature):
    """Return the gradient of `distillation_loss` in the student: T * (q - p) / rows.

    q and p are student and teacher softened by T; same shape as the logits. As T grows
    it tends to (student - teacher) / (n * rows), each row's mean taken off both.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    rows = max(math.prod(scaled.shape[:-1]), 1)  # of no rows the result is empty
    return (temperature * (softmax(scaled) - soft_targets) / rows).to(dtype)


# --8<-- [end:distillation_grad]


# --8<-- [start:distillation_objective]
def distillation_objective(student, teacher, target, temperature, soft_weight):
    """Return (1 - soft_weight) * cross_entropy + soft_weight * distillation_loss.

    The student learns from labels, target (...) integers, at T = 1, and from the
    teacher at T. soft_weight: one number in [0, 1]; a part of weight 0 is left out,
    even if it is inf or NaN.
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
