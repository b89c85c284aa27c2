# %% [markdown]
# # Clean a poisoned Cora
#
# Cora is a graph of 2,485 papers that cite each other. A graph neural network (GCN)
# learns to tell the field of a paper from its words and from the papers around it.
# Here an attacker plants edges so that the GCN fails, FocusedCleaner removes edges
# without knowing which were planted, and the GCN is trained again.
#
# You need `pip install 'focusedcleaner[plots]'`. Cora is downloaded once.

# %%
import matplotlib.pyplot as plt
import numpy as np

import focusedcleaner as fc

plt.rcParams["figure.dpi"] = 120

# %% [markdown]
# ## The clean graph
#
# The split is the usual one: 10 % of the papers for training, 10 % for validation,
# 80 % for testing. FocusedCleaner never sees the classes of the test papers.

# %%
cora = fc.datasets.load("cora")
clean = cora.with_split(fc.Split.random(cora.labels, seed=0))
print(clean)
print(f"{clean.homophily:.0%} of the edges join papers of one field")

# %% [markdown]
# ## The attack
#
# METTACK knows the training papers and adds or removes edges one after the other,
# each time the one that does the GCN the most harm. It may change 10 % of the edges.

# %%
poisoning = fc.attack("mettack").poison(clean, "10%", seed=0)
poisoned = poisoning.graph
print(f"{len(poisoning.added)} edges planted, {len(poisoning.removed)} removed")
print(f"{poisoned.homophily:.0%} of the edges join papers of one field")

# %% [markdown]
# ## The cleaning
#
# `fc.sanitize` takes the poisoned graph and nothing else. Its default plants edges
# itself, learns to recognize them and looks for edges like them. In a notebook the
# result is shown as its verdict and the most suspicious edges, each with the
# evidence.

# %%
result = fc.sanitize(poisoned, seed=0)
result

# %% [markdown]
# The first line is the verdict: whether edges were planted, how many, and which share
# of the removed edges is expected to be planted. It is an estimate. The verdict can
# also be *no sign of poison* or *uncertain*; then nothing is removed.

# %%
print(result.headline)

# %% [markdown]
# ## Was it right?
#
# Only here do we look at the truth. *Precision* is the share of planted edges among
# the removed ones, *recall* the share of planted edges that were removed. *ESR*, the
# measure of the FocusedCleaner paper, is the share of edges that were both planted
# and removed among all that were either.

# %%
truth = fc.score(result, clean=clean)
print(truth.sentence)

# %% [markdown]
# Many genuine edges were removed, too. The default removes every edge with a
# probability of at least 0.05 of being planted, because a planted edge harms a model
# more than a genuine one helps it. For a list of edges that are almost certainly
# planted, call `fc.sanitize(poisoned, purpose="evidence")`.
#
# ## Does the GCN recover?
#
# `fc.classify` trains a GCN three times on each graph and measures the accuracy on
# the test papers.

# %%
before = fc.classify(clean, "gcn", seeds=3)
after = fc.classify(result, "gcn", seeds=3)
accuracy = {"clean": before.mean, "poisoned": after.before, "cleaned": after.after}
for name, value in accuracy.items():
    print(f"{name:<9} {value:.1%}")

# %% [markdown]
# On the left: the accuracy of the GCN. On the right: all edges of the poisoned graph,
# the most suspicious first. The curve counts the planted ones; the nearer it is to
# the dotted line, the better the ranking.

# %%
ranking = result.to_frame(all_edges=True)
planted = {tuple(sorted(edge)) for edge in poisoning.added.tolist()}
pairs = ranking.select("u", "v").iter_rows()
found = np.cumsum([tuple(sorted(pair)) in planted for pair in pairs])

fig, (bars, curve) = plt.subplots(1, 2, figsize=(9, 3.6))
percent = [100 * value for value in accuracy.values()]
shown = bars.bar(list(accuracy), percent, color=["C0", "C3", "C2"])
bars.bar_label(shown, fmt="%.1f %%")
bars.set(title="Accuracy of a GCN", ylabel="test accuracy, %", ylim=(0, 100))
edges = np.arange(1, len(found) + 1)
curve.plot(edges, found, color="C0", label="FocusedCleaner")
curve.plot(edges, np.minimum(edges, len(planted)), "k:", label="an oracle")
curve.plot(edges, edges * len(planted) / len(edges), color="0.6", label="chance")
curve.axvline(len(result.removed), color="C2", label="removed up to here")
curve.set(title="Planted edges found", ylabel="planted edges among them")
curve.set(xlabel="edges, the most suspicious first")
curve.legend(loc="lower right")
fig.tight_layout()

# %% [markdown]
# ## Where to go next
#
# - [How far to trust the verdict](../trust.md), measured on graphs that were fixed
#   beforehand.
# - [How the default works](../self-attack.md), and where it fails.
# - [Your own graph as a file](../data.md): tables, GraphML, npz.
