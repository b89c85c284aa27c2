# %% [markdown]
# # Test your own defence
#
# You have an idea how to recognize planted edges. This example writes it down in ten lines, registers it, and tests it
# against nine attacks, beside a simple rival and an oracle that knows the truth.

# %%
from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import polars as pl
from sklearn.preprocessing import normalize

import focusedcleaner as fc

plt.rcParams["figure.dpi"] = 120

# %% [markdown]
# ## The defence
#
# The idea: papers that cite each other have words in common, and so have their neighbourhoods. A method that scores
# every edge once is an `fc.Filter`; the edges with the highest scores go first. Its settings are the fields of the
# class. `graph.features` are the attributes of the nodes on one scale.


# %%
@fc.register_sanitizer
@dataclass(frozen=True)
class Neighbourhoods(fc.Filter):
    """Removes the edges between nodes whose neighbourhoods have the least in common."""

    name: ClassVar[str] = "neighbourhoods"
    needs_labels: ClassVar[bool] = False
    own_weight: float = 1.0

    def score_edges(self, graph: fc.Graph, seed: int) -> fc.EdgeScores:
        words = normalize(graph.adjacency() @ graph.features + self.own_weight * graph.features)
        u, v = graph.edges.T
        return fc.EdgeScores(-words[u].multiply(words[v]).sum(axis=1))


# %% [markdown]
# From now on its name works wherever a name is taken.

# %%
clean = fc.datasets.synthetic(300, mean_degree=6.0, num_classes=4, homophily=0.9, attribute_signal=0.5, seed=1)
print(fc.sanitize(clean, "neighbourhoods", budget="10%", own_weight=2.0))

# %% [markdown]
# A method that only ranks edges removes as many from a clean graph, which is why its verdict is *uncertain*.
#
# ## Nine attacks
#
# Each may change 10 % of the edges of a small graph with four classes. Some follow a gradient (METTACK and its kin),
# some optimize over all pairs at once (`minmax`, the `pgd` attacks, the block attacks `prbcd` and `grbcd`), and two
# are blind: `dice` links different classes, `random` anything. The block attacks take fewer steps here than by
# default, to save time.

# %%
attacks = ["mettack", "grad", "minmax", "meta-pgd", "pgd", "prbcd", "grbcd", "dice", "random"]
fewer = {"prbcd": {"epochs": 40, "block_size": 20_000}, "grbcd": {"epochs": 40, "block_size": 20_000}}
poisoned = {name: fc.attack(name, **fewer.get(name, {})).poison(clean, "10%", seed=0).graph for name in attacks}

# %% [markdown]
# Every defence removes as many edges as were planted. Then precision and recall are the same number, and the oracle's
# ESR is 100 %. ESR is the share of edges that were both planted and removed among all that were either: it is lower
# than recall, except at 0 and 100 %.

# %%
defences = ["neighbourhoods", "agreement", "jaccard", "random"]
rows = []
for attack, graph in poisoned.items():
    planted = len(graph.added_edges(clean))
    for defence in defences:
        score = fc.score(fc.sanitize(graph, defence, budget=planted, seed=0), clean=clean)
        rows.append({"attack": attack, "defence": defence, "recall": score.cr, "esr": score.esr})
    rows.append({"attack": attack, "defence": "oracle", "recall": score.oracle.cr, "esr": score.oracle_esr})
results = pl.DataFrame(rows).with_columns((pl.col("recall", "esr") * 100).round(0).cast(int))
print(results.filter(pl.col("defence").is_in(["neighbourhoods", "agreement", "oracle"])).head(6))

# %%
esr = results.pivot("defence", index="attack", values="esr")
fig, axis = plt.subplots(figsize=(7, 4.6))
values = esr.drop("attack").to_numpy()
axis.imshow(values, cmap="Blues", vmin=0, vmax=100, aspect="auto")
axis.set_xticks(range(values.shape[1]), esr.columns[1:])
axis.set_yticks(range(len(esr)), esr["attack"])
for row, line in enumerate(values):
    for column, value in enumerate(line):
        axis.text(column, row, f"{value}", ha="center", va="center", color="white" if value > 60 else "black")
axis.set_title("ESR in percent, higher is better")
fig.tight_layout()

# %% [markdown]
# ## Where to go next
#
# - [Add a sanitizer](../sanitizers.md#add-a-sanitizer): rounds, verdicts, probabilities.
# - [All attacks](../attacks.md) with their settings.
# - [How good the methods are on real graphs](../benchmarks.md).
