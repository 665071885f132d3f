"""What the temperature chapter runs in PyTorch; the prints are what the page says."""

# --8<-- [start:imports]
import torch
# --8<-- [end:imports]

from snippets.temperature.pytorch import (
    entropy_from_logits,
    expected_calibration_error,
    fit_temperature,
    gumbel_max,
    power_temperature,
    sample,
    sampling_distribution,
    temperature_derivatives,
    temperature_for_entropy,
    temperature_softmax,
    temperature_softmax_simple,
)


# --8<-- [start:simple]
logits = torch.tensor([5.0, 3.0, 2.0, 1.0])
for temperature in (0.5, 1.0, 2.0):
    probs = temperature_softmax_simple(logits, temperature)
    print(temperature, [f"{p:.3f}" for p in probs.tolist()])
    #> 0.5 ['0.979', '0.018', '0.002', '0.000']
    #> 1.0 ['0.831', '0.112', '0.041', '0.015']
    #> 2.0 ['0.579', '0.213', '0.129', '0.078']
# --8<-- [end:simple]


# --8<-- [start:same_numbers]
logits = torch.tensor([5.0, 3.0, 2.0, 1.0], dtype=torch.float64)
exact = temperature_softmax(logits, 2.0)
print([f"{p:.6f}" for p in exact.tolist()])
#> ['0.579259', '0.213097', '0.129250', '0.078394']
bounds = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
for dtype, bound in bounds.items():
    difference = (temperature_softmax(logits.to(dtype), 2.0) - exact).abs() / exact
    print(dtype, "relative difference <=", bound, bool(difference.max() <= bound))
    #> torch.float32 relative difference <= 2e-06 True
    #> torch.float16 relative difference <= 0.002 True
    #> torch.bfloat16 relative difference <= 0.016 True
# --8<-- [end:same_numbers]


