"""The figures of the chapter on stability."""

import json
import math
from pathlib import Path

import numpy as np
from matplotlib import rcParams

from figures.style import title

TOLERANCE = 1e-6

# name: (largest number, smallest positive number, digits of the significand in bits)
DTYPES = {
    "float8_e4m3fn": (448.0, 2.0**-9, 4),
    "float8_e5m2": (57344.0, 2.0**-16, 3),
    "float16": (65504.0, 2.0**-24, 11),
    "bfloat16": (2.0**127 * (2 - 2.0**-7), 2.0**-133, 8),
    "float32": (2.0**127 * (2 - 2.0**-23), 2.0**-149, 24),
    "float64": (2.0**1023 * (2 - 2.0**-52), 2.0**-1074, 53),
}
SUMMED = ["float8_e4m3fn", "bfloat16", "float16", "float32"]
BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "results" / "softmax.json"


def data():
    """Return the numbers of every figure."""
    from snippets.probabilities.numpy_reference import softmax
    from snippets.stability.numpy_reference import log_softmax

    return {
        "stability_range": exp_range(),
        "stability_stall": running_sums(),
        "stability_log": logs_in_float16(softmax, log_softmax),
        "stability_speed": speeds(),
    }


def exp_range():
    """Between which x is exp(x) neither 0 nor infinite (or beyond the largest number)?"""
    return {
        name: {"lowest": np.log(smallest) - np.log(2), "highest": np.log(largest)}
        for name, (largest, smallest, _) in DTYPES.items()
    }


def running_sums():
    """Add ones, one by one, each total rounded to the dtype: the totals after 1, 2, 4, ... of them."""
    terms = 2 ** np.arange(26)
    totals = {}
    for name in SUMMED:
        if name in ("float16", "float32"):
            sums = np.cumsum(np.broadcast_to(np.ones((), name), terms[-1]), dtype=name)
            totals[name] = sums[terms - 1].astype(float)
        else:
            sums = list(ones_added(DTYPES[name][2]))
            totals[name] = [sums[min(n, len(sums)) - 1] for n in terms]
    return {"terms": terms, "totals": totals}


def ones_added(digits):
    """Yield 1, 1 + 1, ... rounded to `digits` binary digits, until adding another 1 changes nothing."""
    total, last = 1.0, 0.0
    while total != last:
        yield total
        mantissa, exponent = math.frexp(total + 1)
        total, last = math.ldexp(round(mantissa * 2**digits), exponent - digits), total


def logs_in_float16(softmax, log_softmax):
    """Log-probabilities of two classes, with the probability stored in float16 on the way and without."""
    gap = np.arange(0, 20.01, 1 / 16)
    exact = log_softmax(np.stack([np.zeros_like(gap), -gap], axis=-1))
    stored = softmax(np.stack([np.zeros_like(gap), -gap], axis=-1).astype(np.float16)).astype(float)
    first, second = stored.T
    return {
        "gap": gap,
        "leader": -exact[:, 0],
        "other": -exact[:, 1],
        "leader_stored": -np.log(first[first < 1]),  # from here on log 1 = 0
        "other_stored": -np.log(second[second > 0]),  # from here on log 0 = -inf
    }


def speeds():
    """Speeds as multiples of SciPy's, from the recorded benchmark."""
    recorded = json.loads(BENCHMARK.read_text())
    cases = []
    for case in recorded["cases"]:
        times = case["milliseconds"]
        speed = {name: times["scipy.special.softmax"] / time for name, time in times.items()}
        cases.append({"dtype": case["dtype"], "shape": case["shape"], "speed": speed})
    return {"cases": cases, "date": recorded["date"], "cpu": recorded["machine"]["cpu"]}


# ---- drawing


def stability_range(figure, data, say):
    figure.set_figheight(3.7)
    axes = figure.subplots()
    for row, name in enumerate(reversed(DTYPES)):
        low, high = data[name]["lowest"], data[name]["highest"]
        axes.plot([low, high], [row, row], color="C0", linewidth=7, solid_capstyle="butt")
        axes.text(low, row + 0.28, f"{low:.4g}", ha="center", va="bottom")
        axes.text(high, row + 0.28, f"{high:.4g}", ha="center", va="bottom")
    axes.set_xscale("symlog", linthresh=10, linscale=1.2)
    axes.set_xlim(-3000, 3000)
    axes.set_ylim(-0.6, 6.0)
    ticks = [-1000, -100, -10, 0, 10, 100, 1000]
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(DTYPES)), reversed(DTYPES))
    axes.axvline(0, color=rcParams["axes.edgecolor"], linewidth=0.8, zorder=0)
    axes.set_xlabel(
        say("$x$：横条左边，$e^x$ 是 0；右边，装不下", "$x$: left of a bar $e^x$ is 0, right of it too large")
    )
    title(figure, say("哪些 $x$ 的 $e^x$ 装得下？", "For which $x$ does $e^x$ fit?"))


