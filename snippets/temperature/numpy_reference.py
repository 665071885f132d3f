"""Temperature in NumPy: the softmax with T, its filters, drawing from it, fitting T."""

# --8<-- [start:imports]
import math

import numpy as np
# --8<-- [end:imports]

from snippets.arrays import as_floating
from snippets.probabilities.numpy_reference import softmax


# --8<-- [start:temperature_softmax_simple]
def temperature_softmax_simple(logits, temperature):
    """Return softmax(logits / temperature) over the last axis.

    For finite logits and temperature > 0.
    """
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    weights = np.exp(shifted / temperature)
    return weights / np.sum(weights, axis=-1, keepdims=True)


# --8<-- [end:temperature_softmax_simple]


# --8<-- [start:check_temperature]
def check_temperature(temperature):
    """Return `temperature` as a float; ValueError unless it is one number >= 0."""
    if np.ndim(temperature) != 0:
        raise ValueError(
            f"temperature must be one number, got shape {np.shape(temperature)}; "
            "per row: softmax(logits / temperature[..., None])"
        )
    temperature = float(temperature)
    if not temperature >= 0:
        raise ValueError(f"temperature must be >= 0, got {temperature}")
    return abs(temperature)  # -0.0 is 0, but a division by it gives +inf


# --8<-- [end:check_temperature]


# --8<-- [start:apply_temperature]
def apply_temperature(logits, temperature, axis=-1):
    """Return (logits - max) / temperature in float64: the largest entry of a row is 0.

    temperature: one number >= 0. At 0 every entry below the maximum becomes -inf; at
    inf every finite entry becomes 0. A -inf stays -inf. Shift first, divide second: the
    quotient of a large logit and a small temperature would overflow.
    """
    temperature = check_temperature(temperature)
    logits = as_floating(logits)[0].astype(np.float64, copy=False)
    # Halving is exact, and without it 1.7e308 - -1.7e308 overflows.
    half = 0.5 if temperature > 1 else 1.0
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        largest = np.max(logits, axis=axis, keepdims=True, initial=-np.inf)
        shifted = half * logits - half * largest
        scaled = shifted / (half * temperature)
    # 0/0 at T = 0, inf/inf at T = inf.
    no_quotient = (shifted == 0) | (shifted == -np.inf)
    return np.where(no_quotient, shifted, scaled)


# --8<-- [end:apply_temperature]


# --8<-- [start:temperature_softmax]
def temperature_softmax(logits, temperature, axis=-1):
    """Return softmax(logits / temperature) along `axis`.

    Same shape, entries in [0, 1] that sum to 1. temperature: one number >= 0; 0 is the
    limit (largest logit, ties split equally), inf is uniform over the finite logits.
    Negative or NaN raises ValueError, an array too. A row that is all -inf, or holds
    +inf or NaN, becomes NaN at every temperature.
    Source: Hinton, Vinyals and Dean 2015, equation 1.
    """
    _, dtype = as_floating(logits)
    weights = np.exp(apply_temperature(logits, temperature, axis))
    return (weights / np.sum(weights, axis=axis, keepdims=True)).astype(dtype)


# --8<-- [end:temperature_softmax]


# --8<-- [start:power_temperature]
def power_temperature(probs, temperature, axis=-1):
    """Return probs ** (1 / temperature), normalised along `axis`.

    Temperature for probabilities: equal to temperature_softmax(log(probs)). probs:
    numbers >= 0, need not sum to 1. A 0 stays 0 at every temperature. A row of zeros
    becomes NaN. Raises ValueError for a negative entry.
    """
    probs, dtype = as_floating(probs)
    if np.any(probs < 0):
        raise ValueError(f"probs must be >= 0, got {np.min(probs)}")
    probs = probs.astype(np.float64, copy=False)
    # log 0 = -inf is meant, and so is 0/0 = NaN in a row of zeros.
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.max(probs, axis=axis, keepdims=True, initial=0)
        ratio = probs / largest  # tells close ones apart, but may underflow
        far = ratio < np.finfo(np.float64).tiny
        logits = np.where(far, np.log(probs) - np.log(largest), np.log(ratio))
    return temperature_softmax(logits, temperature, axis).astype(dtype)


