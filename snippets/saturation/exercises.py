"""Answers to the exercises of the saturation chapter."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import softmax
from snippets.saturation.numpy_reference import (
    attention_entropy_floor,
    jacobian_spectral_norm,
    softmax_off_by_one,
)


# --8<-- [start:most_responsive_temperature]
# For p, (1 - p)/2, (1 - p)/2 the largest eigenvalue is 1.5 p (1 - p): largest where
# p = 1/2, and there exp(10 / T) = 2.
logits, best = np.array([10.0, 0.0, 0.0]), 10 / np.log(2)
print(f"T = 10 / ln 2 = {best:.4f}, p1 = {softmax(logits / best)[0]:.4f}")
#> T = 10 / ln 2 = 14.4270, p1 = 0.5000
for temperature in (1.0, 0.9 * best, best, 1.1 * best, 1e6):
    norm = jacobian_spectral_norm(softmax(logits / temperature))
    print(f"T = {temperature:<10.6g} ||J|| = {norm:.6f}")
    #> T = 1          ||J|| = 0.000136
    #> T = 12.9843    ||J|| = 0.374444
    #> T = 14.427     ||J|| = 0.375000
    #> T = 15.8696    ||J|| = 0.374628
    #> T = 1e+06      ||J|| = 0.333334
# --8<-- [end:most_responsive_temperature]


# --8<-- [start:off_by_one_vjp]
def softmax_off_by_one_vjp(logits, grad):
    """Return w * (grad - <w, grad>), w = softmax_off_by_one(logits): as for softmax."""
    weights = softmax_off_by_one(logits)
    return weights * (grad - np.sum(weights * grad, axis=-1, keepdims=True))


logits, grad, step = np.array([2.0, 1.0, -3.0]), np.array([1.0, -2.0, 0.5]), 1e-6
by_hand = softmax_off_by_one_vjp(logits, grad)
pushes = step * np.eye(3)
moved = softmax_off_by_one(logits + pushes) - softmax_off_by_one(logits - pushes)
print(by_hand.round(6), np.allclose(by_hand, moved @ grad / (2 * step)))
#> [ 0.544897 -0.530453  0.00144 ] True
left_over = 1 - softmax_off_by_one(logits).sum()  # w0
print(f"w0 (1 - w0) = {left_over * (1 - left_over):.6f}")
#> w0 (1 - w0) = 0.081595
same_for_all = softmax_off_by_one_vjp(logits, np.ones(3)).sum()
print(f"the same push for all sums to {same_for_all:.6f}, not to 0")
#> the same push for all sums to 0.081595, not to 0
# --8<-- [end:off_by_one_vjp]


# --8<-- [start:norm_for_entropy]
n, low, high = 1024, 0.0, 100.0
for _ in range(60):  # the floor falls as sigma grows
    sigma = (low + high) / 2
    above = attention_entropy_floor(n, sigma) > 1
    low, high = (sigma, high) if above else (low, sigma)
print(f"below sigma = {sigma:.4f} no row of {n} weights has less than 1 nat")
#> below sigma = 9.1455 no row of 1024 weights has less than 1 nat
gain = 0.5 * np.log(99 * (n - 1))  # 1 / (1 + (n - 1) exp(-2 gain)) = 0.99
cosine = np.where(np.arange(n) == 0, 1.0, -1.0)
print(f"QK-Norm with gain {gain:.4f}: {softmax(gain * cosine)[0]:.4f}")
#> QK-Norm with gain 5.7628: 0.9900
# --8<-- [end:norm_for_entropy]
