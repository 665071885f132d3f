"""The temperature chapter's figures."""

import numpy as np
from matplotlib import rcParams

from figures.style import title

TOLERANCE = 1e-7

LOGITS = np.array([5.0, 3.0, 2.0, 1.0])
MARKERS = ["o", "s", "^", "D"]
DASHES = ["-", "--", "-.", ":"]


def data():
    """Return the numbers of every figure."""
    from snippets.temperature import numpy_reference as snippet

    temperatures = np.geomspace(0.1, 100, 61)
    probs = np.array([snippet.temperature_softmax(LOGITS, t) for t in temperatures])
    return {
        "temperature_bars": bars(snippet),
        "temperature_entropy": entropies(snippet, temperatures),
        "temperature_options": {
            "temperature": temperatures,
            "logits": LOGITS,
            "probs": probs,
            "peak": peak(snippet),
        },
        "temperature_top_p": orders(snippet),
        "temperature_published": published(),
        "temperature_gumbel": gumbel(snippet),
        "temperature_calibration": calibration(snippet),
    }


def bars(snippet):
    temperatures = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0]
    probs = [snippet.temperature_softmax(LOGITS, t) for t in temperatures]
    return {"temperature": temperatures, "logits": LOGITS, "probs": probs}


def entropies(snippet, temperatures):
    curves = {"one_best": LOGITS, "two_best": np.array([5.0, 5.0, 2.0, 1.0])}
    return {
        "temperature": temperatures,
        "logits": curves,
        "entropy": {name: [snippet.entropy_from_logits(z / t) for t in temperatures] for name, z in curves.items()},
        "at_one": snippet.entropy_from_logits(LOGITS),
        "limits": {"one_best": 0.0, "two_best": np.log(2), "uniform": np.log(4)},
    }


def peak(snippet):
    """Where the second option's probability turns: there its logit equals the mean logit."""
    low, high = 1.0, 100.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        rises = snippet.temperature_derivatives(LOGITS, middle)[0][1] > 0
        low, high = (middle, high) if rises else (low, middle)
    probs = snippet.temperature_softmax(LOGITS, low)
    return {"temperature": low, "prob": probs[1], "mean_logit": probs @ LOGITS}


def orders(snippet):
    temperature, top_p = 2.0, 0.9
    drawn = {
        order: snippet.sampling_distribution(LOGITS, temperature, top_p=top_p, order=order)
        for order in ("temperature_first", "temperature_last")
    }
    seen = {"temperature_first": temperature, "temperature_last": 1.0}
    return {
        "temperature": temperature,
        "top_p": top_p,
        "logits": LOGITS,
        "seen": {order: snippet.temperature_softmax(LOGITS, t) for order, t in seen.items()},
        "drawn": drawn,
    }


def published():
    """The first two columns of the article's table, and the logit gap that each row and its rounding allow."""
    temperature = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
    first = np.array([0.999, 0.82, 0.64, 0.41, 0.28])
    second = np.array([0.001, 0.14, 0.20, 0.27, 0.26])
    half_digit = np.array([0.0005, 0.005, 0.005, 0.005, 0.005])
    return {
        "temperature": temperature,
        "gap": temperature * np.log(first / second),
        "lowest": temperature * np.log((first - half_digit) / (second + half_digit)),
        "highest": temperature * np.log((first + half_digit) / (second - half_digit)),
        "true_gap": LOGITS[0] - LOGITS[1],
    }


def gumbel(snippet):
    temperature, draws = 2.0, 100_000
    index = snippet.gumbel_max(LOGITS / temperature, np.random.default_rng(7), size=draws)
    counts = np.cumsum(index[:, None] == np.arange(4), axis=0)
    steps = np.unique(np.geomspace(100, draws, 31).astype(int))
    return {
        "temperature": temperature,
        "logits": LOGITS,
        "draws": steps,
        "frequency": (counts[steps - 1] / steps[:, None]).T,
        "probs": snippet.temperature_softmax(LOGITS, temperature),
    }


