"""Answers to the exercises of the chapter on probabilities."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import sigmoid, softmax


# --8<-- [start:two_and_four]
print(f"{softmax([2, 4])[0]:.9f}")  # the smaller of logits 2 and 4
#> 0.119202922
print(f"{softmax([12, 14])[0]:.9f}")  # 10 more on both
#> 0.119202922
print(f"{sigmoid(2 - 4):.9f}")  # only the difference counts: 1 / (1 + e^2)
#> 0.119202922
# Not e^-2, which forgets the other term of the sum, and not 1/9:
print(f"{np.exp(-2):.6f} {1 / 9:.6f}")
#> 0.135335 0.111111
# --8<-- [end:two_and_four]


# --8<-- [start:needed_lead]
share = 0.9
for n in (2, 10, 1000, 128_000):
    # The odds against all rivals together, times the n - 1 rivals that share the rest.
    lead = np.log(share / (1 - share)) + np.log(n - 1)
    logits = np.zeros(n)
    logits[0] = lead
    print(f"n = {n:6}: lead {lead:.4f} gives {softmax(logits)[0]:.6f}")
    #> n =      2: lead 2.1972 gives 0.900000
    #> n =     10: lead 4.3944 gives 0.900000
    #> n =   1000: lead 9.1040 gives 0.900000
    #> n = 128000: lead 13.9570 gives 0.900000
# --8<-- [end:needed_lead]


# --8<-- [start:loaded_die]
faces = np.arange(1, 7)
low, high = -5.0, 5.0
for _ in range(60):  # the mean grows with the slope: bisect for the mean 4.5
    slope = (low + high) / 2
    low, high = (slope, high) if softmax(slope * faces) @ faces < 4.5 else (low, slope)
probs = softmax(slope * faces)
print(f"slope {slope:.6f}, mean {probs @ faces:.4f}")
#> slope 0.371049, mean 4.5000
print(probs.round(6))
#> [0.054353 0.078772 0.11416  0.165447 0.239774 0.347494]
# --8<-- [end:loaded_die]
