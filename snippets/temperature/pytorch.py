"""Temperature in PyTorch: the NumPy reference on any device, with gradients.

Names, arguments and edges are the same; `annealing_schedule` is the very same function.
Only shapes, dtypes and Python scalars are checked. What the reference refuses after a
look at the numbers is marked in the result instead: NaN for a temperature, -1 for a
drawn index.
"""

# --8<-- [start:imports]
import math
import numbers

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import softmax
from snippets.temperature.numpy_reference import annealing_schedule  # noqa: F401
from snippets.tensors import as_floating


# --8<-- [start:temperature_softmax_simple]
def temperature_softmax_simple(logits, temperature):
    """Return softmax(logits / temperature) over the last dim.

    For finite logits and temperature > 0.
    """
    return torch.softmax(logits / temperature, dim=-1)


# --8<-- [end:temperature_softmax_simple]


# --8<-- [start:check_temperature]
def check_temperature(temperature):
    """Return `temperature` as a float; ValueError unless it is one number >= 0.

    A tensor of one number is refused too: reading it would wait for the device.
    """
    shape = tuple(getattr(temperature, "shape", ()))
    if shape or isinstance(temperature, torch.Tensor):
        raise ValueError(
            f"temperature must be one Python number, got shape {shape}; "
            "per row: softmax(logits / temperature[..., None])"
        )
    temperature = float(temperature)
    if not temperature >= 0:
        raise ValueError(f"temperature must be >= 0, got {temperature}")
    return temperature


# --8<-- [end:check_temperature]


# --8<-- [start:apply_temperature]
def apply_temperature(logits, temperature, dim=-1):
    """Return (logits - max) / temperature: the largest entry of a row is 0.

    temperature: one Python number >= 0. At 0 every entry below the maximum becomes
    -inf; at inf every finite entry becomes 0. A -inf stays -inf. float16 and bfloat16
    become float32; a temperature that is no normal number of that dtype is divided by
    in float64. Gradients see the maximum as a constant: softmax is blind to a shift.
    """
    temperature, logits = check_temperature(temperature), as_floating(logits)[0]
    if logits.numel() == 0:
        return logits
    # Halving is exact, and without it 3e38 - -3e38 overflows.
    half = 0.5 if temperature > 1 else 1.0
    shifted = half * logits - half * logits.amax(dim, keepdim=True).detach()
    if temperature == 0:
        return shifted.masked_fill(shifted < 0, -math.inf)
    if temperature == math.inf:
        return shifted.masked_fill(shifted > -math.inf, 0.0)
    if temperature > torch.finfo(shifted.dtype).max:
        shifted = shifted.double()
    # CUDA multiplies by 1 / temperature, which would be inf.
    if temperature < torch.finfo(shifted.dtype).tiny:
        shifted, temperature = shifted.double() * 2.0**64, temperature * 2.0**64
    return shifted / (half * temperature)


# --8<-- [end:apply_temperature]


# --8<-- [start:temperature_softmax]
def temperature_softmax(logits, temperature, dim=-1):
    """Return softmax(logits / temperature) along `dim`.

    Same shape, device and dtype, entries that sum to 1. temperature: one Python number
    >= 0; 0 is the limit (largest logit, ties split equally), inf is uniform over the
    finite logits. Negative or NaN raises ValueError, a tensor too. A row that is all
    -inf, or holds +inf or NaN, becomes NaN at every temperature.
    """
    _, dtype = as_floating(logits)
    return softmax(apply_temperature(logits, temperature, dim), dim).to(dtype)


# --8<-- [end:temperature_softmax]


# --8<-- [start:power_temperature]
def power_temperature(probs, temperature, dim=-1):
    """Return probs ** (1 / temperature), normalised along `dim`.

    Temperature for probabilities. probs: numbers >= 0, need not sum to 1. A 0 stays 0
    at every temperature, and its gradient is 0. A row of zeros, or with a negative
    entry, becomes NaN.
    """
    probs, dtype = as_floating(probs)
    if probs.numel() == 0:
        return probs.to(dtype)
    # Without the clamp a row of negative numbers would look like a distribution.
    largest = probs.detach().amax(dim, keepdim=True).clamp_min(0.0)
    zero = probs == 0
    logits = torch.log(probs.masked_fill(zero, 1.0) / largest)
    # Filled in after the logarithm: the slope of log at 0 would make gradients NaN.
    logits = logits.masked_fill(zero, -math.inf)
    return temperature_softmax(logits, temperature, dim).to(dtype)


