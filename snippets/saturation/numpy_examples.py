"""What the saturation chapter runs in NumPy: each section prints what the page says."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import softmax
from snippets.saturation.experiment import (
    grown_attention,
    learn_silence,
    random_attention,
    value_softmax_flow,
)
from snippets.saturation.numpy_reference import (
    attention_entropy_floor,
    attention_statistics,
    entropy_grad,
    gini_simpson,
    jacobian_spectral_norm,
    log_softmax_vjp,
    softcap,
    softmax_jacobian,
    softmax_jacobian_simple,
    softmax_off_by_one,
    softmax_vjp,
    softmax_vjp_simple,
)
from snippets.temperature.numpy_reference import entropy_from_logits


# --8<-- [start:first_look]
for nudge in (0.0, 0.1, 1.0):
    weights = np.exp([10.0, nudge, 0.0])
    print(nudge, (weights / weights.sum()).round(5))
    #> 0.0 [9.9991e-01 5.0000e-05 5.0000e-05]
    #> 0.1 [9.999e-01 5.000e-05 5.000e-05]
    #> 1.0 [9.9983e-01 1.2000e-04 5.0000e-05]
# --8<-- [end:first_look]


# --8<-- [start:saturated]
for first in (10.0, 100.0):
    probs = softmax([first, 0.0, 0.0])
    shown, norm = " ".join(f"{p:.9g}" for p in probs), jacobian_spectral_norm(probs)
    print(f"[{first:.0f}, 0, 0]: {shown}  ||J|| = {norm:.4e}")
    #> [10, 0, 0]: 0.999909208 4.53958078e-05 4.53958078e-05  ||J|| = 1.3618e-04
    #> [100, 0, 0]: 1 3.72007598e-44 3.72007598e-44  ||J|| = 1.1160e-43
# --8<-- [end:saturated]


# --8<-- [start:jacobian]
logits, step = np.array([2.0, 1.0, 0.1]), 1e-5
jacobian = softmax_jacobian_simple(logits)
print(jacobian.round(4))
#> [[ 0.2247 -0.1598 -0.065 ]
#>  [-0.1598  0.1837 -0.0239]
#>  [-0.065  -0.0239  0.0889]]
print("rows sum to 0:", np.allclose(jacobian.sum(axis=1), 0, atol=1e-15))
#> rows sum to 0: True
for j in range(3):  # push logit j a little both ways: what moves is column j
    push = step * (np.arange(3) == j)
    moved = (softmax(logits + push) - softmax(logits - push)) / (2 * step)
    print("column", j, moved.round(4), np.allclose(moved, jacobian[:, j], atol=1e-10))
    #> column 0 [ 0.2247 -0.1598 -0.065 ] True
    #> column 1 [-0.1598  0.1837 -0.0239] True
    #> column 2 [-0.065  -0.0239  0.0889] True
# --8<-- [end:jacobian]


# --8<-- [start:vjp]
rng = np.random.default_rng(0)
logits, grad = rng.standard_normal((2, 1000))
product = softmax_jacobian(logits) @ grad
print(np.allclose(softmax_vjp(logits, grad), product, rtol=1e-9, atol=1e-15))
#> True
print(f"{logits.size:,} numbers instead of {logits.size**2:,}")
#> 1,000 numbers instead of 1,000,000
probs, grad = softmax([1.0, 2.0, 3.0]), np.array([1.0, 0.0, -1.0])
print("only the diagonal:", (probs * (1 - probs) * grad).round(4))
#> only the diagonal: [ 0.0819  0.     -0.2227]
print("the whole of it:  ", softmax_vjp([1.0, 2.0, 3.0], grad).round(4))
#> the whole of it:   [ 0.1418  0.1408 -0.2826]
# --8<-- [end:vjp]


# --8<-- [start:vjp_saturated]
logits, grad = np.array([40.0, 0.0]), np.array([1.0, 0.0])
for vjp in (softmax_vjp_simple, softmax_vjp, log_softmax_vjp):
    print(f"{vjp.__name__:<19}", " ".join(f"{g:.6g}" for g in vjp(logits, grad)))
    #> softmax_vjp_simple  0 -4.24835e-18
    #> softmax_vjp         4.24835e-18 -4.24835e-18
    #> log_softmax_vjp     4.24835e-18 -4.24835e-18
# --8<-- [end:vjp_saturated]


# --8<-- [start:edges]
logits = [[1.0, 2.0], [-np.inf, 0.0], [-np.inf, -np.inf], [np.nan, 0.0]]
print(softmax_vjp(logits, np.array([[1.0, 0.0]] * 4)).round(4))
#> [[ 0.1966 -0.1966]
#>  [ 0.      0.    ]
#>  [    nan     nan]
#>  [    nan     nan]]
half = np.array([8.0, 0.0], dtype=np.float16)
print(softmax_vjp(half, half).dtype, softmax_vjp([8, 0], [1, 0]).dtype)
#> float16 float64
# --8<-- [end:edges]


# --8<-- [start:where_largest]
for n in (2, 3, 100, 131_072):
    uniform = jacobian_spectral_norm(np.full(n, 1 / n))
    tie = jacobian_spectral_norm(np.array([0.5, 0.5] + [0.0] * (n - 2)))
    print(f"n = {n:<6}  uniform {uniform:.3g}  two-way tie {tie:.3g}")
    #> n = 2       uniform 0.5  two-way tie 0.5
    #> n = 3       uniform 0.333  two-way tie 0.5
    #> n = 100     uniform 0.01  two-way tie 0.5
    #> n = 131072  uniform 7.63e-06  two-way tie 0.5
# --8<-- [end:where_largest]


# --8<-- [start:entropy_is_not_gradient]
uniform, tie = np.zeros(100), np.where(np.arange(100) < 2, 0.0, -np.inf)
for name, logits in (("uniform", uniform), ("tie", tie)):
    entropy, norm = entropy_from_logits(logits), jacobian_spectral_norm(softmax(logits))
    print(f"{name:<8} H = {entropy:.4f}  ||J|| = {norm:.2f}")
    #> uniform  H = 4.6052  ||J|| = 0.01
    #> tie      H = 0.6931  ||J|| = 0.50
for p in (0.5, 0.9, 0.99, 0.9999):
    entropy = entropy_from_logits(np.log([p, 1 - p]))
    print(f"p = {p:<6}  p(1 - p) / H = {p * (1 - p) / entropy:.4f}")
    #> p = 0.5     p(1 - p) / H = 0.3607
    #> p = 0.9     p(1 - p) / H = 0.2769
    #> p = 0.99    p(1 - p) / H = 0.1768
    #> p = 0.9999  p(1 - p) / H = 0.0979
# --8<-- [end:entropy_is_not_gradient]


# --8<-- [start:trace_bound]
rng = np.random.default_rng(0)
probs = rng.dirichlet(np.full(8, 0.3), size=10_000)
with np.errstate(divide="ignore"):  # a probability may be 0
    bound = entropy_from_logits(np.log(probs)) / (2 * np.log(2))
print("ever above the bound:", np.any(gini_simpson(probs) > bound * (1 + 1e-12)))
#> ever above the bound: False
for row in ([0.5, 0.5], [0.99, 0.01], [0.25, 0.25, 0.25, 0.25]):
    bound = entropy_from_logits(np.log(row)) / (2 * np.log(2))
    print(row, f"tr J = {gini_simpson(row):.4f}  bound {bound:.4f}")
    #> [0.5, 0.5] tr J = 0.5000  bound 0.5000
    #> [0.99, 0.01] tr J = 0.0198  bound 0.0404
    #> [0.25, 0.25, 0.25, 0.25] tr J = 0.7500  bound 1.0000
# --8<-- [end:trace_bound]


# --8<-- [start:losses]
logits = np.array([10.0, 0.0, 0.0])  # sure of class 0, and class 1 is right
probs, target = softmax(logits), np.array([0.0, 1.0, 0.0])
gradients = {
    "cross-entropy": log_softmax_vjp(logits, -target),  # p - y
    "squared error of p": softmax_vjp(logits, 2 * (probs - target)),
    "cross-entropy, class 0 right": log_softmax_vjp(logits, [-1.0, 0.0, 0.0]),
}
for loss, gradient in gradients.items():
    print(f"{loss:<28}", " ".join(f"{g:11.5g}" for g in gradient))
    #> cross-entropy                    0.99991    -0.99995  4.5396e-05
    #> squared error of p            0.00027233 -0.00018156 -9.0767e-05
    #> cross-entropy, class 0 right -9.0792e-05  4.5396e-05  4.5396e-05
# --8<-- [end:losses]


# --8<-- [start:large_step]
for second in (0.0, 0.1, 10.0, 12.0):
    probs = softmax([10.0, second, 0.0])
    print(f"[10, {second:g}, 0]:", " ".join(f"{p:.5f}" for p in probs))
    #> [10, 0, 0]: 0.99991 0.00005 0.00005
    #> [10, 0.1, 0]: 0.99990 0.00005 0.00005
    #> [10, 10, 0]: 0.49999 0.49999 0.00002
    #> [10, 12, 0]: 0.11920 0.88079 0.00001
# --8<-- [end:large_step]


# --8<-- [start:value_path]
value = np.array(
    [
        [1.54, -0.29, -2.18, 0.57],
        [-1.08, -1.40, 0.40, 0.84],
        [-0.72, -0.40, -0.60, 0.18],
    ]
)
scores = np.array([10.0, 0.0, 0.0])
weights = softmax(scores)
d_output = 2 * weights @ value  # the loss is the squared length of the output
d_value = np.outer(weights, d_output)
d_scores = softmax_vjp(scores, value @ d_output)
print(f"||dL/dV|| = {np.linalg.norm(d_value):.2f}")
#> ||dL/dV|| = 5.49
print(f"||dL/ds|| = {np.linalg.norm(d_scores):.4f}")
#> ||dL/ds|| = 0.0018
# --8<-- [end:value_path]


# --8<-- [start:three_collapses]
n = 8
diffuse = softmax(np.random.default_rng(0).standard_normal((2, n, n)))
own_key = np.stack([np.eye(n), np.roll(np.eye(n), 1, axis=1)])  # one key a query
maps = {
    "healthy": diffuse,
    "entropy collapse": 0.95 * own_key + 0.05 / n,
    "attention sink": 0.6 * (np.arange(n) == 0) + 0.4 * diffuse,
    "attention collapse": np.stack([diffuse[0], diffuse[0]]),  # the layers are equal
}
for name, weights in maps.items():
    entropy, first, alike = attention_statistics(weights)
    print(f"{name:<18}  entropy {entropy:.2f}  first {first:.2f}  alike {alike:.2f}")
    #> healthy             entropy 1.79  first 0.14  alike 0.60
    #> entropy collapse    entropy 0.26  first 0.12  alike 0.11
    #> attention sink      entropy 1.21  first 0.66  alike 0.60
    #> attention collapse  entropy 1.81  first 0.15  alike 1.00
# --8<-- [end:three_collapses]


# --8<-- [start:spend_nothing]
scores = np.full(8, -5.0)  # nothing here is worth attending to
for function in (softmax, softmax_off_by_one):
    weights, sure = function(scores), function([10.0, 0.0, 0.0])
    total = f"sum {weights.sum():.4f}"
    print(f"{function.__name__:<18}  {total}  first of [10, 0, 0]: {sure[0]:.5f}")
    #> softmax             sum 1.0000  first of [10, 0, 0]: 0.99991
    #> softmax_off_by_one  sum 0.0511  first of [10, 0, 0]: 0.99986
# --8<-- [end:spend_nothing]


# --8<-- [start:learn_silence]
values = np.random.default_rng(0).standard_normal((4, 8))
silent = np.where(np.arange(8) == 0, 0, values)  # the first token has nothing to add
positive = np.abs(values)  # no mixture of these is 0
for kind in ("softmax", "off by one", "sigmoid"):
    first, others, output = learn_silence(kind, silent)
    print(f"{kind:<10}  first {first:.2f}  others {others:.2f}  output {output:.2f}")
    #> softmax     first 0.95  others 0.05  output 0.05
    #> off by one  first 0.93  others 0.06  output 0.06
    #> sigmoid     first 0.11  others 0.13  output 0.13
for kind in ("softmax", "off by one", "sigmoid"):
    output = learn_silence(kind, positive)[2]
    print(f"{kind:<10}  output without a silent token {output:.2f}")
    #> softmax     output without a silent token 1.06
    #> off by one  output without a silent token 0.27
    #> sigmoid     output without a silent token 0.14
# --8<-- [end:learn_silence]


# --8<-- [start:random_model]
for n, draws in ((2, 4000), (128, 300)):
    for scale in (1.0, 1 / 8):  # d = 64
        rng = np.random.default_rng(0)
        jacobian, top, gradient = random_attention(n, 64, scale, draws, rng)
        norms = f"median ||J||_F {jacobian:.2g}  mean ||dL/dq|| {gradient:.2f}"
        print(f"n = {n:<3}  scale {scale:<5}  top {top:.2f}  {norms}")
        #> n = 2    scale 1.0    top 0.95  median ||J||_F 0.0012  mean ||dL/dq|| 0.46
        #> n = 2    scale 0.125  top 0.72  median ||J||_F 0.41  mean ||dL/dq|| 0.29
        #> n = 128  scale 1.0    top 0.77  median ||J||_F 0.22  mean ||dL/dq|| 1.48
        #> n = 128  scale 0.125  top 0.07  median ||J||_F 0.13  mean ||dL/dq|| 0.13
# --8<-- [end:random_model]


# --8<-- [start:entropy_floor]
for sigma in (1, 5, 10, 20):
    print(f"sigma = {sigma:<2}  H >= {attention_entropy_floor(1024, sigma):.4g}")
    #> sigma = 1   H >= 6.93
    #> sigma = 5   H >= 6.431
    #> sigma = 10  H >= 0.4872
    #> sigma = 20  H >= 4.387e-05
print(f"ln 1024 = {np.log(1024):.4f}")
#> ln 1024 = 6.9315
row = np.where(np.arange(1024) == 0, 10 * np.sqrt(1024 / 1023), 0.0)
norm, entropy = np.linalg.norm(row - row.mean()), entropy_from_logits(row)
print(f"reached by one logit that leads: norm {norm:.4f}, H = {entropy:.4f}")
#> reached by one logit that leads: norm 10.0000, H = 0.4872
# --8<-- [end:entropy_floor]


# --8<-- [start:massive_activation]
rng = np.random.default_rng(0)
to_key = rng.standard_normal((16, 16)) / 4
query = 2 * to_key[3]  # a head that looks for feature 3
for size in (0, 300):
    tokens = rng.standard_normal((1000, 6, 16))  # 1000 texts, nothing in common
    tokens[:, 0, 3] += size  # except one feature of the first token
    rms = np.sqrt(np.mean(tokens**2, axis=-1, keepdims=True))
    key = tokens / rms @ to_key  # RMSNorm first
    unit = key[:, 0] / np.linalg.norm(key[:, 0], axis=-1, keepdims=True)
    first = softmax(key @ query / 4)[:, 0]
    alike = np.linalg.norm(np.mean(unit, axis=0))  # 1 if they all point one way
    share = f"{first.mean():.2f} ± {first.std():.2f}"
    print(f"feature + {size:<3}  first keys alike {alike:.2f}  first weight {share}")
    #> feature + 0    first keys alike 0.03  first weight 0.17 ± 0.09
    #> feature + 300  first keys alike 1.00  first weight 0.57 ± 0.07
# --8<-- [end:massive_activation]


# --8<-- [start:softcap]
for score in (1.0, 10.0, 50.0, 100.0, 1000.0):
    slope = 1 / np.cosh(score / 50) ** 2
    print(f"score {score:<6}  capped {softcap(score, 50.0):.4f}  slope {slope:.3g}")
    #> score 1.0     capped 0.9999  slope 1
    #> score 10.0    capped 9.8688  slope 0.961
    #> score 50.0    capped 38.0797  slope 0.42
    #> score 100.0   capped 48.2014  slope 0.0707
    #> score 1000.0  capped 50.0000  slope 1.7e-17
print(f"lower cap beside upper: {softmax(softcap([1000.0, -1000.0], 50.0))[1]:.2g}")
#> lower cap beside upper: 3.7e-44
print("1000, 500, 0 at cap 5:", softmax(softcap([1000.0, 500.0, 0.0], 5.0)).round(3))
#> 1000, 500, 0 at cap 5: [0.498 0.498 0.003]
# --8<-- [end:softcap]


# --8<-- [start:learned_gain]
n, gain = 128, 1.0
target = (np.arange(n) == 0).astype(float)
cosine = 2 * target - 1  # 1 for key 0, -1 for all others: QK-Norm can do no better
print(f"gain {gain:.2f}  top weight {softmax(gain * cosine)[0]:.4f}")
#> gain 1.00  top weight 0.0550
print(f"1 / (1 + 127 exp(-2)) = {1 / (1 + (n - 1) * np.exp(-2)):.4f}")
#> 1 / (1 + 127 exp(-2)) = 0.0550
for _ in range(200):  # cross-entropy with key 0 as target
    gain -= 0.1 * (softmax(gain * cosine) - target) @ cosine
print(f"gain {gain:.2f}  top weight {softmax(gain * cosine)[0]:.4f}")
#> gain 4.57  top weight 0.9866
# --8<-- [end:learned_gain]


# --8<-- [start:growth]
before, after = (grown_attention(g, np.random.default_rng(0)) for g in (1, 16))
for remedy in before:
    pair = [weights[remedy] for weights in (before, after)]
    shares = [weights / weights.sum(axis=-1, keepdims=True) for weights in pair]
    with np.errstate(divide="ignore"):  # a share may be 0
        entropy = [entropy_from_logits(np.log(share)).mean() for share in shares]
    top = [share.max(axis=-1).mean() for share in shares]
    top, entropy = ("{:.2f} -> {:.2f}".format(*pair) for pair in (top, entropy))
    print(f"{remedy:<20}  top share {top}  entropy {entropy}")
    #> softmax, no scale     top share 0.75 -> 0.99  entropy 0.71 -> 0.03
    #> scaled by 1/sqrt(d)   top share 0.06 -> 0.87  entropy 4.37 -> 0.33
    #> scaled, capped at 50  top share 0.06 -> 0.79  entropy 4.37 -> 0.55
    #> QK-Norm               top share 0.17 -> 0.17  entropy 3.55 -> 3.55
    #> scaled, off by one    top share 0.06 -> 0.87  entropy 4.37 -> 0.33
    #> scaled, sigmoid       top share 0.06 -> 0.02  entropy 4.39 -> 3.97
# --8<-- [end:growth]


# --8<-- [start:sigmoid_alone]
scores = np.append(10.0, np.zeros(127))  # one key at 10, then 127 at 0
sigmoids = 1 / (1 + np.exp(np.log(128) - scores))
for name, w in (("softmax", softmax(scores)), ("sigmoid", sigmoids)):
    print(f"{name}: dw/ds of an ordinary key {w[1] * (1 - w[1]):.2g}")
    #> softmax: dw/ds of an ordinary key 4.5e-05
    #> sigmoid: dw/ds of an ordinary key 0.0077
far = 1 / (1 + np.exp(np.log(128) - 30.0))
print(f"a sigmoid saturates too: dw/ds at score 30 {far * (1 - far):.1g}")
#> a sigmoid saturates too: dw/ds at score 30 1e-11
# --8<-- [end:sigmoid_alone]


# --8<-- [start:entropy_bonus]
logits = np.array([4.0, 0.0, 0.0, 0.0])
for step in range(51):
    if step in (0, 50):
        entropy = entropy_from_logits(logits)
        norm = jacobian_spectral_norm(softmax(logits))
        print(f"step {step:<2}  H = {entropy:.4f}  ||J|| = {norm:.4f}")
        #> step 0   H = 0.2618  ||J|| = 0.0658
        #> step 50  H = 1.3863  ||J|| = 0.2507
    logits = logits + 0.5 * entropy_grad(logits)  # uphill in entropy, nothing else
fastest = np.abs(entropy_grad([40.0, 0.0, 0.0, 0.0])).max()
print(f"starting from 40, no logit moves faster than {fastest:.1g}")
#> starting from 40, no logit moves faster than 5e-16
# --8<-- [end:entropy_bonus]


# --8<-- [start:logistic_flow]
rng = np.random.default_rng(0)
values, label = 0.3 * rng.standard_normal((4, 8)), np.sign(rng.standard_normal(4))


def loss_grad(u):  # the mean of log(1 + exp(-label * u)) over four outputs
    return -label / (1 + np.exp(label * u)) / 4


times = (0, 10, 40, 200, 1200)
entropy, top = value_softmax_flow(values, np.zeros(8), loss_grad, times, step_size=1.0)
for row in zip(times, entropy, top, strict=True):
    print("time {:<4}  H = {:.3f}  top weight {:.3f}".format(*row))
    #> time 0     H = 2.079  top weight 0.125
    #> time 10    H = 2.077  top weight 0.140
    #> time 40    H = 2.033  top weight 0.209
    #> time 200   H = 0.360  top weight 0.936
    #> time 1200  H = 0.132  top weight 0.981
# --8<-- [end:logistic_flow]


# --8<-- [start:soft_target]
target = np.array([0.4, 0.3, 0.2, 0.1])
logits = np.array([5.0, 0.0, 0.0, 0.0])
print(f"before: H = {entropy_from_logits(logits):.6f}")
#> before: H = 0.119079
for _ in range(1000):
    logits = logits - (softmax(logits) - target)
print(f"after:  H = {entropy_from_logits(logits):.6f}")
#> after:  H = 1.279854
print(f"target: H = {entropy_from_logits(np.log(target)):.6f}")
#> target: H = 1.279854
# --8<-- [end:soft_target]
