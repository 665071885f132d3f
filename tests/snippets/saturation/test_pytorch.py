"""The PyTorch path of `saturation`: equal to the NumPy reference per dtype, on every device, with gradients."""

import math

import numpy as np
import pytest
import torch

from snippets.probabilities.pytorch import softmax
from snippets.saturation import numpy_reference as reference
from snippets.saturation import pytorch as path

inf, nan = float("inf"), float("nan")
GRAD = np.array([1.0, -0.5, 0.25, 2.0, 0.0, -1.5, 0.75])  # exact in every dtype

# name: (PyTorch, NumPy), both taking logits (..., n) only, the shape of the result, and the size of what it subtracts
LIKE = {
    "softmax_vjp": (lambda m: lambda z: m.softmax_vjp(z, grad_like(z)), 0.3),
    "log_softmax_vjp": (lambda m: lambda z: m.log_softmax_vjp(z, grad_like(z)), 2.0),
    "entropy_grad": (lambda m: m.entropy_grad, 1.0),
    "softmax_off_by_one": (lambda m: m.softmax_off_by_one, 0.0),
    "softcap": (lambda m: lambda z: m.softcap(z, 3.0), 0.0),
}
OF_LOGITS = {name: (make(path), make(reference), size) for name, (make, size) in LIKE.items()}
OF_PROBS = {
    name: (getattr(path, name), getattr(reference, name)) for name in ("gini_simpson", "jacobian_spectral_norm")
}
every = pytest.mark.parametrize(("function", "expected", "size"), OF_LOGITS.values(), ids=OF_LOGITS)
every_number = pytest.mark.parametrize(("function", "expected"), OF_PROBS.values(), ids=OF_PROBS)


def grad_like(z):
    """Return GRAD stretched to the shape of z, an array or a tensor."""
    n = z.shape[-1] if len(z.shape) else 1
    row = np.resize(GRAD, n) if len(z.shape) else np.array(1.0)
    if isinstance(z, torch.Tensor):
        dtype = z.dtype if z.is_floating_point() else torch.float64
        return torch.tensor(row).to(z.device, dtype).expand(z.shape)
    return np.broadcast_to(row, z.shape)


def numbers(*shape, low=-6.0, high=6.0):
    return torch.as_tensor(np.random.default_rng(5).uniform(low, high, shape))


def array(tensor):
    return tensor.detach().double().cpu().numpy()


# ---- equal to NumPy


@every
def test_equals_numpy(function, expected, size, device, dtype, close):
    logits = numbers(3, 4, 7).to(device, dtype)
    actual = function(logits)
    assert (actual.dtype, actual.device, actual.shape) == (dtype, logits.device, logits.shape)
    close(actual, expected(array(logits)), size=size * 1e-2 if dtype in (torch.float16, torch.bfloat16) else size)


def test_jacobian_equals_numpy(device, dtype, close):
    logits = numbers(3, 7).to(device, dtype)
    actual = path.softmax_jacobian(logits)
    assert (actual.dtype, actual.device, actual.shape) == (dtype, logits.device, (3, 7, 7))
    close(actual, reference.softmax_jacobian(array(logits)))


@every_number
def test_numbers_equal_numpy(function, expected, device, dtype, close):
    probs = softmax(numbers(5, 6).to(device, dtype))
    actual = function(probs)
    assert (actual.dtype, actual.device, actual.shape) == (dtype, probs.device, (5,))
    close(actual, expected(array(probs)), scale=2)  # 60 bisections, and rows that miss 1 by the rounding


def test_floor_equals_numpy(device, dtype, close):
    sigma = torch.tensor([0.0, 0.5, 2.0, 5.0, 8.0, 20.0, inf], device=device).to(dtype)
    for n in (1, 2, 1024):
        actual = path.attention_entropy_floor(n, sigma)
        assert (actual.dtype, actual.device) == (dtype, sigma.device)
        close(
            actual, reference.attention_entropy_floor(n, array(sigma)), scale=10
        )  # exp(-20) costs 20 times the rounding
    assert path.attention_entropy_floor(8, torch.tensor(1e300, dtype=torch.float64)) == 0