# --8<-- [end:power_temperature]


# --8<-- [start:entropy_from_logits]
def entropy_from_logits(logits, dim=-1):
    """Return the entropy of softmax(logits) along `dim`, in nats.

    0 for one sure option, ln n for n equal ones. A -inf has probability 0 and adds
    nothing, to the gradient neither. A row that is empty, all -inf, or holds +inf or
    NaN gives NaN. Small entropies keep their relative accuracy.
    """
    logits, dtype = as_floating(logits)
    if logits.numel() == 0:
        return (logits.sum(dim) * math.nan).to(dtype)
    shifted = logits - logits.amax(dim, keepdim=True)
    weights = torch.exp(shifted)
    ties = (shifted == 0).sum(dim)
    rest = weights.masked_fill(shifted == 0, 0.0).sum(dim)
    # log(ties + rest) would round a small rest away.
    lse = torch.log(ties.to(rest.dtype)) + torch.log1p(rest / ties)
    mean = (weights * shifted.masked_fill(weights == 0, 0.0)).sum(dim) / (ties + rest)
    return (lse - mean).to(dtype)


# --8<-- [end:entropy_from_logits]


# --8<-- [start:temperature_derivatives]
def temperature_derivatives(logits, temperature, dim=-1):
    """Return (dp/dT, dH/dT): how p = softmax(logits / T) and its entropy move with T.

    dp_i/dT = -p_i (z_i - E z) / T**2, shape of logits; dH/dT = Var(z) / T**3 >= 0,
    without `dim`. E and Var are taken under p.
    Raises ValueError unless 0 < temperature < inf.
    """
    _, dtype = as_floating(logits)
    temperature = check_temperature(temperature)
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature must be > 0 and finite, got {temperature}")
    # z / T up to a constant, which drops out.
    scaled = apply_temperature(logits, temperature, dim)
    probs = softmax(scaled, dim)
    scaled = scaled.masked_fill(probs == 0, 0.0)  # 0 * (-inf) counts as 0
    centred = scaled - (probs * scaled).sum(dim, keepdim=True)
    dp = -probs * centred / temperature
    dh = (probs * centred**2).sum(dim) / temperature
    return dp.to(dtype), dh.to(dtype)


# --8<-- [end:temperature_derivatives]


# --8<-- [start:top_k_filter]
def top_k_filter(logits, k):
    """Return logits with -inf for all but the k largest of each row.

    k: integer >= 1; k >= n keeps everything. Of equal logits the lowest index stays;
    `torch.topk` keeps exactly k too, but does not promise which. A NaN counts as
    largest and stays.
    """
    if not (isinstance(k, numbers.Integral) and k >= 1):
        raise ValueError(f"k must be an integer >= 1, got {k}")
    logits, dtype = as_floating(logits)
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    rank = torch.argsort(order, dim=-1)  # 0 for the largest logit
    return logits.masked_fill(rank >= k, -math.inf).to(dtype)


# --8<-- [end:top_k_filter]


