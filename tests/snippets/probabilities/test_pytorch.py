"""The PyTorch path of `probabilities`: equal to the NumPy reference per dtype, on every device, with gradients."""

import numpy as np
import pytest
import torch

from snippets.probabilities import numpy_reference as reference
from snippets.probabilities import pytorch as path

inf, nan = float("inf"), float("nan")

# name: (PyTorch, NumPy), both taking logits only
FUNCTIONS = {
    "softmax": (path.softmax, reference.softmax),
    "base_softmax": (lambda z: path.base_softmax(z, 2), lambda z: reference.base_softmax(z, 2)),
    "boltzmann": (lambda z: path.boltzmann(z, 0.7), lambda z: reference.boltzmann(z, 0.7)),
    "sigmoid": (path.sigmoid, reference.sigmoid),
}
ROWS = {name: pair for name, pair in FUNCTIONS.items() if name != "sigmoid"}
every = pytest.mark.parametrize(("function", "expected"), FUNCTIONS.values(), ids=FUNCTIONS)
every_row = pytest.mark.parametrize(("function", "expected"), ROWS.values(), ids=ROWS)


def numbers(*shape, low=-6.0, high=6.0):
    return torch.as_tensor(np.random.default_rng(5).uniform(low, high, shape))


# ---- equal to NumPy


@every
def test_equals_numpy(function, expected, device, dtype, close):
    logits = numbers(3, 4, 7).to(device, dtype)
    actual = function(logits)
    assert (actual.dtype, actual.device, actual.shape) == (dtype, logits.device, logits.shape)
    close(actual, expected(logits.double().cpu().numpy()))


@every_row
def test_rows_sum_to_one(function, expected, device, dtype, close):
    logits = numbers(2, 300).to(device, dtype)
    close.rows(function(logits), expected(logits.double().cpu().numpy()))


@every_row
def test_infinities_stay_in_their_row(function, expected, device, close):
    logits = torch.tensor([[-inf, -inf], [inf, -inf], [nan, 0], [-inf, 3], [1, 1]], device=device)
    close(function(logits), expected(logits.cpu().numpy()))
    signs = torch.tensor([[inf, 0.0], [-inf, 0.0]], device=device)
    close(function(signs), expected(signs.cpu().numpy()))


@every
def test_integers_become_float64_and_do_not_wrap(function, expected, device, close):
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64):
        limits = torch.iinfo(dtype)
        logits = torch.tensor([limits.min, 1, 2, limits.max], dtype=dtype, device=device)
        actual = function(logits)
        assert actual.dtype == torch.float64
        close(actual, expected(logits.cpu().numpy()))
    close(function(torch.tensor([True, False], device=device)), expected(np.array([True, False])))


@every
def test_shapes(function, expected, device):
    assert function(torch.tensor(0.5, device=device)).shape == ()
    assert function(torch.zeros(0, 3, device=device)).shape == (0, 3)
    assert function(torch.zeros(3, 0, device=device)).shape == (3, 0)
    half = function(torch.zeros(3, 0, device=device, dtype=torch.bfloat16))
    assert half.dtype == torch.bfloat16


