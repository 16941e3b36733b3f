"""Protocols whose rules are in Python."""

from __future__ import annotations

import importlib.util
import sys
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import layercast
from conftest import CASES
from layercast import _layercast, protocol, testing
from layercast.protocol import MS, SECOND, Duration, LayeredSource, NoOptions, Packet, Protocol, Random, Rate, option
from rlc import Rlc

#: One of two sessions and a TCP on one link; both sessions are of the built-in RLC.
TWO = """
name = "Two sessions"
duration = "60 s"
replications = 2
windows = [["10 s", "end"]]

[defaults.link]
rate = "1.5 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "20 packets" }

[links]
S-G = { rate = "10 Mbit/s" }
G-R1 = {}
G-R2 = { rate = "700 kbit/s" }

[sessions.one]
protocol = "rlc"
options = { burst = 0 }
source = "S"
receivers = ["R1", "R2"]
layers = { scheme = "doubling", base = "64 kbit/s", count = 5 }

[sessions.two]
protocol = "rlc"
options = { burst = 0 }
source = "S"
receivers = ["R1"]
layers = { scheme = "doubling", base = "64 kbit/s", count = 5 }

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R1"
"""


@dataclass(frozen=True)
class Data:
    layer: int
    seq: int


class Plain(LayeredSource):
    def header(self, now: int, layer: int, seq: int) -> Data:
        return Data(layer, seq)


class Base(layercast.Receiver):
    def on_start(self, now: int) -> None:
        self.set_level(0, "start")


def define(receiver: type[layercast.Receiver], **more: Any) -> type[Protocol]:
    body = {"headers": (Data,), "source": Plain, "receiver": receiver, **more}
    return named("mine", body)


