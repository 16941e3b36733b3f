"""RLC in Python: the rules of the built-in protocol without bursts, for the comparison of the two."""

from __future__ import annotations

from dataclasses import dataclass

from layercast.protocol import MS, SECOND, Duration, LayeredSource, Packet, Protocol, Receiver, option


@dataclass(frozen=True)
class Options:
    sp_spacing: Duration = option(250 * MS, "Spacing of synchronisation points on the base layer.", low=MS)
    point_copies: int = option(2, "How many packets carry the same point.", low=1, high=8)
    spacing_guard: float = option(0.8, "The share of the spacing before the next point.", low=0.0, high=1.0)
    rtt_bound: Duration = option(250 * MS, "A bound on the round-trip time.")


@dataclass(frozen=True)
class Data:
    layer: int
    seq: int
    is_point: bool
    point: int


class Source(LayeredSource):
    def on_start(self, now: int) -> None:
        self.begun = now
        # Point 0 counts as sent.
        self.points = [(0, self.options.point_copies)] * self.layers
        super().on_start(now)

    def header(self, now: int, layer: int, seq: int) -> Data:
        intervals = (now - self.begun) // self.options.sp_spacing
        newest = intervals - intervals % 2**layer
        point, copies = self.points[layer]
        if newest > point:
            point, copies = newest, 0
        is_point = copies < self.options.point_copies
        self.points[layer] = (point, copies + is_point)
        return Data(layer, seq % 2**16, is_point, point)


class RlcReceiver(Receiver):
    def __init__(self) -> None:
        self.next: dict[int, int] = {}
        self.accepted: dict[int, int] = {}
        self.deaf_until = 0
        self.lost_since_point = 0
        self.armed = False
        self.newest_point = 0
        self.losses = 0
        self.arrived = self.missed = 0

    def on_start(self, now: int) -> None:
        self.set_level(0, "start")

    def on_packet(self, now: int, packet: Packet) -> None:
        data = packet.header
        if packet.channel != data.layer or not 0 <= data.layer <= self.level:
            return
        # Queues keep the order here, so a gap is a loss.
        lost = (data.seq - self.next.get(data.layer, data.seq)) % 2**16
        if lost >= 2**14:
            return
        self.next[data.layer] = (data.seq + 1) % 2**16
        self.arrived, self.missed = self.arrived + 1, self.missed + lost
        self.estimate(loss=self.missed / (self.arrived + self.missed))
        if lost and now >= self.deaf_until:
            self.trace_loss(data.layer, data.seq % 2**16)
            self.on_loss(now, lost)
        if data.is_point and data.layer == self.level:
            self.on_point(now, data.layer, data.point)

    def on_loss(self, now: int, lost: int) -> None:
        self.losses += 1
        self.lost_since_point += lost
        if self.level > 0:
            self.change(self.level - 1, "loss")
            self.lost_since_point = 0
            self.deaf_until = now + max(2 * self.options.rtt_bound, self.options.sp_spacing)

    def on_point(self, now: int, layer: int, point: int) -> None:
        one_packet = self.packet_size * 8 * SECOND / self.layer_rates[layer]
        guard = self.options.sp_spacing * 2**layer * self.options.spacing_guard - one_packet
        last = self.accepted.get(layer)
        if point <= self.newest_point or (last is not None and now - last < guard):
            return
        self.newest_point = point
        self.accepted[layer] = now
        if now < self.deaf_until:
            return
        clean, self.lost_since_point = self.lost_since_point == 0, 0
        watched, self.armed = self.armed, True
        if watched and clean and layer + 1 < self.layers:
            self.change(layer + 1, "synchronisation point")

    def on_join_failed(self, now: int, channel: int) -> None:
        super().on_join_failed(now, channel)
        self.next.pop(channel, None)

    def change(self, level: int, cause: str) -> None:
        for layer in range(min(level, self.level) + 1, self.layers):
            self.next.pop(layer, None)
        self.set_level(level, cause)


class Rlc(Protocol, name="python-rlc"):
    """RLC without bursts, in Python."""

    options = Options
    headers = (Data,)
    source = Source
    receiver = RlcReceiver
    receiver_gauges = {"losses": "+losses"}
