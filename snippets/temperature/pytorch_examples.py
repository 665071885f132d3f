"""What the temperature chapter runs in PyTorch: each section prints what the page says."""

import torch

from snippets.temperature.pytorch import sample, temperature_softmax

# --8<-- [start:same_numbers]
exact = temperature_softmax(torch.tensor([5.0, 3.0, 2.0, 1.0], dtype=torch.float64), 2.0)
print([f"{p:.6f}" for p in exact.tolist()])
#> ['0.579259', '0.213097', '0.129250', '0.078394']
for dtype, bound in ((torch.float32, 2e-6), (torch.float16, 2e-3), (torch.bfloat16, 1.6e-2)):
    probs = temperature_softmax(torch.tensor([5.0, 3.0, 2.0, 1.0], dtype=dtype), 2.0)
    print(dtype, "relative difference <=", bound, bool(torch.all((probs - exact).abs() <= bound * exact)))
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
print(f"T = {log_temperature.exp().item():.4f}")
#> T = 1.9460
print(f"p = {temperature_softmax(logits[0], log_temperature.exp().item())[0]:.4f} for the first option")
#> p = 0.5883 for the first option
# --8<-- [end:learned_temperature]


# --8<-- [start:reproducible]
probs = temperature_softmax(torch.tensor([5.0, 3.0, 2.0, 1.0]), 2.0)
for _ in range(2):
    print(sample(probs, torch.Generator().manual_seed(0), size=8).tolist())
    #> [3, 1, 0, 2, 1, 1, 0, 0]
    #> [3, 1, 0, 2, 1, 1, 0, 0]
# --8<-- [end:reproducible]
