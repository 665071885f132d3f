"""Softmax in PyTorch: `torch.softmax` where it keeps the promises, our own code where it does not."""

# --8<-- [start:imports]
import torch
# --8<-- [end:imports]

from snippets.tensors import as_floating


# --8<-- [start:softmax]
def softmax(logits, dim=-1):
    """Return softmax(logits) along `dim`: same shape, device and dtype, entries in [0, 1] that sum to 1.

    The edges are those of the NumPy reference. Two things differ from `torch.softmax`:
    integers are accepted, and `dim` is brought to the end first, because a float32 sum
    along another dimension stalls at 2**24 (30 million equal logits would total 1.788).
    """
    logits, dtype = as_floating(logits)
    if logits.ndim == 0:
        return torch.softmax(logits, dim).to(dtype)
    rows = logits.movedim(dim, -1).contiguous()
    return torch.softmax(rows, -1).movedim(-1, dim).to(dtype)
# --8<-- [end:softmax]
