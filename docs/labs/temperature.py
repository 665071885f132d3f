# %% [markdown] lang="zh"
# # 温度实验 { #temperature-lab }
#
# 温度 $T$ 越大，分布越平。
#
# ## 一条曲线 { #one-curve }

# %% [markdown] lang="en"
# # Temperature lab { #temperature-lab }
#
# The larger the temperature $T$, the flatter the distribution.
#
# ## One curve { #one-curve }

# %%
from snippets.probabilities.numpy_reference import softmax

print(softmax([5, 3, 2, 1]).round(4))

# %% alt_zh="最大概率随温度下降" alt_en="The largest probability falls with the temperature"
import matplotlib.pyplot as plt
import numpy as np

temperatures = np.linspace(0.5, 10, 50)
plt.plot(temperatures, [softmax(np.array([5, 3, 2, 1]) / t)[0] for t in temperatures])
plt.show()