# --8<-- [end:power_temperature]


# --8<-- [start:entropy_from_logits]
def entropy_from_logits(logits, axis=-1):
    """Return the entropy of softmax(logits) along `axis`, in nats.

    0 for one sure option, ln n for n equal ones. A -inf has probability 0 and adds
    nothing: 0 * (-inf) counts as 0. A row that is empty, all -inf, or holds +inf or NaN
    gives NaN. Small entropies keep their relative accuracy.
    """
    logits, dtype = as_floating(logits)
    logits = logits.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        shifted = logits - np.max(logits, axis=axis, keepdims=True, initial=-np.inf)
        weights = np.exp(shifted)
        ties = np.sum(shifted == 0, axis=axis)
        rest = np.sum(np.where(shifted == 0, 0, weights), axis=axis)
        # log(ties + rest) would round a small rest away.
        lse = np.log(ties) + np.log1p(rest / ties)
        weighted = np.where(weights == 0, 0, weights * shifted)
        mean = np.sum(weighted, axis=axis) / (ties + rest)
    return (lse - mean).astype(dtype)


# --8<-- [end:entropy_from_logits]


# --8<-- [start:temperature_derivatives]
def temperature_derivatives(logits, temperature, axis=-1):
    """Return (dp/dT, dH/dT): how p = softmax(logits / T) and its entropy move with T.

    dp_i/dT = -p_i (z_i - E z) / T**2, shape of logits; dH/dT = Var(z) / T**3 >= 0,
    without `axis`. E and Var are taken under p.
    Raises ValueError unless 0 < temperature < inf.
    """
    _, dtype = as_floating(logits)
    if not 0 < check_temperature(temperature) < np.inf:
        raise ValueError(f"temperature must be > 0 and finite, got {temperature}")
    # z / T up to a constant, which drops out.
    scaled = apply_temperature(logits, temperature, axis)
    probs = softmax(scaled, axis)
    scaled = np.where(probs == 0, 0, scaled)  # 0 * (-inf) counts as 0
    centred = scaled - np.sum(probs * scaled, axis=axis, keepdims=True)
    with np.errstate(over="ignore"):
        dp = -probs * centred / float(temperature)
        dh = np.sum(probs * centred**2, axis=axis) / float(temperature)
        return dp.astype(dtype), dh.astype(dtype)


# --8<-- [end:temperature_derivatives]


# --8<-- [start:top_k_filter]
def top_k_filter(logits, k):
    """Return logits with -inf for all but the k largest of each row.

    k: integer >= 1; k >= n keeps everything. Of equal logits the lowest index stays. A
    NaN is kept, so that a broken row stays visible.
    Source: Fan, Lewis and Dauphin 2018.
    """
    if not (isinstance(k, (int, np.integer)) and k >= 1):
        raise ValueError(f"k must be an integer >= 1, got {k}")
    logits, dtype = as_floating(logits)
    rows = np.atleast_1d(logits)
    order = np.lexsort((-rows, ~np.isnan(rows)))  # NaN first, then from the largest
    rank = np.argsort(order, axis=-1).reshape(logits.shape)
    return np.where(rank < k, logits, -np.inf).astype(dtype)


# --8<-- [end:top_k_filter]


