"""The figures of the saturation chapter."""

import numpy as np
from matplotlib import rcParams
from matplotlib.patches import Rectangle

from figures.style import title

TOLERANCE = 1e-6

DASHES = ["-", "--", "-.", ":"]


def data():
    """Return the numbers of every figure."""
    from snippets.saturation import experiment
    from snippets.saturation import numpy_reference as snippet

    return {
        "saturation_jacobian": jacobians(snippet),
        "saturation_entropy": entropies(snippet),
        "saturation_losses": losses(snippet),
        "saturation_flow": flows(experiment),
        "saturation_growth": growths(experiment),
    }


def jacobians(snippet):
    logits = {"uniform": [0.0, 0.0, 0.0], "tie": [0.0, 0.0, -np.inf], "one_hot": [10.0, 0.0, 0.0]}
    return {
        name: {
            "jacobian": snippet.softmax_jacobian(z),
            "norm": snippet.jacobian_spectral_norm(snippet.softmax(z)),
            "entropy": snippet.entropy_from_logits(z),
        }
        for name, z in logits.items()
    }


def entropies(snippet):
    """Rows of 100: one leader, two leaders, two leaders that part, and rows drawn at random."""
    n, lead = 100, np.linspace(0, 20, 81)
    first, both = np.arange(n) == 0, np.arange(n) < 2
    rng = np.random.default_rng(5)
    alpha = 10 ** rng.uniform(-2.5, 0.5, 80)
    with np.errstate(divide="ignore"):  # a probability may be 0
        random = np.log(np.array([rng.dirichlet(np.full(n, a)) for a in alpha]))
    rows = {
        "one": lead[:, None] * first,
        "two": lead[:, None] * both,
        "parting": 20.0 * both + lead[:, None] / 2 * first,
        "random": random,
    }
    result = {
        name: {
            "entropy": snippet.entropy_from_logits(z),
            "norm": snippet.jacobian_spectral_norm(snippet.softmax(z)),
        }
        for name, z in rows.items()
    }
    return result | {"options": n, "largest_entropy": np.log(n)}


def losses(snippet):
    margin, target = np.linspace(0, 20, 81), np.array([0.0, 1.0, 0.0])
    logits = margin[:, None] * np.array([1.0, 0.0, 0.0])
    probs = snippet.softmax(logits)
    on_logits = snippet.log_softmax_vjp(logits, np.broadcast_to(-target, logits.shape))
    on_probs = snippet.softmax_vjp(logits, 2 * (probs - target))
    return {
        "margin": margin,
        "cross_entropy": np.linalg.norm(on_logits, axis=-1),
        "squared_error": np.linalg.norm(on_probs, axis=-1),
    }


def flows(experiment):
    study, lengths = experiment.flow_study()
    for run in study.values():  # the logarithmic axis has no room for time 0
        run.update({name: values[..., 1:] for name, values in run.items()}, start=run["entropy"].flat[0])
    return {"runs": study, "target_length": lengths, "largest_entropy": np.log(8)}


def growths(experiment):
    growth = 2.0 ** np.arange(7)
    top, entropy = {}, {}
    for factor in growth:
        for remedy, weights in experiment.grown_attention(factor, np.random.default_rng(0)).items():
            shares = weights / weights.sum(axis=-1, keepdims=True)
            top.setdefault(remedy, []).append(np.mean(np.max(shares, axis=-1)))
            terms = shares * np.log(np.where(shares > 0, shares, 1))
            entropy.setdefault(remedy, []).append(-np.mean(np.sum(terms, axis=-1)))
    return {"growth": growth, "top": top, "entropy": entropy}


# ---- drawing


def short(value):
    """Return a number in five characters: 0.25, or -5e-5 with proper minus signs."""
    text = "0" if value == 0 else f"{value:.2f}" if abs(value) > 0.005 else f"{value:.0e}".replace("e-0", "e-")
    return text.replace("-", "\u2212")


def saturation_jacobian(figure, data, say):
    figure.set_figheight(2.75)
    names = {
        "uniform": say("三项一样", "all three equal"),
        "tie": say("两项并列", "a two-way tie"),
        "one_hot": say("logits 为 [10, 0, 0]", "logits [10, 0, 0]"),
    }
    panels = figure.subplots(1, 3)
    for axes, (name, label) in zip(panels, names.items(), strict=True):
        for (i, j), value in np.ndenumerate(np.array(data[name]["jacobian"])):
            color = "C0" if value > 0 else "C1"
            axes.add_patch(Rectangle((j, i), 1, 1, facecolor=color, alpha=min(1.0, 2 * abs(value)), linewidth=0))
            axes.text(j + 0.5, i + 0.5, short(value), ha="center", va="center")
        axes.set(xlim=(0, 3), ylim=(3, 0), xticks=[], yticks=[], aspect="equal")
        axes.spines[:].set_visible(False)
        axes.set_title(label)
        norm, entropy = data[name]["norm"], data[name]["entropy"]
        axes.set_xlabel(
            f"$\\Vert J\\Vert_2$ = {norm:.4f}\n" + say("熵", "entropy") + f" {entropy:.3f}", linespacing=1.5
        )
    title(figure, say("softmax 的雅可比矩阵在哪里大，在哪里小？", "Where is the Jacobian of softmax large?"))


