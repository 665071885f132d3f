"""Saturation in NumPy: the Jacobian of softmax, how large it is, what tames it."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating
from snippets.probabilities.numpy_reference import softmax
from snippets.temperature.numpy_reference import entropy_from_logits


# --8<-- [start:softmax_jacobian_simple]
def softmax_jacobian_simple(logits):
    """Return the (n, n) derivatives of softmax(logits): one row, finite logits."""
    probs = softmax(logits)
    return np.diag(probs) - np.outer(probs, probs)


# --8<-- [end:softmax_jacobian_simple]


# --8<-- [start:softmax_vjp_simple]
def softmax_vjp_simple(logits, grad):
    """Return p * (grad - <p, grad>) for p = softmax(logits): one row, finite logits."""
    probs = softmax(logits)
    return probs * (grad - np.sum(probs * grad))


# --8<-- [end:softmax_vjp_simple]


# --8<-- [start:one_minus]
def one_minus(probs):
    """Return 1 - p for every entry of rows that sum to 1, the small ones too.

    Beside a probability of 1e-20 the largest one is stored as 1, and 1 - 1 is 0. So
    what an entry above one half lacks is added up from the others of its row.
    """
    above_half = probs > 0.5
    others = np.where(above_half, 0, probs)
    rest = np.sum(others, axis=-1, keepdims=True, dtype=np.float64)
    return np.where(above_half, rest, 1 - probs)


# --8<-- [end:one_minus]


# --8<-- [start:check_distribution]
def check_distribution(probs):
    """Return probs (..., n) in float64, and the dtype the result should have.

    Raises ValueError unless every row is >= 0 and sums to 1, up to float16 rounding. A
    row that holds NaN passes: it is the softmax of a broken row, and stays visible.
    """
    probs, dtype = as_floating(probs)
    probs = np.atleast_1d(probs).astype(np.float64, copy=False)
    total = np.sum(probs, axis=-1)
    if probs.size and (np.any(probs < 0) or np.any(np.abs(total - 1) > 1e-2)):
        raise ValueError(f"probs must be >= 0 and sum to 1 in a row, got sum {total}")
    return probs, dtype


# --8<-- [end:check_distribution]


# --8<-- [start:softmax_jacobian]
def softmax_jacobian(logits):
    """Return the derivatives dp_i/dz_j = p_i (1[i = j] - p_j) of p = softmax(logits).

    logits (..., n) give (..., n, n), symmetric, rows and columns summing to 0. A single
    number counts as a row of one. A row of logits that softmax turns into NaN gives a
    matrix of NaN; the others do not notice. For gradients use softmax_vjp: no matrix.
    """
    logits, dtype = as_floating(logits)
    probs = softmax(np.atleast_1d(logits))
    outer = probs[..., :, None] * probs[..., None, :]
    diagonal = (probs * one_minus(probs))[..., None]
    return np.where(np.eye(probs.shape[-1], dtype=bool), diagonal, -outer).astype(dtype)


# --8<-- [end:softmax_jacobian]


# --8<-- [start:check_same_shape]
def check_same_shape(logits, grad):
    """Return logits and grad as floating arrays, and the dtype of logits.

    Raises ValueError if their shapes differ.
    """
    logits, dtype = as_floating(logits)
    grad, _ = as_floating(grad)
    if logits.shape != grad.shape:
        shapes = f"{logits.shape} and {grad.shape}"
        raise ValueError(f"logits and grad must have the same shape, got {shapes}")
    return logits, grad, dtype


# --8<-- [end:check_same_shape]


# --8<-- [start:softmax_vjp]
def softmax_vjp(logits, grad):
    """Return dL/dz = p * (grad - <p, grad>), from grad = dL/dp for p = softmax(logits).

    Shape and dtype of logits; O(n), no Jacobian is built. Every row sums to 0. grad is
    centred twice: the first mean is rounded, and what it misses is all there is to a
    saturated row. NaN in a row of logits or grad makes that row NaN.
    Raises ValueError if the shapes differ.
    """
    logits, grad, dtype = check_same_shape(logits, grad)
    probs = softmax(logits)
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is that row's NaN
        for _ in range(2):
            mean = np.sum(probs * grad, axis=-1, keepdims=True, dtype=np.float64)
            grad = grad - mean
        return (probs * grad).astype(dtype)


# --8<-- [end:softmax_vjp]


# --8<-- [start:log_softmax_vjp]
def log_softmax_vjp(logits, grad):
    """Return dL/dz = grad - p * sum(grad), from grad = dL/d(log p) for p = softmax(z).

    Shape and dtype of logits. Every row sums to 0. Where p is above one half it is
    computed as grad * (1 - p) - p * (sum of the other grads), which keeps a gradient of
    1e-17. NaN in a row of logits or grad makes that row NaN.
    Raises ValueError if the shapes differ.
    """
    logits, grad, dtype = check_same_shape(logits, grad)
    probs = softmax(logits)
    above_half = probs > 0.5
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is that row's NaN
        total = np.sum(grad, axis=-1, keepdims=True, dtype=np.float64)
        others = np.where(above_half, 0, grad)
        others = np.sum(others, axis=-1, keepdims=True, dtype=np.float64)
        confident = grad * one_minus(probs) - probs * others
        return np.where(above_half, confident, grad - probs * total).astype(dtype)


# --8<-- [end:log_softmax_vjp]


# --8<-- [start:entropy_grad]
def entropy_grad(logits):
    """Return dH/dz = -p * (z - <p, z>), the gradient of the entropy of softmax(logits).

    Shape and dtype of logits. It is -p * (log p + H) = -J z. Uphill, attention spreads
    (an entropy bonus). It is 0 where all logits are equal, and fades near a one-hot row
    like every other gradient. A -inf beside finite logits gets 0; a row that softmax
    turns into NaN becomes NaN.
    """
    logits, dtype = as_floating(logits)
    unweighted = softmax(logits) == 0  # 0 * (-inf) counts as 0
    return softmax_vjp(logits, np.where(unweighted, 0, -logits)).astype(dtype)


# --8<-- [end:entropy_grad]


# --8<-- [start:gini_simpson]
def gini_simpson(probs):
    """Return tr J = sum p_i (1 - p_i) = 1 - sum p_i**2 of every row of probs (..., n).

    0 for one-hot, 1 - 1/n for uniform: the chance that two draws differ. Never above
    H / (2 ln 2), H in nats. Raises ValueError unless the rows are distributions.
    Source: Harremoës and Topsøe 2001.
    """
    probs, dtype = check_distribution(probs)
    return np.sum(probs * one_minus(probs), axis=-1).astype(dtype)


# --8<-- [end:gini_simpson]


# --8<-- [start:jacobian_spectral_norm]
def jacobian_spectral_norm(probs):
    """Return ||J||_2, the largest eigenvalue of diag(p) - p p^T, of every row of probs.

    It is the root of sum_i p_i / (p_i - x) between the two largest probabilities, and
    lies between max p(1 - p) and twice that (Gershgorin). At most 1/2: a two-way tie.
    Bisection: O(n), no matrix. Raises ValueError unless the rows are distributions.
    Source: Golub 1973.
    """
    probs, dtype = check_distribution(probs)
    padding = np.zeros((*probs.shape[:-1], 2))  # so that n = 1 has a second largest
    ordered = np.sort(np.append(probs, padding, axis=-1), axis=-1)
    diagonal = np.max(probs * one_minus(probs), axis=-1, initial=0)
    low = np.maximum(ordered[..., -2], diagonal)
    high = np.minimum(ordered[..., -1], 2 * diagonal)
    with np.errstate(divide="ignore", invalid="ignore"):  # x may meet a p_i
        for _ in range(52):  # from a factor of 2 down to the last bit
            x = (low + high) / 2
            too_high = np.sum(probs / (probs - x[..., None]), axis=-1) > 0
            low, high = np.where(too_high, low, x), np.where(too_high, x, high)
    return high.astype(dtype)


# --8<-- [end:jacobian_spectral_norm]


# --8<-- [start:attention_entropy_floor]
def attention_entropy_floor(n, sigma):
    """Return the least entropy of n weights whose logits, centred, have norm <= sigma.

    In nats. n: integer >= 1; sigma: numbers >= 0, inf included, of any shape, which is
    returned. Reached by one logit sigma * sqrt(n / (n - 1)) above n - 1 equal ones.
    Source: the form of Zhai et al. 2023.
    """
    if not (isinstance(n, (int, np.integer)) and n >= 1):
        raise ValueError(f"n must be an integer >= 1, got {n}")
    sigma, dtype = as_floating(sigma)
    if not np.all(sigma >= 0):
        raise ValueError(f"sigma must be >= 0, got {sigma}")
    sigma = np.minimum(sigma.astype(np.float64), 1e4)  # exp(-1e4) is 0: no inf * 0
    gap = sigma * np.sqrt(n / max(n - 1, 1))
    others = (n - 1) * np.exp(-gap)
    return (np.log1p(others) + gap * others / (1 + others)).astype(dtype)


# --8<-- [end:attention_entropy_floor]


# --8<-- [start:softmax_off_by_one]
def softmax_off_by_one(logits, axis=-1):
    """Return exp(z_i) / (1 + sum_j exp(z_j)) along `axis`: the sum may be less than 1.

    The softmax of the logits and one more of 0, which takes what nobody wants. A row
    that is all -inf gets zeros; one that holds +inf or NaN becomes NaN. Not shift
    invariant. Source: Miller 2023; shifted by max(0, max z), so nothing overflows.
    """
    logits, dtype = as_floating(logits)
    highest = np.max(logits, axis=axis, keepdims=True, initial=0)
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, -3e38 - 3e38
        weights = np.exp(logits - highest)
    total = np.sum(weights, axis=axis, keepdims=True, dtype=np.float64)
    return (weights / (np.exp(-highest) + total)).astype(dtype)


# --8<-- [end:softmax_off_by_one]


# --8<-- [start:softcap]
def softcap(x, cap):
    """Return cap * tanh(x / cap): close to x while |x| is far below cap, never above.

    cap: one finite number > 0. Scale first, cap second, mask last: a -inf would come
    back as -cap. Source: Bello et al. 2016; Gemma 2 caps attention scores at 50 and
    final logits at 30.
    """
    if not (np.ndim(cap) == 0 and 0 < cap < np.inf):
        raise ValueError(f"cap must be one finite number > 0, got {cap}")
    x, dtype = as_floating(x)
    cap = np.float64(cap)  # a Python float takes the dtype of x, where 1e-50 may be 0
    with np.errstate(over="ignore"):
        return (cap * np.tanh(x / cap)).astype(dtype)


# --8<-- [end:softcap]


# --8<-- [start:attention_statistics]
def attention_statistics(weights):
    """Return three numbers about attention maps (layers, n_q, n_k): three "collapses".

    1. Mean entropy of a row (nats): near 0 is entropy collapse. 2. Mean weight on the
    first key: high is an attention sink. 3. Mean cosine of the same row in neighbouring
    layers, over the other keys: near 1 is attention collapse.
    Raises ValueError for fewer than two layers or an empty map, and unless the rows are
    distributions.
    """
    weights, _ = check_distribution(weights)
    shape = weights.shape
    if len(shape) != 3 or shape[0] < 2 or 0 in shape:
        rule = "(layers >= 2, n_q >= 1, n_k >= 1)"
        raise ValueError(f"weights must be {rule}, got shape {shape}")
    with np.errstate(divide="ignore"):  # log 0 is -inf: probability 0
        entropy = np.mean(entropy_from_logits(np.log(weights)))
    others = weights[..., 1:]  # a sink in both layers would make them look alike
    unit = others / np.maximum(np.linalg.norm(others, axis=-1, keepdims=True), 1e-8)
    likeness = np.mean(np.sum(unit[1:] * unit[:-1], axis=-1))
    return float(entropy), float(np.mean(weights[..., 0])), float(likeness)


# --8<-- [end:attention_statistics]
