"""Softmax that does not break, in PyTorch: own code only where torch's falls short."""

# --8<-- [start:imports]
import math

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import softmax
from snippets.tensors import as_floating, as_mask


# --8<-- [start:subtract_max]
def subtract_max(logits):
    """Return logits minus the largest of their row: no entry is above 0.

    For finite floats, at least one a row. The softmax stays the same.
    """
    return logits - torch.amax(logits, dim=-1, keepdim=True)


# --8<-- [end:subtract_max]


# --8<-- [start:safe_softmax_simple]
def safe_softmax_simple(logits):
    """Return softmax(logits) over the last dimension, for finite float32 or float64."""
    weights = torch.exp(subtract_max(logits))
    return weights / torch.sum(weights, dim=-1, keepdim=True)


# --8<-- [end:safe_softmax_simple]


# --8<-- [start:logsumexp_simple]
def logsumexp_simple(logits):
    """Return log(sum(exp(logits))) over the last dimension, for finite floats.

    What the largest term outweighs by 1e16 (float64) is lost.
    """
    peak = torch.amax(logits, dim=-1, keepdim=True)
    return peak[..., 0] + torch.log(torch.sum(torch.exp(logits - peak), dim=-1))


# --8<-- [end:logsumexp_simple]


# --8<-- [start:split_logsumexp]
def split_logsumexp(logits, dim):
    """Return the maximum and log(sum(exp(logits - maximum))): logsumexp is their sum.

    Both keep `dim` with length 1. One largest term, exactly 1, stays out of the sum, so
    that log1p sees a rest far below 1. For rows of at least one entry and with a finite
    maximum; in others the second number means nothing.
    """
    at_peak = logits.argmax(dim, keepdim=True)
    peak = logits.gather(dim, at_peak)
    others = (logits - peak).scatter(dim, at_peak, -math.inf)
    return peak, torch.log1p(torch.exp(others).sum(dim, keepdim=True))


# --8<-- [end:split_logsumexp]


# --8<-- [start:logsumexp]
def logsumexp(logits, dim=-1, where=None):
    """Return log(sum(exp(logits))) along `dim`, which disappears from the shape.

    Edges as in the NumPy reference. Own code, because `torch.logsumexp` loses a small
    tail ([0, -40] gives 0), overflows in float16 above 65,504 equal logits, and has a
    NaN gradient where there is nothing to sum; here it is 0.
    """
    logits, dtype = as_floating(logits)
    if where is not None:
        logits = logits.masked_fill(~as_mask(where, logits.shape), -math.inf)
    if logits.numel() == 0:
        return (logits.sum(dim) - math.inf).to(dtype)
    nothing = (logits == -math.inf).all(dim, keepdim=True)
    peak, tail = split_logsumexp(logits.masked_fill(nothing, 0.0), dim)
    lse = torch.where(peak == math.inf, peak, peak + tail).masked_fill(
        nothing, -math.inf
    )
    return (lse if logits.ndim == 0 else lse.squeeze(dim)).to(dtype)


# --8<-- [end:logsumexp]


# --8<-- [start:log_softmax]
def log_softmax(logits, dim=-1):
    """Return log(softmax(logits)) along `dim`; edges as in the NumPy reference.

    Own code, because `torch.log_softmax` returns 0 for a class that leads by 17
    (float32) or 37 (float64), and -inf for 65,520 equal float16 logits or more. Where
    neither can happen, take torch's: it is faster.
    """
    logits, dtype = as_floating(logits)
    if logits.numel() == 0:
        return logits.to(dtype)
    peak, tail = split_logsumexp(logits, dim)
    return torch.where(peak.isfinite(), (logits - peak) - tail, math.nan).to(dtype)


# --8<-- [end:log_softmax]


# --8<-- [start:masked_softmax]
def masked_softmax(logits, mask, dim=-1):
    """Return softmax over the entries where `mask` is True; all others get exactly 0.

    Masked entries get no gradient either. A row with nothing to choose (all masked or
    -inf) is all zeros, with gradient 0. It is filled with zeros before the softmax: a
    NaN that is replaced only afterwards comes back in the gradient.
    """
    logits, dtype = as_floating(logits)
    mask = as_mask(mask, logits.shape)
    kept = logits.masked_fill(~mask, -math.inf)
    nothing = (kept == -math.inf).all(dim, keepdim=True)
    probs = softmax(kept.masked_fill(nothing, 0.0), dim)
    return probs.masked_fill(~mask | nothing, 0.0).to(dtype)


# --8<-- [end:masked_softmax]


