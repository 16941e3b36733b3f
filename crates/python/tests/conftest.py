"""What the tests share."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("agg")

#: A short scenario: ELM and TCP behind one link.
SMALL = """
name = "ELM and TCP"
duration = "20 s"
replications = 3
windows = [["5 s", "end"], ["0 s", "10 s"]]

[defaults.link]
rate = "2 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "30 packets" }

[links]
S-R1 = {}

[sessions.elm]
protocol = "elm"
source = "S"
receivers = "R1"
layers = { scheme = "doubling", base = "128 kbit/s", count = 5 }

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R1"

[groups]
both = ["elm@R1", "tcp@R1"]

[paper."elm@R1"]
throughput_kbps = "about 900"
"""


#: Of how many random sequences a check of the contract is made: a hundred thousand packets pass through Python in each.
LONG = os.environ.get("LAYERCAST_LONG") == "1"
CASES = 10 if LONG else 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests that take long, and lists them where `make test` shows what was skipped."""
    if LONG:
        return
    for item in items:
        for marker in item.iter_markers("long"):
            words = f"{item.name} (long): {marker.args[0]}: LAYERCAST_LONG=1 runs it"
            item.add_marker(pytest.mark.skip(reason=words))
            if listed := os.environ.get("LAYERCAST_SKIPPED"):
                with open(listed, "a") as file:
                    file.write(f"Python package: {words}\n")


@pytest.fixture
def small(tmp_path: Path) -> str:
    """The short scenario as a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return str(path)


def multicast_works() -> bool:
    """Whether a multicast packet comes back on the loopback interface of this machine."""
    group = "239.255.77.1"
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener, socket.socket(
            socket.AF_INET, socket.SOCK_DGRAM
        ) as speaker:
            listener.bind((group, 0))
            lo = socket.inet_aton("127.0.0.1")
            listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + lo)
            listener.settimeout(1)
            speaker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, lo)
            speaker.sendto(b"x", (group, listener.getsockname()[1]))
            return listener.recv(8) == b"x"
    except OSError:
        return False


@pytest.fixture
def multicast() -> None:
    """Skips a test where the loopback interface carries no multicast."""
    if not multicast_works():
        pytest.skip("no multicast on the loopback interface here")


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command() -> Command:
    """The command `layercast`, of the environment variable LAYERCAST."""
    program = os.environ.get("LAYERCAST")
    if program is None:
        pytest.skip("LAYERCAST does not name the command")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    return call