# --8<-- [start:top_p_mask]
def top_p_mask(probs, p):
    """Return True for the smallest set of most probable options whose mass reaches p.

    probs (..., n) sum to 1 along the last dim. Of equal ones the lowest index goes
    first. p = 1 keeps everything, p = 0 one option: the set is never empty. A NaN row
    keeps everything. Raises ValueError unless 0 <= p <= 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    probs = as_floating(probs)[0].double()
    rows = torch.atleast_1d(probs)
    order = torch.argsort(rows, dim=-1, descending=True, stable=True)
    rank = torch.argsort(order, dim=-1)
    ranked = torch.gather(rows, -1, order)
    # The option that crosses p belongs to the set; the first one always does.
    reached = torch.cumsum(ranked, dim=-1)[..., :-1] >= p
    first = torch.zeros_like(ranked[..., :1], dtype=torch.bool)
    out = torch.cat([first, reached & bool(p < 1)], dim=-1)
    return ~torch.gather(out, -1, rank).reshape(probs.shape)


# --8<-- [end:top_p_mask]


# --8<-- [start:top_p_filter]
def top_p_filter(logits, p):
    """Return logits with -inf outside the smallest set whose probability reaches p.

    The most probable option always stays. Raises ValueError unless 0 <= p <= 1.
    """
    logits, dtype = as_floating(logits)
    # float64: the sum that is compared with p may run over a whole vocabulary.
    probs = softmax(logits.double())
    return logits.masked_fill(~top_p_mask(probs, p), -math.inf).to(dtype)


# --8<-- [end:top_p_filter]


# --8<-- [start:min_p_filter]
def min_p_filter(logits, p):
    """Return logits with -inf for options less than p times as probable as the best.

    probs_i < p * probs_max means logits_i < logits_max + ln p: no softmax is needed.
    Raises ValueError unless 0 <= p <= 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    logits, dtype = as_floating(logits)
    if logits.numel() == 0:
        return logits.to(dtype)
    shifted = logits - logits.amax(-1, keepdim=True)
    threshold = math.log(p) if p > 0 else -math.inf
    return logits.masked_fill(shifted < threshold, -math.inf).to(dtype)


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
    return temperature_softmax(logits, temperature).to(dtype)


# --8<-- [end:sampling_distribution]


# --8<-- [start:inverse_cdf]
def inverse_cdf(probs, u):
    """Return the first index whose cumulative probability exceeds u.

    probs (..., n) need not sum to exactly 1; u in [0, 1], a tensor or a number,
    broadcasts against (...). The index always has a positive probability; -1 stands for
    a row with a negative entry or without a positive, finite total, and for a u outside
    [0, 1].
    """
    probs = as_floating(probs)[0].double()
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    cdf = torch.cumsum(probs, dim=-1)
    index = (cdf <= (u * cdf[..., -1])[..., None]).sum(-1)
    indices = torch.arange(probs.shape[-1], device=probs.device)
    last = torch.where(probs > 0, indices, -1).amax(-1)
    drawable = (probs >= 0).all(-1) & (cdf[..., -1] > 0) & (cdf[..., -1] < math.inf)
    drawable = drawable & (u >= 0) & (u <= 1)
    return torch.where(drawable, torch.minimum(index, last), -1)


# --8<-- [end:inverse_cdf]


# --8<-- [start:gumbel_noise]
def gumbel_noise(u):
    """Return -log(-log(u)), standard Gumbel noise, finite for every u in [0, 1).

    u = 0 counts as the smallest normal number; u = 1 gives +inf.
    """
    u, dtype = as_floating(u)
    return (-torch.log(-torch.log(u.clamp_min(torch.finfo(u.dtype).tiny)))).to(dtype)


# --8<-- [end:gumbel_noise]


# --8<-- [start:sample]
def sample(probs, generator, size=None):
    """Return random indices drawn from probs (..., n).

    Shape (...), or (size, ...) when size is given. generator: a torch.Generator on the
    device of probs. The same seed gives the same indices on the same device; other
    devices have other streams. A row without mass gives -1.
    """
    shape = probs.shape[:-1] if size is None else (size, *probs.shape[:-1])
    u = torch.rand(shape, generator=generator, device=probs.device, dtype=torch.float64)
    return inverse_cdf(probs, u)


# --8<-- [end:sample]


# --8<-- [start:gumbel_max]
def gumbel_max(logits, generator, size=None):
    """Return random indices drawn from softmax(logits), without computing a softmax.

    logits (..., n); shape (...), or (size, ...) when size is given; generator as in
    `sample`. A row that is all -inf, or holds +inf or NaN, gives -1.
    """
    logits = as_floating(logits)[0]
    shape = logits.shape if size is None else (size, *logits.shape)
    device = logits.device
    u = torch.rand(shape, generator=generator, device=device, dtype=torch.float64)
    drawn = torch.argmax(logits + gumbel_noise(u), dim=-1)
    return torch.where(logits.amax(-1).isfinite(), drawn, -1)


# --8<-- [end:gumbel_max]


