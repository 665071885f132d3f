"""What the chapter on stability shows, run in PyTorch."""

# --8<-- [start:imports]
import math

import torch
# --8<-- [end:imports]

from snippets.probabilities.pytorch import softmax, softmax_simple
from snippets.stability.pytorch import (
    cross_entropy,
    cross_entropy_grad,
    log_softmax,
    logsumexp,
    logsumexp_simple,
    masked_softmax,
    nll_from_probs,
    safe_softmax_simple,
    soft_cross_entropy,
)


# --8<-- [start:nan_story]
for score in (1000.0, -1000.0):
    logits = torch.tensor([score, score, score])
    print(torch.exp(logits).tolist(), softmax_simple(logits).tolist())
    #> [inf, inf, inf] [nan, nan, nan]
    #> [0.0, 0.0, 0.0] [nan, nan, nan]
# --8<-- [end:nan_story]


# --8<-- [start:shift_cures]
logits = torch.tensor([[1000.0, 999.0, -500.0], [1000.0] * 3, [-1000.0] * 3])
for row in safe_softmax_simple(logits).tolist():
    print([round(p, 4) for p in row])
    #> [0.7311, 0.2689, 0.0]
    #> [0.3333, 0.3333, 0.3333]
    #> [0.3333, 0.3333, 0.3333]
same = torch.allclose(safe_softmax_simple(logits), torch.softmax(logits, -1), rtol=2e-6)
print("as torch.softmax:", same)
#> as torch.softmax: True
# --8<-- [end:shift_cures]


# --8<-- [start:float32_limits]
for pair in ([88, 87], [88.7, 88.7], [89, 0]):
    unshifted = softmax_simple(torch.tensor(pair, dtype=torch.float32))
    print(pair, [round(p, 4) for p in unshifted.tolist()])
    #> [88, 87] [0.7311, 0.2689]
    #> [88.7, 88.7] [0.0, 0.0]
    #> [89, 0] [nan, 0.0]
# --8<-- [end:float32_limits]


# --8<-- [start:lse]
logits = torch.tensor([1000.0, 1000.0, 1000.0], dtype=torch.float64)
print(f"{logsumexp_simple(logits):.4f} = 1000 + ln 3 = {1000 + math.log(3):.4f}")
#> 1001.0986 = 1000 + ln 3 = 1001.0986
for scores in ([2.0, 1.0, 0.1], [1000.0, 999.0, -500.0]):
    lse, largest = logsumexp(torch.tensor(scores, dtype=torch.float64)), max(scores)
    print(f"{largest} <= {lse:.4f} <= {largest + math.log(3):.4f}")
    #> 2.0 <= 2.4170 <= 3.0986
    #> 1000.0 <= 1000.3133 <= 1001.0986
# --8<-- [end:lse]


# --8<-- [start:lse_libraries]
logits = torch.tensor([0.0, -40.0], dtype=torch.float64)
print(f"small tail:   {torch.logsumexp(logits, -1):.4g}, ours {logsumexp(logits):.4g}")
#> small tail:   0, ours 4.248e-18
logits = torch.zeros(70_000, dtype=torch.float16)
print(f"float16 sum:  {torch.logsumexp(logits, -1):.4g}, ours {logsumexp(logits):.4g}")
#> float16 sum:  inf, ours 11.16
logits = torch.tensor([-math.inf, -math.inf], requires_grad=True)
(theirs,) = torch.autograd.grad(torch.logsumexp(logits, -1), logits)
(ours,) = torch.autograd.grad(logsumexp(logits), logits)
print(f"slope of nothing: {theirs.tolist()}, ours {ours.tolist()}")
#> slope of nothing: [nan, nan], ours [0.0, 0.0]
# --8<-- [end:lse_libraries]


# --8<-- [start:log_of_softmax]
for gap in (100, 104):
    logits = torch.tensor([0.0, -gap])
    print(gap, torch.softmax(logits, -1).log()[1].item(), log_softmax(logits)[1].item())
    #> 100 -99.98309326171875 -100.0
    #> 104 -inf -104.0
# --8<-- [end:log_of_softmax]


# --8<-- [start:confident_class]
logits, target = torch.tensor([17.0, 0.0], requires_grad=True), torch.tensor(0)
for loss in (torch.nn.functional.cross_entropy, cross_entropy):
    value = loss(logits, target)
    print(f"{value.item():.4g}")
    #> 0
    #> 4.14e-08
# --8<-- [end:confident_class]


