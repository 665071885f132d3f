"""Softmax in NumPy: the definition, the version for every edge, and close relatives."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating


# --8<-- [start:softmax_simple]
def softmax_simple(logits):
    """Return exp(logits) divided by its sum along the last axis.

    logits: a float64 array with entries between -700 and 700; outside, exp leaves the
    range of float64.
    """
    weights = np.exp(logits)
    return weights / np.sum(weights, axis=-1, keepdims=True)


# --8<-- [end:softmax_simple]


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
    # -inf - -inf = NaN and -3e38 - 3e38 = -inf are meant.
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = logits - np.max(logits, axis=axis, keepdims=True, initial=-np.inf)
    weights = np.exp(shifted)
    wide = np.promote_types(weights.dtype, np.float64)
    total = np.sum(weights, axis=axis, keepdims=True, dtype=wide)
    return (weights / total).astype(dtype)


# --8<-- [end:softmax]


# --8<-- [start:base_softmax]
def base_softmax(logits, base, axis=-1):
    """Return base**logits divided by its sum along `axis`.

    This is softmax at temperature 1 / ln(base). logits: real numbers, any shape, with
    the edges of `softmax`. base: one finite number > 1. Computed in float64 and
    returned in the dtype of the logits.
    """
    if np.ndim(base) != 0 or not 1 < base < np.inf:
        raise ValueError(f"base must be one finite number > 1, got {base}")
    logits, dtype = as_floating(logits)
    with np.errstate(invalid="ignore", over="ignore"):  # as in softmax
        shifted = logits - np.max(logits, axis=axis, keepdims=True, initial=-np.inf)
    weights = np.float64(base) ** shifted
    return (weights / np.sum(weights, axis=axis, keepdims=True)).astype(dtype)


# --8<-- [end:base_softmax]


# --8<-- [start:sigmoid]
def sigmoid(x):
    """Return 1 / (1 + exp(-x)) elementwise: the first entry of softmax([x, 0]).

    x: real numbers, any shape; -inf gives 0, +inf gives 1, NaN stays NaN. Very negative
    x keep their relative accuracy down to the smallest number of the dtype.
    """
    x, dtype = as_floating(x)
    small = np.exp(-np.abs(x))  # in [0, 1]: it cannot overflow, whatever the sign of x
    return (np.where(x >= 0, 1.0, small) / (1.0 + small)).astype(dtype)


# --8<-- [end:sigmoid]


# --8<-- [start:boltzmann]
def boltzmann(energies, kt, axis=-1):
    """Return the Boltzmann distribution exp(-energies / kt) / Z along `axis`.

    This is softmax(-energies / kt). energies: real numbers in the units of `kt`; +inf
    is a forbidden state and gets exactly 0. kt: Boltzmann's constant times the absolute
    temperature, one finite number > 0.
    """
    if np.ndim(kt) != 0 or not 0 < kt < np.inf:
        raise ValueError(f"kt must be one finite number > 0, got {kt}")
    energies, dtype = as_floating(energies)
    # Halving is exact, and without it 1.7e308 - -1.7e308 overflows.
    half = 0.5 if kt > 1 else 1.0
    # Subtract first, divide second: the ground state stays 0 for the smallest kt.
    with np.errstate(invalid="ignore", over="ignore"):
        ground = np.min(energies, axis=axis, keepdims=True, initial=np.inf)
        logits = (half * ground - half * energies) / np.float64(half * kt)
    return softmax(logits, axis=axis).astype(dtype)


# --8<-- [end:boltzmann]
