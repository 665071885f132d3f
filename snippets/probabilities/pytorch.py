"""Softmax in PyTorch: `torch.softmax`, and our own code where it falls short."""

# --8<-- [start:imports]
import math

import torch
# --8<-- [end:imports]

from snippets.tensors import as_floating


# --8<-- [start:softmax_simple]
def softmax_simple(logits):
    """Return exp(logits) divided by its sum along the last dimension.

    logits: a float64 tensor with entries between -700 and 700; outside, exp leaves the
    range of float64.
    """
    weights = torch.exp(logits)
    return weights / torch.sum(weights, dim=-1, keepdim=True)


# --8<-- [end:softmax_simple]


# --8<-- [start:softmax]
def softmax(logits, dim=-1):
    """Return softmax(logits) along `dim`: same shape, entries in [0, 1] that sum to 1.

    Device and dtype are those of the logits, the edges those of the NumPy reference.
    Two things differ from `torch.softmax`: integers are accepted, and what it returns
    is divided by its total. Inside it float32 sums run, which may drift (by 4e-5 over
    131,072 logits) and stall at 2**24; `torch.sum` adds in pairs: it keeps its mass.
    """
    logits, dtype = as_floating(logits)
    probs = torch.softmax(logits, dim)
    return (probs / probs.sum(dim, keepdim=True)).to(dtype)


# --8<-- [end:softmax]


# --8<-- [start:base_softmax]
def base_softmax(logits, base, dim=-1):
    """Return base**logits divided by its sum along `dim`.

    This is softmax at temperature 1 / ln(base). logits: real numbers, any shape, with
    the edges of `softmax`. base: one finite Python number > 1.
    """
    if isinstance(base, torch.Tensor) or not 1 < base < math.inf:
        raise ValueError(f"base must be one finite number > 1, got {base}")
    logits, dtype = as_floating(logits)
    if logits.numel() == 0:
        return logits.to(dtype)
    # Subtract before the product: large offsets cost no digits.
    shifted = logits - logits.detach().amax(dim, keepdim=True)
    return softmax(shifted * math.log(base), dim).to(dtype)


# --8<-- [end:base_softmax]


# --8<-- [start:sigmoid]
def sigmoid(x):
    """Return 1 / (1 + exp(-x)) elementwise: the first entry of softmax([x, 0]).

    x: real numbers, any shape; -inf gives 0, +inf gives 1, NaN stays NaN.
    `torch.sigmoid` does all that but for integers, which it turns into float32. What is
    too small for a normal number of the dtype may become 0.
    """
    x, dtype = as_floating(x)
    return torch.sigmoid(x).to(dtype)


# --8<-- [end:sigmoid]


# --8<-- [start:boltzmann]
def boltzmann(energies, kt, dim=-1):
    """Return the Boltzmann distribution exp(-energies / kt) / Z along `dim`.

    This is softmax(-energies / kt). energies: real numbers in the units of `kt`; +inf
    is a forbidden state and gets exactly 0. kt: Boltzmann's constant times the absolute
    temperature, one finite Python number > 0.
    """
    if isinstance(kt, torch.Tensor) or not 0 < kt < math.inf:
        raise ValueError(f"kt must be one finite number > 0, got {kt}")
    energies, dtype = as_floating(energies)
    if energies.numel() == 0:
        return energies.to(dtype)
    kt, limits = float(kt), torch.finfo(energies.dtype)
    # Halving is exact, and without it 3e38 - -3e38 overflows.
    half = 0.5 if kt > 1 else 1.0
    logits = half * energies.detach().amin(dim, keepdim=True) - half * energies
    if not limits.tiny <= kt <= limits.max:  # float32 would read 0 or inf
        logits = logits.double()
    # A tensor, because CUDA multiplies by 1 / number, which may be inf.
    return softmax(logits / logits.new_full((), half * kt), dim).to(dtype)


# --8<-- [end:boltzmann]
