"""Experiments of the saturation chapter: an attention row in training; remedies."""

# --8<-- [start:imports]
import math

import numpy as np
# --8<-- [end:imports]

from snippets.probabilities.numpy_reference import softmax
from snippets.saturation.numpy_reference import (
    one_minus,
    softcap,
    softmax_off_by_one,
    softmax_vjp,
)
from snippets.temperature.numpy_reference import entropy_from_logits


# --8<-- [start:jacobian_frobenius_norm]
def jacobian_frobenius_norm(probs):
    """Return ||J||_F of J = diag(p) - p p^T for every row of probs (..., n)."""
    squares, above_half = probs**2, probs > 0.5
    rest = np.sum(np.where(above_half, 0, squares), axis=-1, keepdims=True)
    total = np.sum(squares, axis=-1, keepdims=True)
    others = np.where(above_half, rest, total - squares)  # sum of p_j**2 over j != i
    return np.sqrt(np.sum(squares * (one_minus(probs) ** 2 + others), axis=-1))


# --8<-- [end:jacobian_frobenius_norm]


# --8<-- [start:random_attention]
def random_attention(n, d, scale, draws, rng):
    """Return (median ||J||_F, mean top weight, mean ||dL/dq||) of a query over n keys.

    Every entry of the query, of the keys and of the gradient that arrives at the
    weights is N(0, 1): the model behind 1/sqrt(d). No trained network looks like it.
    """
    query = rng.standard_normal((draws, d))
    key = rng.standard_normal((draws, n, d))
    logits = scale * (key @ query[..., None])[..., 0]
    probs = softmax(logits)
    d_logits = softmax_vjp(logits, rng.standard_normal((draws, n)))
    d_query = scale * (d_logits[:, None, :] @ key)[:, 0]
    jacobian = np.median(jacobian_frobenius_norm(probs))
    top, gradient = np.max(probs, axis=-1), np.linalg.norm(d_query, axis=-1)
    return float(jacobian), float(np.mean(top)), float(np.mean(gradient))


# --8<-- [end:random_attention]


# --8<-- [start:value_softmax_flow]
def value_softmax_flow(
    values, logits, loss_grad, times, step_size, learn_values=True, entropy_bonus=0.0
):
    """Return (entropy, top weight) of p = softmax(logits) at `times`, as L(V p) falls.

    values V (..., d, n), logits (..., n); leading axes are separate runs. loss_grad
    maps u = V p (..., d) to dL/du; entropy_bonus c adds -c H(p) to L. Midpoint rule;
    times are rounded to whole steps. Model: Varre, Rofin and Flammarion 2026.
    """

    def slope(values, logits):
        probs = softmax(logits)
        du = loss_grad((values @ probs[..., None])[..., 0])
        dp = (du[..., None, :] @ values)[..., 0, :]
        dp = dp + entropy_bonus * logits  # -dH/dp is log p plus a constant
        d_logits = probs * (dp - np.sum(probs * dp, axis=-1, keepdims=True))
        return -learn_values * du[..., :, None] * probs[..., None, :], -d_logits

    records, seen, half = [round(t / step_size) for t in times], {}, step_size / 2
    for step in range(max(records) + 1):
        if step in records:
            seen[step] = entropy_from_logits(logits), np.max(softmax(logits), axis=-1)
        d_values, d_logits = slope(values, logits)
        d_values, d_logits = slope(values + half * d_values, logits + half * d_logits)
        values, logits = values + step_size * d_values, logits + step_size * d_logits
    entropy, top = zip(*(seen[step] for step in records), strict=True)
    return np.array(entropy), np.array(top)


# --8<-- [end:value_softmax_flow]


