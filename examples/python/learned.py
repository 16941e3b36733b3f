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
# # A learned receiver
#
# Once a second the receiver below looks at three numbers: the share of packets lost in this second, the same smoothed
# over some ten seconds, and how long the level has been held. A weight for each and a constant decide whether to go
# up, to go down or to stay. The weights are found by random search: each trial is a short run against TCP, and
# counts what the receivers got and how fairly they shared.

# %%
import math
import warnings
from dataclasses import dataclass

import numpy as np

import layercast
from layercast.protocol import SECOND, LayeredSource, Packet, Protocol, Receiver


@dataclass(frozen=True)
class Weights:
    constant: float = 0.0
    loss: float = 0.0
    smoothed: float = 0.0
    held: float = 0.0


@dataclass(frozen=True)
class Data:
    layer: int
    seq: int


class LearnedSource(LayeredSource):
    def header(self, now: int, layer: int, seq: int) -> Data:
        return Data(layer, seq)


class LearnedReceiver(Receiver):
    def on_start(self, now: int) -> None:
        self.expected: dict[int, int] = {}
        self.received = self.lost = self.since = 0
        self.smoothed = 0.0
        self.set_level(0, "start")
        # The first look is at a random time, so that receivers do not all move at once.
        self.set_timer(now + 1 + int(SECOND * self.random.random()))

    def on_packet(self, now: int, packet: Packet) -> None:
        data = packet.header
        if packet.channel == data.layer and data.layer <= self.level:
            self.lost += max(data.seq - self.expected.get(data.layer, data.seq), 0)
            self.received += 1
            self.expected[data.layer] = data.seq + 1

    def on_timer(self, now: int, name: str) -> None:
        share = self.lost / max(self.received + self.lost, 1)
        self.received = self.lost = 0
        self.since += 1
        self.smoothed += 0.1 * (share - self.smoothed)
        weights = self.options
        # In tenths, so that all weights are of one size.
        score = weights.constant + 10 * (weights.loss * share + weights.smoothed * self.smoothed)
        score += weights.held * math.log(self.since)
        self.estimate(loss=share)
        # The random numbers of the endpoint: the same seed gives the same run.
        if score > self.random.normal() and self.level + 1 < self.layers:
            self.move(self.level + 1, "rate above next layer")
        elif score < -2 and self.level > 0:
            self.move(self.level - 1, "rate below level")
        self.set_timer(now + SECOND)

    def move(self, level: int, cause: str) -> None:
        self.since = 0
        for layer in range(min(level, self.level) + 1, self.layers):
            self.expected.pop(layer, None)
        self.set_level(level, cause)


class Learned(Protocol, name="learned"):
    """Levels by a weighted sum of loss and time."""

    options, headers, source, receiver = Weights, (Data,), LearnedSource, LearnedReceiver


# %% [markdown]
# The training scenario: two receivers, one of which shares its link with a TCP.

# %%
TRAINING = """
name = "Training"
duration = "180 s"
replications = 4
windows = [["60 s", "end"]]

[defaults.link]
rate = "10 Mbit/s"
delay = "15 ms"
queue = { kind = "drop-tail", limit = "20 packets" }

[links]
S-G = {}
G-R1 = { rate = "1 Mbit/s" }
G-R2 = { rate = "400 kbit/s" }

[sessions.s]
protocol = "learned"
source = "S"
receivers = ["R1", "R2"]
layers = { scheme = "doubling", base = "32 kbit/s", count = 6 }

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R1"
"""

# The fair shares: half of the link next to the TCP, and a whole link.
FAIR = {"s@R1": 500.0, "tcp@R1": 500.0, "s@R2": 400.0}


def value(result: layercast.Result) -> float:
    """0 if every flow has its fair share and no receiver loses packets; else less.

    A share that is twice the fair one costs as much as half of it, log 2, and a loss of 10 % costs 0.1.
    """
    flows = result.flows.to_pandas()
    # Of each replication alone: too much in one does not make up for too little in another.
    shares = flows.throughput_kbps.clip(lower=1.0) / flows.flow.map(FAIR)
    return float(-np.log(shares).abs().mean() - flows[flows.role == "receiver"].loss_rate.mean())


def settings(weights: np.ndarray) -> dict[str, float]:
    names = ("constant", "loss", "smoothed", "held")
    return {f"session.s.{name}": round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


# %% [markdown]
# Random search: start from weights that climb slowly and never go down, try others near the best so far, and keep what
# is better.


# %%
START = np.array([-1.5, 0.0, 0.0, 0.0])


def search(trials: int, seed: int = 1) -> tuple[np.ndarray, list[float]]:
    draws = np.random.default_rng(seed)
    best, scores = START, [value(layercast.run(TRAINING, set=settings(START)))]
    for _ in range(trials):
        candidate = best + draws.normal(size=4) * [0.5, 1.0, 1.0, 0.3]
        score = value(layercast.run(TRAINING, set=settings(candidate)))
        if score > max(scores):
            best = candidate
        scores.append(score)
    return best, scores


# %%
if __name__ == "__main__":
    # Four replications suffice to rank trials; the judgement has more.
    warnings.simplefilter("ignore", layercast.ScenarioWarning)
    weights, scores = search(trials=60)
    print("in training", round(scores[0], 3), "at the start,", round(max(scores), 3), "at the end:", settings(weights))

# %% [markdown]
# Weights can be fitted to the seeds they were trained on. So the judgement is over other seeds, before and after the
# training and next to the built-in protocols.

# %%
if __name__ == "__main__":
    judged = {}
    for name, chosen in [("start", START), ("trained", weights)]:
        judged[name] = value(layercast.run(TRAINING, set=settings(chosen), replications=10, seed=77))
    assert judged["trained"] > judged["start"] + 0.3, judged
    print({name: round(number, 3) for name, number in judged.items()})
    own = {key.replace("session.s", "learned"): weight for key, weight in settings(weights).items()}
    print(layercast.compare(TRAINING, ["learned", "rlm", "rlc", "elm"], with_=own, replications=10, seed=77))
