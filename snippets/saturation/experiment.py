"""Experiments of the saturation chapter: one attention row under gradient flow, and what each remedy changes."""

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
    """Return the root of the summed squares of J = diag(p) - p p^T, for every row of probs (..., n)."""
    squares, above_half = probs**2, probs > 0.5
    rest = np.sum(np.where(above_half, 0, squares), axis=-1, keepdims=True)
    others = np.where(
        above_half, rest, np.sum(squares, axis=-1, keepdims=True) - squares
    )
    return np.sqrt(np.sum(squares * (one_minus(probs) ** 2 + others), axis=-1))


# --8<-- [end:jacobian_frobenius_norm]


# --8<-- [start:random_attention]
def random_attention(n, d, scale, draws, rng):
    """Return (median ||J||_F, mean top weight, mean ||dL/dq||) of one query over n keys, all entries N(0, 1).

    The gradient that arrives at the weights is N(0, 1) too. This is the model behind the
    factor 1/sqrt(d); no trained network is.
    """
    query, key = rng.standard_normal((draws, d)), rng.standard_normal((draws, n, d))
    logits = scale * (key @ query[..., None])[..., 0]
    probs = softmax(logits)
    d_logits = softmax_vjp(logits, rng.standard_normal((draws, n)))
    d_query = scale * (d_logits[:, None, :] @ key)[:, 0]
    top, gradient = np.max(probs, axis=-1), np.linalg.norm(d_query, axis=-1)
    return (
        float(np.median(jacobian_frobenius_norm(probs))),
        float(np.mean(top)),
        float(np.mean(gradient)),
    )


# --8<-- [end:random_attention]


# --8<-- [start:value_softmax_flow]
def value_softmax_flow(
    values, logits, loss_grad, times, step_size, learn_values=True, entropy_bonus=0.0
):
    """Return (entropy, top weight) of p = softmax(logits) at each of `times`, while L(V p) flows downhill.

    values V (..., d, n), logits (..., n); leading axes are separate runs. loss_grad maps u = V p (..., d)
    to dL/du. entropy_bonus c adds -c H(p) to the loss. Midpoint rule; the times are rounded
    to whole steps. Model: Varre, Rofin and Flammarion 2026.
    """

    def slope(values, logits):
        probs = softmax(logits)
        du = loss_grad((values @ probs[..., None])[..., 0])
        dp = (du[..., None, :] @ values)[
            ..., 0, :
        ] + entropy_bonus * logits  # -dH/dp is log p plus a constant
        d_values = learn_values * du[..., :, None] * probs[..., None, :]
        return -d_values, -probs * (dp - np.sum(probs * dp, axis=-1, keepdims=True))

    records = [round(time / step_size) for time in times]
    wanted, seen = set(records), {}
    for step in range(max(records) + 1):
        if step in wanted:
            seen[step] = entropy_from_logits(logits), np.max(softmax(logits), axis=-1)
        d_values, d_logits = slope(values, logits)
        middle = values + step_size / 2 * d_values, logits + step_size / 2 * d_logits
        d_values, d_logits = slope(*middle)
        values, logits = values + step_size * d_values, logits + step_size * d_logits
    return tuple(
        np.array(column)
        for column in zip(*(seen[step] for step in records), strict=True)
    )


# --8<-- [end:value_softmax_flow]


# --8<-- [start:flow_study]
def flow_study(points=40):
    """Return {run: {"time", "entropy", "top"}} and the lengths of the targets of the run "square".

    One row of n = 8 weights, d = 4 outputs. Logits start equal, or "peaked": a 4 and seven zeros. The
    values start small; the target is a random vector, 1, 5 and 20 times it ("square"), its signs
    ("logistic"), or the uniform row with the values frozen at the identity.
    """
    rng, n, d = np.random.default_rng(0), 8, 4
    values, target = 0.3 * rng.standard_normal((d, n)), rng.standard_normal(d)
    equal, peaked, label = np.zeros(n), 4.0 * (np.arange(n) == 0), np.sign(target)
    scaled = np.array([[1.0], [5.0], [20.0]]) * target
    runs = {
        "logistic": (
            values,
            equal,
            lambda u: -label / (1 + np.exp(label * u)) / d,
            1200,
            0.5,
        ),
        "square": (
            np.stack([values] * 3),
            np.zeros((3, n)),
            lambda u: u - scaled,
            120,
            0.02,
        ),
        "equal columns": (
            np.repeat(values[:, :1], n, axis=1),
            equal,
            lambda u: u - target,
            120,
            0.2,
        ),
        "peaked": (values, peaked, lambda u: u - target, 120, 0.05),
        "peaked, entropy bonus": (
            values,
            peaked,
            lambda u: u - target,
            120,
            0.05,
            True,
            0.5,
        ),
        "peaked, frozen values": (
            np.eye(n),
            peaked,
            lambda u: u - 1 / n,
            1200,
            1.0,
            False,
        ),
    }
    study = {}
    for name, (v, a, loss_grad, end, step, *options) in runs.items():
        times = step * np.append(
            0, np.unique(np.rint(np.geomspace(1, end / step, points)))
        )
        entropy, top = value_softmax_flow(v, a, loss_grad, times, step, *options)
        study[name] = {"time": times, "entropy": entropy.T, "top": top.T}
    return study, np.linalg.norm(scaled, axis=-1)


# --8<-- [end:flow_study]


# --8<-- [start:grown_attention]
def grown_attention(growth, rng, n=128, d=64, draws=200):
    """Return {remedy: weights (draws, n)} of one query over n keys, all N(0, 1), once q.k is `growth` times as large.

    A network can make q and k grow in training; the remedies see that growth, or do not.
    """
    query, key = rng.standard_normal((draws, 1, d)), rng.standard_normal((draws, n, d))
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


# --8<-- [start:learn_silence]
def learn_silence(kind, values, steps=2000, rate=0.1):
    """Return (weight on the first key, weight on all others, ||output||) of a row that learns to add nothing.

    The loss is ||V w||^2 / 2 over the logits; values (d, n) stay as they are. kind: "softmax",
    "off by one" or "sigmoid" (bias -ln n).
    """
    logits = np.zeros(values.shape[-1])
    for _ in range(steps):
        weights, backward = attend(kind, logits)
        logits = logits - rate * backward(values.T @ (values @ weights))
    weights, _ = attend(kind, logits)
    return weights[0], np.sum(weights[1:]), np.linalg.norm(values @ weights)


def attend(kind, logits):
    """Return the weights of `kind`, and the function that maps dL/dw to dL/dz."""
    if kind == "sigmoid":
        weights = 1 / (1 + np.exp(math.log(len(logits)) - logits))
        return weights, lambda grad: weights * (1 - weights) * grad
    weights = softmax(logits) if kind == "softmax" else softmax_off_by_one(logits)
    return weights, lambda grad: weights * (grad - np.sum(weights * grad))


# --8<-- [end:learn_silence]
