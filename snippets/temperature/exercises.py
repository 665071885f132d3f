"""Answers to the exercises of the temperature chapter."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.temperature.numpy_reference import power_temperature, temperature_softmax


# --8<-- [start:recover_temperature]
before, after = np.array([0.01, 0.01, 0.98]), np.array([0.2, 0.2, 0.6])
# ln(p3 / p1) is (z3 - z1) / T, so the two logarithms of the odds stand in the ratio
# of the temperatures.
temperature = np.log(before[2] / before[0]) / np.log(after[2] / after[0])
print(f"T = ln 98 / ln 3 = {temperature:.6f}")
#> T = ln 98 / ln 3 = 4.173417
print(power_temperature(before, temperature).round(6))
#> [0.2 0.2 0.6]
# --8<-- [end:recover_temperature]


# --8<-- [start:second_option_peak]
def peak_temperature(logits, option, low=1e-2, high=1e3):
    """Return the temperature at which the probability of `option` is largest.

    For a logit above the plain mean: below it the probability grows for ever.
    """
    for _ in range(60):
        middle = np.sqrt(low * high)
        # dp/dT is positive while the logit lies below the mean logit under p.
        still_growing = logits[option] < temperature_softmax(logits, middle) @ logits
        low, high = (middle, high) if still_growing else (low, middle)
    return middle


logits = np.array([5.0, 3.0, 2.0, 1.0])
peak = peak_temperature(logits, option=1)
print(f"T = {peak:.3f}, p2 = {temperature_softmax(logits, peak)[1]:.7f}")
#> T = 9.012, p2 = 0.2535223
for temperature in (0.9 * peak, 1.1 * peak):
    p2 = temperature_softmax(logits, temperature)[1]
    print(f"T = {temperature:.3f}, p2 = {p2:.7f}")
    #> T = 8.111, p2 = 0.2534779
    #> T = 9.914, p2 = 0.2534926
# --8<-- [end:second_option_peak]


# --8<-- [start:soft_maximum_order]
def soft_maximum(logits, temperature):
    """Return T * log(sum(exp(logits / T))).

    Close to the maximum for small T, close to mean + T ln n for large T.
    """
    top = np.max(logits)
    return top + temperature * np.log(np.sum(np.exp((logits - top) / temperature)))


even, uneven = np.array([1.0, 1.0, 1.0]), np.array([1.9, -1.0, -1.0])
for temperature in (0.1, 10.0):
    a, b = soft_maximum(even, temperature), soft_maximum(uneven, temperature)
    larger = "even" if a > b else "uneven"
    print(f"T = {temperature:<4}  even {a:.6f}  uneven {b:.6f}  larger: {larger}")
    #> T = 0.1   even 1.109861  uneven 1.900000  larger: uneven
    #> T = 10.0  even 11.986123  uneven 11.049006  larger: even
# --8<-- [end:soft_maximum_order]