def named(name: str, body: dict[str, Any]) -> type[Protocol]:
    return types.new_class("Mine", (Protocol,), {"name": name}, lambda space: space.update(body))


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No test sees the protocol of another."""
    Rlc.define()
    yield
    forget_all()


def forget_all() -> None:
    for name in protocol.defined():
        _layercast.unregister(name)


# Other tests compare lists of protocols with those of the command.
forget_all()


def in_python(text: str, session: str) -> str:
    """The scenario with a session whose protocol is that of Python, with the options that both have."""
    head, found, tail = text.partition(f"[sessions.{session}]\n")
    assert found
    return head + found + tail.replace('protocol = "rlc"\noptions = { burst = 0 }\n', 'protocol = "python-rlc"\n', 1)


@pytest.mark.parametrize("seed", [1, 2][:CASES])
def test_the_same_rules_in_python_and_in_rust_give_the_same_levels_and_packets(seed: int) -> None:
    rust = layercast.run(TWO, seed=seed)
    one = layercast.run(in_python(TWO, "one"), seed=seed)
    both = layercast.run(in_python(in_python(TWO, "one"), "two"), seed=seed)
    levels = rust.series.to_pandas().query("flow == 'one@R1'").level
    assert levels.nunique() > 2, "a protocol that never moves proves nothing"
    for python in (one, both):
        for table in ("flows", "links", "series"):
            mine, theirs = getattr(python, table).to_pandas(), getattr(rust, table).to_pandas()
            shared = [column for column in theirs if column in mine]
            assert len(mine) == len(theirs) > 0
            assert mine[shared].equals(theirs[shared]) or unequal(mine[shared], theirs[shared]) == {"protocol"}, table


def unequal(mine: Any, theirs: Any) -> set[str]:
    return {column for column in mine if not mine[column].equals(theirs[column])}


def test_a_run_is_the_same_whatever_the_number_of_threads() -> None:
    text = in_python(TWO, "one")
    one, two = layercast.run(text, jobs=1), layercast.run(text, jobs=2)
    assert one.series.to_pandas().equals(two.series.to_pandas())
    assert one.flows.to_pandas().equals(two.flows.to_pandas())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_replication_keeps_its_thread_state(jobs: int) -> None:
    # What a thread keeps for itself goes with its state.
    kept = threading.local()
    inputs, states = 0, 0

    class Counting(Base):
        def on_packet(self, now: int, packet: Packet) -> None:
            nonlocal inputs, states
            inputs += 1
            if not hasattr(kept, "known"):
                kept.known = True
                states += 1

    define(Counting)
    text = TWO.replace('protocol = "rlc"\noptions = { burst = 0 }\n', 'protocol = "mine"\n')
    layercast.run(text, replications=3, jobs=jobs)
    assert inputs > 1000
    assert states == 3


def test_the_contract_is_kept() -> None:
    testing.check(Rlc, cases=CASES)
    testing.check(define(Base), cases=CASES)


def test_options_are_listed_and_checked() -> None:
    names = [option.name for option in layercast.options("python-rlc")]
    assert names == ["sp_spacing", "point_copies", "spacing_guard", "rtt_bound"]
    assert layercast.options("python-rlc")[0].default == "250 ms"
    assert "python-rlc" in [one.name for one in layercast.protocols()]
    with pytest.raises(layercast.ScenarioError, match="spacing_guard"):
        layercast.check(in_python(TWO, "one"), set={"session.one.spacing_guard": 3})
    with pytest.raises(layercast.ScenarioError, match="python-rlc"):
        layercast.check(in_python(TWO, "one").replace("python-rlc", "python-rlk", 1))


@pytest.mark.parametrize("when", ["__init__", "on_start", "on_packet", "on_timer"])
def test_an_exception_ends_the_run_with_its_traceback(when: str) -> None:
    class Broken(layercast.Receiver):
        def __init__(self) -> None:
            self.fail("__init__")

        def fail(self, method: str) -> None:
            if method == when:
                raise KeyError("what is missing")

        def on_start(self, now: int) -> None:
            self.set_level(0)
            self.set_timer(now + 5 * SECOND)
            self.fail("on_start")

        def on_packet(self, now: int, packet: Packet) -> None:
            self.fail("on_packet")

        def on_timer(self, now: int, name: str) -> None:
            self.fail("on_timer")

    define(Broken)
    text = TWO.replace('protocol = "rlc"\noptions = { burst = 0 }\n', 'protocol = "mine"\n')
    with pytest.raises(layercast.ProtocolError, match="what is missing") as raised:
        layercast.run(text)
    assert isinstance(raised.value.__cause__, KeyError)
    assert f"`{when}`" in str(raised.value) and "in fail" in str(raised.value)


def test_what_the_contract_forbids_is_an_exception_where_it_is_asked_for() -> None:
    def run(ask: Any) -> str:
        class Asking(layercast.Receiver):
            def on_start(self, now: int) -> None:
                self.set_level(1)
                ask(self, now)

        define(Asking)
        text = TWO.replace('protocol = "rlc"\noptions = { burst = 0 }\n', 'protocol = "mine"\n')
        with pytest.raises(layercast.ProtocolError) as raised:
            layercast.run(text)
        return str(raised.value.__cause__)

    assert "held already" in run(lambda mine, now: mine.join(1))
    assert "not held" in run(lambda mine, now: mine.leave(2))
    assert "no channel 5" in run(lambda mine, now: mine.join(5))
    assert "no level 5" in run(lambda mine, now: mine.set_level(5))
    assert "does not lie after now" in run(lambda mine, now: mine.set_timer(now))
    assert "no cause" in run(lambda mine, now: mine.set_level(2, "hunger"))
    assert "only a source" in run(lambda mine, now: mine.send(0, Data(0, 0)))
    assert "must be an int" in run(lambda mine, now: mine.send_report(Data("base", 0)))  # type: ignore[arg-type]
    assert "no header" in run(lambda mine, now: mine.send_report(NoOptions()))
    assert "64 bits" in run(lambda mine, now: mine.send_report(Data(2**64, 0)))


def test_check_finds_what_is_wrong() -> None:
    class Shared(layercast.Receiver):
        """Endpoints that share state do not the same for the same inputs."""

        count = [0]

        def on_start(self, now: int) -> None:
            self.set_level(0)

        def on_packet(self, now: int, packet: Packet) -> None:
            self.count[0] += 1
            if self.count[0] % 7 == 0:
                self.set_level(1 - self.level)

    with pytest.raises((testing.ContractError, layercast.ProtocolError)):
        testing.check(define(Shared), cases=5)

    class Endless(Plain):
        def on_finish(self, now: int) -> None:
            """Goes on."""

    with pytest.raises(testing.ContractError, match="finished"):
        testing.check(define(Base, source=Endless), cases=1)


def test_a_check_that_fails_prints_nothing_itself(capfd: pytest.CaptureFixture[str]) -> None:
    class Broken(Base):
        def on_packet(self, now: int, packet: Packet) -> None:
            raise KeyError("what is missing")

    class Endless(Plain):
        def on_finish(self, now: int) -> None:
            """Goes on."""

    with pytest.raises(layercast.ProtocolError, match="what is missing"):
        testing.check(define(Broken), cases=1)
    with pytest.raises(testing.ContractError, match="finished"):
        testing.check(define(Base, source=Endless), cases=1)
    assert capfd.readouterr() == ("", "")


def test_reports_reach_the_source_and_answers_the_receiver() -> None:
    @dataclass(frozen=True)
    class Report:
        sent: int
        loss: float | None

    class Echo(Plain):
        def on_packet(self, now: int, packet: Packet) -> None:
            assert packet.peer is not None
            self.send_to(packet.peer, packet.header)

    class Asking(Base):
        round_trip = 0

        def on_packet(self, now: int, packet: Packet) -> None:
            if isinstance(packet.header, Report):
                assert packet.header.loss is None
                self.round_trip = now - packet.header.sent
                self.estimate(rtt=self.round_trip, loss=0.25)
            else:
                self.send_report(Report(now, None))

    define(Asking, source=Echo, headers=(Data, Report), receiver_gauges={"round_trip": "ns"})
    text = TWO.replace('protocol = "rlc"\noptions = { burst = 0 }\n', 'protocol = "mine"\n')
    text += '\n[probes.trip]\nof = "flow one@R1"\nwhat = ["round_trip", "loss"]\nevery = "1 s"\n'
    probes = layercast.run(text).probes.to_pandas()
    trips = probes[probes.quantity == "round_trip"].value
    # Two links of 20 ms in each direction, and what queues before them.
    assert 80e6 <= trips.min() <= trips.max() < 400e6
    assert set(probes[probes.quantity == "loss"].value.dropna()) == {0.25}


def test_a_definition_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="built-in"):
        named("elm", {"headers": (Data,)})
    with pytest.raises(ValueError, match="small letters"):
        named("My own", {"headers": (Data,)})
    with pytest.raises(ValueError, match="header"):
        named("mine", {})
    with pytest.raises(TypeError, match="dataclass"):
        named("mine", {"headers": (int,)})

    @dataclass(frozen=True)
    class Long:
        text: str = ""

    with pytest.raises(TypeError, match="int, float or bool"):
        define(Base, headers=(Long,))


def test_every_kind_of_option() -> None:
    @dataclass(frozen=True)
    class Options:
        count: int = option(3, "How many.", low=1, high=5)
        share: float = 0.5
        flag: bool = False
        wait: Duration = option(20 * MS, "How long.")
        rate: Rate = 64e3
        mode: Literal["fast", "slow"] = "slow"

    seen: list[Any] = []

    class Seeing(Base):
        def on_start(self, now: int) -> None:
            seen.append(self.options)
            super().on_start(now)

    define(Seeing, options=Options)
    text = TWO.replace('protocol = "rlc"\noptions = { burst = 0 }\n', 'protocol = "mine"\n')
    changed = {
        # A session has a `count` of its own.
        "session.one.options.count": 5,
        "session.one.share": 0.25,
        "session.one.flag": True,
        "session.one.wait": "2 s",
        "session.one.rate": "1 Mbit/s",
        "session.one.mode": "fast",
    }
    layercast.run(text, set=changed, replications=1)
    assert Options(5, 0.25, True, 2 * SECOND, 1e6, "fast") in seen and Options() in seen
    with pytest.raises(layercast.ScenarioError, match="at most 5"):
        layercast.check(text, set={"session.one.options.count": 6})
    with pytest.raises(layercast.ScenarioError, match="fast, slow"):
        layercast.check(text, set={"session.one.mode": "quick"})


def test_sweeps_and_comparisons_take_it() -> None:
    text = in_python(TWO, "one").replace("60 s", "20 s")
    swept = layercast.sweep(text, {"session.one.sp_spacing": ["250 ms", "2 s"]}, replications=1)
    rows = swept.flows.to_pandas().query("flow == 'one@R1'")
    assert rows.mean_level.nunique() == 2
    compared = layercast.compare(text, ["python-rlc", "rlc"], sessions=["one"], replications=1)
    assert set(compared.flows.to_pandas().candidate) >= {"python-rlc", "rlc"}


def test_a_definition_changes_nothing_of_what_runs() -> None:
    forget_all()
    protocols = ["rlc", "elm", "flid-dl"]
    compared = layercast.compare(
        TWO, protocols, sessions=["one"], replications=2, progress=lambda share: Rlc.define()
    )
    assert protocol.defined() == ["python-rlc"], "it was defined while the first of them ran"
    assert set(compared.flows.to_pandas().candidate) >= set(protocols)


def test_random_numbers() -> None:
    one, two = Random(1), Random(1)
    assert [one.random() for _ in range(3)] == [two.random() for _ in range(3)]
    drawn = [one.integers(-2, 3) for _ in range(2000)]
    assert set(drawn) == {-2, -1, 0, 1, 2}
    # A mean of 10,000 draws lies within 4 standard errors.
    assert abs(sum(one.exponential(2.0) for _ in range(10_000)) / 10_000 - 2) < 0.08
    normal = [one.normal(1.0, 2.0) for _ in range(10_000)]
    mean = sum(normal) / len(normal)
    assert abs(mean - 1) < 0.08
    assert abs(sum((value - mean) ** 2 for value in normal) / len(normal) - 4) < 0.25
    items = list(range(20))
    one.shuffle(items)
    assert sorted(items) == list(range(20)) != items
    assert one.choice(["a"]) == "a"
    with pytest.raises(ValueError):
        one.integers(1, 1)


@pytest.mark.parametrize("example", ["rlm", "learned"])
def test_examples_keep_the_contract(example: str) -> None:
    path = Path(__file__).parents[3] / "examples" / "python" / f"{example}.py"
    spec = importlib.util.spec_from_file_location(example, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[example] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    testing.check(getattr(module, example.capitalize()), cases=CASES)