# --8<-- [start:target_probs]
def target_probs(logits, target, ignore_index, label_smoothing):
    """Return which targets count (...), and what each row of logits should predict.

    The target class gets 1 - label_smoothing; then label_smoothing is spread over all
    n classes. Raises as the NumPy reference does, except that PyTorch itself reports a
    class that does not exist.
    """
    if target.is_floating_point() or target.is_complex() or target.dtype == torch.bool:
        raise TypeError(f"target must hold integers, got dtype {target.dtype}")
    if not logits.ndim or target.shape != logits.shape[:-1]:
        raise ValueError(
            f"target of shape {tuple(target.shape)} does not fit "
            f"logits of shape {tuple(logits.shape)}"
        )
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f"label_smoothing must be between 0 and 1, got {label_smoothing}"
        )
    target = target.long()
    kept = target != ignore_index
    spread = label_smoothing / max(logits.shape[-1], 1)
    index = target.masked_fill(~kept, 0)[..., None]
    probs = torch.full_like(logits, spread)
    return kept, probs.scatter(-1, index, 1 - label_smoothing + spread)


# --8<-- [end:target_probs]


# --8<-- [start:soft_cross_entropy]
def soft_cross_entropy(logits, probs):
    """Return the mean over rows of -sum(probs * log_softmax(logits)), in nats.

    Own code, because `torch.nn.functional.cross_entropy` computes 0 * -inf = NaN for a
    class that is impossible and not wanted. Raises ValueError unless the shapes agree.
    """
    (logits, dtype), (probs, _) = as_floating(logits), as_floating(probs)
    if not logits.ndim or probs.shape != logits.shape:
        raise ValueError(
            f"probs of shape {tuple(probs.shape)} does not fit "
            f"logits of shape {tuple(logits.shape)}"
        )
    terms = torch.where(probs == 0, 0.0, -probs * log_softmax(logits))
    return terms.sum(-1).mean().to(dtype)


# --8<-- [end:soft_cross_entropy]


# --8<-- [start:cross_entropy]
def cross_entropy(logits, target, ignore_index=-100, label_smoothing=0.0):
    """Return the mean of -log_softmax(logits)[target], in nats.

    Classes are the last dimension. Own code, because PyTorch's own `cross_entropy`
    gives an ignored row that is all -inf a NaN gradient, inf for 65,520 equal float16
    logits or more, and 0 for a loss of 1e-17. Where none of this can happen, take
    PyTorch's: it is faster and needs less memory.
    """
    logits, dtype = as_floating(logits)
    kept, probs = target_probs(logits, target, ignore_index, label_smoothing)
    log_probs = log_softmax(logits.masked_fill(~kept[..., None], 0.0))
    losses = torch.where(probs == 0, 0.0, -probs * log_probs).sum(-1)
    return (losses.masked_fill(~kept, 0.0).sum() / kept.sum()).to(dtype)


# --8<-- [end:cross_entropy]


# --8<-- [start:cross_entropy_grad]
def cross_entropy_grad(logits, target, ignore_index=-100, label_smoothing=0.0):
    """Return the gradient of `cross_entropy` in the logits, same shape.

    It is (softmax(logits) - target_probs) / targets kept, and exactly 0 in ignored
    rows, so 0 everywhere if every target is ignored.
    """
    logits, dtype = as_floating(logits)
    kept, probs = target_probs(logits, target, ignore_index, label_smoothing)
    log_probs = log_softmax(logits)
    # expm1 is p - 1 with all its digits, even where p itself rounds to 1
    excess = torch.where(probs == 1, log_probs.expm1(), log_probs.exp() - probs)
    return (excess / kept.sum()).masked_fill(~kept[..., None], 0.0).to(dtype)


# --8<-- [end:cross_entropy_grad]


# --8<-- [start:nll_from_probs]
def nll_from_probs(probs, target, ignore_index=-100):
    """Return the mean of -log(probs[target]), in nats: cross-entropy without logits.

    `torch.nn.functional.nll_loss` takes log-probabilities; given probabilities it
    returns -probs[target]. A probability that has rounded to 0 costs inf: prefer logits
    and `cross_entropy`.
    """
    probs, dtype = as_floating(probs)
    kept, labels = target_probs(probs, target, ignore_index, 0.0)
    chosen = torch.where(labels == 1, probs, 0.0).sum(-1).masked_fill(~kept, 1.0)
    return (-torch.log(chosen).sum() / kept.sum()).to(dtype)


# --8<-- [end:nll_from_probs]
