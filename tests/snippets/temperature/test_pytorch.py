"""The PyTorch path of `temperature`: equal to the NumPy reference per dtype, on every device, with gradients."""

import numpy as np
import pytest
import torch

from snippets.temperature import numpy_reference as reference
from snippets.temperature import pytorch as path

inf, nan = float("inf"), float("nan")

# Name and arguments after the logits, for functions whose result has the logits' shape and dtype.
SAME_SHAPE = {
    "temperature_softmax": (0.5,),
    "sampling_distribution": (2.0, 4, 0.9, 0.05),
    "top_k_filter": (3,),
    "top_p_filter": (0.7,),
    "min_p_filter": (0.2,),
}
every = pytest.mark.parametrize(("name", "arguments"), SAME_SHAPE.items())
temperatures = pytest.mark.parametrize("temperature", [0, 1e-310, 1e-50, 0.5, 1, 3, 1e39, 1e308, inf])


def numbers(*shape, seed=5):
    return torch.as_tensor(np.random.default_rng(seed).uniform(-6, 6, shape))


def numpy(tensor):
    return tensor.detach().cpu().double().numpy()


# ---- equal to NumPy


@every
def test_equals_numpy(name, arguments, device, dtype, close):
    logits = numbers(3, 4, 9).to(device, dtype)
    actual = getattr(path, name)(logits, *arguments)
    assert (actual.dtype, actual.device, actual.shape) == (dtype, logits.device, logits.shape)
    close(actual, getattr(reference, name)(numpy(logits), *arguments))


@temperatures
def test_temperature_softmax_at_every_temperature(temperature, device, dtype, close):
    logits = numbers(5, 7).to(device, dtype)
    logits[1, 3], logits[2, :2] = -inf, logits[2].max()
    actual = path.temperature_softmax(logits, temperature)
    # a quotient of 24 in float32 is off by up to 24 * 2**-24, and its exponential by as much, relatively
    close.rows(actual, reference.temperature_softmax(numpy(logits), temperature), scale=2 if dtype.itemsize == 4 else 1)
    close.rows(path.temperature_softmax(logits.T, temperature, 0), actual.T, dim=0)


@temperatures
def test_broken_rows_are_nan(temperature, device, dtype, close):
    logits = torch.tensor([[-inf, -inf], [inf, 0], [nan, 0], [-inf, inf], [3, 3]], dtype=dtype, device=device)
    close(path.temperature_softmax(logits, temperature), [[nan, nan]] * 4 + [[0.5, 0.5]])


@pytest.mark.parametrize("name", ["top_k_filter", "top_p_filter", "min_p_filter"])
def test_filters_agree_exactly(name, device):
    """Ties, NaN and infinities included."""
    logits = torch.as_tensor(np.random.default_rng(0).integers(-4, 5, (200, 9))).double()
    logits[:20, 2], logits[10:30, 5], logits[25:35, 0], logits[35, :], logits[8:15, 7] = -inf, inf, nan, -inf, nan
    for argument in (1, 2, 5, 9) if name == "top_k_filter" else (0, 1e-8, 0.3, 0.75, 0.999, 1):
        actual = getattr(path, name)(logits.to(device), argument)
        np.testing.assert_array_equal(numpy(actual), getattr(reference, name)(logits.numpy(), argument))


def test_cases_of_the_reference(device, close):
    """N15 to N20, as the reference has them; extremes of float32 and float16."""
    single = torch.tensor([3e38, -3e38], device=device)
    close(path.temperature_softmax(single, 1e38), reference.temperature_softmax(numpy(single), 1e38))
    close(path.temperature_softmax(single, inf), [0.5, 0.5])
    half = torch.tensor([6e4, -6e4], dtype=torch.float16, device=device)
    close(path.temperature_softmax(half, 0.5), [1, 0])
    mask = path.top_p_mask(torch.tensor([0.25, 0.5, 0.25], device=device), 1e-8)
    assert mask.tolist() == [False, True, False]
    assert path.top_k_filter(torch.tensor([1.0, 2, 2, 2, 3], device=device), 3).isfinite().tolist() == [0, 1, 1, 0, 1]
    order = {"order": "temperature_last"}
    probs = path.sampling_distribution(torch.tensor([3.0, 2, 1], device=device).double(), 0.5, top_p=0.8, **order)
    close(probs, reference.sampling_distribution([3, 2, 1], 0.5, top_p=0.8, **order))
    equal = torch.zeros(100_000, device=device)
    assert path.top_p_filter(equal, 0.5).isfinite().sum().item() == pytest.approx(50_000, abs=1)


