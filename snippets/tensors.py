"""What every PyTorch snippet does with its input before the mathematics starts."""

# --8<-- [start:imports]
import torch
# --8<-- [end:imports]


# --8<-- [start:as_floating]
def as_floating(values):
    """Return the tensor `values` to compute in, and the dtype the result should have.

    Integers and bools become float64, so that nothing wraps; float16 and bfloat16
    are computed in float32 and go back to their own dtype.
    Raises TypeError for complex tensors and for anything that is not a tensor.
    """
    if not isinstance(values, torch.Tensor):
        raise TypeError(f"expected a torch.Tensor, got {type(values).__name__}")
    if values.is_complex():
        raise TypeError(f"expected real numbers, got dtype {values.dtype}")
    if not values.is_floating_point():
        return values.double(), torch.float64
    return values.to(torch.promote_types(values.dtype, torch.float32)), values.dtype


# --8<-- [end:as_floating]


# --8<-- [start:as_mask]
def as_mask(mask, shape):
    """Return the boolean `mask` (True = takes part) stretched to `shape`, as a view.

    Raises TypeError for any other dtype: in an additive mask of 0 and -inf, 0 means
    "takes part". Raises ValueError with both shapes where they do not fit.
    """
    if not (isinstance(mask, torch.Tensor) and mask.dtype == torch.bool):
        kind = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise TypeError(f"mask must be a boolean tensor, True = takes part, got {kind}")
    fits = mask.ndim <= len(shape) and all(
        m in (1, n) for m, n in zip(mask.shape[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"mask of shape {tuple(mask.shape)} does not fit "
            f"logits of shape {tuple(shape)}"
        )
    return mask.expand(shape)


# --8<-- [end:as_mask]
