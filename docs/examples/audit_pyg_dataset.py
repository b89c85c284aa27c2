# %% [markdown]
# # Audit a PyG data set before training
#
# You have a `Data` object of PyTorch Geometric whose edges somebody else collected,
# and want to know whether to train on it. This example asks first, once for a clean
# graph and once for a poisoned one, and then puts the answer into a pipeline as a
# transform.

# %%
import logging
import sys
import textwrap

import torch
from torch_geometric.data import Data
from torch_geometric.transforms import (
    Compose,
    LargestConnectedComponents,
    NormalizeFeatures,
    RandomNodeSplit,
)

import focusedcleaner as fc
from focusedcleaner.io.convert import to_pyg

# %% [markdown]
# ## The data
#
# Three of Cora's seven fields, which keeps the example short. A `Data` of your own,
# or `Planetoid(root, "Cora")[0]` of PyG, works in the same way: what is read are
# `edge_index`, `x`, `y` and the masks.

# %%
torch.manual_seed(0)
cora = to_pyg(fc.datasets.load("cora"))
data = Data(x=cora.x, edge_index=cora.edge_index, y=cora.y)
data = data.subgraph(torch.isin(cora.y, torch.tensor([1, 2, 4])))
data.y = data.y.unique(return_inverse=True)[1]
prepare = Compose(
    [LargestConnectedComponents(), RandomNodeSplit(num_val=0.1, num_test=0.8)]
)
data = prepare(data)
print(data)

# %% [markdown]
# ## Check first
#
# `fc.check` computes nothing long. It says what was read, which method fits, how long
# that takes on this machine, and what no result can promise. Look at three things:
# whether linked nodes share a class (*homophily*), whether the attributes tell
# anything about the edges, and whether the method is suitable.

# %%
found = fc.check(data)
print(found)

# %% [markdown]
# ## Ask for the verdict
#
# `fc.sanitize` never changes your object. The verdict is its answer, in `status`:
#
# - `no sign`: no more flags than a clean graph like this one would get; no proof.
# - `poisoned`: edges were planted, and those that are likely to be were removed.
# - `uncertain`: edges are suspicious, but may be unusual by nature. None was removed.
# - `not suitable`: the method can't tell anything about this graph. None was removed.

# %%
result = fc.sanitize(data, seed=0)
print(result.status)
print(textwrap.fill(result.summary, 86))

# %% [markdown]
# If nothing was removed, `result.data` has all edges of `data`.

# %%
print(data.num_edges, result.data.num_edges)

# %% [markdown]
# ## The same data, poisoned
#
# METTACK changes 10 % of the edges so that a GCN fails. An attack returns the
# poisoned graph as an `fc.Graph`, and `to_pyg` makes a `Data` of it.

# %%
poisoned = to_pyg(fc.attack("mettack").poison(data, "10%", seed=0).graph)
print(poisoned.num_edges)

# %% [markdown]
# In a pipeline, `fc.Sanitize()` is a transform as any other. A transform returns
# data, so that the verdict goes to the log `focusedcleaner`: as a warning if nothing
# could be decided, and as information otherwise.

# %%
log = logging.getLogger("focusedcleaner")
log.addHandler(logging.StreamHandler(sys.stdout))
log.setLevel(logging.INFO)

transform = Compose([fc.Sanitize(seed=0), NormalizeFeatures()])
cleaned = transform(poisoned)

# %% [markdown]
# The cleaned data have lost both directions of the removed edges.
# `removed_edge_index` holds them once each, the most suspicious first.

# %%
print(cleaned.num_edges, cleaned.removed_edge_index.shape)

# %% [markdown]
# ## What it is worth
#
# Accuracy of a GCN of FocusedCleaner on the test nodes, mean of three trainings. Each
# graph has the same masks.

# %%
for name, graph in {"clean": data, "poisoned": poisoned, "cleaned": cleaned}.items():
    print(f"{name:<9} {fc.classify(graph, 'gcn', seeds=3).mean:.1%}")

# %% [markdown]
# A data loader that must not go on with a poisoned graph needs one line:
#
# ```python
# if (result := fc.sanitize(data)).status != "no sign":
#     raise RuntimeError(result.summary)
# ```
#
# ## Where to go next
#
# - [What is read from PyG data](../api.md): masks, `adj_t`, `HeteroData`, soft
#   weights.
# - [How far to trust the verdict](../trust.md).
# - [All sanitizers](../sanitizers.md), if the default is too slow for your graph.