# --8<-- [start:three_ways]
logits, target = torch.tensor([[2.0, 1.0, 0.1]]), torch.tensor([0])
probs = torch.softmax(logits, -1)
print(f"CrossEntropyLoss of logits:  {torch.nn.CrossEntropyLoss()(logits, target):.6f}")
#> CrossEntropyLoss of logits:  0.417030
logs = torch.log_softmax(logits, -1)
print(f"NLLLoss of log_softmax:      {torch.nn.NLLLoss()(logs, target):.6f}")
#> NLLLoss of log_softmax:      0.417030
print(f"nll_from_probs of softmax:   {nll_from_probs(probs, target):.6f}")
#> nll_from_probs of softmax:   0.417030
print(f"CrossEntropyLoss of softmax: {torch.nn.CrossEntropyLoss()(probs, target):.6f}")
#> CrossEntropyLoss of softmax: 0.802121
# --8<-- [end:three_ways]


# --8<-- [start:nll_of_probs]
losses = {
    "NLLLoss(softmax)": lambda z, y: torch.nn.NLLLoss()(torch.softmax(z, -1), y),
    "CrossEntropyLoss": torch.nn.CrossEntropyLoss(),
}
for scores in ([[2.0, 1.0, 0.1]], [[-10.0, 10.0, 0.0]]):
    for name, loss in losses.items():
        logits = torch.tensor(scores, requires_grad=True)
        value = loss(logits, torch.tensor([0]))
        value.backward()
        print(f"{name} {scores}: {value.item():.6f}, slope {logits.grad[0, 0]:.3g}")
        #> NLLLoss(softmax) [[2.0, 1.0, 0.1]]: -0.659001, slope -0.225
        #> CrossEntropyLoss [[2.0, 1.0, 0.1]]: 0.417030, slope -0.341
        #> NLLLoss(softmax) [[-10.0, 10.0, 0.0]]: -0.000000, slope -2.06e-09
        #> CrossEntropyLoss [[-10.0, 10.0, 0.0]]: 20.000046, slope -1
# --8<-- [end:nll_of_probs]


# --8<-- [start:softmax_then_log]
logits, target = torch.tensor([[0.0, 200.0]]), torch.tensor([0])
print("softmax, then log:", nll_from_probs(torch.softmax(logits, -1), target).item())
#> softmax, then log: inf
print("from the logits:  ", torch.nn.functional.cross_entropy(logits, target).item())
#> from the logits:   200.0
# --8<-- [end:softmax_then_log]


# --8<-- [start:gradient]
logits = torch.tensor([[-10.0, 10.0, 0.0], [10.0, -10.0, 0.0]], dtype=torch.float64)
logits.requires_grad_()
target = torch.tensor([0, 0])
(autograd,) = torch.autograd.grad(cross_entropy(logits, target), logits)
by_hand = cross_entropy_grad(logits.detach(), target)
print("autograd agrees:", torch.allclose(by_hand, autograd, rtol=1e-12, atol=1e-15))
#> autograd agrees: True
# --8<-- [end:gradient]


# --8<-- [start:ignored_rows]
target = torch.tensor([-100, 0])
for loss in (torch.nn.functional.cross_entropy, cross_entropy):
    logits = torch.tensor([[-math.inf, -math.inf], [1, 2]], requires_grad=True)
    value = loss(logits, target)
    value.backward()
    print(f"{value.item():.4f}", logits.grad.tolist()[0])
    #> 1.3133 [nan, nan]
    #> 1.3133 [0.0, 0.0]
# --8<-- [end:ignored_rows]


# --8<-- [start:zero_times_inf]
logits, labels = torch.tensor([[-math.inf, 0.0, 0.0]]), torch.tensor([[0.0, 0.5, 0.5]])
print("PyTorch:", torch.nn.functional.cross_entropy(logits, labels).item())
#> PyTorch: nan
print(f"ours:    {soft_cross_entropy(logits, labels).item():.4f}")
#> ours:    0.6931
# --8<-- [end:zero_times_inf]


# --8<-- [start:dtype_limits]
def every_value(dtype):
    """Return all finite numbers of a dtype of 8 or 16 bits, in order."""
    bits = torch.arange(2 ** (8 * dtype.itemsize), dtype=torch.int64)
    whole = bits.to({1: torch.uint8, 2: torch.int16}[dtype.itemsize])
    values = whole.view(dtype).double()
    return values[values.isfinite()].unique()