def test_power_temperature(device, dtype, close):
    probs = torch.rand(4, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(device, dtype)
    probs[0, 2], probs[3] = 0, 0
    for temperature in (0, 0.5, 3, inf):
        actual = path.power_temperature(probs, temperature)
        close.rows(actual, reference.power_temperature(numpy(probs), temperature))
    close(path.power_temperature(probs.T, 3, 0).T, path.power_temperature(probs, 3))


def test_what_is_no_distribution_becomes_nan_in_power_temperature(device, close):
    """Log-probabilities, passed by mistake, are all negative."""
    probs = torch.tensor([[-1.0, -2.0], [-1.0, 2.0], [-1.0, 0.0], [0.0, 0.0], [nan, 1.0], [1.0, 3.0]], device=device)
    for temperature in (0, 1, inf):
        assert path.power_temperature(probs, temperature)[:5].isnan().all()
    close(path.power_temperature(probs, 1)[5], [0.25, 0.75])


def test_entropy_and_derivatives(device, dtype, close):
    logits = numbers(4, 6).to(device, dtype)
    logits[1, 2], logits[2, 1:3] = -inf, 6
    logits[3] = torch.tensor([nan, 0, inf, 1, 2, 3])
    close(path.entropy_from_logits(logits), reference.entropy_from_logits(numpy(logits)))
    close(path.entropy_from_logits(logits.T, 0), path.entropy_from_logits(logits))
    for temperature in (0.5, 4.0):
        dp, dh = path.temperature_derivatives(logits, temperature)
        assert dp.dtype == dh.dtype == dtype
        expected_dp, expected_dh = reference.temperature_derivatives(numpy(logits), temperature)
        close(dp, expected_dp, scale=4, size=0.5)
        close(dh, expected_dh, scale=4, size=0.5)


def test_small_entropies_keep_their_digits(device, close):
    logits = torch.tensor([0.0, -17.0], device=device)
    close(path.entropy_from_logits(logits), 18 * np.exp(-17.0))


def test_integers_become_float64(device, close):
    for dtype in (torch.uint8, torch.int8, torch.int64):
        logits = torch.tensor([torch.iinfo(dtype).min, 1, torch.iinfo(dtype).max], dtype=dtype, device=device)
        for name in ("temperature_softmax", "entropy_from_logits", "sampling_distribution"):
            arguments = () if name == "entropy_from_logits" else (0.7,)
            actual = getattr(path, name)(logits, *arguments)
            assert actual.dtype == torch.float64
            close(actual, getattr(reference, name)(logits.cpu().numpy(), *arguments))


def test_inverse_cdf_and_gumbel_noise(device, dtype, close):
    probs = torch.tensor([[0, 0.5, 0.5, 0], [1, 0, 3, 1e-4]], dtype=dtype, device=device)
    for u in (0, 0.25, 0.5, 1 - 2**-53, 1):
        assert path.inverse_cdf(probs, u).tolist() == reference.inverse_cdf(numpy(probs), u).tolist()
    u = torch.tensor([0.0, 0.3, 0.99, 1 - 2**-8], dtype=dtype, device=device)
    single = numpy(u).astype(np.float32) if dtype.itemsize < 8 else numpy(u)  # the smallest number depends on the dtype
    close(path.gumbel_noise(u), reference.gumbel_noise(single), size=1)
    assert path.inverse_cdf(probs, u[:, None]).shape == (4, 2)


def test_rows_that_cannot_be_drawn_from_give_minus_one(device):
    probs = torch.tensor([[0.0, 0.0], [nan, 1.0], [inf, 1.0], [0.0, 1.0]], device=device)
    assert path.inverse_cdf(probs, 0.5).tolist() == [-1, -1, -1, 1]
    assert path.inverse_cdf(torch.tensor([-0.5, 1.5], device=device), 0.5).item() == -1
    u = torch.tensor([-0.1, nan, 1.1, 0.0, 1.0], device=device)
    assert path.inverse_cdf(torch.tensor([0.0, 1.0, 0.0], device=device), u).tolist() == [-1, -1, -1, 1, 1]
    logits = torch.tensor([[-inf, -inf], [nan, 1.0], [inf, 1.0], [-inf, 1.0]], device=device)
    assert path.gumbel_max(logits, torch.Generator(device)).tolist() == [-1, -1, -1, 1]


@pytest.mark.parametrize("temperature", [1, 2])
def test_both_samplers_follow_softmax_and_their_generator(temperature, device):
    logits, draws = torch.tensor([5.0, 3, 2, 1], dtype=torch.float64, device=device), 40_000
    probs = path.temperature_softmax(logits, temperature)
    for sampler, argument in ((path.sample, probs), (path.gumbel_max, logits / temperature)):
        first, again = (sampler(argument, torch.Generator(device).manual_seed(0), draws) for _ in range(2))
        assert first.shape == (draws,) and torch.equal(first, again)
        error = torch.bincount(first.cpu(), minlength=4) / draws - probs.cpu()
        assert torch.all(error.abs() < 5 * (probs * (1 - probs) / draws).sqrt().cpu())
        generator = torch.Generator(device).manual_seed(1)
        assert sampler(argument, generator).shape == ()
        assert sampler(argument.expand(2, 3, 4), generator, 5).shape == (5, 2, 3)


def test_temperature_for_entropy(device, close):
    logits = torch.tensor([[5.0, 3, 2, 1], [0, 0, -1, -inf]], dtype=torch.float64, device=device)
    close(path.temperature_for_entropy(logits, 0.8), reference.temperature_for_entropy(numpy(logits), 0.8), scale=10)
    assert path.temperature_for_entropy(logits, 0.5).isnan().tolist() == [False, True]  # below ln 2, the tie
    assert path.temperature_for_entropy(logits, 1.2).isnan().tolist() == [False, True]  # above ln 3, the finite ones


@pytest.mark.parametrize("gap", [1e-310, 1e-306, 1e306, 1.7e308])
def test_bisections_reach_every_temperature(gap, device):
    """Two options a gap apart: odds of 4 need T = gap / ln 4."""
    logits = torch.tensor([[gap, 0.0]] * 5, dtype=torch.float64, device=device)
    entropy = np.log(5) - 0.8 * np.log(4)
    targets = torch.tensor([0, 0, 0, 0, 1], device=device)
    for temperature in (path.temperature_for_entropy(logits[0], entropy), path.fit_temperature(logits, targets)):
        assert temperature.item() == pytest.approx(gap / np.log(4), rel=1e-11, abs=0)


def test_bisections_see_gaps_beyond_float32(device):
    logits = torch.tensor([[3e38, -3e38]] * 5, device=device)
    temperature = path.temperature_for_entropy(logits[0], np.log(5) - 0.8 * np.log(4))
    assert temperature.item() == pytest.approx(6e38 / np.log(4), rel=1e-6)


def test_fit_temperature_and_calibration_error(device, close):
    rng = np.random.default_rng(5)
    logits = 3 * rng.normal(size=(500, 4))
    targets = reference.gumbel_max(logits / 3, rng)
    on_device = torch.as_tensor(logits, device=device), torch.as_tensor(targets, device=device)
    close(path.fit_temperature(*on_device), reference.fit_temperature(logits, targets), scale=10)
    always_right = on_device[0].argmax(-1)
    assert path.fit_temperature(on_device[0], always_right).isnan()
    assert path.fit_temperature(on_device[0], on_device[0].argmin(-1)).isnan()
    probs = path.temperature_softmax(on_device[0], 1)
    close(
        path.expected_calibration_error(probs, on_device[1], 7),
        reference.expected_calibration_error(numpy(probs), targets, 7),
    )


def test_annealing_schedule_is_the_reference():
    assert path.annealing_schedule(1, 2, 4, 1) == 2


# ---- shapes and errors


def test_shapes(device):
    for shape in ((), (0, 3), (3, 0)):
        logits = torch.zeros(shape, device=device, dtype=torch.bfloat16)
        assert path.temperature_softmax(logits, 2).shape == shape
        assert path.temperature_softmax(logits, 0).dtype == torch.bfloat16
        assert path.power_temperature(logits, 2).shape == shape
        assert path.entropy_from_logits(logits).shape == shape[:-1]
        filtered = path.sampling_distribution(logits, 2, top_k=2, top_p=0.5, min_p=0.1)
        assert (filtered.shape, filtered.dtype) == (shape, torch.bfloat16)
    assert path.entropy_from_logits(torch.zeros(3, 0, device=device)).isnan().tolist() == [True] * 3


def test_numpy_scalars_are_numbers(device):
    logits = torch.tensor([5.0, 3.0, 2.0, 1.0], device=device)
    probs = path.sampling_distribution(logits, np.float32(0.5), np.int64(3), np.float64(0.999), np.float16(0.0))
    assert torch.equal(probs, path.sampling_distribution(logits, 0.5, 3, 0.999, 0.0))
    for p in (np.float32(0.5), np.float64(1.0)):
        assert torch.equal(path.top_p_mask(logits / 11, p), path.top_p_mask(logits / 11, float(p)))
    for dp in path.temperature_derivatives(logits, np.array(2.0)):
        assert isinstance(dp, torch.Tensor)


def test_inputs_are_not_modified(device):
    logits = numbers(3, 5).to(device)
    before = logits.clone()
    for name, arguments in SAME_SHAPE.items():
        getattr(path, name)(logits, *arguments)
    path.entropy_from_logits(logits)
    assert torch.equal(logits, before)


def test_wrong_scalars_and_shapes_are_refused():
    logits = torch.zeros(2, 3)
    for temperature in (-1, nan):
        with pytest.raises(ValueError, match=f"temperature must be >= 0, got {float(temperature)}"):
            path.temperature_softmax(logits, temperature)
    for temperature in (torch.ones(2), torch.tensor(1.0), np.ones(2)):
        with pytest.raises(ValueError, match=r"one Python number.*softmax\(logits / temperature\[\.\.\., None\]\)"):
            path.temperature_softmax(logits, temperature)
    assert path.temperature_softmax(logits, np.float64(0.5)).dtype == torch.float32
    for temperature in (0, inf):
        with pytest.raises(ValueError, match="temperature must be > 0 and finite"):
            path.temperature_derivatives(logits, temperature)
    with pytest.raises(ValueError, match=r"k must be an integer >= 1, got 0"):
        path.top_k_filter(logits, 0)
    for function in (path.top_p_filter, path.min_p_filter):
        with pytest.raises(ValueError, match=r"p must be between 0 and 1, got 1\.5"):
            function(logits, 1.5)
    for bins in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"bins must be an integer >= 1, got {bins}"):
            path.expected_calibration_error(logits, torch.zeros(2, dtype=torch.int64), bins)
    with pytest.raises(ValueError, match="order must be"):
        path.sampling_distribution(logits, order="top_p_first")
    for function in (path.fit_temperature, path.expected_calibration_error):
        with pytest.raises(ValueError, match=r"\(2, 3\) and \(3,\)"):
            function(logits, torch.zeros(3, dtype=torch.int64))
    with pytest.raises(TypeError, match="expected real numbers"):
        path.temperature_softmax(logits.to(torch.complex64), 1)
    with pytest.raises(TypeError, match=r"expected a torch\.Tensor, got list"):
        path.temperature_softmax([1.0, 2.0], 1)


