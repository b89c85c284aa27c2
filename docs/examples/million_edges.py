# %% [markdown]
# # A million edges on a laptop
#
# A graph of a million edges is written as a *graph folder*, whose arrays are mapped
# into memory and read block by block. This example draws such a graph as a Parquet
# table, reads it into a folder, poisons and cleans it, and shows the time and the
# memory of each step **on the machine that built this page**.

# %%
import os
import subprocess
import sys
import tempfile
import time

import matplotlib.pyplot as plt

import focusedcleaner as fc

plt.rcParams["figure.dpi"] = 120
EDGES = 1_000_000
steps = []

# %% [markdown]
# Each step is a command in a process of its own, so that its memory can be measured
# (in KB on Linux).


# %%
def measured(command: str) -> str:
    """Run a command, note its time and its memory, and return what it prints."""
    start = time.perf_counter()
    with open("output.txt", "w+") as output:
        words = [sys.executable, "-m", *command.split()]
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read()
    if process.returncode:
        raise RuntimeError(printed)
    seconds, memory = time.perf_counter() - start, usage.ru_maxrss / 1e6
    steps.append({"step": words[3], "seconds": seconds, "peak GB": memory})
    print(f"$ {command}\n  {seconds:.1f} s, {memory:.1f} GB\n")
    return printed


temporary = tempfile.TemporaryDirectory()
os.chdir(temporary.name)

# %% [markdown]
# ## From a table to a folder
#
# `generate` draws a graph with 16 classes and 32 attributes; `ingest` is what you run
# on a table of your own.

# %%
size = f"--nodes {EDGES // 5} --edges {EDGES} --classes 16 --attributes 32"
measured(f"focusedcleaner generate {size} --homophily 0.95 --out edges.parquet")
print(measured("focusedcleaner ingest edges.parquet --out CLEAN"))

# %% [markdown]
# ## Poison it
#
# Random edges, 5 % of all. Stronger attacks also run on graphs of this size, but take
# minutes.

# %%
attack = "focusedcleaner attack CLEAN --method random --power 5% --out POISONED"
print(measured(attack))

# %% [markdown]
# ## Clean it
#
# `agreement` predicts the classes of all nodes and removes the edges whose ends agree
# least, in class and attributes. It only ranks edges: 5 % is a budget, not a finding.

# %%
clean = "focusedcleaner sanitize POISONED --method agreement --budget 5% --out RUN"
print(measured(clean))

# %% [markdown]
# A run on a folder writes Parquet: `removed.parquet` with the evidence, and
# `sanitized.parquet`, the edges that remain. How many of the removed edges had been
# planted?

# %%
print(measured("focusedcleaner score RUN --truth CLEAN"))

# %% [markdown]
# One in twenty edges was planted, and one in twenty joins two classes by nature.
# Random edges look just like these, so no method can be right about all of them.
#
# ## What it took

# %%
names = [step["step"] for step in steps]
fig, axes = plt.subplots(1, 2, figsize=(9, 2.8), sharey=True)
for axis, what, color in zip(axes, ("seconds", "peak GB"), ("C0", "C1"), strict=True):
    values = [step[what] for step in steps]
    axis.bar_label(axis.barh(names, values, color=color), fmt="%.1f", padding=3)
    axis.set(title=what, xlim=(0, 1.2 * max(values)))
axes[0].invert_yaxis()
fig.tight_layout()

# %% [markdown]
# ## What would the default take?
#
# The default, `self-attack`, also gives a verdict. `fc.load_graph` opens the folder
# without reading it into memory, and `fc.check` forecasts what the default takes on
# one free core of this machine.

# %%
found = fc.check(fc.load_graph("POISONED"))
print(found.method, found.forecast, sep=": ")

# %% [markdown]
# Nothing of the folders is kept.

# %%
os.chdir(tempfile.gettempdir())
temporary.cleanup()

# %% [markdown]
# ## Where to go next
#
# - [Large graphs](../scale.md): what up to ten million edges take, measured.
# - [Graph folders](../data.md#large-graphs): interrupted, altered, resumed.
# - [The same on a Ray cluster](ray_cluster.py).
