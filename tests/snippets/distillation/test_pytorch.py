"""The PyTorch path of `distillation`: equal to the NumPy reference per dtype, on every device, with gradients."""

import numpy as np
import pytest
import torch

from snippets.distillation import numpy_reference as reference
from snippets.distillation import pytorch as path

inf, nan = float("inf"), float("nan")


def logits(seed, *shape, scale=2.0):
    return torch.as_tensor(scale * np.random.default_rng(seed).normal(size=shape))


def numpy(*tensors):
    return [t.double().cpu().numpy() for t in tensors]


# ---- equal to NumPy


@pytest.mark.parametrize("temperature", [0.5, 1, 4.0, 20, 100])
def test_loss_and_gradient_equal_numpy(temperature, device, dtype, close):
    student, teacher = (logits(i, 2, 3, 10).to(device, dtype) for i in (1, 2))
    loss = path.distillation_loss(student, teacher, temperature)
    assert (loss.dtype, loss.device, loss.shape) == (dtype, student.device, ())
    close(loss, reference.distillation_loss(*numpy(student, teacher), temperature), scale=3)
    grad = path.distillation_grad(student, teacher, temperature)
    assert (grad.dtype, grad.device, grad.shape) == (dtype, student.device, student.shape)
    expected = reference.distillation_grad(*numpy(student, teacher), temperature)
    close(grad, expected, size=temperature / 10 / 6)  # T (q - p) / rows, p and q about 1 / 10


def test_kl_equals_numpy(device, dtype, close):
    probs = torch.softmax(logits(3, 4, 5, 6), -1).to(device, dtype)
    z = logits(4, 4, 5, 6).to(device, dtype)
    kl = path.kl_divergence(probs, z)
    assert (kl.dtype, kl.device, kl.shape) == (dtype, z.device, (4, 5))
    close(kl, reference.kl_divergence(*numpy(probs, z)), scale=5)


def test_kl_with_impossible_classes(device, close):
    probs = torch.tensor([[0, 0.4, 0.6], [0, 0, 1], [0.2, 0.8, 0], [0, 0.5, 0.5]], device=device)
    z = torch.tensor([[-inf, 0, 1], [5, -inf, 0], [-inf, 0, 0], [0, 0, 0]], device=device)
    close(path.kl_divergence(probs, z), reference.kl_divergence(*numpy(probs, z)), scale=2)


def test_kl_of_close_float32_distributions_keeps_its_digits(device):
    step = 1e-4
    kl = path.kl_divergence(torch.full((2,), 0.5, device=device), torch.tensor([0.0, step], device=device))
    assert kl.dtype == torch.float32
    assert kl.item() == pytest.approx(step**2 / 8, rel=5e-3)


@pytest.mark.parametrize("temperature", [100, 1000])
def test_hot_float32_loss_keeps_its_digits_row_by_row(temperature, device):
    student, teacher = (logits(i, 200, 10).float().to(device) for i in (5, 6))
    for s, t in zip(student[:50], teacher[:50], strict=True):
        expected = reference.distillation_loss(*numpy(s, t), temperature)
        assert path.distillation_loss(s, t, temperature).item() == pytest.approx(expected, rel=3e-7 * temperature)


def test_broken_rows_stay_alone(device, close):
    probs = torch.tensor([[nan, 0.5], [0.5, 0.5], [0, 1], [0.5, 0.5], [0.5, 0.5]], device=device)
    z = torch.tensor([[0, 0], [nan, 0], [inf, 0], [-inf, -inf], [3, 3]], device=device)
    kl = path.kl_divergence(probs, z)
    assert kl[:4].isnan().all()
    assert kl[4] == 0


def test_log_q_far_above_log_p_does_not_overflow(device, close):
    """r = log q - log p = 103, and e^103 is no float32; neither in the value nor in the gradient q - p."""
    tiny = torch.tensor([1e-45, 1.0], device=device)
    z = torch.tensor([0.0, -150.0], device=device, requires_grad=True)
    kl = path.kl_divergence(tiny, z)
    assert kl.item() == pytest.approx(150, rel=1e-6)
    kl.backward()
    close(z.grad, np.array([1.0, -1.0]))


