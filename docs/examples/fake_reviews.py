# %% [markdown]
# # A ring of fake reviewers
#
# Users review items. A ring of fake accounts reviews the same few items, to push
# them, and some popular ones as a disguise. There are no labels and no attributes:
# the pattern of who reviewed what is all there is. FocusedCleaner recognizes a graph
# with two kinds of nodes and looks for groups of users who share too many items.

# %%
import tempfile
import textwrap
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
# 1,500 users, 400 items, about 4,000 reviews: few users and few items have many of
# them. 30 users, who also have reviews of their own, review 10 items each of the same
# set; 9 of 10 possible reviews are there. Each posts five more reviews of popular
# items.

# %%
rng = np.random.default_rng(0)
users, items = 1500, 400
activity = np.arange(1, users + 1) ** -0.5
popularity = np.arange(1, items + 1) ** -0.8
activity, popularity = activity / activity.sum(), popularity / popularity.sum()
genuine = np.column_stack(
    [rng.choice(users, 4000, p=activity), rng.choice(items, 4000, p=popularity)]
)
ring_users = rng.choice(users, 30, replace=False)
ring_items = rng.choice(items, 10, replace=False)
ring = np.array(
    [(u, i) for u in ring_users for i in ring_items if rng.random() < 0.9]
)
disguise = np.column_stack(
    [np.repeat(ring_users, 5), rng.choice(items, 150, p=popularity)]
)


def table(*parts: np.ndarray) -> pl.DataFrame:
    """Reviews in random order, each user and item at most once."""
    pairs = rng.permutation(np.unique(np.concatenate(parts), axis=0))
    stars = rng.integers(1, 6, len(pairs))
    return pl.DataFrame({"user": pairs[:, 0], "item": pairs[:, 1], "stars": stars})


def named(pairs: np.ndarray) -> list[tuple[str, str]]:
    """Users and items as FocusedCleaner names them."""
    return [(f"user {user}", f"item {item}") for user, item in pairs.tolist()]


reviews = table(genuine, ring, disguise)
print(reviews.head())

# %% [markdown]
# ## Read and check
#
# The columns `user` and `item` say that there are two kinds of nodes: user 7 and item
# 7 are not the same. `check` confirms it and names the method that fits,
# `dense-blocks`.


# %%
def read(reviews: pl.DataFrame) -> fc.Graph:
    """Read the table as a file; what was recognized would come as a warning."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", fc.InputWarning)
        file = Path(folder) / "reviews.csv"
        reviews.write_csv(file)
        return fc.load_graph(file)


graph = read(reviews)
found = fc.check(graph)
print(found)

# %% [markdown]
# ## Clean

# %%
result = fc.sanitize(graph, seed=0)
result

# %% [markdown]
# *Poisoned* means: a group stands out from all others and from random graphs with the
# same degrees. `evidence` has the group of each edge, and for each group how many
# users and items it has and which share of its possible edges exists.

# %%
removed = result.to_frame()
columns = ["group", "group_sources", "group_targets", "group_density"]
print(removed.group_by(columns).agg(edges=pl.len()))

# %% [markdown]
# ## Was it right?
#
# The ring's reviews are found. Its disguise is not: nobody can tell these reviews
# from genuine ones.

# %%
planted, hidden = set(named(ring)), set(named(disguise)) - set(named(ring))
edges = set(removed.select("u", "v").iter_rows())
print(f"{len(edges & planted)} of {len(planted)} reviews of the ring removed")
print(f"{len(edges & hidden)} of {len(hidden)} reviews of its disguise removed")
print(f"{len(edges - planted - hidden)} other reviews removed")

# %% [markdown]
# The same reviews, twice, a dot for each. On the left, users and items are in the
# order of their numbers, and nothing is to be seen. On the right, those of the group
# that was found come first.


# %%
def places(kind: str, size: int, group: set[str]) -> np.ndarray:
    """The place of each user or item if the group comes first."""
    outside = [f"{kind} {number}" not in group for number in range(size)]
    return np.argsort(np.argsort(outside, kind="stable"))


fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True)
x, y = reviews["item"].to_numpy(), reviews["user"].to_numpy()
flagged = np.array([pair in edges for pair in named(np.column_stack([y, x]))])
by_item = places("item", items, set(removed["v"]))
by_user = places("user", users, set(removed["u"]))
for axis, (column, row) in ((left, (x, y)), (right, (by_item[x], by_user[y]))):
    for which, color, label in (
        (~flagged, "0.55", "stays"),
        (flagged, "C3", "removed"),
    ):
        axis.scatter(column[which], row[which], s=2, color=color, label=label)
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
untouched = fc.sanitize(read(table(genuine)), seed=0)
print(textwrap.fill(untouched.summary, 86))

# %% [markdown]
# ## Where to go next
#
# - [Which groups are found, and which are not](../fraud.md), measured on ten graphs.
# - [How `dense-blocks` works](../sanitizers.md#bipartite-graphs).
# - [Two kinds of nodes in a table](../data.md#two-kinds-of-nodes).
