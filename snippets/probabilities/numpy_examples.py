"""What the chapter on probabilities shows, run in NumPy."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import (
    base_softmax,
    boltzmann,
    sigmoid,
    softmax,
    softmax_simple,
)


# --8<-- [start:three_scores]
probs = softmax_simple(np.array([2.0, 1.0, 0.1]))
print(probs.round(4), probs.sum().round(4))
#> [0.659  0.2424 0.0986] 1.0
# --8<-- [end:three_scores]


# --8<-- [start:far_apart]
probs = softmax([1000, 999, -500])
print(probs.round(4), "third is exactly zero:", probs[2] == 0)
#> [0.7311 0.2689 0.    ] third is exactly zero: True

# log10 of exp(-1500) / (1 + exp(-1))
exponent = (-1500 - np.log1p(np.exp(-1))) / np.log(10)
print(f"its true value: {10 ** (exponent % 1):.4f}e{np.floor(exponent):.0f}")
#> its true value: 2.6438e-652
# --8<-- [end:far_apart]


# --8<-- [start:float_zeros]
for dtype, gaps in {"float16": (17.25, 17.5), "float32": (87.0, 104.0)}.items():
    for gap in gaps:
        small = softmax(np.array([gap, 0], dtype))[1]
        print(dtype, gap, f"{small:.2e}")
        #> float16 17.25 5.96e-08
        #> float16 17.5 0.00e+00
        #> float32 87.0 1.65e-38
        #> float32 104.0 0.00e+00
# --8<-- [end:float_zeros]


# --8<-- [start:divide_by_the_sum]
for logits in ([3.0, 2.0, -1.0], [1.0, -1.0]):
    with np.errstate(divide="ignore"):
        print(np.array(logits) / np.sum(logits), softmax(logits).round(4))
        #> [ 0.75  0.5  -0.25] [0.7214 0.2654 0.0132]
        #> [ inf -inf] [0.8808 0.1192]
# --8<-- [end:divide_by_the_sum]


# --8<-- [start:squares]
logits = np.array([-2.0, 1.0])
for shift in (0, 1):
    squares = (logits + shift) ** 2
    print(squares / squares.sum(), softmax(logits + shift).round(4))
    #> [0.8 0.2] [0.0474 0.9526]
    #> [0.2 0.8] [0.0474 0.9526]
# --8<-- [end:squares]


# --8<-- [start:any_base]
logits = np.array([2.0, 1.0, 0.1])
for base in (2, np.e, 10):
    temperature = 1 / np.log(base)
    same = softmax(logits / temperature)
    print(f"T = {temperature:.4f}", base_softmax(logits, base).round(4), same.round(4))
    #> T = 1.4427 [0.5656 0.2828 0.1516] [0.5656 0.2828 0.1516]
    #> T = 1.0000 [0.659  0.2424 0.0986] [0.659  0.2424 0.0986]
    #> T = 0.4343 [0.8988 0.0899 0.0113] [0.8988 0.0899 0.0113]
# --8<-- [end:any_base]


# --8<-- [start:shift_test]
candidates = {
    "exp(z)": np.exp,
    "2**z": np.exp2,
    "z**2": np.square,
    "softplus": lambda z: np.logaddexp(0, z),
    "1 / (5 - z)": lambda z: 1 / (5 - z),
}
logits = np.array([2.0, 1.0, 0.1])
for name, f in candidates.items():
    before, after = f(logits) / f(logits).sum(), f(logits + 1) / f(logits + 1).sum()
    verdict = "same" if np.allclose(before, after) else "different"
    print(f"{name:12}", before.round(3), after.round(3), verdict)
    #> exp(z)       [0.659 0.242 0.099] [0.659 0.242 0.099] same
    #> 2**z         [0.566 0.283 0.152] [0.566 0.283 0.152] same
    #> z**2         [0.798 0.2   0.002] [0.633 0.281 0.085] different
    #> softplus     [0.508 0.314 0.178] [0.465 0.324 0.211] different
    #> 1 / (5 - z)  [0.423 0.317 0.259] [0.459 0.306 0.235] different
# --8<-- [end:shift_test]


# --8<-- [start:lead]
for first, second in [(2.0, 1.0), (0.1, 0.01), (4.0, 1.0)]:
    gap, ratio = first - second, first / second
    odds = np.exp(gap)
    print(f"z = {first}, {second}: gap {gap:.2f}, ratio {ratio:.2f}, odds {odds:.3f}")
    #> z = 2.0, 1.0: gap 1.00, ratio 2.00, odds 2.718
    #> z = 0.1, 0.01: gap 0.09, ratio 10.00, odds 1.094
    #> z = 4.0, 1.0: gap 3.00, ratio 4.00, odds 20.086

gap = np.linspace(-3, 6, 90001)
print(f"smallest exp(gap) - gap: {np.min(np.exp(gap) - gap):.6f}")
#> smallest exp(gap) - gap: 1.000000
print(f"smallest 2**gap - gap: {np.min(2**gap - gap):.6f}")
#> smallest 2**gap - gap: 0.913929
# --8<-- [end:lead]


# --8<-- [start:odds_and_gaps]
for gap in (0.1, 1.0, 2.0, 5.0):
    p = softmax([gap, 0.0])
    odds, lead, tanh = p[0] / p[1], p[0] - p[1], np.tanh(gap / 2)
    print(f"gap {gap}: odds {odds:8.3f}, p1 - p2 {lead:.6f}, tanh(gap / 2) {tanh:.6f}")
    #> gap 0.1: odds    1.105, p1 - p2 0.049958, tanh(gap / 2) 0.049958
    #> gap 1.0: odds    2.718, p1 - p2 0.462117, tanh(gap / 2) 0.462117
    #> gap 2.0: odds    7.389, p1 - p2 0.761594, tanh(gap / 2) 0.761594
    #> gap 5.0: odds  148.413, p1 - p2 0.986614, tanh(gap / 2) 0.986614
# --8<-- [end:odds_and_gaps]


# --8<-- [start:half_lipschitz]
rng = np.random.default_rng(0)
largest = 0.0
for _ in range(20_000):
    first, step = rng.normal(size=(2, 5)) * 10 ** rng.uniform(-3, 1, size=(2, 1))
    moved = softmax(first + step) - softmax(first)
    largest = max(largest, np.linalg.norm(moved) / np.linalg.norm(step))
print(f"largest of 20000 random pairs: {largest:.2f}")
#> largest of 20000 random pairs: 0.44

step = np.array([1e-4, -1e-4])
moved = softmax(step) - softmax([0.0, 0.0])
print(f"at a tie of two: {np.linalg.norm(moved) / np.linalg.norm(step):.6f}")
#> at a tie of two: 0.500000
# --8<-- [end:half_lipschitz]


# --8<-- [start:small_change]
print(f"odds times {np.exp(0.1):.6f}")
#> odds times 1.105171

leads = np.linspace(-10, 10, 200_001)  # over all the other options together
moved = sigmoid(leads + 0.1) - sigmoid(leads)
start = sigmoid(leads[moved.argmax()])
print(f"probability moves at most {moved.max():.6f}, starting from {start:.4f}")
#> probability moves at most 0.024995, starting from 0.4875
# --8<-- [end:small_change]


# --8<-- [start:two_options]
x = np.array([-2.0, 0.0, 1.3])
print(sigmoid(x).round(6))
#> [0.119203 0.5      0.785835]
print(softmax(np.stack([x, np.zeros(3)], axis=-1))[:, 0].round(6))
#> [0.119203 0.5      0.785835]
# --8<-- [end:two_options]


# --8<-- [start:max_entropy]
scores = np.array([2.0, 1.0, 0.1])
best = softmax(scores)
# Moves along this direction keep the sum and the mean score.
direction = np.cross(np.ones(3), scores)
for step in (-0.05, -0.01, 0.0, 0.01, 0.05):
    p = best + step * direction
    total, mean, entropy = p.sum(), p @ scores, -(p * np.log(p)).sum()
    print(f"{step:5.2f}: sum {total:.4f}, mean score {mean:.4f}, entropy {entropy:.6f}")
    #> -0.05: sum 1.0000, mean score 1.5703, entropy 0.812605
    #> -0.01: sum 1.0000, mean score 1.5703, entropy 0.845421
    #>  0.00: sum 1.0000, mean score 1.5703, entropy 0.846738
    #>  0.01: sum 1.0000, mean score 1.5703, entropy 0.845425
    #>  0.05: sum 1.0000, mean score 1.5703, entropy 0.812971
# --8<-- [end:max_entropy]


# --8<-- [start:slope_of_lse]
def lse(z):
    return np.log(np.sum(np.exp(z)))


logits, h = np.array([2.0, 1.0, 0.1]), 1e-5
slopes = [(lse(logits + h * e) - lse(logits - h * e)) / (2 * h) for e in np.eye(3)]
print(np.round(slopes, 6), softmax(logits).round(6))
#> [0.659001 0.242433 0.098566] [0.659001 0.242433 0.098566]
# --8<-- [end:slope_of_lse]


# --8<-- [start:variational]
scores = np.array([2.0, 1.0, 0.1])
for p in (softmax(scores), np.ones(3) / 3, np.array([0.7, 0.2, 0.1])):
    total = p @ scores - (p * np.log(p)).sum()
    print(p.round(4), f"mean score + entropy = {total:.7f}")
    #> [0.659  0.2424 0.0986] mean score + entropy = 2.4170300
    #> [0.3333 0.3333 0.3333] mean score + entropy = 2.1319456
    #> [0.7 0.2 0.1] mean score + entropy = 2.4118186
print(f"log-sum-exp of the scores = {np.log(np.exp(scores).sum()):.7f}")
#> log-sum-exp of the scores = 2.4170300
# --8<-- [end:variational]


# --8<-- [start:energy_levels]
energies = np.array([0.0, 1.0, 2.0])
for kt in (0.1, 1.0, 10.0, 1000.0):
    print(f"kT = {kt:6}", boltzmann(energies, kt).round(4))
    #> kT =    0.1 [1. 0. 0.]
    #> kT =    1.0 [0.6652 0.2447 0.09  ]
    #> kT =   10.0 [0.3672 0.3322 0.3006]
    #> kT = 1000.0 [0.3337 0.3333 0.333 ]
# --8<-- [end:energy_levels]


# --8<-- [start:equilibrium]
energies, kt = np.array([0.0, 1.0, 2.0]), 0.5
# Metropolis: always downhill, seldom uphill.
accept = np.minimum(1, np.exp((energies[:, None] - energies) / kt))
step = accept / 3
np.fill_diagonal(step, 0)
step += np.diag(1 - step.sum(axis=1))

p = np.array([0.0, 0.0, 1.0])  # everything starts in the highest state
for _ in range(200):
    p = p @ step
print(p.round(6), boltzmann(energies, kt).round(6))
#> [0.866813 0.11731  0.015876] [0.866813 0.11731  0.015876]
# --8<-- [end:equilibrium]


# --8<-- [start:ground_states]
for energies in ([0, 1, 1], [0, 0, 1], [0, 0, 0, 1]):
    p = boltzmann(energies, 0.01)
    entropy = -np.sum(p[p > 0] * np.log(p[p > 0]))
    print(energies, p.round(4), f"entropy {entropy:.6f}")
    #> [0, 1, 1] [1. 0. 0.] entropy 0.000000
    #> [0, 0, 1] [0.5 0.5 0. ] entropy 0.693147
    #> [0, 0, 0, 1] [0.3333 0.3333 0.3333 0.    ] entropy 1.098612
print(f"ln 2 = {np.log(2):.6f}, ln 3 = {np.log(3):.6f}")
#> ln 2 = 0.693147, ln 3 = 1.098612
# --8<-- [end:ground_states]


# --8<-- [start:sharper_is_not_better]
logits = np.array([[4.0, 1.0, 0.0], [0.0, 3.0, 0.0], [5.0, 1.0, 2.0], [0.0, 1.0, 3.0]])
answers = np.array([0, 1, 1, 2])  # the third row is wrong, and sure of it
for temperature in (0.5, 1.0, 2.0):
    probs = softmax(logits / temperature)
    right = np.sum(probs.argmax(axis=-1) == answers)
    loss = -np.mean(np.log(probs[np.arange(4), answers]))
    print(f"T = {temperature}: right {right} of 4, mean loss {loss:.4f}")
    #> T = 0.5: right 3 of 4, mean loss 2.0078
    #> T = 1.0: right 3 of 4, mean loss 1.0991
    #> T = 2.0: right 3 of 4, mean loss 0.8615
# --8<-- [end:sharper_is_not_better]
