"""Fixtures of the snippets' tests. They import torch only when a test that uses it runs."""

import os
import sys
from types import SimpleNamespace

import pytest

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS starts: deterministic matmuls

# Relative tolerances per dtype, as printed on the pages.
RTOL = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        from tests.snippets.devices import present

        metafunc.parametrize("device", metafunc.config.getoption("--device") or present())


@pytest.fixture(params=list(RTOL))
def dtype(request):
    """Each floating dtype the book promises, as a torch.dtype."""
    import torch

    return getattr(torch, request.param)


@pytest.fixture
def close():
    """close(actual, expected): equal within the tolerance of its dtype; close.rows wants rows that sum to 1, too."""
    import torch

    def check(actual, expected, scale=1.0, size=0.0):
        """Compare a tensor with a tensor or array; NaN equals NaN.

        scale: how many times the tolerance, for long computations. size: the size of the
        terms, where the result is a difference of them and its own size says nothing.
        """
        limits, rtol = torch.finfo(actual.dtype), scale * RTOL[str(actual.dtype).removeprefix("torch.")]
        smallest = limits.tiny * limits.eps  # of the subnormals; their spacing, too
        torch.testing.assert_close(
            actual.detach().cpu().double(),
            torch.as_tensor(expected, dtype=torch.float64).detach().cpu(),
            rtol=rtol,
            atol=2 * smallest + rtol * size,
            equal_nan=True,
        )

    def rows(actual, expected, scale=1.0, dim=-1):
        check(actual, expected, scale)
        sums = actual.double().sum(dim)
        check(sums.to(actual.dtype), torch.where(sums.isnan(), sums, 1.0), scale)

    check.rows = rows
    return check


@pytest.fixture
def fake():
    """Run the test on tensors without data, on the device "meta": shapes, dtypes and mixed devices are still checked.

    Reading a number out of a tensor (`.item()`, `if tensor > 0`) fails here, as it would break a graph.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        yield torch.device("meta")


@pytest.fixture
def one_graph():
    """one_graph(function, *args): call it compiled, failing unless torch.compile sees a single graph."""
    import torch

    def call(function, *args, **kwargs):
        torch._dynamo.reset()
        return torch.compile(function, backend="eager", fullgraph=True)(*args, **kwargs)

    return call


@pytest.fixture(autouse=True)
def _deterministic():
    """Same numbers on every run and machine: one thread, a fixed seed, no TF32 behind a float32 test's back."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = SimpleNamespace(threads=torch.get_num_threads(), precision=torch.backends.fp32_precision)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms(True), without loading the compiler
    torch.backends.fp32_precision = "ieee"
    yield
    torch.set_num_threads(before.threads)
    torch.set_deterministic_debug_mode("default")
    torch.backends.fp32_precision = before.precision