# ---- gradients


@pytest.mark.parametrize(
    "function",
    [
        lambda z: path.temperature_softmax(z, 0.7),
        lambda z: path.temperature_softmax(z, 5),
        lambda z: path.temperature_softmax(z, 5, 0),
        lambda z: path.power_temperature(z.exp(), 0.7),
        lambda z: path.sampling_distribution(z, 0.7, top_k=3, min_p=0.01),
        lambda z: path.temperature_derivatives(z, 0.7),
        path.entropy_from_logits,
    ],
)
def test_gradients(function, device):
    logits = numbers(3, 4).to(device)
    logits[0, 1:3] = 6.5  # a tie for the maximum
    assert torch.autograd.gradcheck(function, logits.requires_grad_())


def test_the_gradient_of_tempered_logits_sees_the_maximum_as_a_constant(device, close):
    logits = torch.tensor([1.0, 3.0, 2.0], dtype=torch.float64, device=device)
    jacobian = torch.autograd.functional.jacobian(lambda z: path.apply_temperature(z, 4.0), logits)
    close(jacobian, torch.eye(3) / 4)


def test_gradients_pass_masked_entries_by(device, close):
    """A -inf has probability 0 and gradient 0, in the entropy too."""
    for function in (path.entropy_from_logits, lambda z: path.temperature_softmax(z, 0.5)[..., 0]):
        masked = torch.tensor([1.0, 0.5, -inf], device=device, dtype=torch.float64, requires_grad=True)
        short = torch.tensor([1.0, 0.5], device=device, dtype=torch.float64, requires_grad=True)
        function(masked).backward()
        function(short).backward()
        close(masked.grad, torch.cat([short.grad, torch.zeros(1, device=device)]))


