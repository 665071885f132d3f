"""Numeric cases from public bug reports: how one is read, which snippet answers it, and how the answer is judged.

A case names a `function`, its `input` and the `expected` value. ADAPTERS says which snippet that is.
When you write a function of PENDING, take it out of there; if your signature differs, change its line.
"""

import functools
import importlib
import itertools
import json
from pathlib import Path

import numpy as np

PUBLIC = Path(__file__).parents[1] / "data" / "numeric_cases.public.json"


def _attention(s, x):
    options = {name: x[name] for name in ("mask", "causal", "scale", "softcap") if name in x}
    return dict(zip(("out", "lse", "weights"), s.attention.attention(x["q"], x["k"], x["v"], **options), strict=True))


def _attention_dropout(s, x):
    weights = s.attention.attention(x["q"], x["k"], x["v"])[2]
    return s.attention.attention_dropout(weights, x["keep"], x["p_drop"]) @ x["v"]


def _top_p(s, x):
    order = "temperature_last" if x["order"] == "top_p_first" else x["order"]
    return s.temperature.sampling_distribution(x["x"], x["T"], top_p=x["p"], order=order)


def _top_p_probs(s, x):
    kept = x["probs"] * s.temperature.top_p_mask(x["probs"], x["p"])
    return kept / kept.sum(-1)


def _softmax0d(s, x):
    return {
        "softmax": s.probabilities.softmax(x["x"]),
        "log_softmax": s.stability.log_softmax(x["x"]),
        "logsumexp": s.stability.logsumexp(x["x"]),
    }


def _merge_states(s, x):
    states = [(state["out"], state["lse"]) for state in x["states"]]
    return dict(zip(("out", "lse"), s.online.merge_states(states, **_only(x, "base")), strict=True))


def _only(x, *names):
    return {name: x[name] for name in names if name in x}


# A case's function -> what to call. `s.<chapter>` is that chapter's numpy_reference or pytorch; x the input.
ADAPTERS = {
    # probabilities
    "softmax": lambda s, x: s.probabilities.softmax(x["x"], x.get("axis", -1)),
    "softmax_first": lambda s, x: s.probabilities.softmax(x["x"])[0],
    "softmax_shape": lambda s, x: list(s.probabilities.softmax(x["x"], x.get("axis", -1)).shape),
    "softmax0d": _softmax0d,
    # temperature
    "softmax_temperature": lambda s, x: s.temperature.temperature_softmax(x["x"], x["T"], x.get("axis", -1)),
    "temperature_on_probs": lambda s, x: s.temperature.power_temperature(x["p"], x["T"]),
    "entropy": lambda s, x: s.temperature.entropy_from_logits(x["logits"]),
    "top_k": lambda s, x: s.probabilities.softmax(s.temperature.top_k_filter(x["x"], x["k"])),
    "top_p": _top_p,
    "top_p_probs": _top_p_probs,
    "inverse_cdf": lambda s, x: s.temperature.inverse_cdf(x["p"], x["u"]),
    "gumbel": lambda s, x: s.temperature.gumbel_noise(x["u"]),
    # distillation
    "kd_loss": lambda s, x: s.distillation.distillation_loss(x["student"], x["teacher"], x["T"]),
    "kd_grad": lambda s, x: s.distillation.distillation_grad(x["student"], x["teacher"], x["T"]),
    "kl_div": lambda s, x: s.distillation.kl_divergence(x["p"], x["q_logits"]),
    # stability
    "logsumexp": lambda s, x: s.stability.logsumexp(x["x"], x.get("axis", -1), **_only(x, "where")),
    "log_softmax": lambda s, x: s.stability.log_softmax(x["x"]),
    "masked_softmax": lambda s, x: s.stability.masked_softmax(x["x"], x["mask"]),
    "cross_entropy": lambda s, x: s.stability.cross_entropy(**x),
    "cross_entropy_grad": lambda s, x: s.stability.cross_entropy_grad(**x),
    "soft_cross_entropy": lambda s, x: s.stability.soft_cross_entropy(x["logits"], x["labels"]),
    "nll_from_probs": lambda s, x: s.stability.nll_from_probs(x["probs"], x["target"]),
    # saturation
    "softmax_jacobian": lambda s, x: s.saturation.softmax_jacobian(x["x"]),
    "softmax_vjp": lambda s, x: s.saturation.softmax_vjp(x["x"], x["g"]),
    "log_softmax_vjp": lambda s, x: s.saturation.log_softmax_vjp(x["x"], x["g"]),
    "softcap": lambda s, x: s.saturation.softcap(x["x"], x["c"]),
    # attention
    "attention": _attention,
    "attention_dropout": _attention_dropout,
    "mha": lambda s, x: s.attention.multi_head_attention(x["q"], x["k"], x["v"], x["num_heads"]),
    "gqa": lambda s, x: s.attention.grouped_query_attention(x["q"], x["k"], x["v"]),
    "qk_norm_attention": lambda s, x: s.attention.qk_norm_attention(x["q"], x["k"], x["v"], x["g"], x["eps"]),
    # online
    "merge_states": _merge_states,
    # bottleneck
    "mos_log_prob": lambda s, x: s.bottleneck.mixture_of_softmaxes(x["logits"], x["pi_logits"]),
    # alternatives
    "sparsemax": lambda s, x: s.alternatives.sparsemax(x["x"]),
    "entmax": lambda s, x: s.alternatives.entmax(x["x"], x["alpha"]),
    "elu_plus_one": lambda s, x: s.alternatives.elu_plus_one(x["x"]),
    "linear_attention": lambda s, x: s.alternatives.linear_attention(x["q"], x["k"], x["v"], **_only(x, "causal")),
}