def test_statistics_equal_numpy(device, dtype, close):
    weights = softmax(numbers(3, 4, 5).to(device, dtype))
    actual = path.attention_statistics(weights)
    rows = array(weights)  # the reference takes log and softmax again, so its rows sum to 1
    for number, right in zip(actual, reference.attention_statistics(rows), strict=True):
        assert (number.dtype, number.device) == (dtype, weights.device)
        close(number, torch.tensor(right, dtype=torch.float64), scale=2)


@every
def test_infinities_stay_in_their_row(function, expected, size, device, close):
    logits = torch.tensor([[-inf, -inf], [inf, -inf], [nan, 0], [-inf, 3], [1, 1]], device=device)
    with np.errstate(invalid="ignore"):
        close(function(logits), expected(logits.cpu().numpy()), size=size)


def test_broken_rows_of_the_jacobian(device, close):
    logits = torch.tensor([[-inf, -inf], [inf, -inf], [nan, 0], [-inf, 3], [1, 1]], device=device)
    close(path.softmax_jacobian(logits), reference.softmax_jacobian(logits.cpu().numpy()))


@every_number
def test_broken_rows_of_numbers(function, expected, device, close):
    probs = torch.tensor([[nan, 0.5], [1, 0], [0.5, 0.5]], device=device)
    close(function(probs), expected(probs.cpu().numpy()))


@pytest.mark.parametrize("gap", [20.0, 37.42994775023705, 40.0, 100.0, 700.0])
def test_saturated_gradients_survive_n08(gap, device, close):
    logits, grad = torch.tensor([[gap, 0.0], [1.0, 0.0]], dtype=torch.float64, device=device)
    left = 1 / (1 + math.exp(gap))
    close(path.softmax_vjp(logits, grad), torch.tensor([left, -left], dtype=torch.float64) * (1 - left))
    close(path.log_softmax_vjp(logits, grad), torch.tensor([left, -left], dtype=torch.float64))
    assert path.softmax_jacobian(logits)[0, 0].item() == pytest.approx(left, rel=1e-12)
    assert path.gini_simpson(softmax(logits)).item() == pytest.approx(2 * left, rel=1e-12)


def test_autograd_loses_what_the_written_out_vjp_keeps():
    """If this fails, torch has become better, and the page should say so."""
    for function in (torch.softmax, torch.log_softmax):
        logits = torch.tensor([40.0, 0.0], dtype=torch.float64, requires_grad=True)
        function(logits, -1)[0].backward()
        assert logits.grad[0] == 0


def test_norms_of_ties_and_saturated_rows_b53(device):
    for n, uniform in ((2, 0.5), (3, 1 / 3), (100, 0.01), (131_072, 7.62939453125e-6)):
        probs = torch.full((n,), 1 / n, dtype=torch.float64, device=device)
        assert path.jacobian_spectral_norm(probs).item() == pytest.approx(uniform, rel=1e-12)
        tie = torch.zeros(n, dtype=torch.float64, device=device)
        tie[:2] = 0.5
        assert path.jacobian_spectral_norm(tie).item() == 0.5
    p = softmax(torch.tensor([100.0, 0, 0], dtype=torch.float64, device=device))
    assert path.jacobian_spectral_norm(p).item() == pytest.approx(3 * p[1].item(), rel=1e-12)


@every
def test_integers_become_float64_and_do_not_wrap(function, expected, size, device, close):
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64):
        limits = torch.iinfo(dtype)
        logits = torch.tensor([limits.min, 1, 2, limits.max], dtype=dtype, device=device)
        actual = function(logits)
        assert actual.dtype == torch.float64
        close(actual, expected(logits.cpu().numpy()))
    assert function(torch.tensor([True, False], device=device)).dtype == torch.float64


@every
def test_shapes(function, expected, size, device):
    for shape in ((), (0, 3), (3, 0), (0,)):
        half = function(torch.zeros(shape, dtype=torch.bfloat16, device=device))
        assert (half.shape, half.dtype) == (shape, torch.bfloat16)