def stability_stall(figure, data, say):
    figure.set_figheight(3.8)
    axes = figure.subplots()
    for hue, name in enumerate(SUMMED):
        totals = data["totals"][name]
        axes.plot(data["terms"], totals, color=f"C{hue}")
        label = say(f"{name}：{totals[-1]:.0f}", f"{name}: {totals[-1]:,.0f}")
        axes.text(data["terms"][-1], totals[-1] * 1.25, label, color=f"C{hue}", ha="right", va="bottom")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    powers = [0, 8, 16, 24]
    axes.set_xticks([2**power for power in powers], [f"$2^{{{power}}}$" for power in powers])
    axes.set_yticks([2**power for power in powers], [f"$2^{{{power}}}$" for power in powers])
    axes.minorticks_off()
    axes.set_ylim(0.7, 2**27)
    axes.set_xlabel(say("加了多少个 1", "ones added, one by one"))
    axes.set_ylabel(say("得到的和", "the total"))
    title(figure, say("逐个相加，和能加到多大？", "How far does a running sum get?"))


def stability_log(figure, data, say):
    figure.set_figheight(5.2)
    top, bottom = figure.subplots(2, 1, sharex=True)
    for axes, name, color in ((top, "other", "C1"), (bottom, "leader", "C0")):
        stored = data[f"{name}_stored"]
        axes.plot(data["gap"], data[name], color=rcParams["axes.edgecolor"], linewidth=1.2)
        axes.plot(data["gap"][: len(stored)], stored, color=color)
        axes.plot(data["gap"][len(stored) - 1], stored[-1], "o", color=color, markersize=4)
    top.set_ylabel(say("较小一项的 $-\\log p$", "$-\\log p$ of the smaller"))
    bottom.set_ylabel(say("领先一项的 $-\\log p$", "$-\\log p$ of the leader"))
    bottom.set_yscale("log")
    bottom.set_xlabel(say("两个 logit 之差", "gap between the two logits"))
    top.text(14.4, 11.5, say("此后 $\\log 0 = -\\infty$", "then $\\log 0 = -\\infty$"), color="C1", va="top")
    top.text(17.0, 19.2, "log_softmax", va="center", ha="right")
    bottom.text(9.2, 2e-3, say("此后 $\\log 1 = 0$", "then $\\log 1 = 0$"), color="C0", va="center")
    bottom.text(10.4, 1e-6, "log_softmax", va="top", ha="right")
    title(
        figure,
        say(
            "概率先存成 float16，它的对数还剩什么？",
            "What is left of a log-probability\nthat was stored as a float16 probability?",
        ),
    )


def stability_speed(figure, data, say):
    figure.set_figheight(5.6)
    labels = {
        "textbook": say("教科书写法", "textbook"),
        "scipy.special.softmax": "SciPy",
        "torch.softmax": "PyTorch",
        "blockwise_softmax": say("分块", "blocks"),
        "blockwise_softmax(out=)": say("分块，out=", "blocks, out="),
        "np.exp": say("只算 np.exp", "np.exp alone"),
    }
    for axes, case in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, data["cases"], strict=True):
        speed = [case["speed"][name] for name in labels]
        hues = ["C3" if name == "np.exp" else "C1" if "blockwise" in name else "C0" for name in labels]
        axes.barh(range(len(labels)), speed, color=hues, height=0.6)
        for row, value in enumerate(speed):
            axes.text(value + 0.06, row, f"{value:.1f}", va="center")
        axes.set_yticks(range(len(labels)), labels.values())
        axes.set_xlim(0, 5)
        axes.set_xticks([0, 2, 4])
        rows, columns = case["shape"]
        shape = say(f"{rows} × {columns}", f"{rows:,} × {columns:,}")
        axes.set_title(f"{case['dtype']}\n{shape}", loc="left")
    axes.invert_yaxis()
    figure.supxlabel(say("速度，SciPy = 1", "speed, SciPy = 1"), fontsize=rcParams["axes.labelsize"])
    title(figure, say("分块算快多少？", "How much faster are blocks?"))