def calibration(snippet):
    """A classifier whose logits are 2.5 times too large, before and after dividing by the fitted temperature."""
    rng = np.random.default_rng(11)
    honest = rng.normal(0, 1.5, (20_000, 4))
    targets = snippet.sample(snippet.temperature_softmax(honest, 1.0), rng)
    logits = 2.5 * honest
    result = {"fitted": snippet.fit_temperature(logits, targets)}
    for name, temperature in (("before", 1.0), ("after", result["fitted"])):
        probs = snippet.temperature_softmax(logits, temperature)
        confidence, correct = np.max(probs, axis=-1), np.argmax(probs, axis=-1) == targets
        bin_of = np.clip(np.ceil(confidence * 10) - 1, 0, 9).astype(int)
        used = [b for b in range(10) if np.sum(bin_of == b) >= 50]
        result[name] = {
            "confidence": [np.mean(confidence[bin_of == b]) for b in used],
            "accuracy": [np.mean(correct[bin_of == b]) for b in used],
            "error": snippet.expected_calibration_error(probs, targets),
        }
    return result


# ---- drawing


def log_temperature(axes, say, ticks=(0.1, 1, 10, 100)):
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel(say("温度 $T$（对数刻度）", "temperature $T$ (log scale)"))


def above(axes, x, y, text, **kwargs):
    """Write `text` three points above the point (x, y)."""
    axes.annotate(text, (x, y), (0, 3), textcoords="offset points", **kwargs)


def temperature_bars(figure, data, say):
    figure.set_figheight(3.9)
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, temperature, probs in zip(panels.flat, data["temperature"], data["probs"], strict=True):
        bars = axes.bar(range(4), 100 * np.array(probs), color=["C0", "C1", "C2", "C3"], width=0.75)
        axes.bar_label(bars, fmt="%.0f", padding=1)
        axes.set_title(f"$T = {temperature:g}$")
        axes.set_ylim(0, 118)
        axes.set_yticks([0, 50, 100])
        axes.set_xticks(range(4), [f"{logit:g}" for logit in data["logits"]])
        axes.tick_params(axis="x", length=0)
    size = rcParams["axes.labelsize"]
    figure.supxlabel(say("选项的 logit", "logit of the option"), fontsize=size)
    figure.supylabel(say("概率（%）", "probability (%)"), fontsize=size)
    title(figure, say("同样的 logits，温度怎样改变概率？", "How does temperature reshape the same four logits?"))


def temperature_entropy(figure, data, say):
    figure.set_figheight(3.3)
    axes = figure.subplots()
    for i, name in enumerate(("one_best", "two_best")):
        axes.plot(data["temperature"], data["entropy"][name], color=f"C{i}", linestyle=DASHES[i])
    for limit in data["limits"].values():
        axes.axhline(limit, color=rcParams["axes.edgecolor"], linewidth=0.8, linestyle=":")
    axes.text(1.15, 0.42, "[5, 3, 2, 1]", color="C0")
    axes.text(0.55, 0.84, "[5, 5, 2, 1]", color="C1", ha="right")
    limits = data["limits"]
    above(axes, 0.1, limits["uniform"], say("ln 4 ≈ 1.386：四项一样", "ln 4 ≈ 1.386: all four equal"))
    above(axes, 100, limits["two_best"], say("ln 2 ≈ 0.693：两项并列", "ln 2 ≈ 0.693: two tie for first"), ha="right")
    above(axes, 100, limits["one_best"], say("0：只剩一项", "0: only one is left"), ha="right")
    axes.set_ylim(-0.05, 1.6)
    axes.set_ylabel(say("熵（nat）", "entropy (nats)"))
    log_temperature(axes, say)
    title(figure, say("温度能把熵推到多高、压到多低？", "How high and how low can the entropy go?"))