# --8<-- [start:learned_temperature]
logits = torch.tensor([[5.0, 3.0, 2.0, 1.0]] * 10, dtype=torch.float64)
targets = torch.tensor([0] * 6 + [1] * 2 + [2] + [3])  # right six times in ten
log_temperature = torch.zeros((), dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.LBFGS([log_temperature], max_iter=50, tolerance_grad=1e-10)


def loss():
    optimizer.zero_grad()
    value = torch.nn.functional.cross_entropy(logits / log_temperature.exp(), targets)
    value.backward()
    return value


optimizer.step(loss)
learned = log_temperature.exp().item()
print(f"T = {learned:.4f}")
#> T = 1.9460
print(f"p = {temperature_softmax(logits[0], learned)[0]:.4f} for the first option")
#> p = 0.5883 for the first option
# --8<-- [end:learned_temperature]


# --8<-- [start:reproducible]
probs = temperature_softmax(torch.tensor([5.0, 3.0, 2.0, 1.0]), 2.0)
for _ in range(2):
    print(sample(probs, torch.Generator().manual_seed(0), size=8).tolist())
    #> [3, 1, 0, 2, 1, 1, 0, 0]
    #> [3, 1, 0, 2, 1, 1, 0, 0]
# --8<-- [end:reproducible]


# --8<-- [start:who_gains]
logits = torch.tensor([5.0, 3.0, 2.0, 1.0], dtype=torch.float64)
for temperature in (1.0, 100.0):
    leaf = torch.tensor(temperature, dtype=torch.float64, requires_grad=True)
    torch.softmax(logits / leaf, dim=-1)[1].backward()
    dp, _ = temperature_derivatives(logits, temperature)
    print(f"T = {temperature:<5}  dp2/dT = {dp[1]:+.1e}  autograd {leaf.grad:+.1e}")
    #> T = 1.0    dp2/dT = +1.8e-01  autograd +1.8e-01
    #> T = 100.0  dp2/dT = -5.7e-06  autograd -5.7e-06
# --8<-- [end:who_gains]


# --8<-- [start:entropy_grows]
logits = torch.tensor([5.0, 3.0, 2.0, 1.0], dtype=torch.float64)
for temperature in (0.5, 1.0, 2.0, 10.0):
    leaf = torch.tensor(temperature, dtype=torch.float64, requires_grad=True)
    entropy_from_logits(logits / leaf).backward()
    _, formula = temperature_derivatives(logits, temperature)
    print(f"T = {temperature:<4}  Var/T^3 = {formula:.6f}  autograd = {leaf.grad:.6f}")
    #> T = 0.5   Var/T^3 = 0.774980  autograd = 0.774980
    #> T = 1.0   Var/T^3 = 0.897655  autograd = 0.897655
    #> T = 2.0   Var/T^3 = 0.249830  autograd = 0.249830
    #> T = 10.0  Var/T^3 = 0.002297  autograd = 0.002297
# --8<-- [end:entropy_grows]


# --8<-- [start:three_recipes]
logits, temperature = torch.tensor([3.0, 1.0, 0.0], dtype=torch.float64), 0.7
probs = temperature_softmax(logits, 1.0)
recipes = {
    "logits / T": temperature_softmax(logits, temperature),
    "log-probs / T": temperature_softmax(probs.log(), temperature),
    "p^(1/T)": power_temperature(probs, temperature),
}
for name, tempered in recipes.items():
    print(f"{name:13} ", [f"{p:.6f}" for p in tempered.tolist()])
    #> logits / T     ['0.933536', '0.053615', '0.012849']
    #> log-probs / T  ['0.933536', '0.053615', '0.012849']
    #> p^(1/T)        ['0.933536', '0.053615', '0.012849']
# --8<-- [end:three_recipes]


# --8<-- [start:filter_order]
logits = torch.tensor([5.0, 3.0, 2.0, 1.0])
for filters in ({"top_k": 2}, {"top_p": 0.9}, {"min_p": 0.1}):
    for order in ("temperature_first", "temperature_last"):
        probs = sampling_distribution(logits, 2.0, **filters, order=order)
        print(f"{filters!s:14} {order:17}", [f"{p:.4f}" for p in probs.tolist()])
        #> {'top_k': 2}   temperature_first ['0.7311', '0.2689', '0.0000', '0.0000']
        #> {'top_k': 2}   temperature_last  ['0.7311', '0.2689', '0.0000', '0.0000']
        #> {'top_p': 0.9} temperature_first ['0.6285', '0.2312', '0.1402', '0.0000']
        #> {'top_p': 0.9} temperature_last  ['0.7311', '0.2689', '0.0000', '0.0000']
        #> {'min_p': 0.1} temperature_first ['0.5793', '0.2131', '0.1293', '0.0784']
        #> {'min_p': 0.1} temperature_last  ['0.7311', '0.2689', '0.0000', '0.0000']
# --8<-- [end:filter_order]


# --8<-- [start:gumbel_frequencies]
logits, generator = torch.tensor([5.0, 3.0, 2.0, 1.0]), torch.Generator().manual_seed(0)
draws = gumbel_max(logits, generator, size=100_000)
print([f"{f:.2f}" for f in (draws.bincount() / len(draws)).tolist()])
#> ['0.83', '0.11', '0.04', '0.02']
# --8<-- [end:gumbel_frequencies]


# --8<-- [start:dynamic_temperature]
rows = [[5.0, 3.0, 2.0, 1.0], [9.0, 1.0, 1.0, 0.0], [1.2, 1.1, 1.0, 0.9]]
logits = torch.tensor(rows, dtype=torch.float64)
temperature = temperature_for_entropy(logits, target_entropy=1.0)
print("T", [f"{t:.3f}" for t in temperature.tolist()])
#> T ['1.652', '4.631', '0.109']
entropy = entropy_from_logits(logits / temperature[:, None])
print("H", [f"{h:.6f}" for h in entropy.tolist()])
#> H ['1.000000', '1.000000', '1.000000']
# --8<-- [end:dynamic_temperature]


# --8<-- [start:calibration]
generator = torch.Generator().manual_seed(0)
honest = 1.5 * torch.randn(4000, 5, generator=generator, dtype=torch.float64)
targets, logits = gumbel_max(honest, generator), 3 * honest
fitted = float(fit_temperature(logits, targets))
for temperature in (1.0, fitted):
    probs = temperature_softmax(logits, temperature)
    ece = expected_calibration_error(probs, targets)
    print(f"T = {temperature:.2f}  ECE {ece:.3f}")
    #> T = 1.00  ECE 0.271
    #> T = 3.09  ECE 0.011
# --8<-- [end:calibration]
