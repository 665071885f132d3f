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
            "mean_logit": probs @ LOGITS,
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
    return {"temperature": low, "prob": snippet.temperature_softmax(LOGITS, low)[1]}


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
    steps = np.unique(np.geomspace(10, draws, 60).astype(int))
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
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel(say("温度 $T$（对数刻度）", "temperature $T$ (log scale)"))


def temperature_bars(figure, data, say):
    figure.set_figheight(3.9)
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, temperature, probs in zip(panels.flat, data["temperature"], data["probs"], strict=True):
        percent = 100 * np.array(probs)
        bar = axes.bar(range(4), percent, color=["C0", "C1", "C2", "C3"], width=0.75)
        axes.bar_label(bar, fmt="%.0f", padding=1)
        axes.set_title(f"$T = {temperature:g}$", loc="center")
        axes.set_xticks(range(4), [f"{z:g}" for z in data["logits"]])
        axes.set_ylim(0, 118)
        axes.set_yticks([0, 50, 100])
        axes.tick_params(axis="x", length=0)
    figure.supxlabel(say("选项的 logit", "logit of the option"), fontsize=rcParams["font.size"])
    figure.supylabel(say("概率（%）", "probability (%)"), fontsize=rcParams["font.size"])
    title(figure, say("同样的 logits，温度怎样改变概率？", "How does temperature reshape the same four logits?"))


def temperature_entropy(figure, data, say):
    figure.set_figheight(3.3)
    axes = figure.subplots()
    limits = data["limits"]
    names = {"one_best": "[5, 3, 2, 1]", "two_best": "[5, 5, 2, 1]"}
    for i, (name, label) in enumerate(names.items()):
        axes.plot(data["temperature"], data["entropy"][name], color=f"C{i}", linestyle=DASHES[i])
        axes.axhline(limits[name], color=rcParams["axes.edgecolor"], linewidth=0.8, linestyle=":")
    axes.axhline(limits["uniform"], color=rcParams["axes.edgecolor"], linewidth=0.8, linestyle=":")
    axes.text(1.15, 0.42, names["one_best"], color="C0")
    axes.text(0.5, 0.86, names["two_best"], color="C1", ha="right")
    axes.text(
        0.1, limits["uniform"] + 0.03, say("上限 ln 4 ≈ 1.386：四项均匀", "upper limit ln 4 ≈ 1.386: all four equal")
    )
    axes.text(100, limits["two_best"] + 0.03, say("ln 2 ≈ 0.693：两项并列", "ln 2 ≈ 0.693: two tied"), ha="right")
    axes.set_ylim(-0.04, 1.56)
    axes.set_ylabel(say("熵 $H$（nat）", "entropy $H$ (nats)"))
    log_temperature(axes, say)
    title(figure, say("温度能把熵推到哪里？", "How far can temperature push the entropy?"))


