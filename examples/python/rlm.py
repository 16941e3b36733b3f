"""RLM's idea (McCanne, Jacobson and Vetterli, SIGCOMM 1996) in a few lines, next to the built-in RLM.

A receiver tries the next layer now and then. If packets are lost soon after, it leaves the layer, and waits twice as
long before it tries that one again.
"""

from dataclasses import dataclass

import layercast
from layercast.protocol import SECOND, Duration, LayeredSource, Packet, Protocol, Receiver, option


@dataclass(frozen=True)
class Options:
    detection: Duration = option(5 * SECOND, "How long loss may take to show after a join.")
    shortest: Duration = option(5 * SECOND, "The first and shortest wait for an experiment.")
    longest: Duration = option(60 * SECOND, "The longest one.")
    backoff: float = option(2.0, "By what a wait grows when the experiment fails.", low=1.0)
    threshold: float = option(0.25, "The share of losses that costs a layer.", low=0.0, high=1.0)


@dataclass(frozen=True)
class Data:
    layer: int
    seq: int


class RlmSource(LayeredSource):
    def header(self, now: int, layer: int, seq: int) -> Data:
        return Data(layer, seq)


class RlmReceiver(Receiver):
    def on_start(self, now: int) -> None:
        self.expected: dict[int, int] = {}
        self.waits = [self.options.shortest] * (self.layers + 1)
        self.received = self.lost = self.failed = 0
        self.set_level(0, "start")
        self.plan(now)

    def plan(self, now: int) -> None:
        """Sets the time of the next experiment: the wait for the next level, and up to half of it at random."""
        self.cancel_timer("experiment")
        if self.level + 1 < self.layers:
            self.set_timer(now + int(self.waits[self.level + 1] * self.random.uniform(1.0, 1.5)), "experiment")

    def on_packet(self, now: int, packet: Packet) -> None:
        layer, seq = packet.header.layer, packet.header.seq
        if packet.channel != layer or layer > self.level:
            return
        missing = max(seq - self.expected.get(layer, seq), 0)
        self.expected[layer] = seq + 1
        self.received, self.lost = self.received + 1, self.lost + missing
        if missing and self.timer("detection") is not None:
            self.failed += 1
            self.waits[self.level] = min(int(self.waits[self.level] * self.options.backoff), self.options.longest)
            self.drop(now)
        elif missing and self.timer("measurement") is None:
            self.received = self.lost = 0
            self.set_timer(now + SECOND, "measurement")

    def on_timer(self, now: int, name: str) -> None:
        if name == "experiment":
            self.expected.pop(self.level + 1, None)
            self.set_level(self.level + 1, "experiment")
            self.set_timer(now + self.options.detection, "detection")
        elif name == "detection":
            # The level is sustained: its wait shrinks again.
            self.waits[self.level] = max(self.waits[self.level] * 3 // 4, self.options.shortest)
            self.plan(now)
        elif name == "measurement" and self.lost > self.options.threshold * (self.lost + self.received):
            self.drop(now)

    def drop(self, now: int) -> None:
        self.cancel_timer("detection")
        self.set_level(max(self.level - 1, 0), "loss")
        self.plan(now)


class Rlm(Protocol, name="my-rlm"):
    """Receiver-driven layered multicast without shared learning."""

    options, headers, source, receiver = Options, (Data,), RlmSource, RlmReceiver
    start = "join experiments, one at a time"
    receiver_gauges = {"failed": "+experiments"}


SCENARIO = """
name = "RLM twice, and TCP"
duration = "300 s"
replications = 5
windows = [["60 s", "end"]]

[defaults.link]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "15 packets" }

[links]
S-G = {}
G-R1 = { rate = "1 Mbit/s" }
G-R2 = { rate = "300 kbit/s" }

[sessions.rlm]
protocol = "my-rlm"
source = "S"
receivers = ["R1", "R2"]
layers = { scheme = "doubling", base = "32 kbit/s", count = 6 }

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R1"
"""

if __name__ == "__main__":
    print(layercast.compare(SCENARIO, ["my-rlm", "rlm"]))