def temperature_options(figure, data, say):
    figure.set_figheight(5.0)
    whole, close_up = figure.subplots(2, 1)
    temperature, probs, peak = np.array(data["temperature"]), np.array(data["probs"]), data["peak"]
    late = temperature >= 5
    for i, logit in enumerate(data["logits"]):
        look = {"color": f"C{i}", "linestyle": DASHES[i]}
        whole.plot(temperature, probs[:, i], **look)
        close_up.plot(temperature[late], probs[late, i], **look)
        close_up.text(4.8, probs[late, i][0], f"logit {logit:g}", color=f"C{i}", ha="right", va="center")
    whole.text(1.5, 0.8, "logit 5", color="C0")
    whole.text(1.6, 0.24, "logit 3", color="C1", ha="right")
    whole.set_ylabel(say("概率", "probability"))
    log_temperature(whole, say)
    whole.set_xlabel("")
    close_up.plot([5, 100], [0.25, 0.25], color=rcParams["axes.edgecolor"], linewidth=0.8, linestyle=":")
    close_up.plot(peak["temperature"], peak["prob"], "o", color="C1")
    at, mean = f"$T \\approx {peak['temperature']:.2f}$", f"{peak['mean_logit']:g}"
    note = say(
        f"logit 3 在 {at} 到顶：{peak['prob']:.4f}\n这时平均 logit 正好是 {mean}",
        f"logit 3 peaks at {at}: {peak['prob']:.4f},\nwhere the mean logit is exactly {mean}",
    )
    close_up.annotate(
        note,
        linespacing=1.4,
        xy=(peak["temperature"], peak["prob"]),
        xytext=(8.3, 0.335),
        arrowprops={"arrowstyle": "-", "color": rcParams["axes.edgecolor"], "relpos": (0.04, 0), "shrinkB": 4},
    )
    close_up.set_ylim(0.15, 0.395)
    close_up.set_ylabel(say("概率（放大）", "probability (close-up)"))
    log_temperature(close_up, say, (5, 10, 20, 50, 100))
    close_up.set_xlim(2.4, 110)
    title(figure, say("温度升高，谁得谁失？", "Who gains and who loses as temperature rises?"))


def temperature_top_p(figure, data, say):
    figure.set_figheight(3.7)
    panels = figure.subplots(1, 2, sharey=True)
    names = {
        "temperature_first": say("先温度，后 top-p", "temperature, then top-p"),
        "temperature_last": say("先 top-p，后温度", "top-p, then temperature"),
    }
    for axes, (order, name) in zip(panels, names.items(), strict=True):
        seen, drawn = 100 * np.array(data["seen"][order]), 100 * np.array(data["drawn"][order])
        seen_bars = axes.bar(
            range(4), seen, 0.8, facecolor="none", edgecolor=rcParams["axes.edgecolor"], linestyle="--"
        )
        drawn_bars = axes.bar(range(4), drawn, 0.5, color="C0")
        for i in range(4):
            text = f"{drawn[i]:.0f}" if drawn[i] else say("出局", "out")
            above(axes, i, drawn[i] or seen[i], text, ha="center")
        kept = np.count_nonzero(drawn)
        axes.set_title(name + say(f"\n留下 {kept} 项", f"\nkeeps {kept} options"))
        axes.set_ylim(0, 118)
        axes.set_yticks([0, 50, 100])
        axes.set_xticks(range(4), [f"{logit:g}" for logit in data["logits"]])
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel(say("选项的 logit", "logit of the option"))
    panels[0].set_ylabel(say("概率（%）", "probability (%)"))
    labels = [say("top-p 看到的", "top-p sees"), say("最后抽样用的", "then drawn from")]
    panels[0].legend([seen_bars, drawn_bars], labels, frameon=False, loc="upper right", borderaxespad=0)
    title(figure, say("温度 2 和 top-p 0.9，谁先谁后有区别吗？", "Temperature 2 and top-p 0.9: does the order matter?"))


