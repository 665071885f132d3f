"""The figures of the chapter on probabilities."""

import numpy as np
from matplotlib import rcParams

from figures.style import title

TOLERANCE = 1e-7

SCORES = np.array([2.0, 1.0, 0.1])
MARKERS = ["o", "s", "^"]
DASHES = ["-", "--", "-.", ":"]


def data():
    """Return the numbers of every figure."""
    from snippets.probabilities import numpy_reference as snippet

    return {
        "probabilities_gaps": gaps(snippet),
        "probabilities_shift": shift(),
        "probabilities_entropy": entropies(snippet),
        "probabilities_lipschitz": lipschitz(snippet),
    }


def gaps(snippet):
    gap = np.linspace(0, 5, 101)
    first, second = snippet.softmax(np.stack([gap, np.zeros_like(gap)], axis=-1)).T
    return {"gap": gap, "odds": first / second, "difference": first - second, "half": gap / 2}


def shift():
    """By what factor the weight f(z) grows when 1 is added to z."""
    logit = np.linspace(0.5, 5, 91)
    weights = {"exp": np.exp, "two": np.exp2, "square": np.square, "softplus": lambda z: np.logaddexp(0, z)}
    return {"logit": logit, "factor": {name: f(logit + 1) / f(logit) for name, f in weights.items()}}


def entropies(snippet):
    """Three options seen from above: lines of equal entropy, lines of equal mean score, and softmax in between."""
    slopes = np.array([-1.5, 0.0, 0.8, 2.0])
    best = np.array([snippet.softmax(slope * SCORES) for slope in slopes])
    level = -np.sum(best * np.log(best), axis=-1)
    path = np.array([snippet.softmax(slope * SCORES) for slope in np.linspace(-12, 12, 97)])
    return {
        "scores": SCORES,
        "slope": slopes,
        "best": best,
        "entropy": level,
        "mean_score": best @ SCORES,
        "line": [same_mean(mean) for mean in best @ SCORES],
        "contour": [same_entropy(value) for value in level if value < np.log(3) - 1e-9],
        "path": path,
    }


def same_mean(mean):
    """Return the two ends, on the rim of the triangle, of the line of distributions whose mean score is `mean`."""
    ends = []
    for i, j in ((0, 1), (1, 2), (0, 2)):
        share = (mean - SCORES[j]) / (SCORES[i] - SCORES[j])
        if 0 <= share <= 1:
            ends.append(share * np.eye(3)[i] + (1 - share) * np.eye(3)[j])
    return ends[:2]


def same_entropy(level):
    """Return the closed line of distributions with entropy `level`, found along rays from the uniform one."""
    points = []
    for angle in np.linspace(0, 2 * np.pi, 121):
        a, b = np.array([2, -1, -1]) / 6**0.5, np.array([0, 1, -1]) / 2**0.5
        direction = np.cos(angle) * a + np.sin(angle) * b
        low, high = 0.0, 1 / 3 / -direction.min()  # from the middle to the rim
        for _ in range(60):
            radius = (low + high) / 2
            probs = 1 / 3 + radius * direction
            positive = probs[probs > 0]
            low, high = (radius, high) if -np.sum(positive * np.log(positive)) > level else (low, radius)
        points.append(1 / 3 + low * direction)
    return points


def lipschitz(snippet):
    rng = np.random.default_rng(3)
    sizes = [2, 5, 50]
    moved, step = [], []
    for n in sizes:
        scale = 10 ** rng.uniform(-2, 1, (120, 1))
        start, change = rng.normal(size=(120, n)), scale * rng.normal(size=(120, n))
        step.append(np.linalg.norm(change, axis=-1))
        moved.append(np.linalg.norm(snippet.softmax(start + change) - snippet.softmax(start), axis=-1))
    return {"options": sizes, "step": step, "moved": moved, "largest_ratio": np.max(np.array(moved) / np.array(step))}


# ---- drawing


def probabilities_gaps(figure, data, say):
    figure.set_figheight(4.6)
    top, bottom = figure.subplots(2, 1, sharex=True)
    top.plot(data["gap"], data["odds"], color="C0")
    top.set_yscale("log")
    top.set_yticks([1, 10, 100], ["1", "10", "100"])
    top.set_ylabel(say("概率之比 $p_1 / p_2$", "odds $p_1 / p_2$"))
    top.text(2.6, 6, "$e^{\\Delta}$", color="C0", va="top", fontsize=13)
    bottom.plot(data["gap"], data["half"], color=rcParams["axes.edgecolor"], linestyle="--", linewidth=1.2)
    bottom.plot(data["gap"], data["difference"], color="C1")
    bottom.text(1.55, 0.98, "$\\Delta / 2$", ha="right", va="bottom", fontsize=13)
    bottom.text(3.2, 0.86, "$\\tanh(\\Delta / 2)$", color="C1", va="top", fontsize=13)
    bottom.set_ylim(0, 1.25)
    bottom.set_ylabel(say("概率差 $p_1 - p_2$", "difference $p_1 - p_2$"))
    bottom.set_xlabel(say("logit 差 $\\Delta = z_1 - z_2$", "gap between the logits, $\\Delta = z_1 - z_2$"))
    title(figure, say("logit 差变大，什么被放大，什么被缩小？", "What grows with the gap, and what shrinks?"))


