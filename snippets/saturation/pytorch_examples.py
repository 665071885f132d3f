"""What the saturation chapter runs in PyTorch, each section with what it prints."""

# --8<-- [start:imports]
import math

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import softmax
from snippets.saturation.pytorch import (
    attention_entropy_floor,
    attention_statistics,
    entropy_grad,
    gini_simpson,
    jacobian_spectral_norm,
    log_softmax_vjp,
    softcap,
    softmax_jacobian,
    softmax_off_by_one,
    softmax_vjp,
)


# --8<-- [start:jacobian]
logits = torch.tensor([2.0, 1.0, 0.1], dtype=torch.float64)
jacobian = softmax_jacobian(logits)
for row in jacobian.tolist():
    print([round(x, 4) for x in row])
    #> [0.2247, -0.1598, -0.065]
    #> [-0.1598, 0.1837, -0.0239]
    #> [-0.065, -0.0239, 0.0889]
measured = torch.autograd.functional.jacobian(softmax, logits)
print("as autograd:", torch.allclose(jacobian, measured, rtol=1e-12, atol=1e-16))
#> as autograd: True
# --8<-- [end:jacobian]


# --8<-- [start:vjp]
generator = torch.Generator().manual_seed(0)
logits, grad = torch.randn(2, 1000, dtype=torch.float64, generator=generator)
logits.requires_grad_()
softmax(logits).backward(grad)
by_hand = softmax_vjp(logits.detach(), grad)
print("as autograd:", torch.allclose(by_hand, logits.grad, rtol=1e-9, atol=1e-15))
#> as autograd: True
# --8<-- [end:vjp]


# --8<-- [start:vjp_saturated]
logits = torch.tensor([40.0, 0.0], dtype=torch.float64, requires_grad=True)
grad = torch.tensor([1.0, 0.0], dtype=torch.float64)
(autograd,) = torch.autograd.grad(torch.softmax(logits, -1), logits, grad)
print("softmax, autograd:    ", [f"{g:.3g}" for g in autograd.tolist()])
#> softmax, autograd:     ['0', '-4.25e-18']
by_hand = softmax_vjp(logits.detach(), grad)
print("softmax, by hand:     ", [f"{g:.3g}" for g in by_hand.tolist()])
#> softmax, by hand:      ['4.25e-18', '-4.25e-18']
(autograd,) = torch.autograd.grad(torch.log_softmax(logits, -1), logits, grad)
print("log_softmax, autograd:", [f"{g:.3g}" for g in autograd.tolist()])
#> log_softmax, autograd: ['0', '-4.25e-18']
by_hand = log_softmax_vjp(logits.detach(), grad)
print("log_softmax, by hand: ", [f"{g:.3g}" for g in by_hand.tolist()])
#> log_softmax, by hand:  ['4.25e-18', '-4.25e-18']
# --8<-- [end:vjp_saturated]


# --8<-- [start:where_largest]
for n in (2, 3, 100, 131_072):
    uniform, tie = torch.full((n,), 1 / n), torch.zeros(n)
    tie[:2] = 0.5
    norms = [jacobian_spectral_norm(probs) for probs in (uniform, tie)]
    print("n = {:<6}  uniform {:.3g}  two-way tie {:.3g}".format(n, *norms))
    #> n = 2       uniform 0.5  two-way tie 0.5
    #> n = 3       uniform 0.333  two-way tie 0.5
    #> n = 100     uniform 0.01  two-way tie 0.5
    #> n = 131072  uniform 7.63e-06  two-way tie 0.5
# --8<-- [end:where_largest]


# --8<-- [start:losses]
target = torch.tensor(1)  # class 1 is right
one_hot = torch.nn.functional.one_hot(target, 3)
losses = {
    "cross-entropy": lambda z: torch.nn.functional.cross_entropy(z, target),
    "squared error of p": lambda z: (torch.softmax(z, -1) - one_hot).square().sum(),
}
for name, loss in losses.items():
    logits = torch.tensor([10.0, 0.0, 0.0], dtype=torch.float64)  # sure of class 0
    loss(logits.requires_grad_()).backward()
    print(f"{name:<18}", [f"{g:.5g}" for g in logits.grad.tolist()])
    #> cross-entropy      ['0.99991', '-0.99995', '4.5396e-05']
    #> squared error of p ['0.00027233', '-0.00018156', '-9.0767e-05']
