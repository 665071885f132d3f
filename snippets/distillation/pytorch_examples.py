"""What the chapter on distillation shows, run in PyTorch."""

# --8<-- [start:imports]
import torch
# --8<-- [end:imports]

from snippets.distillation.pytorch import (
    distillation_grad,
    distillation_loss,
    distillation_objective,
    kl_divergence,
    kl_divergence_simple,
)


# --8<-- [start:two_directions]
p, q = torch.tensor([0.5, 0.49, 0.01]), torch.tensor([0.98, 0.01, 0.01])
print(f"KL(p || q) = {kl_divergence_simple(p, q.log()):.4f}")
#> KL(p || q) = 1.5705
print(f"KL(q || p) = {kl_divergence_simple(q, p.log()):.4f}")
#> KL(q || p) = 0.6206
# --8<-- [end:two_directions]


# --8<-- [start:impossible_classes]
probs = torch.tensor([0.0, 0.4, 0.6], dtype=torch.float64)
logits = torch.tensor([-torch.inf, 0.0, 1.0], dtype=torch.float64)
log_q = torch.log_softmax(logits, dim=-1)
plain = torch.nn.functional.kl_div(log_q, probs, reduction="sum")
print(f"{plain.item():.6f} {kl_divergence(probs, logits).item():.6f}")
#> nan 0.040250
# --8<-- [end:impossible_classes]


# --8<-- [start:autograd_agrees]
teacher = torch.tensor([[2.0, 1.0, 0.0], [0.5, 0.5, 4.0]], dtype=torch.float64)
student = torch.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], dtype=torch.float64)
student.requires_grad_()
for temperature in (1.0, 4.0, 20.0):
    loss = distillation_loss(student, teacher, temperature)
    (grad,) = torch.autograd.grad(loss, student)
    formula = distillation_grad(student, teacher, temperature)
    same = torch.allclose(grad, formula, rtol=1e-12, atol=1e-15)
    print(f"T = {temperature:4}: loss {loss.item():.6f}, same gradient {same}")
    #> T =  1.0: loss 0.219751, same gradient True
    #> T =  4.0: loss 0.225961, same gradient True
    #> T = 20.0: loss 0.223498, same gradient True
# --8<-- [end:autograd_agrees]


# --8<-- [start:lost_digits]
generator = torch.Generator().manual_seed(0)
teacher, student = 4 * torch.randn(2, 1000, 10, generator=generator)
for temperature in (1, 100):
    p = torch.softmax(teacher / temperature, dim=-1)
    log_q = torch.log_softmax(student / temperature, dim=-1)
    plain = torch.nn.functional.kl_div(log_q, p, reduction="none").sum(-1)
    ours = kl_divergence(p, student / temperature)
    p = torch.softmax(teacher.double() / temperature, dim=-1)
    exact = kl_divergence(p, student.double() / temperature)
    for name, value in [("plain sum", plain), ("ours", ours)]:
        worst = (value / exact - 1).abs().max().item()
        print(f"T = {temperature:3}, {name}: worst row within 0.01%: {worst < 1e-4}")
        #> T =   1, plain sum: worst row within 0.01%: True
        #> T =   1, ours: worst row within 0.01%: True
        #> T = 100, plain sum: worst row within 0.01%: False
        #> T = 100, ours: worst row within 0.01%: True
# --8<-- [end:lost_digits]


# --8<-- [start:train_a_student]
teacher = torch.tensor([[2.0, 1.0, 0.0], [0.5, 0.5, 4.0]], dtype=torch.float64)
target = torch.tensor([0, 2])
for soft_weight in (0.0, 0.9):
    student = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([student], lr=4.0)
    for _ in range(100):
        optimizer.zero_grad()
        distillation_objective(student, teacher, target, 4.0, soft_weight).backward()
        optimizer.step()
    first = [f"{p:.3f}" for p in torch.softmax(student, -1)[0].tolist()]
    print(f"soft weight {soft_weight}: first image {first}")
    #> soft weight 0.0: first image ['0.997', '0.002', '0.002']
    #> soft weight 0.9: first image ['0.697', '0.219', '0.084']
print([f"{p:.3f}" for p in torch.softmax(teacher, -1)[0].tolist()], "is the teacher")
#> ['0.665', '0.245', '0.090'] is the teacher
# --8<-- [end:train_a_student]