def probabilities_shift(figure, data, say):
    figure.set_figheight(3.3)
    axes = figure.subplots()
    names = {"exp": "$e^z$", "two": "$2^z$", "square": "$z^2$", "softplus": "softplus"}
    places = {"exp": (5.05, 2.72), "two": (5.05, 2.0), "square": (5.05, 1.5), "softplus": (5.05, 1.17)}
    for i, (name, label) in enumerate(names.items()):
        axes.plot(data["logit"], data["factor"][name], color=f"C{i}", linestyle=DASHES[i])
        axes.text(*places[name], label, color=f"C{i}", va="center", fontsize=None if name == "softplus" else 13)
    axes.set_ylim(0.9, 4)
    axes.set_xlim(0.5, 5.0)
    axes.set_yticks([1, 2, 3, 4])
    axes.set_xlabel(say("加 1 之前的 logit $z$", "logit $z$ before 1 is added"))
    axes.set_ylabel(say("权重变为几倍", "weight grows by a factor of"))
    title(
        figure,
        say(
            "给每个 logit 加 1，权重乘上同一个倍数吗？",
            "Does adding 1 to every logit multiply\nevery weight by the same factor?",
        ),
    )


def probabilities_entropy(figure, data, say):
    figure.set_figheight(4.4)
    axes = figure.subplots()
    corners = np.array([[1.0, 0.0], [0.5, 3**0.5 / 2], [0.0, 0.0]])  # option 1 right, 2 on top, 3 left

    def place(points):
        return (np.array(points) @ corners).T

    axes.plot(*place([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]), color=rcParams["text.color"], linewidth=1)
    for contour in data["contour"]:
        axes.plot(*place(contour), color="C1", linewidth=1, linestyle="--")
    for line in data["line"]:
        axes.plot(*place(line), color=rcParams["axes.edgecolor"], linewidth=1)
    axes.plot(*place(data["path"]), color="C0")
    axes.plot(*place(data["best"]), "o", color="C0")
    for corner, score, side in zip(corners, data["scores"], ("left", "center", "right"), strict=True):
        y = corner[1] + (0.03 if side == "center" else -0.03)
        x = corner[0] + {"left": -0.1, "center": 0, "right": 0.1}[side]
        axes.text(x, y, say(f"分数 {score:g}", f"score {score:g}"), ha=side, va="bottom" if side == "center" else "top")
    axes.text(0.78, 0.80, say("虚线：熵相等", "dashed: equal entropy"), color="C1", ha="left")
    axes.text(0.78, 0.72, say("细线：平均分相等", "thin: equal mean score"), ha="left")
    axes.text(0.78, 0.64, say("粗线：softmax", "thick: softmax"), color="C0", ha="left")
    axes.set_aspect("equal")
    axes.set_axis_off()
    title(
        figure,
        say(
            "平均分相同的分布里，谁的熵最大？", "Of all distributions with one mean score,\nwhich has the most entropy?"
        ),
    )


def probabilities_lipschitz(figure, data, say):
    figure.set_figheight(3.6)
    axes = figure.subplots()
    for i, (n, step, moved) in enumerate(zip(data["options"], data["step"], data["moved"], strict=True)):
        label = say(f"{n} 个选项", f"{n} options")
        axes.plot(step, moved, MARKERS[i], color=f"C{i}", markersize=3.5, markerfacecolor="none", label=label)
    ends = np.array([5e-3, 3.0])
    axes.plot(ends, ends / 2, color=rcParams["text.color"], linewidth=1.2)
    axes.text(0.25, 0.25, say("上限：一半的距离", "limit: half as far"), ha="right")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 3)
    axes.legend(frameon=False, loc="lower right")
    axes.set_xlabel(say("logits 移动的距离", "distance the logits move"))
    axes.set_ylabel(say("概率移动的距离", "distance the probabilities move"))
    title(figure, say("softmax 会把微小的差别放大吗？", "Does softmax magnify small differences?"))