# --8<-- [end:losses]


# --8<-- [start:value_path]
value = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
scores = torch.tensor([10.0, 0.0, 0.0], requires_grad=True)
(torch.softmax(scores, -1) @ value).square().sum().backward()
print(f"||dL/dV|| = {value.grad.norm():.2f}, ||dL/ds|| = {scores.grad.norm():.4f}")
#> ||dL/dV|| = 5.49, ||dL/ds|| = 0.0018
# --8<-- [end:value_path]


# --8<-- [start:entropy_grad]
logits = torch.tensor([2.0, 1.0, -torch.inf], dtype=torch.float64)  # the last is masked
probs = torch.softmax(logits.requires_grad_(), -1)
(-(probs * probs.log()).sum()).backward()
print("autograd:", [f"{g:.4f}" for g in logits.grad.tolist()])
#> autograd: ['nan', 'nan', 'nan']
print("by hand: ", [f"{g:.4f}" for g in entropy_grad(logits.detach()).tolist()])
#> by hand:  ['-0.1966', '0.1966', '0.0000']
# --8<-- [end:entropy_grad]


# --8<-- [start:spend_nothing]
scores = torch.full((8,), -5.0)  # nothing here is worth attending to
for function in (softmax, softmax_off_by_one):
    print(f"{function.__name__:<18}  sum {function(scores).sum():.4f}")
    #> softmax             sum 1.0000
    #> softmax_off_by_one  sum 0.0511
# --8<-- [end:spend_nothing]


# --8<-- [start:softcap]
scores = torch.tensor([1.0, 10.0, 50.0, 100.0], dtype=torch.float64, requires_grad=True)
capped = softcap(scores, 50.0)
capped.sum().backward()
print("capped at 50:", [f"{s:.4f}" for s in capped.tolist()])
#> capped at 50: ['0.9999', '9.8688', '38.0797', '48.2014']
print("slope:       ", [f"{g:.4f}" for g in scores.grad.tolist()])
#> slope:        ['0.9996', '0.9610', '0.4200', '0.0707']
# --8<-- [end:softcap]


# --8<-- [start:three_collapses]
n, generator = 8, torch.Generator().manual_seed(0)
diffuse = torch.softmax(torch.randn(2, n, n, generator=generator), -1)
own_key = torch.stack([torch.eye(n), torch.eye(n).roll(1, dims=1)])  # one key a query
maps = {
    "healthy": diffuse,
    "entropy collapse": 0.95 * own_key + 0.05 / n,
    "attention sink": 0.6 * (torch.arange(n) == 0) + 0.4 * diffuse,
    "attention collapse": torch.stack([diffuse[0], diffuse[0]]),  # the layers are equal
}
for name, weights in maps.items():
    entropy, first, alike = attention_statistics(weights)
    print(f"{name:<18}  entropy {entropy:.2f}  first {first:.2f}  alike {alike:.2f}")
    #> healthy             entropy 1.68  first 0.09  alike 0.52
    #> entropy collapse    entropy 0.26  first 0.12  alike 0.11
    #> attention sink      entropy 1.23  first 0.63  alike 0.52
    #> attention collapse  entropy 1.67  first 0.06  alike 1.00
# --8<-- [end:three_collapses]


# --8<-- [start:trace_bound]
for row in ([0.5, 0.5], [0.99, 0.01], [0.25, 0.25, 0.25, 0.25]):
    probs = torch.tensor(row, dtype=torch.float64)
    bound = -(probs * probs.log()).sum() / (2 * math.log(2))
    print(row, f"tr J = {gini_simpson(probs):.4f}  bound {bound:.4f}")
    #> [0.5, 0.5] tr J = 0.5000  bound 0.5000
    #> [0.99, 0.01] tr J = 0.0198  bound 0.0404
    #> [0.25, 0.25, 0.25, 0.25] tr J = 0.7500  bound 1.0000
# --8<-- [end:trace_bound]


# --8<-- [start:entropy_floor]
sigma = torch.tensor([1.0, 5.0, 10.0, 20.0], dtype=torch.float64)
print([f"{h:.4g}" for h in attention_entropy_floor(1024, sigma).tolist()])
#> ['6.93', '6.431', '0.4872', '4.387e-05']
# --8<-- [end:entropy_floor]
