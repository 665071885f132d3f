"""The figures of the chapter on distillation."""

import numpy as np
from matplotlib import rcParams
from matplotlib.patches import Rectangle

from figures.style import title

TOLERANCE = 0.02  # the students' accuracy may move by a few of 797 images on another processor

TEACHER = np.array([6.0, 2.0, -1.0, -7.0])
STUDENT = np.array([3.0, 1.0, 0.5, -4.5])
ARTICLE = np.array([0.95, 0.03] + [0.02 / 8] * 8)


def data():
    """Return the numbers of every figure."""
    from snippets.distillation import experiment
    from snippets.distillation import numpy_reference as snippet
    from snippets.probabilities.numpy_reference import softmax

    result = experiment.run()
    return {
        "distillation_seven": seven(result["seven"], softmax),
        "distillation_accuracy": accuracy(result, experiment),
        "distillation_gradient": gradient(snippet),
        "distillation_heat": heat(result["seven"], softmax),
    }


def seven(picked, softmax):
    temperatures = [1, 4, 20]
    chance = picked["prob_of_one"]
    return {
        "pixels": picked["pixels"],
        "logits": picked["logits"],
        "temperature": temperatures,
        "probs": [softmax(picked["logits"] / t) for t in temperatures],
        "sevens": len(chance),
        "runner_up": picked["runner_up"],
        "prob_of_one": {"largest": chance[-1], "median": np.median(chance)},
    }


def accuracy(result, experiment):
    students = {}
    for hidden in experiment.HIDDEN:
        labels, soft, shuffled = (np.array(result[kind][hidden]) for kind in ("labels", "soft", "shuffled"))
        students[hidden] = {
            "labels": labels,
            "soft": soft,
            "shuffled": shuffled,
            "mean": {
                kind: np.mean(x, axis=-1) for kind, x in (("labels", labels), ("soft", soft), ("shuffled", shuffled))
            },
            "spread": {
                kind: np.std(x, axis=-1, ddof=1)
                for kind, x in (("labels", labels), ("soft", soft), ("shuffled", shuffled))
            },
            "soft_wins": np.sum(soft > labels, axis=-1),
        }
    return {
        "temperature": experiment.TEMPERATURES,
        "teacher": result["teacher"],
        "young_teacher": {
            "itself": np.mean(result["young_teachers"]),
            "student_mean": np.mean(result["young"], axis=-1),
            "student_spread": np.std(result["young"], axis=-1, ddof=1),
        },
        "students": students,
        "seeds": len(experiment.SEEDS),
        "images": experiment.IMAGES,
    }


def gradient(snippet):
    temperature = np.geomspace(0.5, 100, 61)
    size = [np.linalg.norm(snippet.distillation_grad(STUDENT, TEACHER, t)) for t in temperature]
    gap = STUDENT - TEACHER
    return {
        "temperature": temperature,
        "teacher": TEACHER,
        "student": STUDENT,
        "without": size / temperature**2,
        "with": size,
        "limit": np.linalg.norm(gap - gap.mean()) / len(gap),
    }


def heat(picked, softmax):
    """How many times as likely "1" is as another wrong class, by temperature."""
    temperature = np.geomspace(1, 100, 41)
    real = np.array([softmax(picked["logits"] / t) for t in temperature])
    article = np.array([softmax(np.log(ARTICLE) / t) for t in temperature])
    return {
        "temperature": temperature,
        "article": article[:, 1] / article[:, 2],
        "real": real[:, 1] / real[:, 8],
        "at": [1, 4, 20, 100],
        "article_at": [ratio(np.log(ARTICLE), 1, 2, t) for t in (1, 4, 20, 100)],
        "real_at": [ratio(picked["logits"], 1, 8, t) for t in (1, 4, 20, 100)],
    }


def ratio(logits, i, j, temperature):
    return np.exp((logits[i] - logits[j]) / temperature)


# ---- drawing


def log_temperature(axes, say, ticks):
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel(say("温度 $T$（对数刻度）", "temperature $T$ (log scale)"))


def distillation_seven(figure, data, say):
    figure.set_figheight(5.4)
    panels = figure.subplots(4, 1, height_ratios=[1.5, 1, 1, 1])
    pixels = np.array(data["pixels"])
    for (row, column), ink in np.ndenumerate(pixels):
        square = Rectangle((column, 7 - row), 1, 1, facecolor=rcParams["text.color"], alpha=ink, linewidth=0)
        panels[0].add_patch(square)
    panels[0].add_patch(Rectangle((0, 0), 8, 8, fill=False, edgecolor=rcParams["axes.edgecolor"]))
    panels[0].set(xlim=(-0.2, 8.2), ylim=(-0.2, 8.2), aspect="equal")
    panels[0].set_axis_off()
    for axes, temperature, probs in zip(panels[1:], data["temperature"], data["probs"], strict=True):
        percent = 100 * np.array(probs)
        colors = ["C1" if digit == 1 else "C0" for digit in range(10)]
        bar = axes.bar(range(10), percent, color=colors)
        axes.bar_label(bar, [f"{p:.0f}" if p >= 0.5 else "" for p in percent], padding=1)
        axes.set_ylim(0, 125)
        axes.set_yticks([0, 50, 100])
        axes.set_xticks(range(10))
        axes.tick_params(axis="x", length=0)
        axes.set_title(f"$T = {temperature}$", loc="right", y=0.7)
    panels[3].set_xlabel(say("老师可能给出的答案", "answer the teacher may give"))
    panels[2].set_ylabel(say("概率（%）", "probability (%)"))
    title(figure, say("老师觉得这个 7 像什么？", "What does the teacher see in this 7?"))