def test_mixed_dtypes_use_the_wider(device, close):
    student, teacher = logits(1, 3, 4).to(device), logits(2, 3, 4).to(device)
    loss = path.distillation_loss(student.float(), teacher, 4)
    assert loss.dtype == torch.float64
    close(loss, reference.distillation_loss(*numpy(student.float(), teacher), 4))
    kl = path.kl_divergence(torch.softmax(teacher, -1), student.half())
    assert kl.dtype == torch.float64
    close(kl, reference.kl_divergence(*numpy(torch.softmax(teacher, -1), student.half())), scale=2)
    assert path.distillation_loss(student.half(), teacher.bfloat16(), 4).dtype == torch.float32


def test_integers(device, close):
    low = torch.tensor([0, 255], dtype=torch.uint8, device=device)
    high = torch.tensor([255, 0], dtype=torch.uint8, device=device)
    close(path.distillation_loss(low, high, 1), np.array(255.0))


def test_objective_equals_numpy(device, dtype, close):
    student, teacher = (logits(i, 6, 5).to(device, dtype) for i in (1, 2))
    target = torch.tensor([0, 1, 2, 3, 4, -100], device=device)
    for soft_weight in (0, 0.3, 1):
        actual = path.distillation_objective(student, teacher, target, 4.0, soft_weight)
        expected = reference.distillation_objective(*numpy(student, teacher), target.cpu().numpy(), 4.0, soft_weight)
        assert actual.dtype == dtype
        close(actual, expected, scale=3)


def test_a_part_of_weight_zero_is_left_out(device):
    impossible = torch.tensor([[-inf, 0.0, 1.0]], device=device)
    target = torch.tensor([0], device=device)
    assert path.distillation_objective(impossible, impossible, target, 2, 1).item() == 0
    assert path.distillation_objective(impossible, impossible, target, 2, 0.5).item() == inf


def test_simple_version_agrees_inside_its_domain(device, close):
    probs, z = torch.softmax(logits(3, 4, 6), -1).to(device), logits(4, 4, 6).to(device)
    close(path.kl_divergence_simple(probs, z), reference.kl_divergence(*numpy(probs, z)), scale=10)


def test_today_kl_div_of_torch_gives_nan_and_the_mean_divides_by_classes():
    probs, z = torch.tensor([0.0, 1.0]), torch.tensor([-inf, 0.0])
    assert torch.nn.functional.kl_div(torch.log_softmax(z, -1), probs, reduction="sum").isnan()
    student, teacher = logits(1, 4, 5), logits(2, 4, 5)
    log_q, p = torch.log_softmax(student, -1), torch.softmax(teacher, -1)
    with pytest.warns(UserWarning, match="batchmean"):
        mean = torch.nn.functional.kl_div(log_q, p, reduction="mean")
    assert path.distillation_loss(student, teacher, 1).item() == pytest.approx(5 * mean.item(), rel=1e-12)


# ---- wrong inputs


def test_wrong_inputs():
    a, b = torch.zeros(2, 3), torch.zeros(3)
    for function in (path.kl_divergence, lambda s, t: path.distillation_loss(s, t, 1)):
        with pytest.raises(ValueError, match=r"need equal shapes, got \(2, 3\) and \(3,\)"):
            function(a, b)
        with pytest.raises(TypeError, match=r"expected a torch\.Tensor"):
            function([1.0], [2.0])
    for function in (path.distillation_loss, path.distillation_grad):
        for temperature in (0, inf):
            with pytest.raises(ValueError, match="temperature must be > 0 and finite, got "):
                function(a, a, temperature)
        with pytest.raises(ValueError, match="temperature must be >= 0, got "):
            function(a, a, nan)
        with pytest.raises(ValueError, match="temperature must be one Python number"):
            function(a, a, torch.tensor(2.0))
    with pytest.raises(ValueError, match="soft_weight must be >= 0 and <= 1, got "):
        path.distillation_objective(a, a, torch.tensor([0, 0]), 4, 1.5)


def test_empty_inputs(device):
    empty = torch.zeros(0, 3, device=device)
    assert path.kl_divergence(empty, empty).shape == (0,)
    assert path.distillation_loss(empty, empty, 2).isnan()
    assert path.distillation_grad(empty, empty, 2).shape == (0, 3)
    none = torch.zeros(2, 0, device=device)
    assert path.kl_divergence(none, none).tolist() == [0, 0]
    assert path.distillation_loss(none, none, 2).item() == 0


# ---- gradients


