# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Plots
#
# Every plot of `result.plot`. Each returns matplotlib's axes, so titles, limits and styles are yours to change;
# colours are those of the report. The results are of simulation 2 of Colussi's thesis: ELM, RLC and TCP at three
# receivers whose paths lose 2, 1 and 3 % of all packets; five replications here.

# %%
import layercast

# The scenario's first link never drops, as in the thesis; a queue and jitter leave nothing to warn of.
CALM = {"link.S-G1.queue.limit": "1250 packets", "flow.tcp.overhead": "automatic"}
result = layercast.run("thesis/simulation-2", set=CALM, replications=5)
result

# %% [markdown]
# ## Throughput
#
# The mean over replications, with its 95 % interval as a band; `smooth_s` is the length of a moving mean.

# %%
axes = result.plot.throughput(node="R1", smooth_s=10)

# %% [markdown]
# ## Throughput of one replication

# %%
axes = result.plot.throughput(["tcp@R1", "elm@R1"], replication=1, smooth_s=2)
axes.set_xlim(30, 120)
# %% [markdown]
# ## Levels
#
# Of one replication. Where all sessions have the same layers, the axis has the cumulative rates.

# %%
axes = result.plot.levels(["elm@R1", "rlc@R1"], replication=2)

# %% [markdown]
# ## Fairness
#
# The Jain index of each group: a dot for each replication, the mean and its 95 % interval above.

# %%
axes = result.plot.fairness()

# %% [markdown]
# ## A sweep of one key
#
# A curve with the 95 % interval of each mean.

# %%
losses = [0.005, 0.01, 0.02, 0.04, 0.08]
sweep = layercast.sweep(
    "thesis/simulation-2",
    {"link.G2-R1.loss": losses},
    set={**CALM, "duration": "120 s"},
    replications=5,
)
axes = sweep.plot.sweep_map("throughput_kbps", "elm@R1")

# %% [markdown]
# ## A sweep of names
#
# Values without an order stand side by side.

# %%
strategies = layercast.sweep(
    "thesis/simulation-2",
    {"session.elm.strategy": ["naive", "skeptical", "lazy"]},
    set={**CALM, "duration": "120 s"},
    replications=5,
)
axes = strategies.plot.sweep_map("level_changes", "elm@R1")

# %% [markdown]
# ## A sweep of two keys
#
# A heat map with the mean of each cell.

# %%
grid = layercast.sweep(
    "thesis/simulation-2",
    {"session.elm.t_join_max": ["5 s", "25 s", "60 s"], "link.G2-R1.loss": losses},
    set={**CALM, "duration": "120 s"},
    replications=5,
)
axes = grid.plot.sweep_map("throughput_kbps", "elm@R1")
