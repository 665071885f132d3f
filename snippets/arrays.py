"""What every NumPy snippet does with its input before the mathematics starts."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]


# --8<-- [start:as_floating]
def as_floating(values):
    """Return `values` as an array to compute in, and the dtype the result should have.

    Integers and bools become float64, so that nothing wraps; float16 is computed
    in float32 and goes back to float16. The input is never modified.
    Raises TypeError for complex numbers and anything else that is not a real number.
    """
    values = np.asarray(values)
    if values.dtype.kind in "biu":
        return values.astype(np.float64), np.dtype(np.float64)
    if values.dtype.kind != "f":
        raise TypeError(f"expected real numbers, got dtype {values.dtype}")
    wide = np.promote_types(values.dtype, np.float32)
    return values.astype(wide, copy=False), values.dtype


# --8<-- [end:as_floating]


# --8<-- [start:as_mask]
def as_mask(mask, shape):
    """Return the boolean `mask` (True = takes part) stretched to `shape`.

    The result is a read-only view. Raises TypeError for any other dtype: in an additive
    mask of 0 and -inf, 0 means "takes part". Raises ValueError with both shapes where
    they do not fit.
    """
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(
            f"mask must be boolean, True = takes part, got dtype {mask.dtype}"
        )
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"mask of shape {mask.shape} does not fit logits of shape {shape}"
        ) from None


# --8<-- [end:as_mask]