# Functions that NumPy or PyTorch still lacks, or that have no line above yet.
PENDING = {
    "attention",
    "attention_vjp",
    "attention_dropout",
    "mha",
    "gqa",
    "qk_norm_attention",
    "online_attention",
    "merge_states",
    "mos_log_prob",
    "sparsemax",
    "entmax",
    "elu_plus_one",
    "linear_attention",
    "sigmoid_attention",
}

# Cases of level "stretch" that we do not solve: (id, "numpy" or "torch") -> why. They must keep failing.
UNSOLVED = {}


class Missing(Exception):
    """The snippet that answers a case does not exist yet."""


class Snippets:
    """The chapters' modules of one backend: `Snippets("numpy").temperature` is snippets.temperature.numpy_reference."""

    def __init__(self, backend):
        self.file = {"numpy": "numpy_reference", "torch": "pytorch"}[backend]

    def __getattr__(self, chapter):
        return importlib.import_module(f"snippets.{chapter}.{self.file}")


def load(path):
    return json.loads(Path(path).read_text("utf8"))


def backends(case):
    """NumPy has no bfloat16."""
    return ["torch"] if case["input"].get("dtype") == "bfloat16" else ["numpy", "torch"]


def number(text):
    """Return the number that a string spells in decimal or C99 hexadecimal."""
    return float.fromhex(text) if "0x" in str(text) else float(text)


def numbers(value):
    return [numbers(item) for item in value] if isinstance(value, list) else number(value)


def read_input(given, to_array):
    """Return the arguments a case describes. `to_array(values, dtype)` makes the backend's array."""
    given, dtype = dict(given), given.get("dtype", "float64")
    shape, view = given.pop("shape", None), given.pop("view", "")
    if "fill" in given:
        given["x"] = [given.pop("fill")] * given.pop("n")
    x = {}
    for name, value in given.items():
        if name in ("dtype", "T_type"):
            continue
        elif name in ("mask", "keep", "where"):
            x[name] = to_array(np.array(value, bool), "bool")
        elif name == "target":
            x[name] = to_array(np.array(value), "int64")
        elif name == "states":
            x[name] = [{part: to_array(np.array(numbers(state[part])), dtype) for part in state} for state in value]
        elif name == "blocks":
            x[name] = [to_array(np.array(numbers(block)), dtype) for block in value]
        elif name in ("x", "u") or isinstance(value, list):
            array = np.array(numbers(value))
            array = array.reshape(shape) if name == "x" and shape else array
            x[name] = to_array(eval(f"array{view}") if name == "x" else array, dtype)  # view: a slice such as [::-1]
        elif isinstance(value, str):
            try:
                x[name] = number(value)
            except ValueError:  # a word, such as order = "temperature_first"
                x[name] = value
        else:
            x[name] = value
    if given.get("T_type", "").startswith("np."):
        x["T"] = getattr(np, given["T_type"].removeprefix("np."))(x["T"])
    return x


def numpy_array(values, dtype):
    """Return values in `dtype`; a view keeps its strides where no cast is needed."""
    return values.astype(dtype, copy=False)


def torch_array(values, dtype, device="cpu"):
    """Return values as a tensor in `dtype`. Tensors have no negative strides, so a view is copied."""
    import torch

    return torch.tensor(values.copy()).to(device, getattr(torch, dtype))


TO_ARRAY = {"numpy": numpy_array, "torch": torch_array}


