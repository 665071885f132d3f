"""The PyTorch devices of this machine."""

import torch


def present():
    """Return the device names to test on: the CPU, and the accelerator if there is one."""
    found = torch.accelerator.current_accelerator(check_available=True)
    return ["cpu", found.type] if found else ["cpu"]