def temperature_published(figure, data, say):
    figure.set_figheight(3.1)
    axes = figure.subplots()
    gap = np.array(data["gap"])
    rounding = [gap - data["lowest"], data["highest"] - gap]
    axes.axhline(data["true_gap"], color="C0")
    axes.errorbar(data["temperature"], gap, yerr=rounding, fmt="s", color="C1", capsize=4)
    above(axes, 0.1, 2, say("logits [5, 3, 2, 1]：每行都是 2", "logits [5, 3, 2, 1]: 2 in every row"), color="C0")
    axes.text(0.1, 1.35, say("文章的表（竖线是舍入范围）", "the article's rows (bars: rounding)"), color="C1")
    axes.set_ylim(0, 2.4)
    axes.set_ylabel(say("前两项的 logit 之差", "gap of the first two logits"))
    log_temperature(axes, say, (0.1, 0.5, 1, 2, 10))
    title(figure, say("哪组 logits 能给出文章里的表？", "Which logits could give the article's table?"))


def temperature_gumbel(figure, data, say):
    figure.set_figheight(3.4)
    axes = figure.subplots()
    draws = np.array(data["draws"])
    label_at = [0.58, 0.213, 0.138, 0.068]  # the last two would touch
    for i, (frequency, prob) in enumerate(zip(data["frequency"], data["probs"], strict=True)):
        error = 2 * np.sqrt(prob * (1 - prob) / draws)
        axes.fill_between(draws, prob - error, prob + error, color=f"C{i}", alpha=0.2, linewidth=0)
        axes.plot(draws, frequency, color=f"C{i}", linestyle=DASHES[i])
        axes.text(1.15e5, label_at[i], f"{prob:.3f}", color=f"C{i}", va="center")
    axes.text(1.15e5, 0.66, "softmax", va="center")
    axes.text(
        1e3,
        0.41,
        say("色带：两倍标准误差\n", "bands: two standard errors\n") + "logits [5, 3, 2, 1], $T$ = 2",
        linespacing=1.4,
    )
    axes.set_xscale("log")
    axes.minorticks_off()
    ticks = [100, 1000, 10_000, 100_000]
    axes.set_xticks(ticks, say("100 1000 1万 10万", "100 1,000 10,000 100,000").split())
    axes.set_ylim(0, 0.72)
    axes.set_xlabel(say("抽样次数（对数刻度）", "number of draws (log scale)"))
    axes.set_ylabel(say("抽中的频率", "share of draws"))
    title(
        figure,
        say("加上 Gumbel 噪声取最大，抽的就是 softmax 吗？", "Does Gumbel noise plus argmax sample the softmax?"),
    )


def temperature_calibration(figure, data, say):
    figure.set_figheight(3.6)
    axes = figure.subplots()
    axes.plot([0.2, 1], [0.2, 1], color=rcParams["axes.edgecolor"], linewidth=0.8)
    for i, name in enumerate(("after", "before")):
        look = {"color": f"C{i}", "marker": MARKERS[i], "linestyle": DASHES[i]}
        axes.plot(data[name]["confidence"], data[name]["accuracy"], **look)
    before, after = (f"{100 * data[name]['error']:.1f}" for name in ("before", "after"))
    fitted = f"$T$ = {data['fitted']:.2f}"
    axes.text(
        1, 0.29, say(f"原样：平均差 {before} 个百分点", f"as it is: off by {before} points"), color="C1", ha="right"
    )
    axes.text(
        0.2,
        0.88,
        say(f"除以 {fitted}：\n平均差 {after} 个百分点", f"divided by {fitted}:\noff by {after} points"),
        color="C0",
        linespacing=1.4,
    )
    axes.set_xticks([0.2, 0.4, 0.6, 0.8, 1.0])
    axes.set_yticks([0.2, 0.4, 0.6, 0.8, 1.0])
    axes.set_xlabel(say("模型给出的把握（最大概率）", "confidence: the largest probability"))
    axes.set_ylabel(say("答对的比例", "share of right answers"))
    title(figure, say("除以一个温度，模型的把握就可信了吗？", "Can one temperature make confidence honest?"))
