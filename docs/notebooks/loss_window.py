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
# # Fairness of ELM against its loss window
#
# ELM counts the losses of a round-trip time as one loss event whose impact is their number (LAP). Losses that follow
# one another closely, as those of a full drop-tail queue, are to count once, as with TFRC (LIP). What is close is the
# option `window`, the LIP/LAP window in packets (Colussi's thesis, 6.2.2, figure 33: 3). How much does fairness depend
# on it, and in which networks?

# %%
import layercast
import pandas as pd
from matplotlib import pyplot

next(option for option in layercast.options("elm") if option.name == "window")

# %% [markdown]
# One ELM receiver and four TCP share 10 Mbit/s at 60 ms (`compare/beside-tcp`). Layers grow by 1.3, so that a fair
# level is near any fair rate. Three networks: a drop-tail queue of one bandwidth-delay product; RED; and a link of 100
# Mbit/s that is never full and loses 1 % of all packets at random.

# %%
RED = {"kind": "red", "limit": "150 packets", "min_threshold": 15, "max_threshold": 75, "gentle": True}
NETWORKS = {
    "drop-tail": {},
    "RED": {"link.A-B.queue": RED},
    "random loss": {
        "link.A-B.rate": "100 Mbit/s",
        "link.B-R.loss": 0.01,
        "defaults.link.queue.limit": "1000 packets",
    },
}
WINDOWS = [1, 3, 10, 20, 50]

sweeps = {
    name: layercast.sweep("compare/beside-tcp", {"session.session.window": WINDOWS}, set=settings, replications=6)
    for name, settings in NETWORKS.items()
}

# %%
axes = sweeps["drop-tail"].plot.sweep_map("throughput_kbps", "session@R")
axes.set_xscale("log")
axes.set_xticks(WINDOWS, WINDOWS)
axes.set_title("ELM next to four TCP, drop-tail queue, against its window in packets", fontsize="medium", loc="left")

# %% [markdown]
# ## Share of TCP's throughput
#
# ELM's throughput over the mean of the four TCP, replication by replication: fair is 1.


# %%
def shares(sweep: layercast.SweepResult) -> pd.DataFrame:
    """A row for each replication, a column for each window."""
    flows = sweep.flows.to_pandas()
    keys = ["replication", "session.session.window"]
    tcp = flows[flows.protocol == "tcp-sack"].groupby(keys).throughput_kbps.mean()
    elm = flows[flows.protocol == "elm"].groupby(keys).throughput_kbps.mean()
    return (elm / tcp).unstack("session.session.window")


share = {name: shares(sweep) for name, sweep in sweeps.items()}
means = pd.DataFrame({name: values.mean() for name, values in share.items()})
means.round(2)

# %%
_, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
for name, values in share.items():
    # Two standard errors: about a 95 % interval.
    axes.errorbar(values.columns, values.mean(), yerr=2 * values.sem(), label=name, marker="o", markersize=4, capsize=3)
axes.axhline(1, color="grey", linewidth=0.8)
axes.set(xscale="log", xlabel="window (packets)", ylabel="ELM over TCP", ylim=(0, 1.1))
axes.set_xticks(WINDOWS, WINDOWS)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
# %% [markdown]
# ## What follows
#
# At the drop-tail queue a window of a round-trip time's packets (20 and more; ELM's fair share is 15 packets a
# round-trip time) raises ELM's share by more than a quarter over a window of one packet: losses come in groups there,
# and with a short window each of a group counts. It remains below TCP's: what is lost is more than TCP loses.
#
# With RED and with random loss the window matters little: losses are seldom close to each other. The difference between
# the shortest and the longest window is within a tenth.

# %%
gain = pd.DataFrame({name: values[50] / values[1] for name, values in share.items()})
summary = pd.DataFrame({"gain": gain.mean(), "two standard errors": 2 * gain.sem()})
summary.round(3)

# %%
# Paired by seed, so the gain's own error counts. The bounds are those of the text.
assert gain["drop-tail"].mean() - 2 * gain["drop-tail"].sem() > 1.25
assert means.loc[50, "drop-tail"] < 0.7
for name in ("RED", "random loss"):
    assert abs(gain[name].mean() - 1) < 0.1, name

# Why: at the drop-tail queue ELM loses a larger share of its packets than TCP, with RED and at random about the same.
losses = {name: sweep.flows.to_pandas().groupby("protocol").loss_rate.mean() for name, sweep in sweeps.items()}
lost = pd.DataFrame(losses).T
assert lost.loc["drop-tail", "elm"] > 2 * lost.loc["drop-tail", "tcp-sack"]
assert (lost.loc[["RED", "random loss"], "elm"] / lost.loc[["RED", "random loss"], "tcp-sack"]).between(0.8, 1.25).all()
(100 * lost).round(2).rename(columns="{} loses, %".format)