def temperature_options(figure, data, say):
    figure.set_figheight(4.6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    temperature, probs, peak = data["temperature"], np.array(data["probs"]), data["peak"]
    for i, logit in enumerate(data["logits"]):
        top.plot(temperature, probs[:, i], color=f"C{i}", linestyle=DASHES[i])
        top.text(0.095, [0.97, 0.1, 0, 0][i], f"{logit:g}", color=f"C{i}", ha="right")
    top.set_ylabel(say("概率", "probability"))
    bottom.plot(temperature, data["mean_logit"], color=rcParams["text.color"])
    bottom.axhline(3, color="C1", linestyle="--")
    for axes in (top, bottom):
        axes.axvline(peak["temperature"], color=rcParams["axes.edgecolor"], linewidth=0.8)
    bottom.set_ylabel(say("平均 logit", "mean logit"))
    log_temperature(bottom, say)
    title(figure, say("温度升高，谁得谁失？", "Who gains and who loses as temperature rises?"))


def temperature_top_p(figure, data, say):
    figure.set_figheight(3.6)
    panels = figure.subplots(1, 2, sharey=True)
    names = {
        "temperature_first": say("先温度，后 top-p", "temperature, then top-p"),
        "temperature_last": say("先 top-p，后温度", "top-p, then temperature"),
    }
    for axes, (order, name) in zip(panels, names.items(), strict=True):
        seen, drawn = 100 * np.array(data["seen"][order]), 100 * np.array(data["drawn"][order])
        place = np.arange(4)
        axes.bar(
            place - 0.2,
            seen,
            0.38,
            facecolor="none",
            edgecolor=rcParams["axes.edgecolor"],
            label=say("筛选时看到的", "what the filter sees"),
        )
        bar = axes.bar(place + 0.2, drawn, 0.38, color="C0", label=say("最后抽样用的", "what is sampled"))
        axes.bar_label(bar, [f"{x:.0f}" if x else say("出局", "out") for x in drawn], padding=1)
        axes.set_title(name)
        axes.set_xticks(place, [f"{z:g}" for z in data["logits"]])
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel(say("选项的 logit", "logit of the option"))
    panels[0].set_ylabel(say("概率（%）", "probability (%)"))
    panels[1].legend(frameon=False, loc="upper right")
    title(
        figure,
        say("温度和 top-p，先后有别吗？（$T = 2$，$p = 0.9$）", "Does the order of $T = 2$ and top-p 0.9 matter?"),
    )


def temperature_published(figure, data, say):
    figure.set_figheight(3.1)
    axes = figure.subplots()
    gap = np.array(data["gap"])
    error = [gap - data["lowest"], data["highest"] - gap]
    axes.errorbar(data["temperature"], gap, yerr=error, fmt="o", color="C1", capsize=4)
    axes.axhline(data["true_gap"], color="C0", linewidth=1.8)
    axes.text(
        0.1, 2.06, say("真正的 softmax：每行都是 5 − 3 = 2", "a real softmax: 5 − 3 = 2 in every row"), color="C0"
    )
    axes.text(
        0.1, 1.3, say("文章表格的各行（竖线：舍入误差）", "rows of the article's table (bars: rounding)"), color="C1"
    )
    axes.set_ylim(0, 2.35)
    axes.set_ylabel("$T \\cdot \\ln(p_1 / p_2)$")
    log_temperature(axes, say, (0.1, 0.5, 1, 2, 10))
    title(figure, say("哪组 logits 能给出文章里的表格？", "Which logits could give the article's table?"))


def temperature_gumbel(figure, data, say):
    figure.set_figheight(3.4)
    axes = figure.subplots()
    draws = np.array(data["draws"])
    for i, (frequency, prob) in enumerate(zip(data["frequency"], data["probs"], strict=True)):
        error = 2 * np.sqrt(prob * (1 - prob) / draws)
        axes.fill_between(draws, prob - error, prob + error, color=f"C{i}", alpha=0.2, linewidth=0)
        axes.plot(draws, frequency, color=f"C{i}", linestyle=DASHES[i])
        axes.text(1.2e5, prob, f"{prob:.3f}", color=f"C{i}", va="center")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.set_xlabel(say("抽样次数（对数刻度）", "number of draws (log scale)"))
    axes.set_ylabel(say("频率", "frequency"))
    title(
        figure,
        say(
            "加 Gumbel 噪声取最大，抽到的是 softmax 吗？",
            "Does adding Gumbel noise and taking\nthe largest draw from the softmax?",
        ),
    )


def temperature_calibration(figure, data, say):
    figure.set_figheight(3.8)
    axes = figure.subplots()
    axes.plot([0.25, 1], [0.25, 1], color=rcParams["axes.edgecolor"], linewidth=0.8)
    for i, name in enumerate(("before", "after")):
        axes.plot(
            data[name]["confidence"],
            data[name]["accuracy"],
            color=f"C{1 - i}",
            marker=MARKERS[i],
            linestyle=DASHES[1 - i],
        )
    axes.set_xlabel(say("模型自报的把握", "confidence the model reports"))
    axes.set_ylabel(say("实际答对的比例", "share of right answers"))
    title(figure, say("除以拟合的温度，把握变可信了吗？", "Does one fitted temperature make confidence honest?"))