@pytest.mark.parametrize("temperature", [0.5, 1, 3])
def test_a_zero_leaves_the_gradients_of_the_others_alone(temperature, device, close):
    with_zero = torch.tensor([0.2, 0.8, 0.0], device=device, dtype=torch.float64, requires_grad=True)
    short = torch.tensor([0.2, 0.8], device=device, dtype=torch.float64, requires_grad=True)
    path.power_temperature(with_zero, temperature)[0].backward()
    path.power_temperature(short, temperature)[0].backward()
    close(with_zero.grad, torch.cat([short.grad, torch.zeros(1, device=device)]))


def test_gradient_is_zero_where_softmax_is_saturated(device):
    logits = torch.tensor([1.0, 2.0], device=device, requires_grad=True)
    path.temperature_softmax(logits, 1e-50)[0].backward()
    assert logits.grad.tolist() == [0, 0]


# ---- without data, and in one graph


def test_fake_tensors(fake):
    logits = torch.zeros(2, 5, device=fake)
    targets = torch.zeros(2, dtype=torch.int64, device=fake)
    for name, arguments in SAME_SHAPE.items():
        actual = getattr(path, name)(logits, *arguments)
        assert (actual.shape, actual.device.type, actual.dtype) == ((2, 5), "meta", torch.float32)
    for temperature in (0, 1e-50, inf):
        assert path.temperature_softmax(logits, temperature).shape == (2, 5)
    assert path.power_temperature(logits, 2).shape == (2, 5)
    assert path.entropy_from_logits(logits).shape == path.temperature_for_entropy(logits, 0.5).shape == (2,)
    assert path.temperature_derivatives(logits, 2)[1].shape == (2,)
    assert path.gumbel_noise(logits).shape == (2, 5)
    assert path.inverse_cdf(logits, logits[:, 0]).shape == (2,)
    assert path.sample(logits, None, 3).shape == path.gumbel_max(logits, None, 3).shape == (3, 2)
    assert path.fit_temperature(logits, targets).shape == path.expected_calibration_error(logits, targets).shape == ()


def test_one_graph(one_graph):
    """The two bisections are traced as well, but that takes long; a torch.Generator cannot be in a graph."""
    logits, targets = numbers(2, 5), torch.tensor([0, 1])

    def everything(logits):
        return (
            *(getattr(path, name)(logits, *arguments) for name, arguments in SAME_SHAPE.items()),
            *(path.temperature_softmax(logits, temperature) for temperature in (0, 1e-50, inf)),
            path.power_temperature(logits.exp(), 2.0),
            path.entropy_from_logits(logits),
            *path.temperature_derivatives(logits, 2.0),
            path.gumbel_noise(torch.sigmoid(logits)),
            path.inverse_cdf(torch.sigmoid(logits), 0.3),
            path.expected_calibration_error(torch.softmax(logits, -1), targets),
        )

    for compiled, eager in zip(one_graph(everything, logits), everything(logits), strict=True):
        torch.testing.assert_close(compiled, eager, rtol=0, atol=0)
    one_graph(path.sample, torch.sigmoid(logits), None, 3)
    one_graph(path.gumbel_max, logits, None, 3)
