"""Answers to the exercises of the stability chapter."""

import numpy as np

from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import cross_entropy, log_softmax, logsumexp


# --8<-- [start:log_of_a_sum]
def log_add(a, b):
    """Return log(exp(a) + exp(b)) of two numbers: no overflow, and no tail is lost."""
    larger, smaller = max(a, b), min(a, b)
    if larger in (-np.inf, np.inf):  # smaller - larger would be nan
        return larger
    return larger + np.log1p(np.exp(smaller - larger))


for pair in ([1000.0, 1000.0], [0.0, -40.0], [-np.inf, -np.inf], [np.inf, 0.0]):
    others = [np.logaddexp(*pair), logsumexp(pair)]
    print(pair, f"{log_add(*pair):.6g}", np.allclose(others, log_add(*pair), atol=0))
    #> [1000.0, 1000.0] 1000.69 True
    #> [0.0, -40.0] 4.24835e-18 True
    #> [-inf, -inf] -inf True
    #> [inf, 0.0] inf True
# --8<-- [end:log_of_a_sum]


# --8<-- [start:smallest_gap]
def smallest_gap(dtype):
    """Return the smallest multiple of 1/2 at which log(softmax([0, -gap])) is -inf."""
    gaps = np.arange(0, 1000, 0.5).astype(dtype)
    logits = np.stack([np.zeros_like(gaps), -gaps], axis=-1)
    with np.errstate(divide="ignore"):
        lost = np.isinf(np.log(softmax(logits)[:, 1]))
    assert not np.any(np.isinf(log_softmax(logits)))
    return gaps[lost][0]


for dtype in (np.float16, np.float32, np.float64):
    gap, half = smallest_gap(dtype), np.finfo(dtype).smallest_subnormal.astype(float)
    predicted = np.log(2) - np.log(half)
    print(f"{dtype.__name__}: {gap}, half the smallest number is exp(-{predicted:.2f})")
    #> float16: 17.5, half the smallest number is exp(-17.33)
    #> float32: 104.0, half the smallest number is exp(-103.97)
    #> float64: 745.5, half the smallest number is exp(-745.13)
# --8<-- [end:smallest_gap]


# --8<-- [start:stuck_loss]
# The loss of a perfect model stays at 0.743668. How many classes are there, and why?
stuck = 0.743668
classes = 1 + np.e * (np.exp(stuck) - 1)  # solve stuck = ln(1 + (K - 1) / e) for K
floor = cross_entropy([1, 0, 0, 0], 0)  # probabilities fed as logits: softmax twice
print(f"{classes:.4f} classes, and {floor:.6f} is the least that softmax twice allows")
#> 4.0000 classes, and 0.743668 is the least that softmax twice allows

# From logits, what lead does a loss of 0.001 take?
lead = np.log(3) - np.log(np.expm1(0.001))
print(f"lead {lead:.6f}, loss {cross_entropy([lead, 0, 0, 0], 0):.6f}")
#> lead 8.005868, loss 0.001000
# --8<-- [end:stuck_loss]
