"""Tide, written from its specification alone: waves whose rates fall by themselves, and an emulated TCP.

A wave is a channel that begins fast and falls by a fixed factor in each slot until it ends. A receiver that does
nothing gets less and less. So it joins new waves all the time, as many as keep it at the rate
that a TCP would have had with the same losses. Sections in docstrings, and names, are those of
`docs/protocols/tide-specification.md`.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal

from layercast.protocol import MS, SECOND, Duration, Packet, Protocol, Receiver, Source, option, seconds

DECISIONS, EVERY, ECHOES = 10, 8, 50
WINDOW, LATE, EMPTY = 30.0, 0.1, 0.003
DRIFT, RANDOM, OVERLOAD = 0.05, 0.02, 0.05
ENOUGH, EXCESS, RESOLUTION = 8, 1.5, 0.0001
NUMBERS = 1 << 32
REPORT = 64  # The size of a report in bytes.


@dataclass(frozen=True)
class Options:
    """Section 8."""

    slot: Duration = option(2_500 * MS, "The length of a slot.", low=100 * MS)
    quiet: Duration = option(15 * SECOND, "How long a wave's channel is silent at least.", low=0)
    fall: float = option(0.75, "The factor by which the rate of a wave falls in a slot.", low=0.3, high=0.95)
    dither: float = option(0.5, "How late a departure may be, of the time to the next.", low=0.0, high=1.0)
    fair_to: Literal["reno", "cubic"] = option("reno", "Whose rate is fair.")
    leave_bound: Duration = option(4 * SECOND, "How long losses may be those of a start.", low=0)
    silence: Duration = option(5 * SECOND, "The time without packets after which a start begins.", low=MS)
    reorder: int = option(3, "The number of later packets after which one is lost.", low=1, high=100)
    assumed_rtt: Duration = option(100 * MS, "The least round-trip time without echo.", low=MS)
    reports: bool = option(True, "Whether receivers report, which gives them round-trip times.")


@dataclass(frozen=True)
class Data:
    """A packet of any channel. What only the base has is None on waves."""

    slot: int
    number: int
    cycle: int
    sent_us: int
    phase_us: int
    suppression: int | None = None
    echo_to: int | None = None
    echo_us: int | None = None  # The stamp of the report plus the time that the source held it.


@dataclass(frozen=True)
class Last(Data):
    """A packet with the end flag."""


@dataclass(frozen=True)
class Report:
    """What a receiver sends. It names itself by a random number."""

    receiver: int
    stamp_us: int
    has_rtt: bool


class Waves:
    """Section 1: the rates of base and waves in packets/s."""

    def __init__(self, options: Options, layer_rates: list[float], packet_size: int) -> None:
        bits = 8 * packet_size
        self.r, self.all = layer_rates[0] / bits, sum(layer_rates) / bits
        self.slot, self.fall = options.slot / SECOND, options.fall
        self.g = -math.log(self.fall)
        self.top = 1
        while self.total(self.top) < self.all:
            self.top += 1
        self.cycle = self.top + math.ceil(options.quiet / options.slot)
        self.peak = self.g / (1 - self.fall)

    def total(self, k: int) -> float:
        """R(k)."""
        return self.r * (self.fall ** -(k + 1) - 1) / (1 / self.fall - 1)

    def rate(self, k: int, x: float) -> float:
        """The rate of base and lowest k waves, x slots after the slot began."""
        gone = int(x)
        return min(self.total(max(0, k - gone)) * math.pow(self.fall, x - gone), self.all)

    def gap(self, k: int) -> float:
        """The mean time between packets at place k. Those of the base come by threes."""
        return (3 if k == 0 else 1) * self.g * self.fall**k / ((1 - self.fall) * self.r)

    def channel(self, slot: int, k: int) -> int:
        """The channel of the wave at place k."""
        return (slot + k - 1) % self.cycle + 1

    def place(self, slot: int, channel: int) -> int:
        """The place of a channel: 0 of the base, up to `cycle` of a wave."""
        return (channel - 1 - slot) % self.cycle + 1 if channel else 0


def departures(waves: Waves) -> tuple[list[float], list[float]]:
    """Section 2: when packets leave, of the base after a slot began, of a wave after the wave began."""
    each = waves.r * waves.slot / waves.g
    base = [-math.log(1 - j / each) * waves.slot / waves.g for j in range(math.ceil(each * (1 - waves.fall)))]
    capped = min(math.log(waves.total(waves.top) / waves.all) / waves.g, 1.0)
    free = each * (math.pow(waves.fall, capped - waves.top) - 1)
    others = waves.total(waves.top - 1) * waves.slot / waves.g

    def left(y: float) -> float:
        """The integral of the wave's rate from y slots after it began, while it is what others leave of S."""
        fallen = math.pow(waves.fall, y) - math.pow(waves.fall, capped)
        return free + waves.all * waves.slot * (capped - y) - others * fallen

    def leaves(b: int) -> float:
        if b + 0.5 <= free:
            return waves.top - math.log(1 + (b + 0.5) / each) / waves.g
        return root(lambda y: left(y) - b - 0.5, 0.0, capped)

    return base, [leaves(b) * waves.slot for b in reversed(range(math.floor(left(0.0) + 0.5)))]


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is 0, by bisection."""
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


class TideSource(Source):
    """Section 2. A clock is (time, channel, when its slot or wave began, the index of the departure)."""

    def on_start(self, now: int) -> None:
        self.waves = Waves(self.options, self.layer_rates, self.packet_size)
        self.base, self.wave = departures(self.waves)
        self.began, self.number, self.ending, self.finished = now, 0, 0, False
        self.pending: tuple[deque[tuple[Report, int]], deque[tuple[Report, int]]] = deque(), deque()
        self.reports = self.suppression = self.stays = self.echo_after = 0
        self.clocks: list[tuple[int, int, int, int]] = [(now, 0, now, 0)]
        for k in range(1, self.waves.top + 1):
            self.plan(self.waves.channel(0, k), now - (self.waves.top - k) * self.options.slot, 0, now)
        for k in range(self.waves.top + 1, self.waves.cycle + 1):
            self.plan(self.waves.channel(0, k), now + (k - self.waves.top) * self.options.slot, 0, now)
        self.set_timer(now + self.options.slot // DECISIONS, "round")
        self.send_due(now)

    def plan(self, channel: int, began: int, index: int, now: int = 0) -> None:
        """Plans the next packet of a channel, in the next slot or wave if there is none in this one."""
        times, length = (self.wave, self.waves.top) if channel else (self.base, 1)
        while index < len(times) and began + seconds(times[index]) < now:
            index += 1
        if index == len(times):
            index, began = 0, began + (self.waves.cycle if channel else 1) * self.options.slot
        at = times[index]
        if self.options.dither:
            after = times[index + 1] if index + 1 < len(times) else length * self.waves.slot
            at += self.options.dither * self.random.random() * (after - at)
        heapq.heappush(self.clocks, (began + seconds(at), channel, began, index))

    def on_timer(self, now: int, name: str) -> None:
        if name == "round":
            self.round()
            self.set_timer(now + self.options.slot // DECISIONS, "round")
        else:
            self.send_due(now)

    def send_due(self, now: int) -> None:
        """Sends what is due, and sets the timer for the next."""
        while self.ending < 3 and self.clocks[0][0] <= now:
            _, channel, began, index = heapq.heappop(self.clocks)
            if channel:
                self.send_data(now, channel, NUMBERS - len(self.wave) + index)
                self.plan(channel, began, index + 1)
            else:
                self.send_base(now, began, index)
        if self.ending < 3:
            self.set_timer(max(self.clocks[0][0], now + 1), "departure")

    def send_base(self, now: int, began: int, index: int) -> None:
        """A packet of the base, with those of its train that belong to the same slot."""
        while True:
            self.send_data(now, 0, self.number % NUMBERS)
            self.number, index = self.number + 1, index + 1
            if self.ending == 3 or index == len(self.base) or self.number % EVERY not in (1, 2):
                break
        self.plan(0, began, index)

    def send_data(self, now: int, channel: int, number: int) -> None:
        slot, phase = divmod(now - self.began, self.options.slot)
        fields = (slot % self.waves.cycle, number, self.waves.cycle, now // 1000, phase // 1000)
        if channel:
            self.send(channel, Data(*fields))
            return
        kind = Data
        if self.finished:
            kind, self.ending = Last, self.ending + 1
        self.send(0, kind(*fields, self.suppression, *self.echo(now)))
        if self.ending == 3:
            self.end()

    def on_finish(self, now: int) -> None:
        self.finished = True

    def on_packet(self, now: int, packet: Packet) -> None:
        if isinstance(report := packet.header, Report):
            self.reports += 1
            self.pending[report.has_rtt].append((report, now))

    def echo(self, now: int) -> tuple[int | None, int | None]:
        """The echo of the next report, if one is due."""
        waiting = self.pending[0] or self.pending[1]
        if not waiting or now < self.echo_after:
            return None, None
        report, came = waiting.popleft()
        self.echo_after = now + SECOND // ECHOES
        return report.receiver, report.stamp_us + (now - came) // 1000

    def round(self) -> None:
        """Sets the suppression at the end of a round."""
        if self.stays > 0:
            self.stays -= 1
        elif self.reports > 1:
            self.suppression = min(self.suppression + 4 * math.ceil(math.log2(self.reports)), 255)
            self.stays = 4
        elif self.reports == 0:
            self.suppression = max(self.suppression - 1, 0)
        self.reports = 0


class Reno:
    """Section 5: the window of an emulated TCP."""

    def __init__(self, w: float) -> None:
        self.w = self.before = self.plateau = self.reno = w
        self.recovery = self.t = self.k = 0.0

    @staticmethod
    def window(p: float, R: float) -> float:
        """W(p, R)."""
        return math.sqrt(1.5 / p)

    def cut(self, c: float) -> None:
        self.recovery = c
        self.reduce(c)
        self.w = self.reno = max(self.w, 1.0)

    def reduce(self, c: float) -> None:
        self.w -= self.w * c / 2

    def passes(self, length: float, rounds: float) -> float:
        """`pass`: time passes, of which the first part is still recovery. Returns the mean window."""
        q = min(rounds, self.recovery)
        if rounds <= q:
            return self.w
        f, old = 1 - q / rounds, self.w
        return (1 - f) * old + f * self.grow(f * length, f * rounds)

    def grow(self, length: float, rounds: float) -> float:
        self.w += rounds
        return self.w - rounds / 2


class Cubic(Reno):
    """Section 5: the same for CUBIC."""

    @staticmethod
    def window(p: float, R: float) -> float:
        return max(Reno.window(p, R), math.pow(0.4 * 3.7 / 1.2, 0.25) * math.pow(R / p, 0.75))

    def reduce(self, c: float) -> None:
        self.plateau = self.w * (1 - 0.15 * c) if self.w < self.before else self.w
        self.before = self.w
        self.w -= 0.3 * c * self.w
        self.t, self.k = 0.0, math.cbrt((self.plateau - self.w) / 0.4)

    def grow(self, length: float, rounds: float) -> float:
        old = self.reno
        self.reno += rounds * (9 / 17 if self.reno < self.plateau else 1)
        a = self.t - self.k
        self.t += length
        b = self.t - self.k
        self.w = max(self.reno, self.plateau + 0.4 * b**3)
        return max(self.plateau + 0.1 * (b**4 - a**4) / length, (old + self.reno) / 2)


def tcp_rate(w: float, p: float, R: float, window: float) -> float:
    """`tcp` of section 5: the rate of a TCP, where `window` is W(p, R)."""
    u = R / window
    v = (R + 0.2) * min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return u / (u + v) * w / R


@dataclass
class Period:
    """A period of section 5. n is the packets that were held in a round."""

    length: float
    end: float
    rounds: float
    n: float
    k: int


class Path:
    """Section 4: the round-trip time, the queue, and the share of a fair queue."""

    def __init__(self, options: Options) -> None:
        self.assumed = options.assumed_rtt / SECOND
        self.window = -math.inf
        self.least = self.least_before = math.inf
        self.delay = self.mean_delay = 0.0
        self.full: float | None = None
        self.mean, self.variance, self.echoed = self.assumed, math.inf, False
        self.smooth = self.rtt = self.assumed
        self.trains: deque[float] = deque(maxlen=16)

    def arrive(self, now: float, sent: float) -> None:
        """Section 3: the delay above the least one of this window and the last."""
        d = now - sent
        if now >= self.window + WINDOW:
            self.least_before, self.least, self.window = self.least, d, now
        self.least = min(self.least, d)
        self.delay = d - min(self.least, self.least_before)
        self.mean_delay += (self.delay - self.mean_delay) / 32
        self.update()

    def update(self) -> None:
        self.rtt = self.empty + self.mean_delay

    @property
    def empty(self) -> float:
        return self.mean if self.echoed else max(self.mean, self.assumed)

    def sample(self, x: float, gap: float) -> None:
        """A step of the Kalman filter."""
        x = max(x, 0.001)
        noise = gap * gap / 12 + (DRIFT * x) ** 2
        self.variance += (DRIFT * self.mean) ** 2
        part = 1.0 if math.isinf(self.variance) else self.variance / (self.variance + noise)
        self.mean += part * (x - self.mean)
        self.variance = noise if math.isinf(self.variance) else (1 - part) * self.variance
        self.update()

    def joined(self, x: float, gap: float) -> None:
        if not self.echoed:
            self.sample(x, gap)

    def echo(self, x: float) -> None:
        if not self.echoed:
            self.echoed, self.variance = True, math.inf
        self.sample(x, 0.0)

    def is_full(self) -> bool:
        return self.delay > max((self.full or 0.0) / 2, EMPTY)

    def share(self) -> float:
        """The rate of this flow in a fair queue, infinite if none shows."""
        turn = self.turn()
        return 1 / turn if turn is not None and turn >= RESOLUTION else math.inf

    def is_fast(self) -> bool:
        turn = self.turn()
        return turn is not None and turn < RESOLUTION

    def turn(self) -> float | None:
        shortest = sorted(self.trains)[: len(self.trains) * 3 // 4]
        return sum(shortest) / len(shortest) if len(self.trains) >= 4 else None


class History:
    """Section 5: the losses as periods, and the rate that a TCP would have had with them."""

    def __init__(self, tcp: type[Reno], path: Path) -> None:
        self.tcp, self.path = tcp, path
        self.first = tcp(1.0)
        self.origin: tuple[float, float] | None = None
        self.periods: list[Period] = []
        self.end = self.counted = self.rounds = self.last_sent = 0.0
        self.fair, self.shared = math.inf, False

    def rate(self, p: float, R: float) -> float:
        """tcp(W(p, R), p, R)."""
        window = self.tcp.window(p, R)
        return tcp_rate(window, p, R, window)

    def p_at(self, x: float, R: float) -> float:
        return math.exp(root(lambda log: self.rate(math.exp(log), R) - x, math.log(1e-12), 0.0))

    def elapse(self, s: float, rtt: float) -> None:
        if s > self.counted:
            self.rounds += (s - self.counted) / rtt
            self.counted = s

    def count_from(self, end: float) -> None:
        self.end = self.counted = end
        self.rounds = 0.0

    def lost(self, k: int, s: float, held_rate: float, leaving: bool) -> bool:
        """k packets are lost, the first sent at s. Returns whether a period ends."""
        R = max(self.path.rtt, self.path.empty + self.path.delay)
        if leaving and s < self.end + R and self.path.is_full():
            self.count_from(max(self.end, s + R))
            return False
        if s < self.end:
            for period in self.periods:
                if period.end > s:
                    period.k += k
                    break
            return False
        length, self.end = s + R - self.end, s + R
        self.elapse(self.end, R)
        self.periods.append(Period(length, self.end, self.rounds, max(1.0, held_rate * R), k))
        self.rounds = 0.0
        if len(self.periods) > 64:
            self.pass_period(self.first, self.periods.pop(0), self.m(ENOUGH))
            self.origin = None
        return True

    def m(self, j: int) -> float:
        """How many packets a loss event loses beyond what one would: x of the newest j periods."""
        newest = self.periods[len(self.periods) - j :]
        mean = (1 + sum(min(period.k, ENOUGH) for period in newest)) / (j + 1)
        return root(lambda x: mean - x / -math.expm1(-x), 1e-6, 10.0) if mean > 1.000001 else 0.0

    def pass_period(self, tcp: Reno, period: Period, m: float) -> tuple[float, float]:
        """Takes the window over a period; returns the packets sent and the events met."""

        def events(packets: float) -> float:
            share = packets / period.n
            return share if m < 0.001 else math.expm1(-m * share) / math.expm1(-m)

        trial = copy(tcp)
        trial.passes(period.length, period.rounds)
        e = events(trial.w)
        if e > 1:
            e = max(events((tcp.w + trial.w) / 2), 1.0)
        i, packets = max(1, math.floor(e + 0.5)), 0.0
        for _ in range(i):
            packets += period.rounds / i * tcp.passes(period.length / i, period.rounds / i)
            tcp.w = min(tcp.w, 2 * period.n)
            tcp.cut(min(1.0, e / i))
        return packets, e

    def replay(self, m: float) -> tuple[list[float], int]:
        """The weighted sums of packets, rounds, n rounds, k and e; and how many periods had weight."""
        total = [0.0] * 5

        def add(weight: float, *values: float) -> None:
            for i, value in enumerate(values):
                total[i] += weight * value

        tcp = copy(self.first)
        passed = [(*self.pass_period(tcp, period, m), period) for period in self.periods]
        if self.rounds > 0:
            mean = tcp.passes(self.last_sent - self.end, self.rounds)
            n = self.periods[-1].n if self.periods else 0.0
            add(1.0, mean * self.rounds, self.rounds, n * self.rounds)
        v, count = 0.0, 0
        for packets, e, period in reversed(passed):
            weight = min(2 - 2 * v / ENOUGH, 1.0)
            if weight <= 0:
                return total, count
            add(weight, packets, period.rounds, period.n * period.rounds, period.k, e)
            v, count = v + e, count + 1
        if self.origin is not None:
            p0, w0 = self.origin
            add(min(max(2 - 2 * v / ENOUGH, 0.0), 1.0), 1 / p0, 1 / (p0 * w0), 0.0, 0.0, 1.0)
        return total, count

    def compute_fair(self) -> None:
        _, weighted = self.replay(self.m(min(len(self.periods), ENOUGH)))
        (packets, rounds, n_rounds, k, e), _ = self.replay(self.m(weighted))
        w, p = max(1.0, packets / rounds), min(max(e / packets, k / n_rounds if k else 0.0), 1.0)
        fair = tcp_rate(w, p, self.path.smooth, self.tcp.window(p, self.path.smooth))
        if len(self.periods) >= ENOUGH and (self.path.full or 0.0) < EMPTY:
            fair = max(fair, self.rate(RANDOM, max(self.path.rtt, self.path.assumed)))
        share = self.path.share()
        self.fair, self.shared = min(fair, share), share < fair

    def begin(self, x: float) -> None:
        """`begin_history`: as if a TCP had the rate x."""
        path = self.path
        path.smooth = max(path.smooth, path.rtt)
        p0 = self.p_at(x, path.smooth)
        w0 = self.tcp.window(p0, path.smooth)
        self.origin, self.periods = (p0, w0), []
        self.count_from(self.last_sent + path.rtt)
        self.first = self.tcp(1.25 * w0)
        self.first.cut(1.0)
        self.compute_fair()


@dataclass
class Start:
    """A start or a probe of section 6, and the packets that its step has counted."""

    probe: bool
    join_at: float
    successes: int = 0  # Steps that joined and succeeded.
    joined: int = 0
    y: float = math.inf
    since: float | None = None
    packets: int = 0
    rate0: float = 0.0
    least_delay: float = math.inf

    def count(self, now: float, rate: float, delay: float) -> None:
        self.since, self.packets, self.rate0, self.least_delay = now, 0, rate, delay


@dataclass
class Missing:
    """A packet that has not come, though `later` ones have, the first of them at `since`."""

    channel: int
    number: int
    sent: float
    since: float
    later: int = 0


@dataclass
class Join:
    """Places joined at a time, up to `top`, of which a packet is still awaited."""

    at: float
    top: int


class TideReceiver(Receiver):
    """Sections 3, 6 and 7."""

    def on_start(self, now: int) -> None:
        self.waves = Waves(self.options, self.layer_rates, self.packet_size)
        tcp = Cubic if self.options.fair_to == "cubic" else Reno
        self.path = Path(self.options)
        self.history = History(tcp, self.path)
        self.name = self.random.integers(0, 1 << 62)
        self.clock = self.arrived = now / SECOND
        self.slot: int | None = None
        self.began = self.blocked = self.leaving = self.next_probe = 0.0
        self.waves_held, self.come, self.joins = 0, -1, [Join(self.clock, 0)]
        self.newest: dict[int, tuple[int, float]] = {}
        self.missing: list[Missing] = []
        self.train: list[tuple[int, float, float]] = []
        self.index = self.ends = self.received = self.lost = self.lost_all = 0
        self.pointed = self.clock
        self.came = self.worst = 0.0
        self.has_left = False
        self.suppression, self.hesitation = 0, 8
        self.start: Start | None = Start(False, self.clock)
        self.join(0, "start")
        self.set_timer(now + self.options.silence, "silence")

    # --- Section 3: packets

    def on_packet(self, now: int, packet: Packet) -> None:
        p, waves, channel = packet.header, self.waves, packet.channel
        if not isinstance(p, Data) or channel is None:
            return
        if p.cycle != waves.cycle or not 0 <= p.slot < waves.cycle:
            return
        if waves.place(self.slot or 0, channel) > self.waves_held:
            return
        if isinstance(p, Last):
            self.ends += 1
            if self.ends == 2:
                self.end()
                return
        self.clock = self.arrived = clock = now / SECOND
        sent, phase, path = p.sent_us / 1e6, p.phase_us / 1e6, self.path
        path.arrive(clock, sent)
        self.worst = max(self.worst, path.delay)
        self.received += 1
        history = self.history
        if history.last_sent == 0.0:
            history.counted = sent
        history.last_sent = max(history.last_sent, sent)
        history.elapse(history.last_sent, path.rtt)
        if self.slot is None or 0 < (p.slot - self.slot) % waves.cycle <= waves.cycle // 2:
            self.begin_slot(p.slot, clock - phase)
        assert self.slot is not None
        place = waves.place(self.slot, channel)
        self.has_come(place)
        self.find_losses(channel, p.number, sent)
        if channel == 0:
            self.suppression = p.suppression or 0
            self.time_train(p.number, sent)
            if p.echo_to == self.name:
                path.echo(clock - (p.echo_us or 0) / 1e6 - path.delay)
        index = int(phase * DECISIONS / waves.slot)
        changed, self.index = index != self.index, index
        if changed:
            self.decision_point()
        if self.start is not None:
            self.step(place)
        elif changed:
            self.decide()

    def begin_slot(self, slot: int, began: float) -> None:
        """A later slot: as many of the lowest waves have ended."""
        if self.slot is not None:
            passed = (slot - self.slot) % self.waves.cycle
            for k in range(1, min(passed, self.waves_held) + 1):
                self.forget(self.waves.channel(self.slot, k), "wave ended")
            self.waves_held = max(self.waves_held - passed, 0)
            self.come = max(self.come - passed, 0)
            for join in self.joins:
                join.top -= passed
            self.joins = [join for join in self.joins if join.top > 0]
        self.slot, self.began = slot, began

    def forget(self, channel: int, cause: str) -> None:
        """Leaves a channel, and what was known of its numbers."""
        self.leave(channel, cause)
        self.newest.pop(channel, None)
        self.missing = [one for one in self.missing if one.channel != channel]

    def leave_above(self, held: int, cause: str) -> None:
        """Leaves the highest waves until so many are held."""
        while self.waves_held > held:
            self.forget(self.waves.channel(self.slot or 0, self.waves_held), cause)
            self.waves_held -= 1
        self.come = min(self.come, held)
        for join in self.joins:
            join.top = min(join.top, held)
        self.joins = [join for join in self.joins if join.top > self.come]

    def has_come(self, place: int) -> None:
        """`come`: the channels up to this place come no more."""
        if place > self.come:
            for join in self.joins:
                if join.top == place:
                    gap = self.waves.gap(place)
                    self.path.joined(self.clock - join.at - gap / 2 - self.path.delay, gap)
            self.joins = [join for join in self.joins if join.top > place]
            self.come = place

    def await_coming(self) -> None:
        """The lowest coming wave and those above are left if it takes too long."""
        if not self.joins:
            return
        at = self.joins[0].at + max(1.0, 4 * (self.path.rtt + self.waves.gap(self.come + 1)))
        if seconds(at) > self.now:
            self.set_timer(seconds(at), "coming")
        else:
            self.leave_above(max(self.come, 0), "silent layer")
            self.blocked = self.clock + self.waves.slot

    def on_join_failed(self, now: int, channel: int) -> None:
        self.clock = now / SECOND
        place = self.waves.place(self.slot or 0, channel)
        if 0 < place <= self.waves_held:
            # It is not held, so it cannot be left.
            self.leave_above(place, "join failed")
            self.waves_held -= 1
            self.leave_above(place - 1, "join failed")
            self.blocked = self.clock + self.waves.slot

    def on_timer(self, now: int, name: str) -> None:
        self.clock = now / SECOND
        if name == "late":
            self.take_lost()
            return
        if name == "coming":
            self.await_coming()
            return
        due = seconds(self.arrived) + self.options.silence
        if due > now:
            self.set_timer(due, "silence")
            return
        self.leave_above(0, "silence")
        self.start = Start(False, self.clock)
        self.set_timer(now + self.options.silence, "silence")

    def find_losses(self, channel: int, number: int, sent: float) -> None:
        """Finds packets that are lost by now, of this channel or, late, of any."""
        last, before = self.newest.get(channel, (number - 1, sent))
        ahead = (number - last) % NUMBERS
        if ahead < NUMBERS // 2:
            for i in range(1, min(ahead, 10_000)):
                lost = (last + i) % NUMBERS
                if channel or lost % EVERY not in (1, 2):
                    at = before + (sent - before) * i / ahead
                    self.missing.append(Missing(channel, lost, at, self.clock))
            self.newest[channel] = number, sent
        if self.missing:
            for one in self.missing:
                one.later += one.channel == channel and (number - one.number) % NUMBERS < NUMBERS // 2
            self.missing = [one for one in self.missing if one.channel != channel or one.number != number]
            self.take_lost()

    def take_lost(self) -> None:
        """What has not come in time is lost."""
        now, most = self.clock, self.options.reorder
        lost = [one for one in self.missing if one.later >= most or now >= one.since + LATE]
        if lost:
            self.missing = [one for one in self.missing if one not in lost]
            self.on_loss(len(lost), min(one.sent for one in lost))
        if self.missing:
            self.set_timer(max(seconds(min(one.since for one in self.missing) + LATE), self.now + 1), "late")

    def time_train(self, number: int, sent: float) -> None:
        """Section 4: the time from the second to the third packet of a train."""
        self.train = [*self.train[-2:], (number, sent, self.clock)]
        if number % EVERY == 2 and [one[0] for one in self.train] == [number - 2, number - 1, number]:
            (_, first, _), (_, second, came), _ = self.train
            if max(second - first, sent - second) <= RESOLUTION:
                self.path.trains.append(self.clock - came - (sent - second))

    def on_loss(self, k: int, s: float) -> None:
        """Section 5: what losses begin or end."""
        self.lost += k
        self.lost_all += k
        if self.start is not None and not self.lost_in_start(self.start):
            return
        path, history = self.path, self.history
        lasts = s < history.end + max(path.rtt, path.empty + path.delay) and path.is_full() and path.is_fast()
        if history.lost(k, s, self.held_rate(), self.clock < self.leaving):
            self.leaving = self.clock
            if lasts and not self.joins and not self.has_left and self.waves_held > 0:
                self.has_left = True
                self.leave_above(self.waves_held - 1, "loss")
            path.full = path.delay if path.full is None else path.full + (path.delay - path.full) / 8

    # --- Section 6: decisions

    def x(self) -> float:
        return min((self.clock - self.began) / self.waves.slot, 0.999)

    def held_rate(self) -> float:
        return self.waves.rate(max(self.come, 0), self.x())

    def later(self) -> float:
        """When a join shows, in slots since this one began."""
        return self.x() + self.path.rtt / self.waves.slot

    def up_to(self, y: float) -> int:
        """How many waves more, within the room there is, keep the rate at or below y."""
        later = self.later()
        lowest, room, j = *self.room(later), 0
        while j < room and self.waves.rate(lowest + j + 1, later) <= y:
            j += 1
        return j

    def room(self, later: float) -> tuple[int, int]:
        """`lowest` and `room`."""
        lowest = max(self.waves_held, int(later))
        return lowest, self.waves.top + int(later) - lowest

    def join_more(self, j: int, cause: str) -> int:
        """`join`: returns how many waves were joined."""
        lowest, room = self.room(self.later())
        j, held = min(j, room), self.waves_held
        if j <= 0 or self.clock < self.blocked:
            return 0
        for k in range(held + 1, lowest + j + 1):
            self.join(self.waves.channel(self.slot or 0, k), cause)
        self.waves_held = lowest + j
        self.joins.append(Join(self.clock, self.waves_held))
        if self.timer("coming") is None:
            self.set_timer(self.now + SECOND, "coming")
        return self.waves_held - held

    def decision_point(self) -> None:
        path, history = self.path, self.history
        received, lost, elapsed = self.received, self.lost, self.clock - self.pointed
        self.received, self.lost, self.pointed, self.has_left = 0, 0, self.clock, False
        self.came = max(received / elapsed if elapsed > 0 else 0.0, self.came / 2)
        overloaded = lost >= ENOUGH and lost > OVERLOAD * (received + lost) and path.is_full()
        if self.start is None and overloaded and 1.4 * self.came < history.fair:
            self.begin_history(1.4 * self.came)
        path.smooth = 1 / (1 / path.smooth + 0.5 / DECISIONS * (1 / path.rtt - 1 / path.smooth))
        self.probe()
        if self.options.reports and self.random.chance(2.0 ** (-self.suppression / 4 - self.hesitation)):
            self.send_report(Report(self.name, self.now // 1000, path.echoed), REPORT)
        self.hesitation = max(self.hesitation - 1, 0)

    def decide(self) -> None:
        history = self.history
        history.compute_fair()
        self.estimate(rate=8 * self.packet_size * history.fair, rtt=seconds(self.path.rtt))
        top = history.fair * self.waves.peak
        while self.waves_held > 0 and self.held_rate() > EXCESS * top:
            self.leave_above(self.waves_held - 1, "rate below level")
        if self.clock < self.blocked or history.last_sent < history.end + min(self.path.rtt, self.waves.slot / 4):
            return
        least = 0 if self.joins else 1
        most = max(self.up_to(2 * self.held_rate()), least)
        self.join_more(min(self.up_to(min(top, self.limit())), most), "rate above next layer")

    def limit(self) -> float:
        full = self.path.full or 0.0
        if full <= 0:
            return math.inf
        return self.path.share() * (1 + math.sqrt(-math.log(self.waves.fall) * full / self.waves.slot))

    def begin_history(self, x: float) -> None:
        self.history.begin(max(x, self.waves.r / self.waves.peak))
        self.estimate(rate=8 * self.packet_size * self.history.fair, rtt=seconds(self.path.rtt))

    def step(self, place: int) -> None:
        """A step of a start or a probe, at each packet."""
        start, path = self.start, self.path
        assert start is not None
        if self.joins:
            return
        if start.since is None:
            if place != self.waves_held:
                return
            start.count(self.clock, self.held_rate(), path.delay)
        start.packets += 1
        start.least_delay = min(start.least_delay, path.delay)
        assert start.since is not None
        counted = self.clock - start.since
        waited = counted if start.probe else self.clock - start.join_at
        if start.packets < ENOUGH or counted < 0.05 or waited < max(path.rtt, 0.05):
            return
        held_rate = self.held_rate()
        queued = start.probe and start.joined > 0 and start.least_delay >= EMPTY
        if start.packets < 0.75 * held_rate * counted or queued:
            self.end_start(min(start.packets / counted, held_rate))
            return
        y = max(start.rate0, held_rate)
        start.successes += start.joined > 0
        if start.probe:
            more = max(self.up_to(held_rate / self.waves.fall), self.up_to(held_rate) + 1)
            joined = self.join_more(more, "experiment")
        else:
            ended = int(self.later())
            aim = max(2 * y, 10 / path.rtt) if start.successes == 0 else 2 * y
            least_more = self.waves_held + ended + 1 - max(self.waves_held, ended)
            joined = self.join_more(max(self.up_to(aim), least_more), "slow start")
        start.joined, start.y, start.join_at, start.since = joined, y, self.clock, None

    def lost_in_start(self, start: Start) -> bool:
        """A loss ends a start. Returns whether it counts all the same: that of a probe that failed."""
        failed = start.probe and start.successes == 0
        counted = 0.0 if start.since is None else self.clock - start.since
        if not self.joins and start.packets >= ENOUGH and counted > self.path.rtt:
            self.end_start(min(start.packets / counted, self.held_rate()))
        else:
            self.end_start(self.waves.rate(max(min(self.come, self.waves_held - start.joined), 0), self.x()))
        return failed

    def end_start(self, x: float) -> None:
        """`end`."""
        start, later = self.start, self.later()
        assert start is not None
        self.start = None
        if start.joined > 0:
            self.leaving = self.clock + self.options.leave_bound / SECOND
        for _ in range(max(start.joined, 1)):
            if self.waves_held > 0 and self.waves.rate(self.waves_held, later) > min(start.y, x):
                self.leave_above(self.waves_held - 1, "loss")
        failed = start.probe and start.successes == 0
        if start.probe:
            self.next_probe = self.clock + self.waves.slot
        if not failed:
            self.begin_history(x / self.waves.peak)

    def probe(self) -> None:
        """Section 7."""
        history, slot = self.history, self.waves.slot
        worst, self.worst = self.worst, 0.0
        if self.start is not None or math.isinf(history.fair):
            return
        wait = 2 / (history.fair * history.p_at(history.fair, self.path.smooth))
        if worst >= EMPTY or history.last_sent < history.end + max(wait, slot):
            self.next_probe = max(self.next_probe, self.clock + slot)
        elif self.clock >= self.next_probe and not history.shared:
            self.start = Start(True, self.clock)
            self.start.count(self.clock, self.held_rate(), self.path.delay)


class TidePy(Protocol, name="tide-py"):
    """Waves that fall by themselves, joined at the rate of an emulated TCP."""

    options, headers, source, receiver = Options, (Data, Last, Report), TideSource, TideReceiver
    start = "doubles the rate in each step"
    agreed = ("slot", "quiet", "fall")
    receiver_gauges = {"waves_held": "", "lost_all": "+packets"}

    @classmethod
    def channels(cls, options: Options, layer_rates: Sequence[float], packet_size: int) -> int:
        return 1 + Waves(options, list(layer_rates), packet_size).cycle
