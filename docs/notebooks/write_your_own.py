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
# # Write your own
#
# A protocol of layered multicast in Python, from the first line to a comparison with the built-in ones. The idea is
# that of RLM (McCanne, Jacobson and Vetterli 1996): a receiver tries the next layer now and then; if packets are lost
# soon after the join, it leaves the layer and waits twice as long before it tries that one again. What a class may do
# is on [the page of protocols in Python](../python-protocols.md).
#
# ## Options and header
#
# Options have a default, a unit by their type, and a sentence. A header's fields travel with each packet.

# %%
from dataclasses import dataclass

import layercast
import layercast.testing
from layercast.protocol import SECOND, Duration, LayeredSource, Packet, Protocol, Receiver, option


@dataclass(frozen=True)
class Options:
    detection: Duration = option(2 * SECOND, "How long loss may take to show after a join.")
    wait: Duration = option(5 * SECOND, "The first wait before a layer is tried.")
    longest: Duration = option(120 * SECOND, "The longest one.")


@dataclass(frozen=True)
class Data:
    layer: int
    seq: int


# %% [markdown]
# ## Source and receiver
#
# `LayeredSource` sends each layer at its rate. The receiver has two timers: the next experiment, and the end of the
# present one.


# %%
class Source(LayeredSource):
    def header(self, now: int, layer: int, seq: int) -> Data:
        return Data(layer, seq)


class Trying(Receiver):
    def on_start(self, now: int) -> None:
        self.expected: dict[int, int] = {}
        self.waits = [self.options.wait] * self.layers
        self.set_level(0, "start")
        self.plan(now)

    def plan(self, now: int) -> None:
        """The next experiment: after the wait of the next layer, and up to half of it more."""
        self.cancel_timer("experiment")
        if self.level + 1 < self.layers:
            self.set_timer(now + int(self.waits[self.level + 1] * self.random.uniform(1.0, 1.5)), "experiment")

    def on_packet(self, now: int, packet: Packet) -> None:
        data = packet.header
        if packet.channel != data.layer or data.layer > self.level:
            return
        is_lost = data.seq > self.expected.get(data.layer, data.seq)
        self.expected[data.layer] = data.seq + 1
        if is_lost and self.timer("detection") is not None:
            self.cancel_timer("detection")
            self.waits[self.level] = min(2 * self.waits[self.level], self.options.longest)
            self.set_level(self.level - 1, "loss")
            self.plan(now)

    def on_timer(self, now: int, name: str) -> None:
        if name == "experiment":
            self.expected.pop(self.level + 1, None)
            self.set_level(self.level + 1, "experiment")
            self.set_timer(now + self.options.detection, "detection")
        else:
            self.plan(now)


class Try(Protocol, name="try"):
    """Tries the next layer, and waits longer after each failure."""

    options, headers, source, receiver = Options, (Data,), Source, Trying


# %% [markdown]
# ## Check
#
# The contract's rules under random inputs, as for all built-in protocols: joins of channels that are not held, timers
# after now, the same actions for the same inputs.

# %%
layercast.testing.check(Try)

# %% [markdown]
# ## Run
#
# Alone on a link of 700 kbit/s, level 4 (512 kbit/s) fits and level 5 (1024 kbit/s) does not, so its experiments fail,
# at intervals that grow.

# %%
SCENARIO = """
name = "One's own protocol"
duration = "180 s"
replications = 5
windows = [["80 s", "end"]]

[defaults.link]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "15 packets" }

[links]
S-G = {}
G-R = { rate = "700 kbit/s" }

[sessions.s]
protocol = "try"
source = "S"
receivers = ["R"]
layers = { scheme = "doubling", base = "32 kbit/s", count = 6 }
"""

alone = layercast.run(SCENARIO)
axes = alone.plot.levels(["s@R"])

# %%
flows = alone.flows.to_pandas()
# Level 4 but for the experiments, which end at their first loss: about half a second each, fewer than 3 a minute.
assert flows.mean_level.between(4.0, 4.05).all()
flows[["replication", "throughput_kbps", "loss_rate", "mean_level", "level_changes_per_min"]].round(4)

# %% [markdown]
# ## Next to a TCP, and the built-in protocols
#
# A TCP begins at 60 s. This receiver ignores losses outside of experiments, so it yields nothing. RLM leaves a layer at
# a loss of a quarter only. ELM measures its loss rate all the time, and leaves layers; at a queue this short it gets
# less than the TCP.

# %%
TCP = """
[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R"
start = "60 s"
"""
compared = layercast.compare(SCENARIO + TCP, ["try", "rlm", "elm"])

shares = {row["protocol"]: row["share_of_tcp"]["mean"] for row in compared.summary["protocols"]}
# 1 is as much as the TCP; 1.25 either side is more than the replications differ.
assert shares["try"] > shares["rlm"] > 1.25 and shares["elm"] < 0.8
{name: round(share, 2) for name, share in shares.items()}

# %% [markdown]
# ## Sweep
#
# Options of one's own are keys like all others. What the receiver holds when the TCP begins is what it keeps: with a
# first wait of 20 s it holds a low level at 60 s, and all experiments after that fail.

# %%
sweep = layercast.sweep(SCENARIO + TCP, {"session.s.wait": ["2 s", "5 s", "20 s"]})
axes = sweep.plot.sweep_map("throughput_kbps", "s@R")

# %%
table = sweep.flows.to_pandas().groupby(["session.s.wait", "flow"]).throughput_kbps.mean().unstack("flow")
# Above half of the link with short waits, below a third of it with the long one.
assert (table["s@R"].iloc[:2] > 350).all() and table["s@R"].iloc[2] < 233
table.round(0)