def distillation_accuracy(figure, data, say):
    figure.set_figheight(6.4)
    panels = figure.subplots(2, 1, sharex=True)
    temperature = np.array(data["temperature"], dtype=float)
    for axes, hidden in zip(panels, ("4", "16"), strict=True):
        students = data["students"][hidden]
        place = np.full(len(students["labels"]), 0.55)
        axes.plot(place, students["labels"], "s", color="C2", markersize=3.5, markerfacecolor="none")
        axes.plot([0.47, 0.64], 2 * [students["mean"]["labels"]], color="C2")
        for kind, color, marker, line, nudge in (("soft", "C0", "o", "-", 0.97), ("shuffled", "C1", "^", "--", 1.03)):
            for t, row in zip(temperature, students[kind], strict=True):
                axes.plot(
                    np.full(len(row), t * nudge), row, marker, color=color, markersize=3.5, markerfacecolor="none"
                )
            axes.plot(temperature * nudge, students["mean"][kind], color=color, linestyle=line)
        axes.axhline(data["teacher"], color=rcParams["axes.edgecolor"], linewidth=0.8, linestyle=":")
        axes.set_ylim(0.35, 1.02)
        axes.set_title(
            say(f"学生有 {hidden} 个隐藏单元", f"student of {hidden} hidden units"), loc="left", y=0.02, x=0.02
        )
        axes.set_ylabel(say("测试准确率", "test accuracy"))
    panels[1].set_xscale("log")
    panels[1].minorticks_off()
    panels[1].set_xticks([0.55, *temperature], [say("标签", "labels"), *(f"{t:g}" for t in temperature)])
    panels[1].set_xlim(0.42, 26)
    panels[1].set_xlabel(
        say("学什么：标签，或老师在温度 $T$ 下的输出", "learned from: labels, or the teacher at temperature $T$")
    )
    young = data["young_teacher"]["student_mean"]
    panels[1].plot(temperature, young, color="C3", linestyle=":")
    panels[1].text(20, 0.843, say("老师只看过 60 张", "60-image teacher"), color="C3", ha="right")
    panels[0].text(20, data["teacher"] - 0.015, say("老师", "teacher"), ha="right", va="top")
    panels[1].text(6.5, 0.6, say("打乱错误答案", "wrong answers shuffled"), color="C1", ha="right")
    panels[0].text(8, 0.83, say("软目标", "soft targets"), color="C0", ha="center")
    title(figure, say("软目标让小网络多学了多少？", "How much more do soft targets teach?"))


def distillation_gradient(figure, data, say):
    figure.set_figheight(3.3)
    axes = figure.subplots()
    axes.plot(data["temperature"], data["with"], color="C0")
    axes.plot(data["temperature"], data["without"], color="C1", linestyle="--")
    axes.axhline(data["limit"], color=rcParams["axes.edgecolor"], linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylim(5e-5, 8)
    axes.text(9, 0.7, say("损失乘 $T^2$", "loss times $T^2$"), color="C0", va="top")
    axes.text(9, 0.004, say("不乘", "without"), color="C1", va="top", ha="right")
    axes.text(0.5, data["limit"] * 1.5, say("极限：logits 之差的范数 / $n$", "limit: norm of the logit gap / $n$"))
    log_temperature(axes, say, (0.5, 1, 2, 5, 20, 100))
    axes.set_ylabel(say("梯度的范数", "norm of the gradient"))
    title(figure, say("为什么要乘 $T^2$？", "Why multiply by $T^2$?"))


def distillation_heat(figure, data, say):
    figure.set_figheight(3.3)
    axes = figure.subplots()
    axes.plot(data["temperature"], data["real"], color="C0")
    axes.plot(data["temperature"], data["article"], color="C1", linestyle="--")
    axes.axhline(1, color=rcParams["axes.edgecolor"], linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylim(0.08, 2e8)
    axes.text(3.3, 800, say("真实的 7：1 比 8", "the real 7: 1 against 8"), color="C0")
    axes.text(1, 0.6, say("文章的例子", "the article's example"), color="C1", va="top")
    log_temperature(axes, say, (1, 4, 20, 100))
    axes.set_ylabel(say("1 与另一答案的概率之比", "odds of 1 against another answer"))
    title(figure, say("温度越高，错误答案之间的差别越大吗？", "Does more heat tell wrong answers apart?"))