def answer(case, x, backend):
    """Return what our snippet gives for the arguments `x` of `case`; raise Missing where there is none."""
    if case["function"] not in ADAPTERS:
        raise Missing(f"{case['function']} has no line in ADAPTERS")
    try:
        return ADAPTERS[case["function"]](Snippets(backend), x)
    except ModuleNotFoundError as error:
        if not error.name.startswith("snippets."):
            raise
        raise Missing(f"{error.name} does not exist") from error
    except AttributeError as error:
        if not getattr(error.obj, "__name__", "").startswith("snippets."):
            raise
        raise Missing(f"{error.obj.__name__}.{error.name} does not exist") from error


def plain(value):
    """Return an array of either library as float64 NumPy."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().double().numpy()
    return np.asarray(value, dtype=np.float64)


def dtypes(got):
    return {str(part.dtype).removeprefix("torch.") for part in parts(got).values()}


def parts(value):
    """Return an answer or an expected value as a dictionary of arrays; a bare one has the name "value"."""
    return value if isinstance(value, dict) else {"value": value}


def judge(case, got):
    """Assert the rule of the cases: |got - expected| <= atol + rtol |expected|, infinities equal, no NaN."""
    got, expected = parts(got), parts(case["expected"])
    rtol, atol = float(case["tolerance"]["rtol"]), float(case["tolerance"]["atol"])
    assert got.keys() & expected.keys(), f"answers {list(got)}, expected {list(expected)}"
    for name in got.keys() & expected.keys():
        value, right = plain(got[name]), np.array(numbers(expected[name]))
        if "compare_sorted" in case["checks"]:
            value, right = np.sort(value, axis=None), np.sort(right, axis=None)
        assert value.shape == right.shape, f"{name} has shape {value.shape}, expected {right.shape}"
        with np.errstate(invalid="ignore"):
            near = np.isfinite(right) & (np.abs(value - right) <= atol + rtol * np.abs(right))
        assert np.all(near | (value == right)), f"{name} is {value}, expected {right}"


def unchanged(x, before):
    if isinstance(x, dict):
        return all(unchanged(x[name], before[name]) for name in before)
    if isinstance(x, list):
        return all(map(unchanged, x, before))
    return x == before if isinstance(x, str) else np.array_equal(plain(x), plain(before), equal_nan=True)


def log_softmax_instead(x):
    """Return x with log-probabilities in place of the logits."""
    logits = plain(x["x"])
    return {**x, "x": x["x"] - float(np.log(np.sum(np.exp(logits))))}


def masked_weights(case, got):
    """Return the weights whose exact value is 0."""
    name = "weights" if isinstance(got, dict) else "value"
    return plain(parts(got)[name])[np.array(numbers(parts(case["expected"])[name])) == 0]


# A check's name -> is it met? `case`, its arguments `x`, the answer `got`, and `again(x)`: judge the answer to other x.
CHECKS = {
    "no_nan": lambda case, x, got, again: not any(np.isnan(plain(part)).any() for part in parts(got).values()),
    "no_inf": lambda case, x, got, again: not any(np.isinf(plain(part)).any() for part in parts(got).values()),
    "input_unchanged": lambda case, x, got, again: True,  # `run` wants this of every case
    "compare_sorted": lambda case, x, got, again: True,  # `judge` does it
    "out_dtype=input": lambda case, x, got, again: dtypes(got) == {case["input"]["dtype"]},
    "out_dtype=float32": lambda case, x, got, again: dtypes(got) == {"float32"},
    "float_output": lambda case, x, got, again: all("float" in dtype for dtype in dtypes(got)),
    "mask_weight_exact_zero": lambda case, x, got, again: np.all(masked_weights(case, got) == 0),
    "exactly_k_nonzero": lambda case, x, got, again: np.count_nonzero(plain(got)) == x["k"],
    "sum_one": lambda case, x, got, again: np.all(abs(plain(got).sum(-1) - 1) < 1e-6),
    "rows_and_cols_sum_zero": lambda case, x, got, again: all(
        np.abs(plain(got).sum(axis)).max() < 1e-15 for axis in (0, 1)
    ),
    "order_invariant": lambda case, x, got, again: [
        again({**x, "states": list(states)}) for states in itertools.permutations(x["states"])
    ],
    "same_if_fed_log_softmax": lambda case, x, got, again: [again(log_softmax_instead(x))],
}


def run(case, backend, **device):
    """Assert that our snippet answers `case`; raise Missing where it does not exist yet."""
    to_array = functools.partial(TO_ARRAY[backend], **device)
    x = read_input(case["input"], to_array)
    got = answer(case, x, backend)
    judge(case, got)
    assert unchanged(x, read_input(case["input"], to_array)), "the input was modified"
    for name in case["checks"]:
        assert CHECKS[name](case, x, got, lambda other: judge(case, answer(case, other, backend)) or True), name
