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
    return values.astype(np.promote_types(values.dtype, np.float32), copy=False), values.dtype
# --8<-- [end:as_floating]
