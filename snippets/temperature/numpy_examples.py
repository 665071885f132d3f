"""What the temperature chapter runs in NumPy; the prints are what the page says."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.temperature.numpy_reference import (
    annealing_schedule,
    apply_temperature,
    entropy_from_logits,
    expected_calibration_error,
    fit_temperature,
    gumbel_max,
    gumbel_noise,
    inverse_cdf,
    power_temperature,
    sample,
    sampling_distribution,
    temperature_derivatives,
    temperature_for_entropy,
    temperature_softmax,
    temperature_softmax_simple,
)


# --8<-- [start:simple]
logits = np.array([5.0, 3.0, 2.0, 1.0])
for temperature in (0.5, 1.0, 2.0):
    print(temperature, temperature_softmax_simple(logits, temperature).round(3))
    #> 0.5 [0.979 0.018 0.002 0.   ]
    #> 1.0 [0.831 0.112 0.041 0.015]
    #> 2.0 [0.579 0.213 0.129 0.078]
# --8<-- [end:simple]


# --8<-- [start:corrected_table]
logits = np.array([5.0, 3.0, 2.0, 1.0])
for temperature in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0):
    probs = temperature_softmax(logits, temperature)
    entropy = entropy_from_logits(apply_temperature(logits, temperature))
    row = " ".join(f"{p:.6f}" for p in probs)
    print(f"T = {temperature:<4}  {row}  H = {entropy:.6f}")
    #> T = 0.1   1.000000 0.000000 0.000000 0.000000  H = 0.000000
    #> T = 0.5   0.979307 0.017937 0.002427 0.000329  H = 0.109849
    #> T = 1.0   0.830953 0.112457 0.041371 0.015219  H = 0.595087
    #> T = 2.0   0.579259 0.213097 0.129250 0.078394  H = 1.109767
    #> T = 5.0   0.374748 0.251201 0.205666 0.168385  H = 1.340090
    #> T = 10.0  0.309610 0.253487 0.229365 0.207538  H = 1.374964
print(f"ln 4 = {np.log(4):.6f}")
#> ln 4 = 1.386294
# --8<-- [end:corrected_table]


# --8<-- [start:published_table]
published = {
    0.1: [0.999, 0.001, 0.0, 0.0],
    0.5: [0.82, 0.14, 0.03, 0.01],
    1.0: [0.64, 0.20, 0.11, 0.05],
    2.0: [0.41, 0.27, 0.20, 0.12],
    10.0: [0.28, 0.26, 0.24, 0.22],
}
for temperature, row in published.items():
    difference = temperature * np.log(row[0] / row[1])
    print(f"T = {temperature:<4}  T ln(p1/p2) = {difference:.4f}, must be 2")
    #> T = 0.1   T ln(p1/p2) = 0.6907, must be 2
    #> T = 0.5   T ln(p1/p2) = 0.8838, must be 2
    #> T = 1.0   T ln(p1/p2) = 1.1632, must be 2
    #> T = 2.0   T ln(p1/p2) = 0.8355, must be 2
    #> T = 10.0  T ln(p1/p2) = 0.7411, must be 2
# --8<-- [end:published_table]


# --8<-- [start:invariant]
logits = np.array([5.0, 3.0, 2.0, 1.0])
for temperature in (0.5, 1.0, 10.0):
    probs = temperature_softmax(logits, temperature)
    gaps = temperature * np.log(probs[0] / probs)  # z1 minus each logit
    print(f"T = {temperature}", gaps.round(6))
    #> T = 0.5 [0. 2. 3. 4.]
    #> T = 1.0 [0. 2. 3. 4.]
    #> T = 10.0 [0. 2. 3. 4.]
# --8<-- [end:invariant]


# --8<-- [start:two_limits]
tied_and_masked = [5.0, 5.0, 1.0, -np.inf]
for temperature in (0, 0.1, 1, 1e6, np.inf):
    probs = temperature_softmax(tied_and_masked, temperature)
    print(f"T = {temperature:g}", probs.round(4))
    #> T = 0 [0.5 0.5 0.  0. ]
    #> T = 0.1 [0.5 0.5 0.  0. ]
    #> T = 1 [0.4955 0.4955 0.0091 0.    ]
    #> T = 1e+06 [0.3333 0.3333 0.3333 0.    ]
    #> T = inf [0.3333 0.3333 0.3333 0.    ]
# --8<-- [end:two_limits]


# --8<-- [start:near_tie]
logits = [1.0, 0.999]
print(temperature_softmax(logits, 0), temperature_softmax(logits, 0.1).round(4))
#> [1. 0.] [0.5025 0.4975]
# p1 = 0.999 means odds of 999, and ln(odds) = gap / T.
needed = 0.001 / np.log(0.999 / 0.001)
print(f"{needed:.5e}", temperature_softmax(logits, needed).round(4))
#> 1.44786e-04 [0.999 0.001]
# --8<-- [end:near_tie]


# --8<-- [start:gap_decides]
for logits in ([5.0, 3.0, 2.0, 1.0], [2.0, 1.9]):
    probs = temperature_softmax(logits, 0.2)
    draws = sample(probs, np.random.default_rng(0), size=1000)
    others = np.sum(draws > 0)
    print(f"p1 = {probs[0]:.6f}, something else was drawn {others} times in 1000")
    #> p1 = 0.999954, something else was drawn 0 times in 1000
    #> p1 = 0.622459, something else was drawn 400 times in 1000
# --8<-- [end:gap_decides]


# --8<-- [start:who_gains]
logits = np.array([5.0, 3.0, 2.0, 1.0])
for temperature in (1.0, 9.012, 100.0):
    probs = temperature_softmax(logits, temperature)
    dp, _ = temperature_derivatives(logits, temperature)
    print(
        f"T = {temperature:<6} mean logit {probs @ logits:.4f} ",
        f"p2 = {probs[1]:.7f}  dp2/dT = {dp[1]:+.1e}",
    )
    #> T = 1.0    mean logit 4.5901  p2 = 0.1124572  dp2/dT = +1.8e-01
    #> T = 9.012  mean logit 3.0000  p2 = 0.2535223  dp2/dT = +3.0e-08
    #> T = 100.0  mean logit 2.7719  p2 = 0.2505983  dp2/dT = -5.7e-06
# --8<-- [end:who_gains]


# --8<-- [start:entropy_grows]
logits, step = np.array([5.0, 3.0, 2.0, 1.0]), 1e-4
for temperature in (0.5, 1.0, 2.0, 10.0):
    _, formula = temperature_derivatives(logits, temperature)
    above = entropy_from_logits(logits / (temperature + step))
    below = entropy_from_logits(logits / (temperature - step))
    slope = (above - below) / (2 * step)
    print(f"T = {temperature:<4}  Var/T^3 {formula:.6f}  finite difference {slope:.6f}")
    #> T = 0.5   Var/T^3 0.774980  finite difference 0.774980
    #> T = 1.0   Var/T^3 0.897655  finite difference 0.897655
    #> T = 2.0   Var/T^3 0.249830  finite difference 0.249830
    #> T = 10.0  Var/T^3 0.002297  finite difference 0.002297
# --8<-- [end:entropy_grows]


# --8<-- [start:subtract_then_divide]
logits = np.array([6e4, -6e4], dtype=np.float16)
with np.errstate(over="ignore", invalid="ignore"):
    scaled = logits / np.float16(0.5)  # 120000: float16 ends at 65504
    weights = np.exp(scaled - scaled.max())
print(scaled, weights / weights.sum())
#> [ inf -inf] [nan nan]
print(temperature_softmax(logits, 0.5), temperature_softmax([1.0, 2.0], 1e-320))
#> [1. 0.] [0. 1.]
# --8<-- [end:subtract_then_divide]


# --8<-- [start:refused]
for temperature in (-1.0, float("nan"), np.array([0.5, 2.0])):
    try:
        temperature_softmax([[1.0, 2.0], [3.0, 4.0]], temperature)
    except ValueError as error:
        print(str(error).replace("; ", "\n"))
        #> temperature must be >= 0, got -1.0
        #> temperature must be >= 0, got nan
        #> temperature must be one number, got shape (2,)
        #> per row: softmax(logits / temperature[..., None])
# --8<-- [end:refused]


# --8<-- [start:filter_order]
logits = [5.0, 3.0, 2.0, 1.0]
for filters in ({"top_k": 2}, {"top_p": 0.9}, {"min_p": 0.1}):
    for order in ("temperature_first", "temperature_last"):
        probs = sampling_distribution(logits, 2.0, **filters, order=order)
        print(f"{filters!s:14} {order:17}", probs.round(4))
        #> {'top_k': 2}   temperature_first [0.7311 0.2689 0.     0.    ]
        #> {'top_k': 2}   temperature_last  [0.7311 0.2689 0.     0.    ]
        #> {'top_p': 0.9} temperature_first [0.6285 0.2312 0.1402 0.    ]
        #> {'top_p': 0.9} temperature_last  [0.7311 0.2689 0.     0.    ]
        #> {'min_p': 0.1} temperature_first [0.5793 0.2131 0.1293 0.0784]
        #> {'min_p': 0.1} temperature_last  [0.7311 0.2689 0.     0.    ]
# --8<-- [end:filter_order]


# --8<-- [start:three_recipes]
logits, temperature = np.array([3.0, 1.0, 0.0]), 0.7
probs = temperature_softmax(logits, 1.0)
print("logits / T       ", temperature_softmax(logits, temperature).round(6))
#> logits / T        [0.933536 0.053615 0.012849]
print("log-probs / T    ", temperature_softmax(np.log(probs), temperature).round(6))
#> log-probs / T     [0.933536 0.053615 0.012849]
print("p^(1/T)          ", power_temperature(probs, temperature).round(6))
#> p^(1/T)           [0.933536 0.053615 0.012849]
# Another distribution:
print("softmax of p / T ", temperature_softmax(probs, temperature).round(6))
#> softmax of p / T  [0.598536 0.211073 0.190391]
# --8<-- [end:three_recipes]


# --8<-- [start:impossible_stays_impossible]
probs = np.array([0.5, 0.5, 0.0])
print(power_temperature(probs, 2.0))
#> [0.5 0.5 0. ]
# Probabilities fed as if they were logits:
print(temperature_softmax(probs, 2.0).round(4))
#> [0.3599 0.3599 0.2803]
log_probs = np.log(probs, out=np.zeros(3), where=probs > 0)  # log 0 replaced by 0
print(temperature_softmax(log_probs, 2.0).round(4))
#> [0.2929 0.2929 0.4142]
# --8<-- [end:impossible_stays_impossible]


# --8<-- [start:gumbel_frequencies]
logits, rng = np.array([5.0, 3.0, 2.0, 1.0]), np.random.default_rng(0)
draws = gumbel_max(logits, rng, size=100_000)
print("drawn  ", (np.bincount(draws) / len(draws)).round(3))
#> drawn   [0.831 0.112 0.041 0.015]
print("softmax", temperature_softmax(logits, 1.0).round(3))
#> softmax [0.831 0.112 0.041 0.015]
largest = np.max(logits + gumbel_noise(rng.random((100_000, 4))), axis=-1)
# E max(z + G) = LSE + gamma
expected = np.log(np.sum(np.exp(logits))) + np.euler_gamma
print(f"{largest.mean():.2f} {expected:.2f}")
#> 5.77 5.76
# --8<-- [end:gumbel_frequencies]


# --8<-- [start:inverse_cdf_ends]
probs = np.array([0.0, 0.5, 0.5, 0.0])
print(inverse_cdf(probs, [0.0, 0.25, 0.5, 1.0]))
#> [1 1 2 2]
# The usual line draws option 0, which is impossible.
print(np.searchsorted(np.cumsum(probs), [0.0, 1.0]))
#> [0 2]
twelfths = np.full(12, 1 / 12, dtype=np.float32)
u = 1 - 2**-53
# There is no option 12.
print(inverse_cdf(twelfths, u), np.searchsorted(np.cumsum(twelfths), u))
#> 11 12
# --8<-- [end:inverse_cdf_ends]


# --8<-- [start:annealing]
for kind in ("geometric", "linear"):
    schedule = [annealing_schedule(step, 4, 5.0, 0.1, kind) for step in range(5)]
    print(kind, [round(temperature, 3) for temperature in schedule])
    #> geometric [5.0, 1.88, 0.707, 0.266, 0.1]
    #> linear [5.0, 3.775, 2.55, 1.325, 0.1]
# --8<-- [end:annealing]


# --8<-- [start:dynamic_temperature]
logits = np.array([[5.0, 3.0, 2.0, 1.0], [9.0, 1.0, 1.0, 0.0], [1.2, 1.1, 1.0, 0.9]])
temperature = temperature_for_entropy(logits, target_entropy=1.0)
print("T", temperature.round(3))
#> T [1.652 4.631 0.109]
before = entropy_from_logits(logits)
after = entropy_from_logits(logits / temperature[:, None])
print("H", before.round(3), "->", after.round(6))
#> H [0.595 0.007 1.38 ] -> [1. 1. 1.]
# --8<-- [end:dynamic_temperature]


# --8<-- [start:calibration]
rng = np.random.default_rng(0)
honest = 1.5 * rng.standard_normal((4000, 5))
targets = gumbel_max(honest, rng)  # what happens follows softmax(honest)
logits = 3 * honest  # what the over-confident model says
fitted = fit_temperature(logits, targets)
print(f"fitted T = {fitted:.2f}")
#> fitted T = 3.08
for temperature in (1.0, fitted):
    probs = temperature_softmax(logits, temperature)
    nll = -np.mean(np.log(probs[np.arange(len(targets)), targets]))
    right = np.mean(np.argmax(probs, axis=-1) == targets)
    ece = expected_calibration_error(probs, targets)
    print(f"T = {temperature:.2f}  NLL {nll:.3f}  ECE {ece:.3f}  accuracy {right:.3f}")
    #> T = 1.00  NLL 1.702  ECE 0.261  accuracy 0.564
    #> T = 3.08  NLL 1.106  ECE 0.010  accuracy 0.564
# --8<-- [end:calibration]


# --8<-- [start:published_fits]
published = {
    0.1: [999, 1, 0, 0],
    0.5: [820, 140, 30, 10],
    1.0: [640, 200, 110, 50],
    2.0: [410, 270, 200, 120],
    10.0: [280, 260, 240, 220],
}
logits = np.tile([5.0, 3.0, 2.0, 1.0], (1000, 1))
for label, counts in published.items():  # read a row as 1000 draws, and fit T to them
    fitted = fit_temperature(logits, np.repeat(range(4), counts))
    print(f"the row printed for T = {label} fits T = {fitted:.3f}")
    #> the row printed for T = 0.1 fits T = 0.288
    #> the row printed for T = 0.5 fits T = 1.000
    #> the row printed for T = 1.0 fits T = 1.654
    #> the row printed for T = 2.0 fits T = 3.646
    #> the row printed for T = 10.0 fits T = 17.117
# --8<-- [end:published_fits]


# --8<-- [start:grammar]
# A toy model of "()" strings of length 4: it likes a legal bracket better, by 0.5.
def next_logits(text):
    depth = text.count("(") - text.count(")")
    return [0.0 if depth == 4 - len(text) else 0.5, 0.0 if depth == 0 else 0.5]


for temperature in (1.0, 0.5, 0.1):
    valid = 0.0
    for text in ("(())", "()()"):  # the only two legal strings
        steps = [next_logits(text[:length]) for length in range(4)]
        probs = temperature_softmax(steps, temperature)
        chosen = ["()".index(bracket) for bracket in text]
        valid += np.prod(probs[range(4), chosen])
    invalid, once = 1 - valid, 1 - valid**100
    print(f"T = {temperature}  invalid {invalid:.4f}  at least one in 100 {once:.4f}")
    #> T = 1.0  invalid 0.7588  at least one in 100 1.0000
    #> T = 0.5  invalid 0.6093  at least one in 100 1.0000
    #> T = 0.1  invalid 0.0199  at least one in 100 0.8666
# --8<-- [end:grammar]
