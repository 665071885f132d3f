# %% [markdown] lang="zh"
# # 温度实验 { #temperature-lab }
#
# 这里稍后会放上温度的实验，$T$ 越大分布越平。

# %% [markdown] lang="en"
# # Temperature lab { #temperature-lab }
#
# The temperature experiments will go here: the larger $T$, the flatter the distribution.

# %%
from snippets.probabilities.numpy_reference import softmax

print(softmax([5, 3, 2, 1]).round(4))