def test_shapes_of_jacobian_and_numbers(device):
    for shape, result in (((), (1, 1)), ((0,), (0, 0)), ((0, 3), (0, 3, 3)), ((2, 0), (2, 0, 0))):
        assert path.softmax_jacobian(torch.zeros(shape, device=device)).shape == result
    for function, _ in OF_PROBS.values():
        assert function(torch.tensor(1.0, device=device)) == 0
        assert function(torch.ones(2, 3, 1, device=device)).tolist() == [[0, 0, 0], [0, 0, 0]]
        assert function(torch.zeros(0, 3, device=device)).shape == (0,)
        assert function(torch.zeros(3, 0, device=device)).tolist() == [0, 0, 0]


@every
def test_refuses_what_is_no_real_tensor(function, expected, size):
    with pytest.raises(TypeError, match="expected real numbers"):
        function(torch.zeros(2, dtype=torch.complex64))


@pytest.mark.parametrize("name", ["entropy_grad", "softmax_off_by_one", "softmax_jacobian", *OF_PROBS])
def test_refuses_lists(name):
    with pytest.raises(TypeError, match=r"expected a torch\.Tensor, got list"):
        getattr(path, name)([1.0, 2.0])


@every
def test_views_and_unmodified_input(function, expected, size, device, close):
    logits = numbers(7, 6).to(device)
    before = logits.clone()
    view = logits.t()[::2]
    close(function(view), expected(array(view)), size=size)
    assert torch.equal(logits, before)


def test_off_by_one_every_dimension(device, close):
    logits = numbers(2, 3, 4)
    for dim in (0, 1, 2, -1, -2):
        close(path.softmax_off_by_one(logits.to(device), dim), reference.softmax_off_by_one(array(logits), dim))


def test_off_by_one_long_float16_rows(device):
    assert path.softmax_off_by_one(torch.zeros(70_000, dtype=torch.float16, device=device))[0] > 0


def test_off_by_one_does_not_drift_in_float32(device, close):
    n = 2**17
    logits = torch.zeros(n, device=device)
    logits[0] = 3.0
    close(path.softmax_off_by_one(logits), np.array([np.exp(3.0)] + [1.0] * (n - 1)) / (np.exp(3.0) + n))


def test_numpy_scalars_are_numbers(device, close):
    x = torch.tensor([1.0, 50.0], device=device)
    for cap in (np.float16(30), np.float32(30), np.int64(30)):
        close(path.softcap(x, cap), path.softcap(x, 30))
    for n in (np.int64(9), np.uint8(9)):
        close(path.attention_entropy_floor(n, x), path.attention_entropy_floor(9, x))


@pytest.mark.parametrize("vjp", [path.softmax_vjp, path.log_softmax_vjp])
def test_vjp_wants_equal_shapes(vjp):
    with pytest.raises(ValueError, match=r"same shape, got \(2, 3\) and \(3,\)"):
        vjp(torch.zeros(2, 3), torch.zeros(3))


@pytest.mark.parametrize("n", [0, -1, 2.5, nan])
def test_floor_wants_a_whole_n(n):
    with pytest.raises(ValueError, match=f"n must be an integer >= 1, got {n}"):
        path.attention_entropy_floor(n, torch.tensor(1.0))


@pytest.mark.parametrize("cap", [0, -1, nan, inf, 1e40, 1e-40, torch.tensor(2.0)])
def test_wrong_cap(cap):
    with pytest.raises(ValueError, match=r"cap must be one finite number > 0 that float32 can hold, got"):
        path.softcap(torch.zeros(2), cap)
    assert path.softcap(torch.ones(1, dtype=torch.float64), 1e40) == 1


def test_statistics_refuse_wrong_shapes():
    for shape in ((1, 2, 2), (2, 2), (2, 2, 2, 2), (2, 0, 2), (2, 2, 0)):
        with pytest.raises(ValueError, match=r"weights must be \(layers >= 2, n_q >= 1, n_k >= 1\), got shape \("):
            path.attention_statistics(torch.full(shape, 0.5))


# ---- gradients


def test_jacobian_and_vjp_agree_with_autograd(close):
    logits, grad = numbers(2, 9)
    jacobian = torch.autograd.functional.jacobian(softmax, logits)
    close(path.softmax_jacobian(logits), jacobian, size=1e-2)
    for function, vjp in ((torch.softmax, path.softmax_vjp), (torch.log_softmax, path.log_softmax_vjp)):
        z = logits.clone().requires_grad_()
        function(z, -1).backward(grad)
        close(vjp(logits, grad), z.grad, size=1)


