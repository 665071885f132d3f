"""Softmax that does not break, in NumPy: shift, log-sum-exp, losses, masks, blocks."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating, as_mask
from snippets.probabilities.numpy_reference import softmax


# --8<-- [start:subtract_max]
def subtract_max(logits):
    """Return logits minus the largest of their row: no entry is above 0.

    For finite floats, at least one a row. The softmax stays the same.
    """
    return logits - np.max(logits, axis=-1, keepdims=True)


# --8<-- [end:subtract_max]


# --8<-- [start:safe_softmax_simple]
def safe_softmax_simple(logits):
    """Return softmax(logits) over the last axis, for finite float32 or float64."""
    weights = np.exp(subtract_max(logits))
    return weights / np.sum(weights, axis=-1, keepdims=True)


# --8<-- [end:safe_softmax_simple]


# --8<-- [start:logsumexp_simple]
def logsumexp_simple(logits):
    """Return log(sum(exp(logits))) over the last axis, for finite floats.

    What the largest term outweighs by 1e16 (float64) is lost.
    """
    peak = np.max(logits, axis=-1, keepdims=True)
    return peak[..., 0] + np.log(np.sum(np.exp(logits - peak), axis=-1))


# --8<-- [end:logsumexp_simple]


# --8<-- [start:split_logsumexp]
def split_logsumexp(logits, axis):
    """Return the maximum and log(sum(exp(logits - maximum))): logsumexp is their sum.

    Both are float64 (at least) and keep `axis` with length 1. Each term at the maximum
    is exactly 1, so these are counted, and log1p takes the rest: log(1 + rest) would
    round a rest below 1e-16 away. A row without a finite maximum (empty, all -inf,
    a +inf, a NaN) has NaN for the second.
    """
    logits = logits.astype(np.promote_types(logits.dtype, np.float64), copy=False)
    peak = np.max(logits, axis=axis, keepdims=True, initial=-np.inf)
    with np.errstate(all="ignore"):  # -inf - -inf, log 0 and underflow are all meant
        shifted = logits - peak
        at_peak = shifted == 0
        count = np.sum(at_peak, axis=axis, keepdims=True, dtype=logits.dtype)
        rest = np.sum(np.where(at_peak, 0, np.exp(shifted)), axis=axis, keepdims=True)
        return peak, np.log(count) + np.log1p(rest / count)


# --8<-- [end:split_logsumexp]


# --8<-- [start:logsumexp]
def logsumexp(logits, axis=-1, where=None):
    """Return log(sum(exp(logits))) along `axis`, which disappears from the shape.

    where: boolean mask that fits the shape of logits; False leaves an entry out,
    whatever it holds. Nothing to sum (an empty axis, all -inf, all left out) gives
    -inf, a +inf gives +inf, a NaN gives NaN. Small terms count, down to 1e-308.
    Raises TypeError or ValueError for a mask that is not boolean or does not fit.
    Source: Blanchard, Higham and Higham 2021.
    """
    logits, dtype = as_floating(logits)
    if where is not None:
        logits = np.where(as_mask(where, logits.shape), logits, -np.inf)
    peak, tail = split_logsumexp(logits, axis)
    with np.errstate(over="ignore"):  # 65504 + ln n may leave float16
        lse = np.where(np.isfinite(peak), peak + tail, peak)
        return np.squeeze(lse, axis).astype(dtype)


# --8<-- [end:logsumexp]


# --8<-- [start:log_softmax]
def log_softmax(logits, axis=-1):
    """Return log(softmax(logits)) along `axis`, also where softmax rounds to 0 or 1.

    A row that is all -inf, or holds +inf or NaN, becomes NaN, as in `softmax`; a -inf
    beside finite logits stays -inf. The shift comes first: of -1e10 + ln 11 hardly
    any ln 11 is left.
    """
    logits, dtype = as_floating(logits)
    peak, tail = split_logsumexp(logits, axis)
    with np.errstate(invalid="ignore", over="ignore"):  # -inf - -inf, 3e38 - -3e38
        return ((logits - peak) - tail).astype(dtype)


# --8<-- [end:log_softmax]


# --8<-- [start:masked_softmax]
def masked_softmax(logits, mask, axis=-1):
    """Return softmax over the entries where `mask` is True; all others get exactly 0.

    mask: boolean, True = may be chosen, stretched to the shape of logits. What a masked
    entry holds does not matter. A row with nothing to choose (all masked or -inf) is
    all zeros. A +inf or NaN that is not masked makes what is not masked in its row NaN.
    Raises TypeError or ValueError for a mask that is not boolean or does not fit.
    """
    logits, dtype = as_floating(logits)
    mask = as_mask(mask, logits.shape)
    kept = np.where(mask, logits, -np.inf)
    nothing = np.all(kept == -np.inf, axis=axis, keepdims=True)
    return np.where(mask & ~nothing, softmax(kept, axis), 0).astype(dtype)


# --8<-- [end:masked_softmax]


# --8<-- [start:check_probs]
def check_probs(probs):
    """Raise ValueError unless rows of `probs` (..., n) are >= 0 and sum to 1.

    Within 0.01, for float16. A row that holds NaN passes, and stays visible as NaN.
    """
    total = np.sum(probs, axis=-1)
    if np.any(probs < 0) or np.any(np.abs(total - 1) > 0.01):
        raise ValueError(
            f"probs must be >= 0 and sum to 1 along the last axis, got sum {total}"
        )


# --8<-- [end:check_probs]


# --8<-- [start:target_probs]
def target_probs(target, shape, ignore_index, label_smoothing):
    """Return which targets count (...), and what each row should predict (..., n).

    shape: that of the logits (..., n). The target class gets 1 - label_smoothing; then
    label_smoothing is spread over all n classes. Raises TypeError unless targets are
    integers; ValueError for a shape that does not fit, a class that does not exist,
    or a smoothing outside [0, 1].
    """
    target = np.asarray(target)
    if target.size and target.dtype.kind not in "iu":
        raise TypeError(f"target must hold integers, got dtype {target.dtype}")
    if not shape or target.shape != shape[:-1]:
        raise ValueError(
            f"target of shape {target.shape} does not fit logits of shape {shape}"
        )
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f"label_smoothing must be between 0 and 1, got {label_smoothing}"
        )
    kept = target != ignore_index
    missing = kept & ((target < 0) | (target >= shape[-1]))
    if np.any(missing):
        raise ValueError(
            f"target must be >= 0 and < {shape[-1]}, or {ignore_index}, "
            f"got {target[missing][0]}"
        )
    one_hot = target[..., None] == np.arange(shape[-1])
    spread = label_smoothing / max(shape[-1], 1)
    return kept, (1 - label_smoothing) * one_hot + spread


# --8<-- [end:target_probs]


# --8<-- [start:soft_cross_entropy]
def soft_cross_entropy(logits, probs):
    """Return the mean over rows of -sum(probs * log_softmax(logits)), in nats.

    logits and probs (..., n) of the same shape. Where probs is 0 the term is 0, even
    if log_softmax is -inf there. No rows at all give NaN. Raises ValueError unless the
    shapes agree and the rows of probs are >= 0 and sum to 1.
    """
    (logits, dtype), (probs, _) = as_floating(logits), as_floating(probs)
    if not logits.ndim or probs.shape != logits.shape:
        raise ValueError(
            f"probs of shape {probs.shape} does not fit logits of shape {logits.shape}"
        )
    check_probs(probs)
    with np.errstate(
        invalid="ignore", over="ignore"
    ):  # 0 * -inf, and the mean of nothing
        terms = np.where(probs == 0, 0, -probs * log_softmax(logits))
        wide = np.promote_types(terms.dtype, np.float64)
        losses = np.sum(terms, axis=-1, dtype=wide)
        return (np.sum(losses) / losses.size).astype(dtype)


# --8<-- [end:soft_cross_entropy]


# --8<-- [start:cross_entropy]
def cross_entropy(logits, target, ignore_index=-100, label_smoothing=0.0):
    """Return the mean of -log_softmax(logits)[target], in nats.

    logits (..., n); target (...) integers. A row whose target is ignore_index is left
    out, whatever it holds. If all are, the mean is 0 / 0 = NaN, as in PyTorch.
    label_smoothing: see `target_probs`. Source: label smoothing, Szegedy et al. 2015.
    """
    logits, dtype = as_floating(logits)
    kept, probs = target_probs(target, logits.shape, ignore_index, label_smoothing)
    with np.errstate(over="ignore"):
        return soft_cross_entropy(logits[kept], probs[kept]).astype(dtype)


# --8<-- [end:cross_entropy]


# --8<-- [start:cross_entropy_grad]
def cross_entropy_grad(logits, target, ignore_index=-100, label_smoothing=0.0):
    """Return the gradient of `cross_entropy` in the logits, same shape.

    It is (softmax(logits) - target_probs) / targets kept, and exactly 0 in ignored
    rows, so 0 everywhere if every target is ignored.
    """
    logits, dtype = as_floating(logits)
    kept, probs = target_probs(target, logits.shape, ignore_index, label_smoothing)
    labels, log_probs = probs[kept], log_softmax(logits[kept])
    grad = np.zeros(logits.shape, dtype)
    # expm1 is p - 1 with all its digits, even where p itself rounds to 1
    excess = np.where(labels == 1, np.expm1(log_probs), np.exp(log_probs) - labels)
    grad[kept] = excess / np.sum(kept)
    return grad


# --8<-- [end:cross_entropy_grad]


# --8<-- [start:nll_from_probs]
def nll_from_probs(probs, target, ignore_index=-100):
    """Return the mean of -log(probs[target]), in nats: cross-entropy without logits.

    probs (..., n), target (...) integers, ignore_index as in `cross_entropy`. A
    probability that has rounded to 0 costs inf: prefer logits and `cross_entropy`.
    Raises ValueError for rows that do not sum to 1, such as logits, and for shapes that
    do not fit.
    """
    probs, dtype = as_floating(probs)
    kept, labels = target_probs(target, probs.shape, ignore_index, 0.0)
    check_probs(probs[kept])
    chosen = probs[kept][labels[kept] == 1]
    wide = np.promote_types(chosen.dtype, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0, the mean of nothing
        losses = -np.log(chosen, dtype=wide)
        return (np.sum(losses) / losses.size).astype(dtype)


# --8<-- [end:nll_from_probs]


# --8<-- [start:softmax_rows]
def softmax_rows(rows, out, block_bytes=2**19):
    """Write the softmax of each row of `rows` (m, n) into `out` (m, n), block by block.

    A block of about `block_bytes` goes through all steps while it is in the processor's
    cache. `out` may be `rows` itself: a block is read to its end before it is written.
    """
    step = max(1, block_bytes // (rows.shape[1] * rows.itemsize))
    buffer = np.empty((min(step, len(rows)), rows.shape[1]), rows.dtype)
    with np.errstate(all="ignore"):  # -inf - -inf is meant, as in softmax
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            weights = buffer[: len(block)]
            np.subtract(block, np.max(block, axis=1, keepdims=True), out=weights)
            np.exp(weights, out=weights)
            total = np.sum(weights, axis=1, keepdims=True)
            np.divide(weights, total, out=out[start : start + step])


# --8<-- [end:softmax_rows]


# --8<-- [start:blockwise_softmax]
def blockwise_softmax(logits, axis=-1, out=None):
    """Return softmax(logits) along `axis`, computed in blocks that fit the cache.

    Values and edges are those of `softmax`. out: array to write to and return, of the
    shape and dtype of the result, else ValueError; it may be `logits` itself. float32
    and float64 need only a buffer of one block (a row at least) along the last axis,
    one or two arrays as large along another; other dtypes are first copied to those.
    """
    logits, dtype = as_floating(logits)
    if out is None:  # laid out so that each row is contiguous
        out = np.empty_like(
            np.moveaxis(np.atleast_1d(logits), axis, -1), dtype, order="C"
        )
        out = np.moveaxis(out, -1, axis).reshape(logits.shape)
    if (out.shape, out.dtype) != (logits.shape, dtype):
        raise ValueError(
            f"out must be {dtype} of shape {logits.shape}, "
            f"got {out.dtype} of shape {out.shape}"
        )
    if logits.size == 0:
        return out
    if out is not logits and np.may_share_memory(out, logits):
        logits = logits.copy()
    rows = np.moveaxis(np.atleast_1d(logits), axis, -1)
    result = np.moveaxis(np.atleast_1d(out), axis, -1)
    flat = result.reshape(-1, rows.shape[-1])  # a view of out, if its layout allows one
    softmax_rows(rows.reshape(flat.shape), flat)
    if not np.may_share_memory(flat, out):
        result[...] = flat.reshape(result.shape)
    return out


# --8<-- [end:blockwise_softmax]
