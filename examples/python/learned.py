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
# Once a second the receiver below looks at three numbers: the share of packets lost, how much more the next level
# would need than this one, and how long the level has been held. A weight for each and a constant decide whether to
# go up, to go down or to stay. The weights are found by random search: each trial is a short run against TCP, and
# counts what the receivers got and how fairly they shared.

# %%
from dataclasses import dataclass

import numpy as np

import layercast
from layercast.protocol import SECOND, LayeredSource, Packet, Protocol, Receiver


@dataclass(frozen=True)
class Weights:
    constant: float = 0.0
    loss: float = 0.0
    step: float = 0.0
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
        above = min(self.level + 1, self.layers - 1)
        step = self.level_rates[above] / self.level_rates[self.level] - 1
        weights = self.options
        score = weights.constant + weights.loss * share + weights.step * step
        score += weights.held * np.log(self.since)
        self.estimate(loss=share)
        # The random numbers of the endpoint: the same seed gives the same run.
        if score > self.random.normal() and above > self.level:
            self.move(above, "rate above next layer")
        elif score < -2 and self.level > 0:
            self.move(self.level - 1, "rate below level")
        self.set_timer(now + SECOND)

    def move(self, level: int, cause: str) -> None:
        self.since = 0
        for layer in range(min(level, self.level) + 1, self.layers):
            self.expected.pop(layer, None)
        self.set_level(level, cause)


class Learned(Protocol, name="learned"):
    """Levels by a weighted sum of loss, step and time."""

    options, headers, source, receiver = Weights, (Data,), LearnedSource, LearnedReceiver


# %% [markdown]
# The training scenario: two receivers, one of which shares its link with a TCP.

# %%
TRAINING = """
name = "Training"
duration = "60 s"
replications = 2
windows = [["20 s", "end"]]

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
    """The mean over the flows of the logarithm of the share that each got: proportional fairness."""
    flows = result.flows.to_pandas()
    means = flows.groupby("flow").throughput_kbps.mean()
    return float(np.mean([np.log(max(means[flow], 1.0) / fair) for flow, fair in FAIR.items()]))


def settings(weights: np.ndarray) -> dict[str, float]:
    names = ("constant", "loss", "step", "held")
    return {f"session.s.{name}": round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


# %% [markdown]
# Random search: start from weights that never move, and keep what is better.


# %%
def search(trials: int, seed: int = 1) -> tuple[np.ndarray, list[float]]:
    draws = np.random.default_rng(seed)
    best = np.array([-1.0, 0.0, 0.0, 0.0])
    scores = [value(layercast.run(TRAINING, set=settings(best)))]
    for _ in range(trials):
        candidate = best + draws.normal(size=4) * [1.0, 20.0, 1.0, 0.5]
        score = value(layercast.run(TRAINING, set=settings(candidate)))
        if score > max(scores):
            best = candidate
        scores.append(score)
    return best, scores


# %%
if __name__ == "__main__":
    weights, scores = search(trials=40)
    print("untrained", round(scores[0], 3), "trained", round(max(scores), 3), settings(weights))

# %% [markdown]
# Weights can be fitted to the seeds they were trained on. So the judgement is over other seeds, next to the built-in
# protocols.

# %%
if __name__ == "__main__":
    own = {key.replace("session.s", "learned"): weight for key, weight in settings(weights).items()}
    print(layercast.compare(TRAINING, ["learned", "rlm", "rlc", "elm"], with_=own, replications=10, seed=77))
