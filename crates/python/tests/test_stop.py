"""Long runs leave the interpreter free, show progress, and stop."""

from __future__ import annotations

import signal
import threading
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import layercast
import pytest
from conftest import SMALL
from layercast import _layercast
from layercast.protocol import LayeredSource, Protocol

#: So many replications that none of these tests could wait for their end.
MANY = 100_000


@dataclass(frozen=True)
class Data:
    layer: int
    seq: int


class Plain(LayeredSource):
    def header(self, now: int, layer: int, seq: int) -> Data:
        return Data(layer, seq)


class Base(layercast.Receiver):
    def on_start(self, now: int) -> None:
        self.set_level(0)


def in_python(name: str) -> str:
    """The short scenario with a protocol of Python."""
    return SMALL.replace('protocol = "elm"', f'protocol = "{name}"')


@pytest.fixture(autouse=True)
def protocols() -> Iterator[None]:
    """One that gets an input for each packet, and one that has nothing to do between start and end."""
    for name, source, receiver in [("busy", Plain, Base), ("idle", layercast.Source, layercast.Receiver)]:
        body = {"headers": (Data,), "source": source, "receiver": receiver}
        types.new_class("Mine", (Protocol,), {"name": name}, lambda space: space.update(body))
    yield
    for name in ("busy", "idle"):
        _layercast.unregister(name)


def interrupt_after(seconds: float) -> None:
    # A program that was started in the background of a shell ignores the signal, and so would this one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]).start()


@pytest.mark.parametrize("text", [SMALL, in_python("busy")])
def test_ctrl_c_keeps_the_replications_that_were_done(text: str) -> None:
    interrupted: list[float] = []

    def interrupt(share: float) -> None:
        """Once more replications have passed than run at a time, however long one takes, so that some are done."""
        if not interrupted and share > 3 / MANY:
            interrupted.append(time.monotonic())
            interrupt_after(0.1)

    with pytest.raises(KeyboardInterrupt) as caught:
        layercast.run(text, replications=MANY, jobs=2, progress=interrupt)
    assert time.monotonic() - interrupted[0] < 10
    assert isinstance(caught.value, layercast.Stopped)
    result = caught.value.result
    assert isinstance(result, layercast.Result) and result.stopped
    done = result.summary["replications"]
    assert 0 < done < MANY
    assert len(result.groups) == 2 * done
    # What was done is what it would have been.
    whole = layercast.run(text, replications=2).flows.to_polars()
    mine = result.flows.to_polars()
    first = mine.filter(mine["replication"] <= 2)
    if first.height == whole.height:
        assert first.equals(whole)


def test_ctrl_c_keeps_the_parts_of_a_sweep(tmp_path: Path) -> None:
    vary = {"link.S-R1.loss": [0.01, 0.02]}
    interrupt_after(2)
    with pytest.raises(layercast.Stopped) as caught:
        layercast.sweep(SMALL, vary, replications=5000, out=tmp_path)
    partial = caught.value.result
    assert isinstance(partial, layercast.SweepResult) and not partial.complete
    parts = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").glob("cell-*.json")}
    assert 0 < len(parts) < 10_000
    assert len(partial.groups) == 2 * len(parts)
    with pytest.raises(ValueError, match="not complete"):
        partial.text()
    # It goes on from there: what was done of two replications is not run again.
    whole = layercast.sweep(SMALL, vary, replications=2, out=tmp_path)
    assert whole.complete
    assert all(path.stat().st_mtime_ns == written for path, written in parts.items())


def test_what_progress_raises_stops_the_run() -> None:
    def refuse(share: float) -> None:
        raise RuntimeError(f"enough at {share}")

    with pytest.raises(RuntimeError, match="enough"):
        layercast.run(SMALL, replications=MANY, progress=refuse)


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    layercast.run(SMALL, replications=20, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0
    shares.clear()
    layercast.compare(SMALL, ["elm", "rlc"], replications=3, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0


@pytest.mark.parametrize("text", [SMALL, in_python("idle")])
def test_other_threads_run_meanwhile(text: str) -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    layercast.run(text, replications=30, jobs=1)
    took = time.monotonic() - begun
    done.set()
    thread.join()
    # A thread that had to wait for the run would have counted to one or two.
    assert counted > 20 * took
