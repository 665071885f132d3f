"""What the chapter on stability shows, run in NumPy."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import softmax, softmax_simple
from snippets.stability.numpy_reference import (
    blockwise_softmax,
    cross_entropy,
    cross_entropy_grad,
    log_softmax,
    logsumexp,
    logsumexp_simple,
    masked_softmax,
    nll_from_probs,
    safe_softmax_simple,
    soft_cross_entropy,
    subtract_max,
)


# --8<-- [start:nan_story]
for score in (1000.0, -1000.0):
    logits = np.array([score, score, score])
    with np.errstate(all="ignore"):  # NumPy would warn here, and go on all the same
        print(np.exp(logits), softmax_simple(logits))
        #> [inf inf inf] [nan nan nan]
        #> [0. 0. 0.] [nan nan nan]
# --8<-- [end:nan_story]


# --8<-- [start:how_large]
print(f"exp(1000)  = 10^{1000 / np.log(10):.4f}")
#> exp(1000)  = 10^434.2945
print(f"exp(-1000) = 10^{-1000 / np.log(10):.4f}")
#> exp(-1000) = 10^-434.2945
for dtype in (np.float32, np.float64):
    info = np.finfo(dtype)
    largest, smallest = np.log10(info.max), np.log10(info.smallest_subnormal)
    print(f"{info.dtype} holds 10^{smallest:.1f} to 10^{largest:.1f}")
    #> float32 holds 10^-44.9 to 10^38.5
    #> float64 holds 10^-323.3 to 10^308.3
# --8<-- [end:how_large]


# --8<-- [start:nan_in_training]
weights = np.array([1.0, 0.5, 0.2])  # the model: logits = weights * feature
for feature in (2.0, 900.0, 2.0):
    with np.errstate(all="ignore"):
        probs = softmax_simple(weights * feature)
        weights = weights - 0.1 * feature * (probs - [1, 0, 0])
        loss = -np.log(probs[0])
    print(f"feature {feature:g}: loss {loss:.4f}, weights {weights.round(4)}")
    #> feature 2: loss 0.4509, weights [1.0726 0.4531 0.1743]
    #> feature 900: loss nan, weights [   nan 0.4531 0.1743]
    #> feature 2: loss nan, weights [nan nan nan]
# --8<-- [end:nan_in_training]


# --8<-- [start:shift_cures]
for logits in ([1000.0, 999.0, -500.0], [1000.0] * 3, [-1000.0] * 3):
    logits = np.array(logits)
    print(subtract_max(logits).tolist(), safe_softmax_simple(logits).round(4))
    #> [0.0, -1.0, -1500.0] [0.7311 0.2689 0.    ]
    #> [0.0, 0.0, 0.0] [0.3333 0.3333 0.3333]
    #> [0.0, 0.0, 0.0] [0.3333 0.3333 0.3333]
# --8<-- [end:shift_cures]


# --8<-- [start:float32_limits]
for pair in ([88, 87], [88.7, 88.7], [89, 0]):
    logits = np.array(pair, np.float32)
    with np.errstate(all="ignore"):
        unshifted = softmax_simple(logits)
    print(logits, unshifted.round(4), safe_softmax_simple(logits).round(4))
    #> [88. 87.] [0.7311 0.2689] [0.7311 0.2689]
    #> [88.7 88.7] [0. 0.] [0.5 0.5]
    #> [89.  0.] [nan  0.] [1. 0.]
# --8<-- [end:float32_limits]


# --8<-- [start:shift_invariance]
logits = np.array([0.1, 0.2, 0.3], np.float32)
for offset in (0, 1e3, 1e6, 1e8):
    print(f"+{offset:g}", softmax(logits + np.float32(offset)).round(4))
    #> +0 [0.3006 0.3322 0.3672]
    #> +1000 [0.3006 0.3322 0.3672]
    #> +1e+06 [0.3057 0.3255 0.3688]
    #> +1e+08 [0.3333 0.3333 0.3333]
# --8<-- [end:shift_invariance]


# --8<-- [start:lse]
logits = np.array([1000.0, 1000.0, 1000.0])
print(f"{logsumexp_simple(logits):.4f} = 1000 + ln 3 = {1000 + np.log(3):.4f}")
#> 1001.0986 = 1000 + ln 3 = 1001.0986
for logits in ([2.0, 1.0, 0.1], [1000.0, 999.0, -500.0]):
    lse, largest = logsumexp(logits), max(logits)
    print(f"{largest} <= {lse:.4f} <= {largest + np.log(3):.4f}")
    #> 2.0 <= 2.4170 <= 3.0986
    #> 1000.0 <= 1000.3133 <= 1001.0986
# --8<-- [end:lse]


# --8<-- [start:lse_tail]
for logits in ([0.0, -30.0], [0.0, -40.0]):
    logits = np.array(logits)
    print(f"simple {logsumexp_simple(logits):.4g}, with log1p {logsumexp(logits):.4g}")
    #> simple 9.348e-14, with log1p 9.358e-14
    #> simple 0, with log1p 4.248e-18
# --8<-- [end:lse_tail]


# --8<-- [start:lse_edges]
print(logsumexp([[1, 2], [-np.inf, -np.inf], [np.inf, 0]]).round(4))
#> [2.3133   -inf    inf]
print(logsumexp([]), logsumexp([-1000, np.nan], where=[True, False]))
#> -inf -1000.0
# --8<-- [end:lse_edges]


# --8<-- [start:log_of_softmax]
for gap in (10, 100, 103, 104):
    logits = np.array([0, -gap], np.float32)
    with np.errstate(divide="ignore"):
        detour = np.log(softmax(logits))[1]
    direct = log_softmax(logits)[1]
    print(f"gap {gap}: log(softmax) {detour:.4f}, log_softmax {direct:.4f}")
    #> gap 10: log(softmax) -10.0000, log_softmax -10.0000
    #> gap 100: log(softmax) -99.9831, log_softmax -100.0000
    #> gap 103: log(softmax) -103.2789, log_softmax -103.0000
    #> gap 104: log(softmax) -inf, log_softmax -104.0000
# --8<-- [end:log_of_softmax]


# --8<-- [start:order_of_adding]
logits = np.full(11, -1e10, np.float32)
lse = np.float32(logsumexp(logits))
print("x - logsumexp(x):", (logits - lse)[0])
#> x - logsumexp(x): 0.0
print("log_softmax(x):  ", log_softmax(logits)[0].round(4), "=", -np.log(11).round(4))
#> log_softmax(x):   -2.3979 = -2.3979
# --8<-- [end:order_of_adding]


# --8<-- [start:confident_class]
for lead in (10, 17, 100):
    logits = np.array([lead, 0], np.float32)
    plain = subtract_max(logits) - np.log(np.sum(np.exp(subtract_max(logits))))
    print(f"lead {lead}: {plain[0]:.4g}, with log1p {log_softmax(logits)[0]:.4g}")
    #> lead 10: -4.542e-05, with log1p -4.54e-05
    #> lead 17: 0, with log1p -4.14e-08
    #> lead 100: 0, with log1p -3.784e-44
# --8<-- [end:confident_class]


# --8<-- [start:three_ways]
logits, target = np.array([2.0, 1.0, 0.1]), 0
print(f"cross_entropy(logits)         {cross_entropy(logits, target):.6f}")
#> cross_entropy(logits)         0.417030
print(f"-log_softmax(logits)[target]  {-log_softmax(logits)[target]:.6f}")
#> -log_softmax(logits)[target]  0.417030
probs = softmax(logits)
print(f"nll_from_probs(probs)         {nll_from_probs(probs, target):.6f}")
#> nll_from_probs(probs)         0.417030
print(f"cross_entropy(probs), wrong:  {cross_entropy(probs, target):.6f}")
#> cross_entropy(probs), wrong:  0.802121
# --8<-- [end:three_ways]


# --8<-- [start:softmax_twice]
for n in (2, 4, 10, 1000):
    certain = np.eye(n)[0]  # probabilities that could not be better, fed as logits
    loss, floor = cross_entropy(certain, 0), np.log(1 + (n - 1) / np.e)
    print(f"{n} classes: loss {loss:.5f}, the floor is {floor:.5f}")
    #> 2 classes: loss 0.31326, the floor is 0.31326
    #> 4 classes: loss 0.74367, the floor is 0.74367
    #> 10 classes: loss 1.46115, the floor is 1.46115
    #> 1000 classes: loss 5.90947, the floor is 5.90947
# --8<-- [end:softmax_twice]


# --8<-- [start:softmax_then_log]
logits, target = np.array([0, 200], np.float32), 0
print("softmax, then log:", nll_from_probs(softmax(logits), target))
#> softmax, then log: inf
print("from the logits:  ", cross_entropy(logits, target))
#> from the logits:   200.0
# --8<-- [end:softmax_then_log]


# --8<-- [start:gradient]
logits = np.array([[-10.0, 10.0, 0.0], [10.0, -10.0, 0.0]])
for row in cross_entropy_grad(logits, [0, 0]):
    print([f"{slope:.3g}" for slope in row])
    #> ['-0.5', '0.5', '2.27e-05']
    #> ['-2.27e-05', '1.03e-09', '2.27e-05']
# --8<-- [end:gradient]


# --8<-- [start:label_smoothing]
for lead in (0, 2, np.log(0.91 / 0.01), 10, 20):
    logits = np.array([lead] + [0.0] * 9)
    plain = cross_entropy(logits, 0)
    smooth = cross_entropy(logits, 0, label_smoothing=0.1)
    print(f"lead {lead:.4f}: loss {plain:.6f}, smoothed {smooth:.6f}")
    #> lead 0.0000: loss 2.302585, smoothed 2.302585
    #> lead 2.0000: loss 0.796614, smoothed 0.976614
    #> lead 4.5109: loss 0.094311, smoothed 0.500288
    #> lead 10.0000: loss 0.000409, smoothed 0.900409
    #> lead 20.0000: loss 0.000000, smoothed 1.800000
# --8<-- [end:label_smoothing]


# --8<-- [start:ignored_rows]
logits, target = np.array([[-np.inf, -np.inf], [1.0, 2.0]]), np.array([-100, 0])
print(f"{cross_entropy(logits, target):.4f}")
#> 1.3133
print(cross_entropy_grad(logits, target).round(4))
#> [[ 0.      0.    ]
#>  [-0.7311  0.7311]]
print("all ignored:", cross_entropy(logits, np.array([-100, -100])))
#> all ignored: nan
# --8<-- [end:ignored_rows]


# --8<-- [start:zero_times_inf]
logits, labels = np.array([-np.inf, 0.0, 0.0]), np.array([0.0, 0.5, 0.5])
with np.errstate(invalid="ignore"):
    print("term by term:", -np.sum(labels * log_softmax(logits)))
    #> term by term: nan
print(f"with 0 * (-inf) = 0: {soft_cross_entropy(logits, labels):.4f}")
#> with 0 * (-inf) = 0: 0.6931
# --8<-- [end:zero_times_inf]


# --8<-- [start:dtype_limits]
for dtype in (np.float16, np.float32, np.float64):
    info = np.finfo(dtype)
    highest = np.log(float(info.max))
    lowest = np.log(float(info.smallest_subnormal)) - np.log(2)
    print(f"{info.dtype}: exp(x) is inf above {highest:.4f} and 0 below {lowest:.4f}")
    #> float16: exp(x) is inf above 11.0899 and 0 below -17.3287
    #> float32: exp(x) is inf above 88.7228 and 0 below -103.9721
    #> float64: exp(x) is inf above 709.7827 and 0 below -745.1332
# --8<-- [end:dtype_limits]


# --8<-- [start:sum_overflows]
logits = np.zeros(70_000, np.float16)  # shifted already: the largest is 0
with np.errstate(over="ignore"):
    textbook = safe_softmax_simple(logits)
    print("sum of exp:", np.sum(np.exp(logits)), "probability:", textbook[0])
    #> sum of exp: inf probability: 0.0
print(f"summed in more digits: {softmax(logits)[0]:.3g}, 1/70000 = {1 / 70_000:.3g}")
#> summed in more digits: 1.43e-05, 1/70000 = 1.43e-05
# --8<-- [end:sum_overflows]


# --8<-- [start:sum_stalls]
for dtype, digits in ((np.float16, 11), (np.float32, 24)):
    terms = np.ones(1001, dtype)
    terms[0] = 2**digits
    print(f"{terms[0]} + 1000 ones, one by one: {np.cumsum(terms, dtype=dtype)[-1]}")
    #> 2048.0 + 1000 ones, one by one: 2048.0
    #> 16777216.0 + 1000 ones, one by one: 16777216.0
# --8<-- [end:sum_stalls]


# --8<-- [start:wrong_axis]
logits = np.zeros((1_000_001, 2), np.float32)
logits[0] = 17  # after the shift: a 1, then a million times exp(-17) = 4e-8
weights = np.exp(logits - logits.max(axis=0))
for name, probs in {
    "textbook": weights / weights.sum(axis=0),
    "sum in float64": softmax(logits, axis=0),
}.items():
    print(f"{name}: probabilities add up to {probs[:, 0].sum(dtype=np.float64):.4f}")
    #> textbook: probabilities add up to 1.0414
    #> sum in float64: probabilities add up to 1.0000
# --8<-- [end:wrong_axis]


# --8<-- [start:integers_wrap]
for logits in (
    np.array([1, 2, 3], np.uint8),
    np.array([-128, 127, 0], np.int8),
    np.array([0, 2**31 - 1, -(2**31)], np.int32),
):
    with np.errstate(all="ignore"):
        wrapped = safe_softmax_simple(logits).round(4)
    print(logits.dtype, subtract_max(logits), wrapped, softmax(logits).round(4))
    #> uint8 [254 255   0] [nan nan  0.] [0.09   0.2447 0.6652]
    #> int8 [   1    0 -127] [0.731  0.2688 0.    ] [0. 1. 0.]
    #> int32 [-2147483647           0           1] [0.     0.2689 0.7311] [0. 1. 0.]
# --8<-- [end:integers_wrap]


# --8<-- [start:mask_recipes]
logits, mask = np.array([1.0, 1.0, 100.0]), np.array([True, True, False])
recipes = {
    "logits * mask": softmax(logits * mask),
    "fill 1e-9": softmax(np.where(mask, logits, 1e-9)),  # a lost minus sign
    "softmax * mask": softmax(logits) * mask,
    "fill -inf": softmax(np.where(mask, logits, -np.inf)),
    "masked_softmax": masked_softmax(logits, mask),
}
for name, probs in recipes.items():
    print(f"{name:14} {probs.round(4)}")
    #> logits * mask  [0.4223 0.4223 0.1554]
    #> fill 1e-9      [0.4223 0.4223 0.1554]
    #> softmax * mask [0. 0. 0.]
    #> fill -inf      [0.5 0.5 0. ]
    #> masked_softmax [0.5 0.5 0. ]
# --8<-- [end:mask_recipes]


# --8<-- [start:fully_masked]
logits, mask = np.array([3.0, 1.0, 2.0]), np.array([False, False, False])
print("fill -inf:     ", softmax(np.where(mask, logits, -np.inf)))
#> fill -inf:      [nan nan nan]
print("fill -1e9:     ", softmax(np.where(mask, logits, -1e9)).round(4))
#> fill -1e9:      [0.3333 0.3333 0.3333]
print("masked_softmax:", masked_softmax(logits, mask))
#> masked_softmax: [0. 0. 0.]
# --8<-- [end:fully_masked]


# --8<-- [start:sentinel_beaten]
mask = np.array([True, False])
for dtype, fill, score in ((np.float64, -1e9, -5e9), (np.float16, -1e4, -3e4)):
    logits = np.array([score, 0], dtype)
    filled, masked = np.where(mask, logits, dtype(fill)), masked_softmax(logits, mask)
    print(f"{logits.dtype}, fill {fill:g}: {softmax(filled)}, by mask: {masked}")
    #> float64, fill -1e+09: [0. 1.], by mask: [1. 0.]
    #> float16, fill -10000: [0. 1.], by mask: [1. 0.]
# --8<-- [end:sentinel_beaten]


# --8<-- [start:poisoned_slot]
logits, mask = np.array([1.0, 2.0, np.nan]), np.array([True, True, False])
print("logits - 1e9 * ~mask:", softmax(logits - 1e9 * ~mask))
#> logits - 1e9 * ~mask: [nan nan nan]
print("masked_softmax:      ", masked_softmax(logits, mask).round(4))
#> masked_softmax:       [0.2689 0.7311 0.    ]
# --8<-- [end:poisoned_slot]


# --8<-- [start:blocks]
logits = np.random.default_rng(0).normal(size=(2000, 1000)).astype(np.float32)
probs = np.empty_like(logits)
blockwise_softmax(logits, out=probs)  # no temporary as large as the input
print("largest difference below 1e-7:", np.abs(probs - softmax(logits)).max() < 1e-7)
#> largest difference below 1e-7: True
# --8<-- [end:blocks]


# --8<-- [start:libraries]
import scipy.special

inputs = {
    "all -inf": np.array([-np.inf, -np.inf]),
    "+inf": np.array([np.inf, 0.0]),
    "NaN": np.array([np.nan, 0.0]),
    "uint8": np.array([1, 2, 3], np.uint8),
    "int8": np.array([-128, 127], np.int8),
    "bool": np.array([True, False]),
    "(2, 0)": np.zeros((2, 0)),
    "0-d": np.array(2.0),
    "complex": np.array([0j, 0]),
    "float16": np.zeros(100_000, np.float16),
}
functions = {
    "textbook softmax": safe_softmax_simple,
    "scipy softmax": lambda z: scipy.special.softmax(z, axis=-1),
    "scipy logsumexp": lambda z: scipy.special.logsumexp(z, axis=-1),
    "our softmax": softmax,
}


def result(function, logits):
    try:
        with np.errstate(all="ignore"):
            values = np.ravel(function(logits))
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return " ".join(f"{value:.3g}" for value in values[:2].tolist()) or "empty"


print(" " * 9 + "".join(f"{name:20}" for name in functions))
#>          textbook softmax    scipy softmax       scipy logsumexp     our softmax
for name, logits in inputs.items():
    results = [result(function, logits) for function in functions.values()]
    print(f"{name:9}" + "".join(f"{text:20}" for text in results))
    #> all -inf nan nan             nan nan             -inf                nan nan
    #> +inf     nan nan             nan nan             inf                 nan nan
    #> NaN      nan nan             nan nan             nan                 nan nan
    #> uint8    nan nan             nan nan             3.41                0.09 0.245
    #> int8     0.731 0.269         0.731 0.269         127                 1.8e-111 1
    #> bool     TypeError           TypeError           1.31                0.731 0.269
    #> (2, 0)   ValueError          ValueError          -inf -inf           empty
    #> 0-d      1                   1                   2                   1
    #> complex  0.5+0j 0.5+0j       0.5+0j 0.5+0j       0.693+0j            TypeError
    #> float16  0 0                 0 0                 inf                 1e-05 1e-05
# --8<-- [end:libraries]