@every
def test_refuses_what_is_no_real_tensor(function, expected):
    with pytest.raises(TypeError, match="expected real numbers"):
        function(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(TypeError, match=r"expected a torch\.Tensor, got list"):
        function([1.0, 2.0])


@every
def test_input_is_not_modified(function, expected):
    logits = numbers(4)
    before = logits.clone()
    function(logits)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("name", ["softmax", "base_softmax", "boltzmann"])
def test_every_dimension(name, device, close):
    logits, argument = numbers(2, 3, 4), [] if name == "softmax" else [1.7]
    for dim in (0, 1, 2, -1, -2):
        actual = getattr(path, name)(logits.to(device), *argument, dim)
        close(actual, getattr(reference, name)(logits.numpy(), *argument, dim))


def test_strided_views(device, close):
    logits = numbers(4, 6).to(device).t()[::2]
    close(path.softmax(logits, 0), reference.softmax(logits.cpu().numpy(), 0))


def test_simple_version_agrees_inside_its_domain(device, close):
    logits = numbers(5, 6, low=-300, high=300).to(device)
    close(path.softmax_simple(logits), reference.softmax_simple(logits.cpu().numpy()))


@pytest.mark.parametrize("base", [1.5, 2, 10, 1e300])
def test_bases(base, device, close):
    logits = numbers(3, 5, low=-0.5, high=0.5).to(device)
    close(path.base_softmax(logits, base), reference.base_softmax(logits.cpu().numpy(), base), scale=10)


def test_a_large_offset_costs_a_base_no_digits(device, close):
    logits = torch.tensor([4096.0, 4097.0, 4095.0], device=device)
    close(path.base_softmax(logits, 10), reference.base_softmax([1.0, 2.0, 0.0], 10))


@pytest.mark.parametrize("kt", [1e-310, 1e-40, 1e-3, 1.0, 1e40, 1e300])
def test_kt_beyond_float32(kt, device, close):
    energies = torch.tensor([0.0, 0.0, 3.0, inf], device=device)
    close.rows(path.boltzmann(energies, kt), reference.boltzmann(energies.cpu().numpy(), kt))


@pytest.mark.parametrize(
    ("energies", "kt"), [([0.0, 1e-40], 1e-40), ([0.0, 3e38], 1e39), ([0.0, 3e38], 1e300), ([-3e38, 3e38], 1e38)]
)
def test_energies_as_extreme_as_kt(energies, kt, device, close):
    """Only the gap in units of kt counts, however far both lie from what float32 holds."""
    energies = torch.tensor(energies, device=device)
    weights = np.exp(-np.diff(energies.cpu().double(), prepend=energies[0].item()) / kt)
    close(path.boltzmann(energies, kt), weights / weights.sum())


def test_energies_and_kt_at_the_ends_of_float64(device, close):
    energies = torch.tensor([[0.0, 1e-310]], dtype=torch.float64, device=device)
    close(path.boltzmann(energies, 1e-310), reference.softmax([[0.0, -1.0]]))
    energies = torch.tensor([[1.7e308, -1.7e308]], dtype=torch.float64, device=device)
    close(path.boltzmann(energies, 1e308), reference.softmax([[0.0, 3.4]]))


def test_numpy_scalars_are_numbers(device, close):
    energies = torch.tensor([0.0, 1.0], device=device)
    for kt in (np.float16(2), np.float32(2), np.float64(2), np.int8(2)):
        close(path.boltzmann(energies, kt), reference.boltzmann([0.0, 1.0], 2))
        close(path.base_softmax(energies, kt), [1 / 3, 2 / 3])


def test_float16_logits_far_apart(device):
    logits = torch.tensor([6e4, -6e4], dtype=torch.float16, device=device)
    for function, _ in ROWS.values():
        assert sorted(function(logits).tolist()) == [0, 1]


def test_sums_keep_their_mass_down_a_long_dimension(device):
    rows = 2**24 + 2**20  # a running float32 sum of ones stops at 2**24
    logits = torch.zeros(1, 2, device=device).expand(rows, 2)
    probs = path.softmax(logits, 0)
    assert probs[0, 0].item() == pytest.approx(1 / rows, rel=2e-6)


@pytest.mark.parametrize("dim", [0, 1])
def test_float32_sums_do_not_drift(dim, device, close):
    """Near 131072 logits a running float32 sum rounds each term it adds, always the same way."""
    n = 2**17
    logits = torch.zeros(2, n, device=device) if dim else torch.zeros(n, 2, device=device)
    logits.select(dim, 0).fill_(3.0)
    probs = path.softmax(logits, dim).select(1 - dim, 0)
    total = np.exp(3.0) + n - 1
    close.rows(probs, np.array([np.exp(3.0)] + [1.0] * (n - 1)) / total)


@pytest.mark.parametrize("wrong", [1, 0.5, nan, inf, torch.tensor(2.0)])
def test_wrong_base(wrong):
    with pytest.raises(ValueError, match="base must be one finite number > 1, got "):
        path.base_softmax(torch.zeros(2), wrong)


@pytest.mark.parametrize("wrong", [0, -1, nan, inf, torch.tensor(2.0)])
def test_wrong_kt(wrong):
    with pytest.raises(ValueError, match="kt must be one finite number > 0, got "):
        path.boltzmann(torch.zeros(2), wrong)


# ---- gradients


@every
def test_gradcheck(function, expected):
    assert torch.autograd.gradcheck(function, numbers(3, 4, low=-2, high=2).requires_grad_())


def test_gradcheck_simple():
    assert torch.autograd.gradcheck(path.softmax_simple, numbers(3, 4, low=-2, high=2).requires_grad_())


@every_row
def test_gradient_is_finite_beside_what_is_left_out(function, expected):
    out = -inf if expected(np.array([0.0, -inf]))[1] == 0 else inf  # a forbidden energy is +inf
    logits = torch.tensor([1.0, 2.0, out], dtype=torch.float64, requires_grad=True)
    function(logits)[0].backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[2] == 0


def test_slope_of_logsumexp_is_softmax(close):
    logits = numbers(5, 6).requires_grad_()
    torch.logsumexp(logits, -1).sum().backward()
    close(logits.grad, path.softmax(logits))


@pytest.mark.parametrize(
    ("logits", "norm"), [([0.0, 0.0], 0.5), ([0.0, 0.0, -50.0], 0.5), ([0.0] * 4, 0.25), ([0.0] * 100, 0.01)]
)
def test_largest_stretch_is_one_half_a05(logits, norm):
    jacobian = torch.autograd.functional.jacobian(path.softmax, torch.tensor(logits, dtype=torch.float64))
    assert torch.linalg.matrix_norm(jacobian, 2).item() == pytest.approx(norm, rel=1e-12)


# ---- no data, one graph


@every
def test_meta(function, expected, fake, dtype):
    for shape in [(3, 4), (), (2, 0)]:
        actual = function(torch.zeros(shape, dtype=dtype, device=fake))
        assert (actual.shape, actual.dtype, actual.device.type) == (shape, dtype, "meta")
    assert function(torch.zeros(2, dtype=torch.int32, device=fake)).dtype == torch.float64


@every
def test_one_graph(function, expected, one_graph):
    logits = numbers(3, 4)
    assert torch.equal(one_graph(function, logits), function(logits))


def test_simple_meta_and_one_graph(one_graph):
    logits = numbers(3, 4)
    assert path.softmax_simple(logits.to("meta")).shape == (3, 4)
    assert torch.equal(one_graph(path.softmax_simple, logits), path.softmax_simple(logits))