def saturation_entropy(figure, data, say):
    figure.set_figheight(3.9)
    axes = figure.subplots()
    entropy = np.array([0, np.log(2)])
    axes.plot(entropy, entropy / (2 * np.log(2)), color=rcParams["axes.edgecolor"], linewidth=1, linestyle=":")
    axes.plot(
        [np.log(2), data["largest_entropy"]], [0.5, 0.5], color=rcParams["axes.edgecolor"], linewidth=1, linestyle=":"
    )
    axes.plot(data["random"]["entropy"], data["random"]["norm"], ".", color=rcParams["axes.edgecolor"], markersize=3)
    for i, name in enumerate(("one", "two", "parting")):
        axes.plot(data[name]["entropy"], data[name]["norm"], color=f"C{i}", linestyle=DASHES[i])
    axes.text(1.6, 0.44, say("两项领先", "two leaders"), color="C1")
    axes.text(1.6, 0.12, say("一项领先", "one leader"), color="C0")
    axes.text(1.6, 0.03, say("点：随机的行", "dots: random rows"))
    line = {"arrowstyle": "-", "color": rcParams["axes.edgecolor"]}
    axes.text(0.53, 0.235, say("两项再拉开", "two leaders part"), color="C2")
    axes.annotate(say("100 项一样", "100 equal"), (4.6, 0.01), (4.6, 0.32), ha="right", arrowprops=line)
    axes.text(4.6, 0.515, say("虚线：上界", "dotted: upper bound"), ha="right")
    axes.set_ylim(0, 0.58)
    axes.set_xlabel(say("熵（nat）", "entropy (nats)"))
    axes.set_ylabel("$\\Vert J\\Vert_2$")
    title(figure, say("熵低，梯度就小吗？", "Does a low entropy mean a small gradient?"))


def saturation_losses(figure, data, say):
    figure.set_figheight(3.2)
    axes = figure.subplots()
    for i, name in enumerate(("cross_entropy", "squared_error")):
        axes.plot(data["margin"], data[name], color=f"C{i}", linestyle=DASHES[i])
    axes.text(19.8, 0.35, say("交叉熵", "cross-entropy"), color="C0", ha="right", va="top")
    axes.text(9.6, 2e-3, say("概率的平方误差", "squared error\nof the probabilities"), color="C1", linespacing=1.4)
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set_yticks([1, 1e-2, 1e-4, 1e-6, 1e-8])
    axes.set_xlabel(say("错的一类领先多少（logits 为 [x, 0, 0]）", "lead of the wrong class (logits [x, 0, 0])"))
    axes.set_ylabel(say("梯度的长度（对数刻度）", "length of the gradient (log)"))
    title(figure, say("模型错得越有把握，梯度还剩多少？", "What gradient is left when a model is surely wrong?"))


def saturation_flow(figure, data, say):
    figure.set_figheight(5.4)
    equal, peaked = figure.subplots(2, 1, sharex=True)
    runs, square = data["runs"], data["runs"]["square"]
    for i in range(3):
        equal.plot(square["time"], square["entropy"][i], color=f"C{i}", linestyle=DASHES[i])
    equal.plot(runs["logistic"]["time"], runs["logistic"]["entropy"], color="C3", linestyle=DASHES[3])
    short, middle, long = (f"$|y|$ = {length:.1f}" for length in data["target_length"])
    equal.text(0.02, 2.16, say("平方损失，", "square loss, ") + short, color="C0")
    equal.text(9, 1.05, middle, color="C1", va="top")
    equal.text(0.8, 0.6, long, color="C2", ha="right")
    equal.text(1200, 0.9, "logistic", color="C3", ha="right")
    equal.set_title(say("起点：八项一样", "start: eight equal weights"))
    names = {"peaked": "C1", "peaked, entropy bonus": "C0", "peaked, frozen values": "C2"}
    for i, (name, color) in enumerate(names.items()):
        peaked.plot(runs[name]["time"], runs[name]["entropy"], color=color, linestyle=DASHES[i])
    peaked.text(0.06, 0.66, say("平方损失", "square loss"), color="C1")
    peaked.text(3, 1.75, say("加熵奖励", "with an entropy bonus"), color="C0", ha="right")
    peaked.text(25, 1.05, say("values 冻结\n目标均匀", "frozen values,\nuniform target"), color="C2", linespacing=1.4)
    peaked.set_title(say("起点：一项占 0.886", "start: one weight at 0.886"))
    for axes in (equal, peaked):
        axes.set_ylim(0, 2.5)
        axes.set_ylabel(say("熵（nat）", "entropy (nats)"))
    peaked.set_xscale("log")
    peaked.minorticks_off()
    peaked.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
    peaked.set_xlabel(say("梯度流的时间（对数刻度）", "time of the gradient flow (log scale)"))
    title(figure, say("训练总会让注意力变尖吗？", "Does training always sharpen attention?"))


def saturation_growth(figure, data, say):
    figure.set_figheight(3.8)
    axes = figure.subplots()
    for i, name in enumerate(("softmax, no scale", "scaled by 1/sqrt(d)", "scaled, capped at 50", "QK-Norm")):
        axes.plot(data["growth"], data["top"][name], color=f"C{i}", linestyle=DASHES[i], marker="os^D"[i], markersize=4)
    axes.text(1.15, 0.62, say("不缩放", "no scale"), color="C0")
    axes.text(3.6, 0.6, "$1/\\sqrt{d}$", color="C1", ha="right")
    axes.text(40, 0.4, say("$1/\\sqrt{d}$，再软截断到 50", "$1/\\sqrt{d}$, capped at 50"), color="C2", ha="right")
    axes.text(16, 0.07, "QK-Norm", color="C3")
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    axes.set_xticks(data["growth"], [f"{growth:g}" for growth in data["growth"]])
    axes.set_ylim(0, 1.05)
    axes.set_xlabel(say("$q\\cdot k$ 涨到几倍", "$q\\cdot k$ grows by a factor of"))
    axes.set_ylabel(say("最大权重的平均", "mean top weight"))
    title(figure, say("q 和 k 在训练中变长，哪种办法挡得住？", "Queries and keys grow: which remedy holds?"))