# --8<-- [start:top_p_mask]
def top_p_mask(probs, p):
    """Return True for the smallest set of most probable options whose mass reaches p.

    probs (..., n) sum to 1 along the last axis. Of equal ones the lowest index goes
    first. p = 1 keeps everything, p = 0 one option: the set is never empty. A NaN row
    keeps everything. Raises ValueError unless 0 <= p <= 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    probs = as_floating(probs)[0].astype(np.float64, copy=False)
    rows = np.atleast_1d(probs)
    order = np.lexsort((-rows, ~np.isnan(rows)))  # NaN first: so is every sum
    rank = np.argsort(order, axis=-1)
    ranked = np.take_along_axis(rows, order, axis=-1)
    # The option that crosses p belongs to the set; the first one always does.
    reached = np.cumsum(ranked, axis=-1)[..., :-1] >= p
    first = np.zeros_like(ranked[..., :1], dtype=bool)
    out = np.concatenate([first, reached & (p < 1)], axis=-1)
    return ~np.take_along_axis(out, rank, axis=-1).reshape(probs.shape)


# --8<-- [end:top_p_mask]


# --8<-- [start:top_p_filter]
def top_p_filter(logits, p):
    """Return logits with -inf outside the smallest set whose probability reaches p.

    The most probable option always stays. Raises ValueError unless 0 <= p <= 1.
    Source: nucleus sampling, Holtzman et al. 2019.
    """
    logits, dtype = as_floating(logits)
    # float64: the sum that is compared with p may run over a whole vocabulary.
    probs = softmax(logits.astype(np.float64))
    return np.where(top_p_mask(probs, p), logits, -np.inf).astype(dtype)


# --8<-- [end:top_p_filter]


# --8<-- [start:min_p_filter]
def min_p_filter(logits, p):
    """Return logits with -inf for options less than p times as probable as the best.

    probs_i < p * probs_max means logits_i < logits_max + ln p: no softmax is needed.
    Raises ValueError unless 0 <= p <= 1. Source: Nguyen et al. 2024.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    logits, dtype = as_floating(logits)
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = logits - np.max(logits, axis=-1, keepdims=True, initial=-np.inf)
    threshold = math.log(p) if p > 0 else -np.inf
    return np.where(shifted < threshold, -np.inf, logits).astype(dtype)


# --8<-- [end:min_p_filter]


# --8<-- [start:sampling_distribution]
def sampling_distribution(
    logits,
    temperature=1.0,
    top_k=None,
    top_p=None,
    min_p=None,
    order="temperature_first",
):
    """Return the probabilities a sampler draws from: softmax after T and the filters.

    The filters run in the order top-k, top-p, min-p; None is off. order:
    "temperature_first" (they see the tempered logits) or "temperature_last" (they see
    the raw ones). Raises ValueError for any other order.
    """
    if order not in ("temperature_first", "temperature_last"):
        raise ValueError(
            f'order must be "temperature_first" or "temperature_last", got {order!r}'
        )
    _, dtype = as_floating(logits)
    if order == "temperature_first":
        logits, temperature = apply_temperature(logits, temperature), 1.0
    if top_k is not None:
        logits = top_k_filter(logits, top_k)
    if top_p is not None:
        logits = top_p_filter(logits, top_p)
    if min_p is not None:
        logits = min_p_filter(logits, min_p)
    return temperature_softmax(logits, temperature).astype(dtype)


# --8<-- [end:sampling_distribution]


# --8<-- [start:inverse_cdf]
def inverse_cdf(probs, u):
    """Return the first index whose cumulative probability exceeds u.

    probs (..., n) need not sum to exactly 1; u in [0, 1] broadcasts against (...). The
    index always has a positive probability: u = 0 skips leading zeros, u = 1 stops at
    the last positive entry. Raises ValueError for a u outside [0, 1] and for a row
    without a positive, finite total.
    """
    probs, u = as_floating(probs)[0], np.asarray(u, dtype=np.float64)
    cdf = np.cumsum(probs, axis=-1, dtype=np.float64)
    total = np.sum(probs, axis=-1, dtype=np.float64)
    if np.any(probs < 0) or not np.all((total > 0) & (total < np.inf)):
        raise ValueError(
            f"probs must be >= 0 with a positive, finite sum, got sum {total}"
        )
    if not np.all((u >= 0) & (u <= 1)):
        raise ValueError(f"u must be between 0 and 1, got {u}")
    index = np.sum(cdf <= (u * cdf[..., -1])[..., None], axis=-1)
    last = np.max(np.where(probs > 0, np.arange(probs.shape[-1]), -1), axis=-1)
    return np.minimum(index, last)


