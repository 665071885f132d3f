"""The PyTorch path of `stability`: equal to the NumPy reference per dtype, on every device, with gradients."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from snippets.stability import numpy_reference as reference
from snippets.stability import pytorch as path

inf, nan = float("inf"), float("nan")


def checker(shape):
    """A mask that leaves something out of every row longer than one, and everything out of the first."""
    mask = np.indices(shape).sum(0) % 3 != 0 if shape else np.array(True)
    if len(shape) > 1:
        mask[:1] = False
    return mask


def targets(shape, n):
    """Class numbers for rows of `shape`, every fifth ignored."""
    count = np.arange(math.prod(shape)).reshape(shape)
    return np.where(count % 5 == 4, -100, count % max(n, 1))


def labels(shape):
    """Soft targets with exact zeros."""
    weights = np.arange(math.prod(shape), dtype=float).reshape(shape) % 4 + (np.arange(shape[-1]) == 0)
    return weights / weights.sum(-1, keepdims=True)


def as_torch(array, like):
    return torch.as_tensor(array, device=like.device)


# name: (PyTorch, NumPy), both taking logits only
ROWS = {
    "logsumexp": (path.logsumexp, reference.logsumexp),
    "logsumexp_where": (
        lambda z: path.logsumexp(z, where=as_torch(checker(tuple(z.shape)), z)),
        lambda z: reference.logsumexp(z, where=checker(z.shape)),
    ),
    "log_softmax": (path.log_softmax, reference.log_softmax),
    "masked_softmax": (
        lambda z: path.masked_softmax(z, as_torch(checker(tuple(z.shape)), z)),
        lambda z: reference.masked_softmax(z, checker(z.shape)),
    ),
}


def targeted(name, smoothing):
    """The pair of a loss with its targets filled in."""
    ours, theirs = getattr(path, name), getattr(reference, name)
    return (
        lambda z: ours(z, as_torch(targets(tuple(z.shape[:-1]), z.shape[-1]), z), label_smoothing=smoothing),
        lambda z: theirs(z, targets(z.shape[:-1], z.shape[-1]), label_smoothing=smoothing),
    )


LOSSES = {
    "cross_entropy": targeted("cross_entropy", 0.0),
    "cross_entropy_smoothed": targeted("cross_entropy", 0.2),
    "cross_entropy_grad": targeted("cross_entropy_grad", 0.0),
    "cross_entropy_grad_smoothed": targeted("cross_entropy_grad", 0.2),
    "soft_cross_entropy": (
        lambda z: path.soft_cross_entropy(z, as_torch(labels(tuple(z.shape)), z)),
        lambda z: reference.soft_cross_entropy(z, labels(z.shape)),
    ),
}
SIMPLE = {
    name: (getattr(path, name), getattr(reference, name))
    for name in ("subtract_max", "safe_softmax_simple", "logsumexp_simple")
}
FUNCTIONS = ROWS | LOSSES
every = pytest.mark.parametrize(("function", "expected"), FUNCTIONS.values(), ids=FUNCTIONS)
every_row = pytest.mark.parametrize(("function", "expected"), ROWS.values(), ids=ROWS)
every_simple = pytest.mark.parametrize(("function", "expected"), SIMPLE.values(), ids=SIMPLE)


def numbers(*shape, low=-6.0, high=6.0):
    return torch.as_tensor(np.random.default_rng(5).uniform(low, high, shape))


# ---- equal to NumPy


@every
def test_equals_numpy(function, expected, device, dtype, close):
    logits = numbers(3, 4, 7).to(device, dtype)
    actual = function(logits)
    right = expected(logits.double().cpu().numpy())
    assert (actual.dtype, actual.device, actual.shape) == (dtype, logits.device, right.shape)
    difference = expected is LOSSES["cross_entropy_grad_smoothed"][1]  # of a probability and a target, about 0.1
    close(actual, right, size=0.1 if difference else 0.0)


@every_simple
def test_simple_versions(function, expected, device, close):
    logits = numbers(5, 6, low=-300, high=300).to(device)
    close(function(logits), expected(logits.cpu().numpy()))


def test_rows_sum_to_one(device, dtype, close):
    logits = numbers(2, 300).to(device, dtype)
    everything = torch.ones_like(logits, dtype=torch.bool)
    close.rows(path.masked_softmax(logits, everything), reference.masked_softmax(logits.double().cpu().numpy(), True))
    sums = path.log_softmax(logits).double().exp().sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=5e-2 if dtype.itemsize == 2 else 1e-6)


@every_row
def test_infinities_stay_in_their_row(function, expected, device, close):
    table = [[nan, 0], [-inf, -inf], [inf, -inf], [inf, inf], [inf, 1], [nan, 0], [-inf, 3], [3, -inf], [1, 1]]
    logits = torch.tensor(table, dtype=torch.float64, device=device)
    close(function(logits), expected(logits.cpu().numpy()))
    close(function(logits.mT), expected(logits.mT.cpu().numpy()))


@every_row
def test_integers_become_float64_and_do_not_wrap(function, expected, device, close):
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64):
        limits = torch.iinfo(dtype)
        logits = torch.tensor([limits.min, 1, 2, limits.max], dtype=dtype, device=device)
        actual = function(logits)
        assert actual.dtype == torch.float64
        close(actual, expected(logits.cpu().numpy()))
    close(function(torch.tensor([True, False], device=device)), expected(np.array([True, False])))


@every_row
def test_shapes_of_almost_nothing(function, expected, device, close):
    for shape in [(), (0,), (0, 3), (3, 0), (2, 0, 3)]:
        logits = torch.zeros(shape, dtype=torch.float64, device=device)
        actual, right = function(logits), expected(logits.cpu().numpy())
        assert actual.shape == right.shape
        close(actual, right)
    half = function(torch.zeros(3, 0, device=device, dtype=torch.bfloat16))
    assert half.dtype == torch.bfloat16


@every
def test_refuses_what_is_no_real_tensor(function, expected):
    with pytest.raises(TypeError, match="expected real numbers"):
        function(torch.zeros(2, 2, dtype=torch.complex64))


def test_refuses_lists():
    for call in (path.logsumexp, path.log_softmax, lambda z: path.masked_softmax(z, torch.tensor(True))):
        with pytest.raises(TypeError, match=r"expected a torch\.Tensor, got list"):
            call([1.0, 2.0])


@every
def test_input_is_not_modified(function, expected):
    logits = numbers(3, 4)
    before = logits.clone()
    function(logits)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("name", ["logsumexp", "log_softmax", "masked_softmax"])
def test_every_dimension(name, device, close):
    logits, mask = numbers(2, 3, 4), [] if name != "masked_softmax" else [torch.tensor([True, False, True, True])]
    for dim in (0, 1, 2, -1, -2):
        actual = getattr(path, name)(logits.to(device), *[m.to(device) for m in mask], dim)
        close(actual, getattr(reference, name)(logits.numpy(), *[m.numpy() for m in mask], dim))


def test_strided_views(device, close):
    logits = numbers(4, 6).to(device).t()[::2]
    close(path.logsumexp(logits, 0), reference.logsumexp(logits.cpu().numpy(), 0))
    close(path.log_softmax(logits, 0), reference.log_softmax(logits.cpu().numpy(), 0))


# ---- the places where PyTorch's own functions break the contract, and ours do not


def test_logsumexp_keeps_its_tail_n07(device):
    logits = torch.tensor([0.0, -40], dtype=torch.float64, device=device)
    assert torch.logsumexp(logits, 0) == 0
    assert path.logsumexp(logits).item() == pytest.approx(4.248354255291589e-18, rel=1e-14)


def test_log_softmax_keeps_a_confident_class_n08_n21(device):
    logits = torch.tensor([17.0, 0], device=device)
    assert torch.log_softmax(logits, 0)[0] == 0
    assert path.log_softmax(logits)[0].item() == pytest.approx(-4.139937633e-8, rel=1e-6)
    assert F.cross_entropy(logits, torch.tensor(0, device=device)) == 0
    assert path.cross_entropy(logits, torch.tensor(0, device=device)).item() == pytest.approx(4.139937633e-8, rel=1e-6)


def test_float16_sums_beyond_its_range_n10(device):
    logits, target = torch.zeros(1, 70_000, dtype=torch.float16, device=device), torch.tensor([0], device=device)
    if device == "cpu":  # a kernel may sum in float32, and some do
        assert torch.logsumexp(logits, -1) == inf
        assert torch.log_softmax(logits, -1)[0, 0] == -inf
        assert F.cross_entropy(logits, target) == inf
    assert path.logsumexp(logits).item() == pytest.approx(math.log(70_000), rel=2e-3)
    assert path.log_softmax(logits)[0, 0].item() == pytest.approx(-math.log(70_000), rel=2e-3)
    assert path.cross_entropy(logits, target).item() == pytest.approx(math.log(70_000), rel=2e-3)


def test_ignored_rows_have_no_gradient_n22(device):
    def grad(loss):
        logits = torch.tensor([[-inf, -inf], [1, 2]], dtype=torch.float64, device=device, requires_grad=True)
        loss(logits, torch.tensor([-100, 0], device=device)).backward()
        return logits.grad.tolist()

    assert all(math.isnan(slope) for slope in grad(F.cross_entropy)[0])
    assert grad(path.cross_entropy) == [[0, 0], pytest.approx([-0.7310585786300049, 0.7310585786300049], rel=1e-14)]


def test_zero_times_infinity_is_zero_n23(device):
    logits, wanted = torch.tensor([[-inf, 0.0]], device=device), torch.tensor([[0.0, 1.0]], device=device)
    assert F.cross_entropy(logits, wanted).isnan()
    assert path.soft_cross_entropy(logits, wanted) == 0


def test_logsumexp_of_nothing_has_gradient_zero_n06(device):
    logits = torch.full((2,), -inf, device=device, requires_grad=True)
    (theirs,) = torch.autograd.grad(torch.logsumexp(logits, 0), logits)
    (ours,) = torch.autograd.grad(path.logsumexp(logits), logits)
    assert theirs.isnan().all()
    assert ours.tolist() == [0, 0]


def test_sums_keep_their_mass_down_a_long_dimension(device):
    rows = 2**24 + 2**18  # a running float32 sum of ones stops at 2**24
    logits = torch.zeros(1, 2, device=device).expand(rows, 2)
    assert path.logsumexp(logits, 0)[0].item() == pytest.approx(math.log(rows), rel=2e-7)


# ---- masks


def test_masked_slots_never_leak_n03_n05(device):
    for held in (100.0, inf, -inf, nan):
        logits = torch.tensor([[1, 1, held], [held, held, held]], device=device, requires_grad=True)
        mask = torch.tensor([[True, True, False], [False, False, False]], device=device)
        probs = path.masked_softmax(logits, mask)
        assert probs.tolist() == [[0.5, 0.5, 0], [0, 0, 0]]
        probs[:, 0].sum().backward()
        assert logits.grad.tolist() == [[0.25, -0.25, 0], [0, 0, 0]]
        assert path.logsumexp(logits, where=mask).tolist() == pytest.approx([1 + math.log(2), -inf])


def test_a_row_of_nothing_has_gradient_zero_n02(device):
    logits = torch.tensor([[-inf, -inf], [1, 2]], device=device, requires_grad=True)
    path.masked_softmax(logits, torch.tensor([True, True], device=device)).pow(2).sum().backward()
    assert logits.grad[0].tolist() == [0, 0]
    assert logits.grad[1].isfinite().all()


def test_no_sentinel_a_score_could_beat_n04(device):
    logits = torch.tensor([-30000.0, 0], dtype=torch.float16, device=device)
    assert path.masked_softmax(logits, torch.tensor([True, False], device=device)).tolist() == [1, 0]


@pytest.mark.parametrize("use", [lambda z, m: path.logsumexp(z, where=m), path.masked_softmax])
def test_masks_are_boolean_and_fit(use):
    logits = torch.zeros(2)
    for wrong, kind in [(torch.zeros(2), "torch.float32"), (torch.tensor([1, 0]), "torch.int64"), ([True], "list")]:
        with pytest.raises(TypeError, match=f"mask must be a boolean tensor, True = takes part, got {kind}"):
            use(logits, wrong)
    for shape in [(3,), (3, 2), (1, 2)]:
        with pytest.raises(ValueError, match=r"mask of shape \(.*\) does not fit logits of shape \(2,\)"):
            use(logits, torch.ones(shape, dtype=torch.bool))
    use(logits, torch.tensor(True))


# ---- losses


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_equals_torchs_cross_entropy_where_that_holds_b86(smoothing, device, dtype, close):
    logits, target = numbers(10, 6).to(device, dtype), torch.as_tensor(targets((10,), 6), device=device)
    theirs = F.cross_entropy(logits.double(), target, label_smoothing=smoothing)
    close(path.cross_entropy(logits, target, label_smoothing=smoothing), theirs)


def test_equals_nll_loss_of_logs_b86(device, close):
    logits, target = numbers(10, 6).to(device), torch.as_tensor(targets((10,), 6), device=device)
    logs = torch.log_softmax(logits, -1)
    close(path.nll_from_probs(logs.exp(), target), F.nll_loss(logs, target))
    close(path.cross_entropy(logits, target), F.nll_loss(logs, target))


def test_nll_from_probs(device, dtype, close):
    probs = torch.as_tensor(labels((5, 4)), device=device).to(dtype)
    target = torch.tensor([0, 3, -100, 2, 0], device=device)
    close(path.nll_from_probs(probs, target), reference.nll_from_probs(probs.double().cpu(), target.cpu().numpy()))
    assert path.nll_from_probs(torch.tensor([[1.0, 0]], device=device), torch.tensor([1], device=device)) == inf


def test_soft_targets_equal_torchs_where_that_holds(device, close):
    logits, wanted = numbers(6, 5).to(device), torch.as_tensor(labels((6, 5)), device=device)
    close(path.soft_cross_entropy(logits, wanted), F.cross_entropy(logits, wanted))


def test_the_gradient_is_autograds(device, close):
    logits, target = numbers(7, 6).to(device).requires_grad_(), torch.as_tensor(targets((7,), 6), device=device)
    for options in ({}, {"label_smoothing": 0.3}, {"ignore_index": 2}):
        target_here = target.clamp(min=0) if "ignore_index" in options else target
        (slope,) = torch.autograd.grad(path.cross_entropy(logits, target_here, **options), logits)
        close(path.cross_entropy_grad(logits, target_here, **options), slope, size=1.0)


def test_no_target_kept_is_nan_with_gradient_zero(device):
    logits, target = torch.zeros(2, 3, device=device), torch.full((2,), -100, device=device)
    assert path.cross_entropy(logits, target).isnan()
    assert path.cross_entropy_grad(logits, target).tolist() == [[0, 0, 0], [0, 0, 0]]
    nothing = torch.zeros(0, 3, device=device)
    assert path.soft_cross_entropy(nothing, nothing).isnan()
    assert path.cross_entropy(nothing, target[:0]).isnan()


@pytest.mark.parametrize("name", ["cross_entropy", "cross_entropy_grad", "nll_from_probs"])
def test_wrong_targets(name):
    loss, logits = getattr(path, name), torch.full((2, 4), 0.25)
    for shape in [(3,), (2, 1), ()]:
        with pytest.raises(ValueError, match=r"target of shape \(.*\) does not fit logits of shape \(2, 4\)"):
            loss(logits, torch.zeros(shape, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"target of shape \(\) does not fit logits of shape \(\)"):
        loss(logits[0, 0], torch.tensor(0))
    for wrong in (torch.float32, torch.complex64, torch.bool):
        with pytest.raises(TypeError, match="target must hold integers, got dtype torch"):
            loss(logits, torch.zeros(2, dtype=wrong))
    with pytest.raises(RuntimeError, match="index 4 is out of bounds"):
        loss(logits, torch.tensor([0, 4]))
    loss(logits, torch.tensor([0, 3], dtype=torch.uint8))


@pytest.mark.parametrize("wrong", [-0.1, 1.1, nan])
def test_wrong_smoothing(wrong):
    for loss in (path.cross_entropy, path.cross_entropy_grad):
        with pytest.raises(ValueError, match=f"label_smoothing must be between 0 and 1, got {wrong}"):
            loss(torch.zeros(2, 3), torch.tensor([0, 1]), label_smoothing=wrong)


def test_wrong_shape_of_soft_targets():
    with pytest.raises(ValueError, match=r"probs of shape \(3,\) does not fit logits of shape \(1, 3\)"):
        path.soft_cross_entropy(torch.zeros(1, 3), torch.zeros(3))
    with pytest.raises(ValueError, match=r"probs of shape \(\) does not fit logits of shape \(\)"):
        path.soft_cross_entropy(torch.tensor(1.0), torch.tensor(1.0))


# ---- gradients


@every_row
def test_gradcheck(function, expected):
    """Without the first row of the result, where the masks leave nothing and logsumexp is -inf."""
    logits = numbers(3, 4, low=-2, high=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: function(z)[1:], logits)
    assert torch.autograd.gradgradcheck(lambda z: function(z)[1:], logits)


@pytest.mark.parametrize(("function", "expected"), LOSSES.values(), ids=LOSSES)
def test_gradcheck_of_a_loss(function, expected):
    logits = numbers(3, 4, low=-2, high=2).requires_grad_()
    assert torch.autograd.gradcheck(function, logits)
    assert torch.autograd.gradgradcheck(function, logits)


def test_gradcheck_at_ties_and_beside_minus_infinity():
    """Which of two equal largest logits is left out of the sum must not show in any derivative."""
    tie = torch.tensor([[1.0, 1, 0.5], [2, 2, 2]], dtype=torch.float64, requires_grad=True)
    for function in (path.logsumexp, path.log_softmax):
        assert torch.autograd.gradcheck(function, tie)
        assert torch.autograd.gradgradcheck(function, tie)
    masked = torch.tensor([1.0, 2, -inf], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(path.logsumexp(masked), masked)
    assert slope.tolist() == pytest.approx([0.2689414213699951, 0.7310585786300049, 0], rel=1e-14)


def test_gradcheck_of_the_rest():
    for function, _ in SIMPLE.values():
        assert torch.autograd.gradcheck(function, numbers(3, 4, low=-2, high=2).requires_grad_())
    probs = torch.tensor([[0.2, 0.3, 0.5], [0.7, 0.1, 0.2]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: path.nll_from_probs(p, torch.tensor([2, -100])), probs)


def test_slope_of_logsumexp_is_softmax(close):
    logits = numbers(5, 6).requires_grad_()
    path.logsumexp(logits).sum().backward()
    close(logits.grad, torch.softmax(logits, -1))


# ---- no data, one graph


@every
def test_meta(function, expected, fake, dtype):
    for shape in [(3, 4), (1, 4)]:
        actual = function(torch.zeros(shape, dtype=dtype, device=fake))
        assert (actual.shape, actual.dtype, actual.device.type) == (expected(np.zeros(shape)).shape, dtype, "meta")


@every_row
def test_meta_of_almost_nothing(function, expected, fake):
    for shape in [(), (2, 0), (0, 2)]:
        actual = function(torch.zeros(shape, device=fake))
        assert (actual.shape, actual.device.type) == (expected(np.zeros(shape)).shape, "meta")


def test_nll_and_simple_meta(fake):
    probs = torch.zeros(2, 3, device=fake)
    assert path.nll_from_probs(probs, torch.zeros(2, dtype=torch.int64, device=fake)).shape == ()
    assert [function(probs).shape for function, _ in SIMPLE.values()] == [(2, 3), (2, 3), (2,)]


@every
def test_one_graph(function, expected, one_graph):
    logits = numbers(3, 4)
    torch.testing.assert_close(one_graph(function, logits), function(logits), rtol=1e-14, atol=0)


def test_nll_and_simple_in_one_graph(one_graph):
    logits, target = numbers(3, 4), torch.tensor([0, -100, 1])
    probs = torch.softmax(logits, -1)
    assert torch.equal(one_graph(path.nll_from_probs, probs, target), path.nll_from_probs(probs, target))
    for function, _ in SIMPLE.values():
        assert torch.equal(one_graph(function, logits), function(logits))
