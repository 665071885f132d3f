"""Softmax in NumPy: the definition, and the version that keeps its promises at the edges."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating


# --8<-- [start:softmax]
def softmax(logits, axis=-1):
    """Return softmax(logits) along `axis`: same shape, entries in [0, 1] that sum to 1.

    logits: real numbers, any shape; an axis of length 0 gives an empty result.
    A row that is all -inf, or holds +inf or NaN, becomes NaN; other rows do not notice.
    A -inf beside finite logits gets exactly 0. The sum runs in float64, so it keeps its
    mass over any length, along any axis. Source: the definition; shift by the maximum,
    Blanchard, Higham and Higham 2021.
    """
    logits, dtype = as_floating(logits)
    with np.errstate(invalid="ignore", over="ignore"):  # -inf - -inf and 3e38 - -3e38 are meant
        shifted = logits - np.max(logits, axis=axis, keepdims=True, initial=-np.inf)
    weights = np.exp(shifted)
    total = np.sum(weights, axis=axis, keepdims=True, dtype=np.promote_types(weights.dtype, np.float64))
    return (weights / total).astype(dtype)
# --8<-- [end:softmax]