# --8<-- [start:temperature_for_entropy]
def temperature_for_entropy(logits, target_entropy):
    """Return the temperature at which softmax(logits / T) has the wanted entropy.

    In nats, one temperature a row. Entropy grows with T, so bisection on log T finds
    it. NaN where the target does not lie strictly between ln(number of ties for first),
    at T = 0, and ln(number of finite logits), at T = inf.
    """
    logits = apply_temperature(as_floating(logits)[0].double(), 1.0)
    lowest = (logits == 0).sum(-1).double().log()
    highest = logits.isfinite().sum(-1).double().log()
    # log T: all of float64, with its subnormal numbers.
    low, high = torch.full_like(lowest, -745.0), torch.full_like(lowest, 709.78)
    for _ in range(64):
        middle = (low + high) / 2
        entropy = entropy_from_logits(logits / middle.exp()[..., None])
        too_cold = entropy < target_entropy
        low = torch.where(too_cold, middle, low)
        high = torch.where(too_cold, high, middle)
    within = (lowest < target_entropy) & (highest > target_entropy)
    return torch.where(within, ((low + high) / 2).exp(), math.nan)


# --8<-- [end:temperature_for_entropy]


# --8<-- [start:fit_temperature]
def fit_temperature(logits, targets):
    """Return the T > 0 that minimises the mean of -log softmax(logits / T)[target].

    A 0-d float64 tensor; logits (N, n), targets (N,) integers. The loss is convex in
    1/T; its slope there is mean(E z - z_target), and bisection finds where that is 0.
    NaN when no finite T > 0 is best: every target has the largest logit (T -> 0), or
    targets lie no higher than the average (T -> inf).
    """
    if logits.ndim != 2 or targets.shape != logits.shape[:1]:
        raise ValueError(
            "need logits (N, n) and targets (N,), "
            f"got {tuple(logits.shape)} and {tuple(targets.shape)}"
        )
    logits = apply_temperature(as_floating(logits)[0].double(), 1.0)
    wanted = torch.gather(logits, -1, targets[:, None])[:, 0]

    def slope(scaled):
        probs = torch.softmax(scaled, dim=-1)
        expected = (probs * logits.masked_fill(probs == 0, 0.0)).sum(-1)
        return ((expected - wanted) / len(wanted)).sum()  # a mean, without overflow

    coldest = slope(apply_temperature(logits, 0.0))
    hottest = slope(apply_temperature(logits, math.inf))
    low = torch.full_like(coldest, -745.0)  # log T: all of float64
    high = torch.full_like(coldest, 709.78)
    for _ in range(64):
        middle = (low + high) / 2
        too_hot = slope(logits / middle.exp()) < 0
        low = torch.where(too_hot, low, middle)
        high = torch.where(too_hot, middle, high)
    exists = (coldest > 0) & (hottest < 0)
    return torch.where(exists, ((low + high) / 2).exp(), math.nan)


# --8<-- [end:fit_temperature]


# --8<-- [start:expected_calibration_error]
def expected_calibration_error(probs, targets, bins=10):
    """Return how far confidence is from accuracy, averaged over bins of confidence.

    A 0-d tensor; probs (N, n), targets (N,) integers; confidence is the largest
    probability of a row, and the `bins` are equally wide. 0 is perfect, 1 the worst.
    """
    probs, _ = as_floating(probs)
    if probs.ndim != 2 or targets.shape != probs.shape[:1]:
        raise ValueError(
            "need probs (N, n) and targets (N,), "
            f"got {tuple(probs.shape)} and {tuple(targets.shape)}"
        )
    if not (isinstance(bins, numbers.Integral) and bins >= 1):
        raise ValueError(f"bins must be an integer >= 1, got {bins}")
    confidence, predicted = probs.max(dim=-1)
    correct = (predicted == targets).to(probs.dtype)
    bin_of = torch.clamp(torch.ceil(confidence * bins) - 1, 0, bins - 1)
    in_bin = bin_of[:, None] == torch.arange(bins, device=probs.device)
    return ((correct - confidence)[:, None] * in_bin).sum(0).abs().sum() / len(probs)


# --8<-- [end:expected_calibration_error]
