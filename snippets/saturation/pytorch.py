"""Saturation in PyTorch: what autograd does inside, written out, and what it loses."""

# --8<-- [start:imports]
import math
import numbers

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import softmax
from snippets.tensors import as_floating


# --8<-- [start:one_minus]
def one_minus(probs):
    """Return 1 - p for every entry of rows that sum to 1, the small ones too.

    Where p is above one half it is added up from the other entries: 1 - 1 loses them.
    """
    above_half = probs > 0.5
    rest = torch.where(above_half, 0, probs).sum(-1, keepdim=True)
    return torch.where(above_half, rest, 1 - probs)


# --8<-- [end:one_minus]


# --8<-- [start:softmax_jacobian]
def softmax_jacobian(logits):
    """Return the derivatives dp_i/dz_j = p_i (1[i = j] - p_j) of p = softmax(logits).

    logits (..., n) give (..., n, n), symmetric, rows and columns summing to 0. A single
    number counts as a row of one.
    """
    logits, dtype = as_floating(logits)
    probs = softmax(torch.atleast_1d(logits))
    outer = probs[..., :, None] * probs[..., None, :]
    diagonal = (probs * one_minus(probs))[..., None]
    same = torch.eye(probs.shape[-1], dtype=torch.bool, device=probs.device)
    return torch.where(same, diagonal, -outer).to(dtype)


# --8<-- [end:softmax_jacobian]


# --8<-- [start:check_same_shape]
def check_same_shape(logits, grad):
    """Return logits and grad to compute in, and the dtype of logits.

    Raises ValueError if their shapes differ.
    """
    logits, dtype = as_floating(logits)
    grad, _ = as_floating(grad)
    if logits.shape != grad.shape:
        shapes = f"{tuple(logits.shape)} and {tuple(grad.shape)}"
        raise ValueError(f"logits and grad must have the same shape, got {shapes}")
    return logits, grad, dtype


# --8<-- [end:check_same_shape]


# --8<-- [start:softmax_vjp]
def softmax_vjp(logits, grad):
    """Return dL/dz = p * (grad - <p, grad>), from grad = dL/dp for p = softmax(logits).

    What autograd does in the backward pass of softmax, but centred twice, so that a
    saturated row keeps its gradient: 5.6e-17 where autograd returns 0.
    """
    logits, grad, dtype = check_same_shape(logits, grad)
    probs = softmax(logits)
    for _ in range(2):
        grad = grad - (probs * grad).sum(-1, keepdim=True)
    return (probs * grad).to(dtype)


# --8<-- [end:softmax_vjp]


# --8<-- [start:log_softmax_vjp]
def log_softmax_vjp(logits, grad):
    """Return dL/dz = grad - p * sum(grad), from grad = dL/d(log p) for p = softmax(z).

    Where p is above one half it is grad * (1 - p) - p * (sum of the other grads):
    5.6e-17 where autograd returns 0.
    """
    logits, grad, dtype = check_same_shape(logits, grad)
    probs = softmax(logits)
    above_half = probs > 0.5
    others = torch.where(above_half, 0, grad).sum(-1, keepdim=True)
    confident = grad * one_minus(probs) - probs * others
    usual = grad - probs * grad.sum(-1, keepdim=True)
    return torch.where(above_half, confident, usual).to(dtype)


# --8<-- [end:log_softmax_vjp]


# --8<-- [start:entropy_grad]
def entropy_grad(logits):
    """Return dH/dz = -p * (z - <p, z>), the gradient of the entropy of softmax(logits).

    A -inf beside finite logits gets 0; autograd through -sum(p * log p) gives NaN.
    """
    logits, dtype = as_floating(logits)
    unweighted = softmax(logits) == 0  # 0 * (-inf) counts as 0
    return softmax_vjp(logits, torch.where(unweighted, 0, -logits)).to(dtype)


# --8<-- [end:entropy_grad]


# --8<-- [start:gini_simpson]
def gini_simpson(probs):
    """Return tr J = sum p_i (1 - p_i) = 1 - sum p_i**2 of every row of probs (..., n).

    0 for one-hot, 1 - 1/n for uniform; never above H / (2 ln 2), H in nats. That the
    rows sum to 1 is not checked.
    """
    probs, dtype = as_floating(probs)
    probs = torch.atleast_1d(probs)
    return (probs * one_minus(probs)).sum(-1).to(dtype)


# --8<-- [end:gini_simpson]


