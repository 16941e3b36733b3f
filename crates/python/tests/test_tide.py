"""Tide written from its specification alone holds the same waves as the built-in one: the test of the page."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import layercast

TEXT = """
name = "Tide twice"
duration = "{duration} s"
windows = [["10 s", "end"]]
[links]
S-R = {{ rate = "{rate}", delay = "{delay}", queue = {queue}{link} }}
[sessions.file]
protocol = "{protocol}"
options = {{ dither = 0.0, reports = false, fair_to = "{fair_to}" }}
source = "S"
receivers = ["R"]
packet_size = "1500 bytes"
layers = {{ scheme = "doubling", base = "128 kbit/s", count = {layers} }}
[flows.tcp]
protocol = "{tcp}"
count = {count}
from = "S"
to = "R"
[probes.waves]
of = "flow file@R"
what = ["{gauge}"]
every = "20 ms"
"""


@dataclass(frozen=True)
class Case:
    """A scenario."""

    name: str
    rate: str = "10 Mbit/s"
    delay: str = "30 ms"
    queue: str = '{ limit = "50 packets" }'
    link: str = ""
    fair_to: str = "cubic"
    tcp: str = "tcp-cubic"
    count: int = 0
    layers: int = 8
    duration: int = 60


#: Two short ones for each `make test`; all ten with LAYERCAST_LONG=1.
CASES = [
    Case("alone on 1 Mbit/s", rate="1 Mbit/s", queue='{ limit = "20 packets" }', layers=5, duration=40),
    Case(
        "a CUBIC, and a rate that changes",
        rate="4 Mbit/s",
        link=', changes = [{ at = "20 s", rate = "1 Mbit/s" }, { at = "35 s", rate = "4 Mbit/s" }]',
        count=1,
        layers=7,
        duration=60,
    ),
]
MORE = [
    Case("alone on 200 Mbit/s", rate="200 Mbit/s", queue='{ limit = "200 packets" }', layers=11, duration=25),
    Case("four CUBIC at 200 ms", delay="100 ms", count=4, duration=120),
    Case("alone at 3 s", delay="1500 ms", duration=120),
    Case("two Reno, fair to Reno", fair_to="reno", tcp="tcp-reno", count=2),
    Case("a CUBIC, fair to Reno", fair_to="reno", count=1, duration=120),
    Case("1 % lost at random", rate="50 Mbit/s", link=", loss = 0.01", duration=120),
    Case("a CUBIC at 20 ms", delay="10 ms", count=1),
    Case("FQ-CoDel", queue='{ kind = "fq-codel", limit = "1000 packets" }', count=4),
]
LONG = pytest.mark.long("a protocol in Python for minutes")


@pytest.fixture(scope="module", autouse=True)
def second() -> None:
    """Defines the protocol `tide-py`."""
    path = Path(__file__).resolve().parents[3] / "examples" / "python" / "tide.py"
    spec = importlib.util.spec_from_file_location("tide", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tide"] = module
    spec.loader.exec_module(module)


def waves(case: Case, protocol: str, gauge: str) -> list[float]:
    """How many waves are held, every 20 ms."""
    text = TEXT.format(**vars(case), protocol=protocol, gauge=gauge)
    return list(layercast.run(text, jobs=1, progress=False).probes.column("value"))


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=LONG) for case in MORE)], ids=lambda case: case.name)
def test_the_page_alone_gives_the_same_levels(case: Case) -> None:
    ours, theirs = waves(case, "tide-py", "waves_held"), waves(case, "tide", "waves")
    assert len(ours) == len(theirs) and max(theirs) > 3
    first = next((0.02 * place for place, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]), None)
    assert first is None, f"they differ from {first} s on"