# --8<-- [end:inverse_cdf]


# --8<-- [start:gumbel_noise]
def gumbel_noise(u):
    """Return -log(-log(u)), standard Gumbel noise, finite for every u in [0, 1).

    u = 0 counts as the smallest normal number; u = 1 would be +inf and raises
    ValueError.
    """
    u, dtype = as_floating(u)
    if not np.all((u >= 0) & (u < 1)):
        raise ValueError(f"u must be >= 0 and < 1, got {u}")
    return (-np.log(-np.log(np.maximum(u, np.finfo(u.dtype).tiny)))).astype(dtype)


# --8<-- [end:gumbel_noise]


# --8<-- [start:sample]
def sample(probs, rng, size=None):
    """Return random indices drawn from probs (..., n).

    Shape (...), or (size, ...) when size is given. rng: a numpy.random.Generator.
    Source: inversion of the cumulative distribution.
    """
    rows = np.shape(probs)[:-1]
    return inverse_cdf(probs, rng.random(rows if size is None else (size, *rows)))


# --8<-- [end:sample]


# --8<-- [start:gumbel_max]
def gumbel_max(logits, rng, size=None):
    """Return random indices drawn from softmax(logits), without computing a softmax.

    logits (..., n); shape (...), or (size, ...) when size is given. Raises ValueError
    for a row that is all -inf, or holds +inf or NaN.
    Source: Gumbel 1954; Maddison, Tarlow and Minka 2014.
    """
    logits = as_floating(logits)[0]
    if not np.all(np.isfinite(np.max(logits, axis=-1))):
        raise ValueError("every row needs a finite largest logit")
    shape = logits.shape if size is None else (size, *logits.shape)
    return np.argmax(logits + gumbel_noise(rng.random(shape)), axis=-1)


# --8<-- [end:gumbel_max]


# --8<-- [start:annealing_schedule]
def annealing_schedule(step, total_steps, start, end, kind="geometric"):
    """Return the temperature at `step`: `start` at step 0, `end` at total_steps.

    kind: "geometric" multiplies by the same factor each step, "linear" adds the same
    amount. Raises ValueError unless 0 <= step <= total_steps, total_steps >= 1, and
    both ends are > 0 and finite.
    """
    if not (total_steps >= 1 and 0 <= step <= total_steps):
        raise ValueError(
            "need 0 <= step <= total_steps and total_steps >= 1, "
            f"got {step} of {total_steps}"
        )
    if not (0 < start < math.inf and 0 < end < math.inf):
        raise ValueError(f"start and end must be > 0 and finite, got {start} and {end}")
    done = step / total_steps
    if kind == "geometric":
        return float(start ** (1 - done) * end**done)
    if kind == "linear":
        return float((1 - done) * start + done * end)
    raise ValueError(f'kind must be "geometric" or "linear", got {kind!r}')


# --8<-- [end:annealing_schedule]


