# %% [markdown] lang="zh"
# # 温度实验 { #temperature-lab }
#
# [温度](../temperature.md)一章讲了道理，这里动手试。先用四个词热身，再让一个只有几行的语言模型开口说话，看看温度怎样把它从复读机变成胡言乱语，而筛选又怎样把它拉回来。
#
# 代码从书的仓库里导入函数；想在自己的机器上运行，请先克隆仓库。

# %% [markdown] lang="en"
# # Temperature lab { #temperature-lab }
#
# The chapter on [temperature](../temperature.md) gave the reasons; here you try it. Four words to warm up, then a language model of a few lines speaks, and you watch temperature turn it from a parrot into noise, and a filter bring it back.
#
# The code imports its functions from the book's repository; clone it to run this on your own machine.

# %% [markdown] lang="zh"
# ## 热身：抽一千次 { #warm-up }
#
# 在三个温度下各抽一千次，数一数，再和应有的次数比。

# %% [markdown] lang="en"
# ## Warm-up: a thousand draws { #warm-up }
#
# Draw a thousand times at three temperatures, count, and compare with what the probabilities promise.

# %%
import numpy as np

from snippets.temperature.numpy_reference import sample, temperature_softmax

logits = np.array([5.0, 3.0, 2.0, 1.0])
rng = np.random.default_rng(7)
for temperature in (0.5, 1.0, 2.0):
    probs = temperature_softmax(logits, temperature)
    counts = np.bincount(sample(probs, rng, size=1000), minlength=4)
    print(f"T = {temperature}: drawn {counts}, expected {np.round(1000 * probs).astype(int)}")

# %% [markdown] lang="zh"
# ## 一个很小的语言模型 { #bigram }
#
# 拿一段公有领域的英文，也就是 Python 自带的《Python 之禅》（The Zen of Python），数出每个字母后面跟着什么。计数取对数就是 logits；没有出现过的组合给一个很小的计数，让它罕见，而不是不可能。

# %% [markdown] lang="en"
# ## A very small language model { #bigram }
#
# Take a text in the public domain, the Zen of Python that comes with Python, and count which letter follows which. The logarithms of the counts are the logits; a pair that never occurs gets a tiny count, so that it is rare and not impossible.

# %%
import codecs
import contextlib
import io
from itertools import pairwise

with contextlib.redirect_stdout(io.StringIO()):
    import this

text = codecs.decode(this.s, "rot13").lower()
letters = sorted(set(text))
index = {letter: i for i, letter in enumerate(letters)}
counts = np.full((len(letters), len(letters)), 0.002)
for first, second in pairwise(text):
    counts[index[first], index[second]] += 1
next_logits = np.log(counts)  # row: what may follow this letter
print(f"{len(text)} characters, {len(letters)} different ones")

# %% [markdown] lang="zh"
# 从空格开始，一个字母接一个字母地抽。

# %% [markdown] lang="en"
# Start from a space and draw one letter after the other.

# %%
from snippets.temperature.numpy_reference import sampling_distribution


def write(length, temperature, seed=0, **filters):
    rng = np.random.default_rng(seed)
    written = [index[" "]]
    for _ in range(length):
        probs = sampling_distribution(next_logits[written[-1]], temperature, **filters)
        written.append(int(sample(probs, rng)))
    return "".join(letters[i] for i in written)


for temperature in (0, 0.3, 1.0, 2.0, 10.0):
    print(f"T = {temperature:<4} {write(60, temperature)!r}")

# %% [markdown] lang="zh"
# 温度为零，它陷进一个循环，再也出不来。温度为一，读起来有点像英文。温度再高，连相邻两个字母都不像话了。
#
# ## 量一量 { #measure }
#
# “重复”和“胡话”都可以数出来：写一长串，数其中**不同的**四字母组合占多少，再数**原文里有过的**相邻字母对占多少。

# %% [markdown] lang="en"
# At zero it falls into a loop and never leaves it. At one it sounds a little like English. Hotter, and even neighbouring letters make no sense.
#
# ## Measure it { #measure }
#
# Repetition and nonsense can be counted: write a long string, then count how many of its four-letter groups are *different* ones, and how many of its pairs of neighbours *occur in the text*.

# %%
seen = set(pairwise(text))


def measure(written):
    groups = [written[i : i + 4] for i in range(len(written) - 3)]
    pairs = list(pairwise(written))
    return len(set(groups)) / len(groups), np.mean([pair in seen for pair in pairs])


temperatures = [0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0]
measured = np.array([measure(write(1500, temperature)) for temperature in temperatures])
for temperature, (different, known) in zip(temperatures, measured, strict=True):
    print(f"T = {temperature:<4} different groups {different:.2f}, known pairs {known:.2f}")

# %% alt_zh="两条曲线随温度的变化：四字母组合里不重样的比例上升，相邻字母对在原文里出现过的比例下降" alt_en="Two curves against temperature: the share of different four-letter groups rises, the share of letter pairs known from the text falls"
import matplotlib.pyplot as plt

plt.plot(temperatures, measured[:, 0], marker="o", label="different groups")
plt.plot(temperatures, measured[:, 1], marker="s", linestyle="--", label="known pairs")
plt.xlabel("temperature T")
plt.ylabel("share")
plt.legend()
plt.show()

# %% [markdown] lang="zh"
# 两条曲线，一升一降。中间有一段，两头都还过得去；但它在哪里，取决于模型和文本，没有一个到处通用的数。
#
# ## 筛选把它拉回来 { #filters }
#
# 温度不变，给它加上 min-p：概率不到第一名一成的字母一律不许出现。

# %% [markdown] lang="en"
# One rises, the other falls. In between lies a stretch where both are bearable, but where it lies depends on the model and the text; it is no number that holds everywhere.
#
# ## A filter brings it back { #filters }
#
# Keep the temperature and add min-p: no letter may appear that is less than a tenth as probable as the best one.

# %%
for order in ("temperature_first", "temperature_last"):
    written = write(1500, 2.0, min_p=0.1, order=order)
    different, known = measure(written)
    print(f"{order}: different groups {different:.2f}, known pairs {known:.2f}")
    print("   ", repr(written[:60]))

# %% [markdown] lang="zh"
# 同样的温度，同样的门槛，先后顺序不同，写出来的就不同。先升温，门槛拦下的字母少；先筛选，剩下的字母再怎么升温也都是原文里常见的。
#
# 接下来可以自己试：换一段文本，把 min-p 换成 top-p，或者用 `temperature_for_entropy` 让每一步的熵都一样。

# %% [markdown] lang="en"
# The same temperature, the same threshold, another order, another text. With temperature first the threshold stops fewer letters; with the filter first, what is left is common in the text, however hot it gets.
#
# Now try for yourself: another text, top-p instead of min-p, or `temperature_for_entropy` to give every step the same entropy.
