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
# # Reproduce figure 5 of FLID-DL
#
# Byers, Horn, Luby, Mitzenmacher and Shaver (2002) choose the factor between the rates of layers in section V-A: one
# FLID-DL session with one receiver behind 10 Mbit/s, a drop-tail queue of 128 packets and a round-trip time of 120 ms.
# Figure 5 shows throughput and lost packets in each 250 ms of the last 50 s, for the factors 1.3 and 2.0. The text
# gives numbers: 85 % of the link, 47 packets dropped per loss event at 1.3; 59 % and 17 packets at 2.0, where 2.5 times
# as many packets are lost over the 50 s.
#
# The scenario's head says what is the paper's and what is our reading of it.

# %%
import layercast
import pandas as pd
from matplotlib import pyplot

FACTORS = [1.3, 2.0]
runs = {
    factor: layercast.run("flid/one-bottleneck", set={"session.flid.layers.factor": factor}, replications=15)
    for factor in FACTORS
}
runs[1.3]

# %% [markdown]
# ## The figure
#
# The paper shows one run; this is the first of 15: throughput (line) and lost packets (circles). A probe of the
# bottleneck counts its drops each 250 ms, the bins of the throughput.


# %%
def drops(factor: float) -> pd.DataFrame:
    """Packets dropped in each interval of the last 50 s: a row for each, a column for each replication."""
    probes = runs[factor].probes.to_pandas()
    probes = probes[(probes.quantity == "drops") & (probes.time_s > 50)]
    return probes.pivot(index="time_s", columns="replication", values="value")


figure, panels = pyplot.subplots(2, 1, figsize=(7, 5.4), sharex=True, layout="constrained")
for axes, factor in zip(panels, FACTORS, strict=True):
    runs[factor].plot.throughput(["flid@R"], replication=1, smooth_s=0, axes=axes)
    axes.set(xlim=(50, 100), ylim=(0, 11000), title=f"c = {factor}", xlabel="")
    axes.legend().remove()
    lost = drops(factor)[1]
    lost = lost[lost > 0]
    other = axes.twinx()
    other.plot(lost.index, lost, "o", color="#D55E00", fillstyle="none")
    other.set(ylim=(0, 300), ylabel="Packets lost")
panels[-1].set_xlabel("Time (s)")
# %% [markdown]
# ## The numbers
#
# The paper does not define a loss event; here it is an interval of 250 ms with drops, as the figure draws them.

# %%
PAPER = pd.DataFrame({"use of the link, %": [85, 59], "lost per interval with loss": [47, 17]}, index=FACTORS)


def measured(factor: float) -> pd.DataFrame:
    """A row for each replication."""
    lost = drops(factor)
    flows = runs[factor].flows.to_pandas().set_index("replication")
    return pd.DataFrame(
        {
            "use of the link, %": flows.throughput_kbps / 100,
            "lost per interval with loss": lost.sum() / (lost > 0).sum(),
            "intervals with loss": (lost > 0).sum(),
            "lost in 50 s": lost.sum(),
        }
    )


ours = {factor: measured(factor) for factor in FACTORS}
means = pd.DataFrame({factor: table.mean() for factor, table in ours.items()}).T
means.join(PAPER.add_suffix(" (paper)")).round(1).T

# %% [markdown]
# ## What agrees, and what does not
#
# - The use of the link agrees: within the 5 points around 85 % and the 9 around 59 % that one run of the paper is
#   granted in [our reproduction](../reproduction/flid.md).
# - At 2.0 an interval with loss has fewer lost packets than at 1.3, and there are about twice as many such intervals:
#   the large jumps of the rate cause more frequent loss.
# - At 1.3 an interval with loss has about as many lost packets as the paper's loss event, within a factor of 1.5; at
#   2.0 it has about twice as many.
# - Factor 2.0 loses more packets over the 50 s, but on average not 2.5 times as many, nor in any of the 15 runs.

# %%
use = means["use of the link, %"]
assert 80 < use[1.3] < 90 and 50 < use[2.0] < 68
size = means["lost per interval with loss"]
assert size[2.0] < size[1.3]
over_paper = size / PAPER["lost per interval with loss"]
assert 1 / 1.5 < over_paper[1.3] < 1.5 and 1.5 < over_paper[2.0] < 3

# Ratios of 2.0 to 1.3, run by run; two standard errors are about a 95 % interval.
frequency = ours[2.0]["intervals with loss"] / ours[1.3]["intervals with loss"]
lost = ours[2.0]["lost in 50 s"] / ours[1.3]["lost in 50 s"]
assert 1.5 < frequency.mean() < 3
assert lost.mean() - 2 * lost.sem() > 1 and lost.max() < 2.5

ratios = pd.DataFrame({"intervals with loss": frequency, "packets lost in 50 s": lost})
ratios.agg(["mean", "sem", "min", "max"]).round(2)

# %% [markdown]
# Readings that come nearer to the paper's sizes and ratio, such as joins that take a one-way delay, are in [the
# reproduction](../reproduction/flid.md#what-differs-and-why).