# --8<-- [start:temperature_for_entropy]
def temperature_for_entropy(logits, target_entropy):
    """Return the temperature at which softmax(logits / T) has the wanted entropy.

    In nats, one temperature a row. Entropy grows with T, so bisection on log T finds
    it.
    Raises ValueError unless the target lies strictly between the limits of the row:
    ln(number of ties for first) at T = 0 and ln(number of finite logits) at T = inf.
    """
    logits = apply_temperature(logits, 1.0)
    # A row without a finite logit has no such target: log 0 = -inf is meant.
    with np.errstate(divide="ignore"):
        lowest = np.log(np.sum(logits == 0, axis=-1))
        highest = np.log(np.sum(np.isfinite(logits), axis=-1))
    if not np.all((lowest < target_entropy) & (target_entropy < highest)):
        raise ValueError(
            f"target_entropy must be between {lowest} and {highest}, "
            f"got {target_entropy}"
        )
    # log T: all of float64, with its subnormal numbers.
    low, high = np.full(lowest.shape, -745.0), np.full(lowest.shape, 709.78)
    for _ in range(64):
        middle = (low + high) / 2
        with np.errstate(over="ignore"):
            entropy = entropy_from_logits(logits / np.exp(middle)[..., None])
        too_cold = entropy < target_entropy
        low, high = np.where(too_cold, middle, low), np.where(too_cold, high, middle)
    return np.exp((low + high) / 2)


# --8<-- [end:temperature_for_entropy]


# --8<-- [start:fit_temperature]
def fit_temperature(logits, targets):
    """Return the T > 0 that minimises the mean of -log softmax(logits / T)[target].

    logits (N, n), targets (N,) integers. The loss is convex in 1/T; its slope there is
    mean(E z - z_target), and bisection finds where that is 0. Raises ValueError when no
    finite T > 0 is best: every target has the largest logit (T -> 0), or targets lie no
    higher than the average (T -> inf). So it does for a class that does not exist.
    Source: temperature scaling, Guo et al. 2017.
    """
    logits, targets = apply_temperature(logits, 1.0), np.asarray(targets)
    if logits.ndim != 2 or targets.shape != logits.shape[:1]:
        raise ValueError(
            "need logits (N, n) and targets (N,), "
            f"got {logits.shape} and {targets.shape}"
        )
    n = logits.shape[1]
    outside = targets[(targets < 0) | (targets >= n)]
    if outside.size:
        raise ValueError(f"targets must be >= 0 and < {n}, got {outside[0]}")
    wanted = np.take_along_axis(logits, targets[:, None], axis=-1)[:, 0]

    def slope(temperature):
        probs = temperature_softmax(logits, temperature)
        expected = np.sum(probs * np.where(probs == 0, 0, logits), axis=-1)
        return np.sum((expected - wanted) / len(wanted))  # a mean, without overflow

    coldest, hottest = slope(0.0), slope(np.inf)
    if not (coldest > 0 and hottest < 0):
        raise ValueError(
            f"no best temperature: slopes {coldest} at T = 0 and {hottest} at T = inf"
        )
    low, high = -745.0, 709.78  # log T: all of float64
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(math.exp(middle)) < 0 else (middle, high)
    return math.exp((low + high) / 2)


# --8<-- [end:fit_temperature]


# --8<-- [start:expected_calibration_error]
def expected_calibration_error(probs, targets, bins=10):
    """Return how far confidence is from accuracy, averaged over bins of confidence.

    probs (N, n), targets (N,) integers; confidence is the largest probability of a row,
    and the `bins` are equally wide. 0 is perfect, 1 the worst.
    Source: Naeini et al. 2015; Guo et al. 2017, equation 3.
    """
    probs, targets = as_floating(probs)[0], np.asarray(targets)
    if probs.ndim != 2 or targets.shape != probs.shape[:1]:
        raise ValueError(
            f"need probs (N, n) and targets (N,), got {probs.shape} and {targets.shape}"
        )
    if not (isinstance(bins, (int, np.integer)) and bins >= 1):
        raise ValueError(f"bins must be an integer >= 1, got {bins}")
    confidence = np.max(probs, axis=-1)
    correct = np.argmax(probs, axis=-1) == targets
    bin_of = np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1)
    in_bin = bin_of[:, None] == np.arange(bins)
    gaps = np.sum((correct - confidence)[:, None] * in_bin, axis=0)
    with np.errstate(invalid="ignore"):  # no rows have no mean: 0 / 0 = NaN
        return float(np.sum(np.abs(gaps)) / len(probs))


# --8<-- [end:expected_calibration_error]