@pytest.mark.parametrize("temperature", [0.5, 1, 4.0, 20])
def test_gradcheck_of_student_and_teacher(temperature):
    student, teacher = (logits(i, 3, 4).requires_grad_() for i in (1, 2))
    assert torch.autograd.gradcheck(lambda s, t: path.distillation_loss(s, t, temperature), (student, teacher))


def test_gradcheck_of_the_rest():
    probs, z = torch.softmax(logits(3, 3, 4), -1), logits(4, 3, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: path.kl_divergence(probs, z), z)
    # r < 1 and r >= 1, where log q - log p = r
    far = torch.tensor([[0.01, 0.99], [0.5, 0.5]], dtype=torch.float64)
    z = torch.tensor([[3.0, 0.0], [0.2, 0.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: path.kl_divergence(far, z), z)
    student, teacher = logits(1, 3, 4).requires_grad_(), logits(2, 3, 4)
    target = torch.tensor([0, 3, -100])
    assert torch.autograd.gradcheck(lambda s: path.distillation_objective(s, teacher, target, 4.0, 0.7), student)
    assert torch.autograd.gradcheck(lambda z: path.kl_divergence_simple(probs, z), logits(4, 3, 4).requires_grad_())


@pytest.mark.parametrize("temperature", [1.0, 4.0, 20.0, 1000.0])
def test_autograd_is_the_formula(temperature, close):
    student, teacher = logits(1, 2, 3, 10).requires_grad_(), logits(2, 2, 3, 10)
    path.distillation_loss(student, teacher, temperature).backward()
    close(student.grad, path.distillation_grad(student, teacher, temperature), size=temperature / 60)


def test_hot_float32_gradient_keeps_its_digits():
    student, teacher = logits(1, 8, 10).float().requires_grad_(), logits(2, 8, 10).float()
    path.distillation_loss(student, teacher, 100).backward()
    expected = torch.as_tensor(reference.distillation_grad(*numpy(student.detach(), teacher), 100))
    torch.testing.assert_close(student.grad.double(), expected, rtol=1e-4, atol=1e-6)


def test_gradient_beside_impossible_classes(close):
    student = torch.tensor([[-inf, 1, 2], [-3, 1, 2]], dtype=torch.float64, requires_grad=True)
    teacher = torch.tensor([[-inf, 2, 1], [-inf, 2, 1]], dtype=torch.float64, requires_grad=True)
    path.distillation_loss(student, teacher, 2).backward()
    close(student.grad, reference.distillation_grad(*numpy(student.detach(), teacher.detach()), 2))
    assert student.grad[0, 0] == 0
    assert torch.isfinite(teacher.grad).all()


def test_detached_teacher_gets_no_gradient():
    student, teacher = logits(1, 2, 3).requires_grad_(), logits(2, 2, 3).requires_grad_()
    path.distillation_loss(student, teacher.detach(), 4).backward()
    assert teacher.grad is None
    assert student.grad is not None


# ---- no data, one graph


def test_meta(fake, dtype):
    student, teacher = (torch.zeros(2, 3, 4, dtype=dtype, device=fake) for _ in range(2))
    target = torch.zeros(2, 3, dtype=torch.int64, device=fake)
    for result, shape in [
        (path.kl_divergence(student, teacher), (2, 3)),
        (path.distillation_loss(student, teacher, 4.0), ()),
        (path.distillation_grad(student, teacher, 4.0), (2, 3, 4)),
        (path.distillation_objective(student, teacher, target, 4.0, 0.5), ()),
    ]:
        assert (result.shape, result.dtype, result.device.type) == (shape, dtype, "meta")


@pytest.mark.parametrize(
    "function",
    [
        path.kl_divergence,
        path.kl_divergence_simple,
        lambda s, t: path.distillation_loss(s, t, 4.0),
        lambda s, t: path.distillation_grad(s, t, 4.0),
        lambda s, t: path.distillation_objective(s, t, torch.tensor([0, 1]), 4.0, 0.5),
    ],
    ids=["kl_divergence", "kl_divergence_simple", "loss", "grad", "objective"],
)
def test_one_graph(function, one_graph):
    a, b = torch.softmax(logits(1, 2, 5), -1), logits(2, 2, 5)
    torch.testing.assert_close(one_graph(function, a, b), function(a, b), rtol=1e-14, atol=0)
