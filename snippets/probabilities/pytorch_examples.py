"""What the chapter on probabilities shows, run in PyTorch."""

# --8<-- [start:imports]
import math

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import (
    base_softmax,
    boltzmann,
    sigmoid,
    softmax,
    softmax_simple,
)


# --8<-- [start:three_scores]
probs = softmax_simple(torch.tensor([2.0, 1.0, 0.1], dtype=torch.float64))
print([f"{p:.4f}" for p in probs.tolist()], f"sum {probs.sum():.4f}")
#> ['0.6590', '0.2424', '0.0986'] sum 1.0000
# --8<-- [end:three_scores]


# --8<-- [start:far_apart]
probs = softmax(torch.tensor([1000, 999, -500]))
third_is_zero = probs[2].item() == 0
print([f"{p:.4f}" for p in probs.tolist()], "third is exactly zero:", third_is_zero)
#> ['0.7311', '0.2689', '0.0000'] third is exactly zero: True
# --8<-- [end:far_apart]


# --8<-- [start:any_base]
logits = torch.tensor([2.0, 1.0, 0.1], dtype=torch.float64)
for base in (2, math.e, 10):
    temperature = 1 / math.log(base)
    ratio = base_softmax(logits, base) / softmax(logits / temperature)
    same = bool(torch.all((ratio - 1).abs() < 1e-12))
    print(f"base {base:.4f}, T {temperature:.4f}:", same)
    #> base 2.0000, T 1.4427: True
    #> base 2.7183, T 1.0000: True
    #> base 10.0000, T 0.4343: True
# --8<-- [end:any_base]


# --8<-- [start:two_options]
x = torch.tensor([-2.0, 0.0, 1.3], dtype=torch.float64)
print([f"{p:.6f}" for p in sigmoid(x).tolist()])
#> ['0.119203', '0.500000', '0.785835']
pairs = torch.stack([x, torch.zeros(3)], dim=-1)
print([f"{p:.6f}" for p in softmax(pairs)[:, 0].tolist()])
#> ['0.119203', '0.500000', '0.785835']
# --8<-- [end:two_options]


# --8<-- [start:slope_of_lse]
logits = torch.tensor([2.0, 1.0, 0.1], dtype=torch.float64, requires_grad=True)
torch.logsumexp(logits, dim=-1).backward()
print([f"{g:.6f}" for g in logits.grad.tolist()])
#> ['0.659001', '0.242433', '0.098566']
print([f"{p:.6f}" for p in softmax(logits).tolist()])
#> ['0.659001', '0.242433', '0.098566']
# --8<-- [end:slope_of_lse]


# --8<-- [start:half_lipschitz]
for logits in ([0.0, 0.0], [0.0, 0.0, -50.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.1]):
    at = torch.tensor(logits, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(softmax, at)
    print(logits, f"{torch.linalg.matrix_norm(jacobian, ord=2):.4f}")
    #> [0.0, 0.0] 0.5000
    #> [0.0, 0.0, -50.0] 0.5000
    #> [0.0, 0.0, 0.0] 0.3333
    #> [2.0, 1.0, 0.1] 0.3693
# --8<-- [end:half_lipschitz]


# --8<-- [start:energy_levels]
energies = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
for kt in (0.1, 1.0, 10.0, 1000.0):
    print(f"kT = {kt:6}", [f"{p:.4f}" for p in boltzmann(energies, kt).tolist()])
    #> kT =    0.1 ['1.0000', '0.0000', '0.0000']
    #> kT =    1.0 ['0.6652', '0.2447', '0.0900']
    #> kT =   10.0 ['0.3672', '0.3322', '0.3006']
    #> kT = 1000.0 ['0.3337', '0.3333', '0.3330']
# --8<-- [end:energy_levels]