def test_entropy_grad_agrees_with_autograd(close):
    logits = numbers(3, 6).requires_grad_()
    torch.special.entr(torch.softmax(logits, -1)).sum().backward()
    close(path.entropy_grad(logits), logits.grad, size=1)


@every
def test_gradcheck(function, expected, size):
    assert torch.autograd.gradcheck(function, numbers(3, 7, low=-2, high=2).requires_grad_())


@pytest.mark.parametrize("vjp", [path.softmax_vjp, path.log_softmax_vjp])
def test_gradcheck_in_the_gradient_too(vjp):
    pair = numbers(2, 3, 5, low=-2, high=2)
    assert torch.autograd.gradcheck(vjp, (pair[0].requires_grad_(), pair[1].requires_grad_()))


def test_gradcheck_of_the_rest():
    logits = numbers(3, 4, low=-2, high=2).requires_grad_()
    assert torch.autograd.gradcheck(path.softmax_jacobian, logits)
    assert torch.autograd.gradcheck(lambda z: path.gini_simpson(softmax(z)), logits)
    assert torch.autograd.gradcheck(lambda z: path.attention_statistics(softmax(z)[:, None]), logits)
    sigma = numbers(4, low=0.5, high=6).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: path.attention_entropy_floor(9, s), sigma)


def test_norm_carries_no_gradient():
    probs = softmax(numbers(3, 4)).requires_grad_()
    assert not path.jacobian_spectral_norm(probs).requires_grad


def test_gradient_is_finite_beside_a_mask():
    for name in ("softmax_vjp", "entropy_grad", "softmax_off_by_one"):
        logits = torch.tensor([[1.0, 2.0, -inf], [-inf, -inf, -inf]], dtype=torch.float64, requires_grad=True)
        OF_LOGITS[name][0](logits)[0].sum().backward()
        assert torch.isfinite(logits.grad[0]).all(), name
    logits = torch.full((3,), -inf, requires_grad=True)
    path.softmax_off_by_one(logits).sum().backward()
    assert logits.grad.tolist() == [0, 0, 0]


# ---- no data, one graph


@every
def test_meta(function, expected, size, fake, dtype):
    for shape in [(3, 4), (), (2, 0)]:
        actual = function(torch.zeros(shape, dtype=dtype, device=fake))
        assert (actual.shape, actual.dtype, actual.device.type) == (shape, dtype, "meta")
    assert function(torch.zeros(2, dtype=torch.int32, device=fake)).dtype == torch.float64


def test_meta_of_the_rest(fake):
    for dtype in (torch.float32, torch.bfloat16):
        rows = torch.zeros(3, 4, dtype=dtype, device=fake)
        assert path.softmax_jacobian(rows).shape == (3, 4, 4)
        assert path.gini_simpson(rows).dtype == dtype
        assert path.attention_entropy_floor(8, rows).shape == (3, 4)
        assert [number.dtype for number in path.attention_statistics(rows[:, None])] == [dtype] * 3
    norm = path.jacobian_spectral_norm(rows)
    assert (norm.shape, norm.dtype, norm.device.type) == ((3,), dtype, "meta")


@pytest.mark.parametrize("name", [*OF_LOGITS, "softmax_jacobian", *OF_PROBS, "attention_entropy_floor", "statistics"])
def test_one_graph(name, one_graph):
    function = {
        "softmax_jacobian": path.softmax_jacobian,
        "attention_entropy_floor": lambda z: path.attention_entropy_floor(8, z.abs()),
        "statistics": lambda z: torch.stack(path.attention_statistics(softmax(z)[:, None])),
        **{key: lambda z, key=key: OF_PROBS[key][0](softmax(z)) for key in OF_PROBS},
        "softmax_vjp": lambda z: path.softmax_vjp(z, z.flip(0)),
        "log_softmax_vjp": lambda z: path.log_softmax_vjp(z, z.flip(0)),
    }.get(name) or OF_LOGITS[name][0]
    logits = numbers(3, 4)
    assert torch.equal(one_graph(function, logits), function(logits))