def flow_study(points=40):
    """Return {run: {"time", "entropy", "top"}}, and the target lengths of "square".

    One row of n = 8 weights, d = 4 outputs. Logits start equal, or "peaked": a 4 and
    seven zeros. The values start small; the target is a random vector, 1, 5 and 20
    times it ("square"), its signs ("logistic"), or uniform, with frozen values.
    """
    rng, n, d = np.random.default_rng(0), 8, 4
    values, target = 0.3 * rng.standard_normal((d, n)), rng.standard_normal(d)
    equal, peaked = np.zeros(n), 4.0 * (np.arange(n) == 0)
    targets, label = np.array([[1.0], [5.0], [20.0]]) * target, np.sign(target)
    alike, several = np.repeat(values[:, :1], n, axis=1), np.stack([values] * 3)

    def logistic(u):
        return -label / (1 + np.exp(label * u)) / d

    def square(u):
        return u - target

    def to_uniform(u):
        return u - 1 / n

    runs = {  # values, logits, loss_grad, last time, step size, options
        "logistic": (values, equal, logistic, 1200, 0.5),
        "square": (several, np.zeros((3, n)), lambda u: u - targets, 120, 0.02),
        "equal columns": (alike, equal, square, 120, 0.2),
        "peaked": (values, peaked, square, 120, 0.05),
        "peaked, entropy bonus": (values, peaked, square, 120, 0.05, True, 0.5),
        "peaked, frozen values": (np.eye(n), peaked, to_uniform, 1200, 1, False),
    }
    study = {}
    for name, (v, a, loss_grad, end, step, *options) in runs.items():
        times = np.unique(np.rint(np.geomspace(1, end / step, points)))
        times = step * np.append(0, times)
        entropy, top = value_softmax_flow(v, a, loss_grad, times, step, *options)
        study[name] = {"time": times, "entropy": entropy.T, "top": top.T}
    return study, np.linalg.norm(targets, axis=-1)


# --8<-- [start:grown_attention]
def grown_attention(growth, rng, n=128, d=64, draws=200):
    """Return {remedy: weights (draws, n)} of a query over n keys, all q.k times growth.

    Queries and keys are N(0, 1). Training can make them longer; some remedies see that.
    """
    query = rng.standard_normal((draws, 1, d))
    key = rng.standard_normal((draws, n, d))
    scores = growth * np.sum(query * key, axis=-1)
    norms = growth * np.linalg.norm(query, axis=-1) * np.linalg.norm(key, axis=-1)
    scaled = scores / math.sqrt(d)
    gain = math.log2(n * n - n)  # where Henry et al. 2020 start the learned gain
    return {
        "softmax, no scale": softmax(scores),
        "scaled by 1/sqrt(d)": softmax(scaled),
        "scaled, capped at 50": softmax(softcap(scaled, 50.0)),
        "QK-Norm": softmax(gain * scores / norms),
        "scaled, off by one": softmax_off_by_one(scaled),
        "scaled, sigmoid": np.exp(-np.logaddexp(0, math.log(n) - scaled)),
    }


# --8<-- [end:grown_attention]


# --8<-- [start:attend]
def attend(kind, logits):
    """Return the weights of logits (n,), and the function that maps dL/dw to dL/dz.

    kind: "softmax", "off by one" or "sigmoid" (with the bias -ln n).
    """
    if kind == "sigmoid":
        weights = 1 / (1 + np.exp(math.log(len(logits)) - logits))
        return weights, lambda grad: weights * (1 - weights) * grad
    weights = softmax(logits) if kind == "softmax" else softmax_off_by_one(logits)
    return weights, lambda grad: weights * (grad - np.sum(weights * grad))


# --8<-- [end:attend]


# --8<-- [start:learn_silence]
def learn_silence(kind, values, steps=2000, rate=0.1):
    """Return (first weight, sum of the others, ||V w||) of a row that goes silent.

    The loss is ||V w||^2 / 2, descended in the logits; values (d, n) stay as they are.
    """
    logits = np.zeros(values.shape[-1])
    for _ in range(steps):
        weights, backward = attend(kind, logits)
        logits = logits - rate * backward(values.T @ (values @ weights))
    weights, _ = attend(kind, logits)
    return weights[0], np.sum(weights[1:]), np.linalg.norm(values @ weights)


# --8<-- [end:learn_silence]
