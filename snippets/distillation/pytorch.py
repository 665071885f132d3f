"""Distillation in PyTorch: names, arguments and edges of the NumPy reference, on any device, with gradients.

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
    """Return sum(p * (log p - log q)) over the last dimension, q = softmax(logits), for float64 and p > 0."""
    return torch.sum(probs * (torch.log(probs) - torch.log_softmax(logits, -1)), dim=-1)


# --8<-- [end:kl_divergence_simple]


# --8<-- [start:kl_divergence]
def kl_divergence(probs, logits):
    """Return KL(p || q) = sum(p * (log p - log q)) over the last dimension, p = probs, q = softmax(logits).

    probs and logits (..., n) of one shape, else ValueError; result (...). A class with p = 0 costs nothing, q = 0 < p
    costs inf. Own code, because `torch.nn.functional.kl_div` gives NaN for 0 * log 0, and in float32 the plain
    sum has lost four of seven digits at T = 100; sum(p * (e^r - 1 - r)), r = log q - log p, keeps them.
    """
    (probs, p_dtype), (logits, z_dtype) = as_floating(probs), as_floating(logits)
    if probs.shape != logits.shape:
        shapes = f"probs of shape {tuple(probs.shape)} does not fit logits of shape {tuple(logits.shape)}"
        raise ValueError(shapes)
    p, log_q = probs, log_softmax(logits.to(torch.promote_types(probs.dtype, logits.dtype)))
    q = torch.exp(log_q)
    r = (log_q - torch.log(p.masked_fill(p == 0, 1.0))).masked_fill(p == 0, 1.0)
    near = r.clamp(max=1.0)  # further out e^r could overflow, and nothing cancels
    terms = torch.where(r < 1, p * (torch.expm1(near) - near), q - p - p * r)
    return terms.sum(-1).to(torch.promote_types(p_dtype, z_dtype))


# --8<-- [end:kl_divergence]


# --8<-- [start:tempered_pair]
def tempered_pair(student, teacher, temperature):
    """Return (student / T, softmax(teacher / T), result dtype) for logits (..., n) of one shape.

    float16 and bfloat16 become float32. Raises ValueError unless the shapes agree and 0 < temperature < inf.
    """
    (student, s_dtype), (teacher, t_dtype) = as_floating(student), as_floating(teacher)
    if student.shape != teacher.shape:
        shapes = f"student of shape {tuple(student.shape)} does not fit teacher of shape {tuple(teacher.shape)}"
        raise ValueError(shapes)
    if not 0 < check_temperature(temperature) < math.inf:
        raise ValueError(f"temperature must be > 0 and finite, got {temperature}")
    wide = torch.promote_types(student.dtype, teacher.dtype)
    soft_targets = softmax(apply_temperature(teacher.to(wide), temperature))
    return apply_temperature(student.to(wide), temperature), soft_targets, torch.promote_types(s_dtype, t_dtype)


# --8<-- [end:tempered_pair]


# --8<-- [start:distillation_loss]
def distillation_loss(student, teacher, temperature):
    """Return T^2 times the mean over rows of KL(softmax(teacher / T) || softmax(student / T)): one number.

    student, teacher: logits (..., n) of one shape; temperature: one number, 0 < T < inf, for both.
    Gradients reach both; pass `teacher.detach()` to keep the teacher as it is. The mean runs over rows:
    `kl_div`'s default also divides by n, which makes the loss n times too small.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    losses = kl_divergence(soft_targets, scaled)
    return (temperature * (temperature * losses.mean())).to(dtype)


# --8<-- [end:distillation_loss]


# --8<-- [start:distillation_grad]
def distillation_grad(student, teacher, temperature):
    """Return the gradient of `distillation_loss` in the student's logits: T * (q - p) / rows, q and p softened by T.

    Same shape as the logits. As T grows it tends to (student - teacher) / (n * rows), each row's
    mean taken off both.
    """
    scaled, soft_targets, dtype = tempered_pair(student, teacher, temperature)
    rows = math.prod(scaled.shape[:-1])
    return (temperature * (softmax(scaled) - soft_targets) / max(rows, 1)).to(dtype)


# --8<-- [end:distillation_grad]


# --8<-- [start:distillation_objective]
def distillation_objective(student, teacher, target, temperature, soft_weight):
    """Return (1 - soft_weight) * cross_entropy + soft_weight * distillation_loss: learn from labels and teacher.

    The hard part sees the student at T = 1, target (...) integers; soft_weight: one number in [0, 1].
    A part of weight 0 is left out, even if it is inf or NaN.
    """
    if not 0 <= soft_weight <= 1:
        raise ValueError(f"soft_weight must be between 0 and 1, got {soft_weight}")
    hard = cross_entropy(student, target) if soft_weight < 1 else 0.0
    soft = distillation_loss(student, teacher, temperature) if soft_weight > 0 else 0.0
    return (1 - soft_weight) * hard + soft_weight * soft


# --8<-- [end:distillation_objective]
