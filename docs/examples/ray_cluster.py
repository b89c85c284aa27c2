# %% [markdown]
# # A Ray cluster on one machine
#
# The blocks of a large graph can be computed by the workers of a
# [Ray](https://www.ray.io) cluster. This example starts one on this machine, with two
# workers, and shows that they remove the same edges as the machine alone.
#
# You need `pip install 'focusedcleaner[ray,plots]'`.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import focusedcleaner as fc
from focusedcleaner.engine.ray_blocks import ray_executor

plt.rcParams["figure.dpi"] = 120

# %% [markdown]
# ## A graph
#
# Smaller graphs than about 130,000 edges are one block, which is not worth sending.
# This one has 200,000.

# %%
clean = fc.datasets.synthetic(
    40_000, 10.0, num_classes=8, homophily=0.9, num_attributes=64
)
poisoned = fc.attack("random").poison(clean, "5%", seed=0).graph
print(poisoned)

# %% [markdown]
# ## On this machine alone

# %%
method = fc.sanitizer("agreement")
seconds = {}
start = time.perf_counter()
alone = method.sanitize(poisoned, "5%", seed=0, threads=1)
seconds["one thread"] = time.perf_counter() - start
print(alone)

# %% [markdown]
# ## On the cluster
#
# `ray_executor(workers=2)` starts a cluster that only this machine can reach, and
# stops it at the end of the block, even if something fails inside.
# `ray_executor("HOST:PORT")` joins one that is running, and leaves it running.

# %%
start = time.perf_counter()
with ray_executor(workers=2) as executor:
    seconds["start of Ray"] = time.perf_counter() - start
    for run in ("first run", "second run"):
        start = time.perf_counter()
        spread = method.sanitize(poisoned, "5%", seed=0, executor=executor)
        seconds[f"2 workers, {run}"] = time.perf_counter() - start
print(spread)

# %% [markdown]
# ## The same edges

# %%
print("the same edges: ", np.array_equal(alone.removed, spread.removed))
print("the same scores:", np.array_equal(alone.scores, spread.scores))

# %% [markdown]
# Not only the edges are the same: their scores are, to the last digit. Blocks depend
# on the graph alone and are added in their order, whoever computes them.
#
# ## When is it worth it?

# %%
fig, axis = plt.subplots(figsize=(7, 2.4))
bars = axis.barh(list(seconds), list(seconds.values()))
axis.bar_label(bars, fmt="%.1f s", padding=3)
axis.invert_yaxis()
axis.set(xlabel="seconds", xlim=(0, 1.2 * max(seconds.values())))
fig.tight_layout()

# %% [markdown]
# Not here: a cluster takes seconds to start, and workers on one machine share its
# cores. It pays for graphs whose blocks don't fit one machine, and for methods that
# compute for long. On the command line:
#
# ```
# focusedcleaner sanitize GRAPH/ --method cld --engine ray --address HOST:PORT
# ```
#
# ## Where to go next
#
# - [A Ray cluster](../scale.md#a-ray-cluster): what every node needs, what happens if
#   one is lost.
# - [Graph folders](../data.md#large-graphs), which workers read by themselves.
# - [A million edges on one machine](million_edges.py).
