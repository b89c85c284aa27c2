# %% [markdown]
# # A table without labels
#
# Most graphs are tables: a row for each edge, nobody knows the classes of the nodes.
# This example makes such a table, cleans it on the command line and in Python, and
# looks at what comes out: **your table, without some rows**. Clusters of nodes stand
# for the classes that are not known.

# %%
import csv
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import focusedcleaner as fc

# %% [markdown]
# ## Make a table
#
# Skip this part if you have one. It takes three fields of Cora, has METTACK plant
# edges, and writes two files: `citations.csv` with a row for each citation, and
# `citations.nodes.csv` with the 300 most frequent words of each paper. The fields are
# not in the files. `truth.csv`, the table before the attack, is put aside for the
# end.

# %%
cora = fc.datasets.load("cora")
papers = np.flatnonzero(np.isin(cora.labels, [1, 2, 4]))
place = np.full(cora.num_nodes, -1)
place[papers] = np.arange(len(papers))
pairs = place[cora.edges]
frequent = np.argsort(-cora.attributes.sum(axis=0))[:300]
words = cora.attributes[papers][:, frequent]
clean = fc.Graph.from_pairs(
    len(papers),
    pairs[(pairs >= 0).all(axis=1)],
    attributes=words,
    labels=np.unique(cora.labels[papers], return_inverse=True)[1],
).largest_component()
clean = clean.with_split(fc.Split.random(clean.labels, seed=0))
poisoned = fc.attack("mettack").poison(clean, "20%", seed=0).graph

temporary = tempfile.TemporaryDirectory()
os.chdir(temporary.name)
rng = np.random.default_rng(0)
for name, graph in {"citations.csv": poisoned, "truth.csv": clean}.items():
    with open(name, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["citing", "cited", "year", "source"])
        for u, v in rng.permutation(graph.edges).tolist():
            year, source = rng.integers(1990, 2000), rng.choice(["A", "B"])
            table.writerow([f"P{u:04}", f"P{v:04}", year, source])
with open("citations.nodes.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["id", *(f"word{number}" for number in range(words.shape[1]))])
    for node, row in enumerate(poisoned.attributes.toarray().astype(int).tolist()):
        table.writerow([f"P{node:04}", *row])

print(*Path("citations.csv").read_text().splitlines()[:5], sep="\n")

# %% [markdown]
# ## On the command line
#
# In a terminal you would type `focusedcleaner check citations.csv`. This script types
# it for you, so that it also runs as a script.


# %%
def terminal(command: str) -> None:
    """Run a command of FocusedCleaner and print what it prints."""
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    print(f"$ {command}\n{done.stderr}{done.stdout}")


terminal("focusedcleaner check citations.csv")

# %% [markdown]
# `check` computes nothing long. It says which columns it took for the two ends of an
# edge, and which it doesn't use. They are kept in the result all the same. Read the
# last paragraph, too: it says what you can't expect.
#
# Now the cleaning.

# %%
terminal("focusedcleaner sanitize citations.csv --out RUN")

# %% [markdown]
# The first lines are the verdict and its reason. Without labels the number of planted
# edges is a rough estimate. The run folder has the result:

# %%
print(*sorted(path.name for path in Path("RUN").iterdir()), sep="\n")

# %% [markdown]
# `sanitized.csv` is your table without the removed rows: the same columns, the same
# order.

# %%
before = Path("citations.csv").read_text().splitlines()
after = Path("RUN/sanitized.csv").read_text().splitlines()
print(*after[:5], sep="\n")
print(f"{len(before) - 1:,} rows before, {len(after) - 1:,} after")
kept = set(after)
unchanged = after == [row for row in before if row in kept]
print("rows and their order are unchanged:", unchanged)

# %% [markdown]
# `removed.csv` lists what went, the most suspicious first, with its row in your table
# and the evidence.

# %%
with open("RUN/removed.csv", newline="") as file:
    for row in list(csv.DictReader(file))[:5]:
        print({name: row[name] for name in ("rank", "u", "v", "score", "rows")})

# %% [markdown]
# ## In Python
#
# The same table and the same seed give the same edges. What was recognized in the
# table comes as an `fc.InputWarning`.

# %%
with warnings.catch_warnings(record=True) as notes:
    graph = fc.load_graph("citations.csv")
print(graph)
print(*[note.message for note in notes], sep="\n")

# %%
result = fc.sanitize(graph, seed=0)
result

# %%
with open("RUN/removed.csv", newline="") as file:
    by_command = [{row["u"], row["v"]} for row in csv.DictReader(file)]
in_python = [set(edge) for edge in result.to_frame().select("u", "v").iter_rows()]
print("the same edges in the same order:", by_command == in_python)

# %% [markdown]
# ## Was it right?
#
# You will hardly have the truth, and judge the flagged edges with `focusedcleaner
# review RUN`. Here we have it.

# %%
terminal("focusedcleaner score RUN --truth truth.csv")

# %% [markdown]
# The files are removed; keep yours.

# %%
os.chdir(tempfile.gettempdir())
temporary.cleanup()

# %% [markdown]
# ## Where to go next
#
# - [Your data](../data.md): which columns and formats are read, and what comes out.
# - [Without labels](../label-free.md): how clusters stand for classes, and where that
#   fails.
# - [The report](../report.md) and [the review](../review.md) of a run.