for name in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"):
    dtype = getattr(torch, name)
    x = every_value(dtype)
    last = x[x.exp() <= x.max()].max()
    after = x[x > last].min()
    first = x[x.exp().to(dtype).double() > 0].min()
    high, over = (value.exp().to(dtype).item() for value in (last, after))
    limits = f"exp({last:g}) = {high:g}, exp({after:g}) = {over:g}"
    print(f"{name}: {limits}, exp is 0 below {first:g}")
    #> bfloat16: exp(88.5) = 2.72492e+38, exp(89) = inf, exp is 0 below -92.5
    #> float16: exp(11.0859) = 65248, exp(11.0938) = inf, exp is 0 below -17.3281
    #> float8_e4m3fn: exp(6) = 416, exp(6.5) = 448, exp is 0 below -6.5
    #> float8_e5m2: exp(10) = 20480, exp(12) = inf, exp is 0 below -10
# --8<-- [end:dtype_limits]


# --8<-- [start:float8_has_no_exp]
logits = torch.zeros(2, dtype=torch.float8_e4m3fn)
try:
    torch.exp(logits)
except NotImplementedError as error:
    print(error)
    #> "exp_vml_cpu" not implemented for 'Float8_e4m3fn'
print(torch.tensor([1e9, math.inf, math.nan]).to(torch.float8_e4m3fn).tolist())
#> [448.0, 448.0, nan]
# --8<-- [end:float8_has_no_exp]


# --8<-- [start:running_sum]
for dtype in (torch.bfloat16, torch.float16):
    total = torch.zeros((), dtype=dtype)
    for _ in range(3000):
        total += 1
    print(dtype, total.item())
    #> torch.bfloat16 256.0
    #> torch.float16 2048.0
# --8<-- [end:running_sum]


# --8<-- [start:fill_does_not_fit]
try:
    torch.zeros(2, dtype=torch.float16).masked_fill(torch.tensor([True, False]), -1e9)
except RuntimeError as error:
    print(error)
    #> value cannot be converted to type c10::Half without overflow
# --8<-- [end:fill_does_not_fit]


# --8<-- [start:integers_refused]
try:
    torch.softmax(torch.tensor([1, 2, 3], dtype=torch.uint8), -1)
except NotImplementedError as error:
    print(error)
    #> "softmax_lastdim_kernel_impl" not implemented for 'Byte'
probs = softmax(torch.tensor([1, 2, 3], dtype=torch.uint8))
print([round(p, 4) for p in probs.tolist()])
#> [0.09, 0.2447, 0.6652]
# --8<-- [end:integers_refused]


# --8<-- [start:masked_gradient]
mask = torch.tensor([[True, True], [False, False]])
additive = torch.where(mask, 0.0, -math.inf)
recipes = {
    "add -inf, nan_to_num": lambda z: torch.softmax(z + additive, -1).nan_to_num(),
    "masked_softmax": lambda z: masked_softmax(z, mask),
}
for name, recipe in recipes.items():
    logits = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    probs = recipe(logits)
    probs[:, 0].sum().backward()
    print(f"{name}: {probs[1].tolist()}, gradient {logits.grad[1].tolist()}")
    #> add -inf, nan_to_num: [0.0, 0.0], gradient [nan, nan]
    #> masked_softmax: [0.0, 0.0], gradient [0.0, 0.0]
# --8<-- [end:masked_gradient]


# --8<-- [start:libraries]
inputs = {
    "all -inf": torch.tensor([-math.inf, -math.inf]),
    "+inf": torch.tensor([math.inf, 0.0]),
    "NaN": torch.tensor([math.nan, 0.0]),
    "uint8": torch.tensor([1, 2, 3], dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "(2, 0)": torch.zeros(2, 0),
    "0-d": torch.tensor(2.0),
    "complex": torch.tensor([0j, 0]),
    "float16": torch.zeros(100_000, dtype=torch.float16),
}


def result(function, logits):
    try:
        values = function(logits, -1).flatten()
    except (NotImplementedError, RuntimeError) as error:
        return type(error).__name__
    return " ".join(f"{value:.3g}" for value in values[:2].tolist()) or "empty"


functions = (torch.softmax, torch.log_softmax, torch.logsumexp)
print(" " * 9 + "".join(f"{function.__name__:20}" for function in functions))
#>          softmax             log_softmax         logsumexp
for name, logits in inputs.items():
    results = [result(function, logits) for function in functions]
    print(f"{name:9}" + "".join(f"{text:20}" for text in results))
    #> all -inf nan nan             nan nan             -inf
    #> +inf     nan nan             nan nan             inf
    #> NaN      nan nan             nan nan             nan
    #> uint8    NotImplementedError NotImplementedError 3.41
    #> bool     NotImplementedError NotImplementedError 1.31
    #> (2, 0)   empty               empty               -inf -inf
    #> 0-d      1                   0                   2
    #> complex  NotImplementedError NotImplementedError 0.693+0j
    #> float16  1e-05 1e-05         -inf -inf           inf
# --8<-- [end:libraries]
