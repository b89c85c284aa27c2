# %% [markdown]
# # A ring of fake reviewers
#
# Users review items. A ring of fake accounts reviews the same few items, to push them, and some popular ones as a
# disguise. There are no labels and no attributes: the pattern of who reviewed what is all there is. FocusedCleaner
# recognizes a graph with two kinds of nodes and looks for groups of users who share too many items.

# %%
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import focusedcleaner as fc

plt.rcParams["figure.dpi"] = 120

# %% [markdown]
# ## The shop
#
# 1,500 users, 400 items, about 4,000 reviews: few users and few items have many of them. 30 users, who also have
# reviews of their own, review 10 items each of the same set; 9 of 10 possible reviews are there. Each posts five more
# reviews of popular items.

# %%
rng = np.random.default_rng(0)
users, items = 1500, 400
user_weights, item_weights = (np.arange(1, size + 1.0) ** -power for size, power in ((users, 0.5), (items, 0.8)))
user_weights, item_weights = user_weights / user_weights.sum(), item_weights / item_weights.sum()
genuine = np.column_stack([rng.choice(users, 4000, p=user_weights), rng.choice(items, 4000, p=item_weights)])
ring_users, ring_items = rng.choice(users, 30, replace=False), rng.choice(items, 10, replace=False)
ring = np.array([(user, item) for user in ring_users for item in ring_items if rng.random() < 0.9])
disguise = np.column_stack([np.repeat(ring_users, 5), rng.choice(items, 150, p=item_weights)])


def table(*parts: np.ndarray) -> pl.DataFrame:
    """Reviews in random order, each user and item at most once."""
    pairs = rng.permutation(np.unique(np.concatenate(parts), axis=0))
    stars = rng.integers(1, 6, len(pairs))
    return pl.DataFrame({"user": pairs[:, 0], "item": pairs[:, 1], "stars": stars})


reviews = table(genuine, ring, disguise)
print(reviews.head())

# %% [markdown]
# ## Read and check
#
# The columns `user` and `item` say that there are two kinds of nodes: user 7 and item 7 are not the same. `check`
# confirms it and names the method that fits, `dense-blocks`.


# %%
def read(reviews: pl.DataFrame) -> fc.Graph:
    """Read the table as a file; what was recognized would come as a warning."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore", category=fc.InputWarning):
        reviews.write_csv(Path(folder) / "reviews.csv")
        return fc.load_graph(Path(folder) / "reviews.csv")


graph = read(reviews)
found = fc.check(graph)
print(found)

# %% [markdown]
# ## Clean

# %%
result = fc.sanitize(graph, seed=0)
result

# %% [markdown]
# *Poisoned* means: a group stands out from all others and from random graphs with the same degrees. `evidence` has the
# group of each edge, and for each group how many users and items it has and which share of its possible edges exists.

# %%
removed = result.to_frame()
groups = removed.group_by("group").agg(
    pl.len().alias("edges"), *(pl.col(f"group_{what}").first() for what in ("sources", "targets", "density"))
)
print(groups)

# %% [markdown]
# ## Was it right?
#
# The ring's reviews are found. Its disguise is not: nobody can tell these reviews from genuine ones.

# %%
planted = {(f"user {user}", f"item {item}") for user, item in ring.tolist()}
hidden = {(f"user {user}", f"item {item}") for user, item in disguise.tolist()} - planted
edges = set(removed.select("u", "v").iter_rows())
print(f"{len(edges & planted)} of {len(planted)} reviews of the ring removed")
print(f"{len(edges & hidden)} of {len(hidden)} reviews of its disguise removed")
print(f"{len(edges - planted - hidden)} other reviews removed")

# %% [markdown]
# The same reviews, twice, a dot for each. On the left, users and items are in the order of their numbers, and nothing
# is to be seen. On the right, those of the group that was found come first.

# %%
in_group = [set(removed["u"]), set(removed["v"])]


def places(column: str, size: int, members: set[str]) -> np.ndarray:
    """The place of each user or item if the group comes first."""
    order = sorted(range(size), key=lambda number: f"{column} {number}" not in members)
    return np.argsort(order)


fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True)
x, y = reviews["item"].to_numpy(), reviews["user"].to_numpy()
flagged = np.array([(f"user {user}", f"item {item}") in edges for user, item in zip(y, x, strict=True)])
for axis, columns, rows in (
    (left, np.arange(items), np.arange(users)),
    (right, places("item", items, in_group[1]), places("user", users, in_group[0])),
):
    axis.scatter(columns[x[~flagged]], rows[y[~flagged]], s=2, color="0.55", label="stays")
    axis.scatter(columns[x[flagged]], rows[y[flagged]], s=2, color="C3", label="removed")
    axis.set(xlim=(-2, 100), ylim=(300, -5), xlabel="item")
left.set(title="As it came", ylabel="user")
right.set(title="The group first")
right.legend(loc="lower right", markerscale=4)
fig.tight_layout()

# %% [markdown]
# ## And without a ring?
#
# Real shops have groups with a common taste. The verdict has to stay calm there.

# %%
print(fc.sanitize(read(table(genuine)), seed=0).summary)

# %% [markdown]
# ## Where to go next
#
# - [Which groups are found, and which are not](../fraud.md), measured on ten graphs.
# - [How `dense-blocks` works](../sanitizers.md#bipartite-graphs).
# - [Two kinds of nodes in a table](../data.md#two-kinds-of-nodes).