# --8<-- [start:jacobian_spectral_norm]
@torch.no_grad()
def jacobian_spectral_norm(probs):
    """Return ||J||_2, the largest eigenvalue of diag(p) - p p^T, of every row of probs.

    Bisection on sum_i p_i / (p_i - x), as in the NumPy reference: O(n), no matrix. A
    measurement, not a loss: it carries no gradient. That rows sum to 1 is not checked.
    """
    probs, dtype = as_floating(probs)
    probs = torch.atleast_1d(probs)
    padded = torch.nn.functional.pad(probs, (0, 2))  # n = 1 gets a second largest
    first, second = torch.topk(padded, 2, dim=-1).values.unbind(-1)
    diagonal = (padded * one_minus(padded)).amax(-1)
    low, high = torch.maximum(second, diagonal), torch.minimum(first, 2 * diagonal)
    for _ in range(52):  # from a factor of 2 down to the last bit
        x = (low + high) / 2
        too_high = (padded / (padded - x[..., None])).sum(-1) > 0
        low, high = torch.where(too_high, low, x), torch.where(too_high, x, high)
    return high.to(dtype)


# --8<-- [end:jacobian_spectral_norm]


# --8<-- [start:attention_entropy_floor]
def attention_entropy_floor(n, sigma):
    """Return the least entropy of n weights whose logits, centred, have norm <= sigma.

    In nats. n: integer >= 1; sigma: tensor >= 0, inf included; its shape, dtype and
    device are returned. Source: the form of Zhai et al. 2023.
    """
    if not (isinstance(n, numbers.Integral) and n >= 1):
        raise ValueError(f"n must be an integer >= 1, got {n}")
    sigma, dtype = as_floating(sigma)
    sigma = sigma.clamp(max=1e4)  # exp(-1e4) is 0: no inf * 0
    gap = sigma * math.sqrt(n / max(n - 1, 1))
    others = torch.exp(-gap) * (n - 1)
    return (torch.log1p(others) + gap * others / (1 + others)).to(dtype)


# --8<-- [end:attention_entropy_floor]


# --8<-- [start:softmax_off_by_one]
def softmax_off_by_one(logits, dim=-1):
    """Return exp(z_i) / (1 + sum_j exp(z_j)) along `dim`: the sum may be less than 1.

    The softmax of the logits and one more of 0, which takes what nobody wants.
    Source: Miller 2023.
    """
    logits, dtype = as_floating(logits)
    rows = torch.atleast_1d(logits).movedim(dim, -1)
    with_zero = torch.softmax(torch.nn.functional.pad(rows, (0, 1)), -1)
    # Inside softmax float32 sums run, which may drift; torch.sum adds in pairs.
    with_zero = with_zero / with_zero.sum(-1, keepdim=True)
    return with_zero[..., :-1].movedim(-1, dim).reshape(logits.shape).to(dtype)


# --8<-- [end:softmax_off_by_one]


# --8<-- [start:softcap]
def softcap(x, cap):
    """Return cap * tanh(x / cap): close to x while |x| is far below cap, never above.

    cap: one finite Python number > 0. Scale first, cap second, mask last: a -inf would
    come back as -cap. Source: Bello et al. 2016; Gemma 2 caps attention scores at 50
    and final logits at 30.
    """
    x, dtype = as_floating(x)
    limits = torch.finfo(x.dtype)  # where cap is 0 or inf, x / cap is NaN
    if not (isinstance(cap, numbers.Real) and limits.tiny <= float(cap) <= limits.max):
        rule = f"one finite number > 0 that {limits.dtype} can hold"
        raise ValueError(f"cap must be {rule}, got {cap}")
    cap = float(cap)
    return (cap * torch.tanh(x / cap)).to(dtype)


# --8<-- [end:softcap]


# --8<-- [start:attention_statistics]
def attention_statistics(weights):
    """Return three tensors about attention maps (layers, n_q, n_k): three "collapses".

    1. Mean entropy of a row (nats): near 0 is entropy collapse. 2. Mean weight on the
    first key: high is an attention sink. 3. Mean cosine of the same row in neighbouring
    layers, over the other keys: near 1 is attention collapse.
    """
    weights, dtype = as_floating(weights)
    shape = tuple(weights.shape)
    if len(shape) != 3 or shape[0] < 2 or 0 in shape:
        rule = "(layers >= 2, n_q >= 1, n_k >= 1)"
        raise ValueError(f"weights must be {rule}, got shape {shape}")
    entropy = torch.special.entr(weights).sum(-1).mean()
    unit = torch.nn.functional.normalize(weights[..., 1:], dim=-1, eps=1e-8)
    likeness = (unit[1:] * unit[:-1]).sum(-1).mean()
    return entropy.to(dtype), weights[..., 0].mean().to(dtype), likeness.to(dtype)


# --8<-- [end:attention_statistics]
