"""How long a run takes whose protocol is in Python, next to the same rules in Rust.

python crates/python/examples/python_speed.py [RECEIVERS]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import layercast

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

SCENARIO = """
name = "One protocol, two languages"
duration = "100 s"
replications = 1
windows = [["10 s", "end"]]

[defaults.link]
rate = "2 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "30 packets" }

[links]
S-G = { rate = "100 Mbit/s" }
LINKS

[sessions.s]
PROTOCOL
source = "S"
receivers = [RECEIVERS]
layers = { scheme = "doubling", base = "128 kbit/s", count = 5 }
"""


def scenario(protocol: str, receivers: int) -> str:
    names = [f"R{number}" for number in range(1, receivers + 1)]
    text = SCENARIO.replace("LINKS", "\n".join(f"G-{name} = {{}}" for name in names))
    return text.replace("RECEIVERS", ", ".join(f'"{name}"' for name in names)).replace("PROTOCOL", protocol)


def measure(protocol: str, receivers: int) -> tuple[float, int]:
    """Seconds of processor time, the best of five, and packets that receivers got."""
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        result = layercast.run(scenario(protocol, receivers), jobs=1, progress=False)
        best = min(best, time.process_time() - begun)
    packets = sum(flow["throughput_kbps"]["mean"] * 90e3 / 8e3 for flow in result.summary["flows"])
    return best, round(packets)


def main() -> None:
    receivers = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rust = 'protocol = "rlc"\noptions = { burst = 0 }'
    alone, packets = measure(rust, receivers)
    import rlc  # noqa: F401 - defines `python-rlc`

    joined, _ = measure(rust, receivers)
    python, same = measure('protocol = "python-rlc"', receivers)
    assert same == packets
    for name, took in [("rust", alone), ("rust, after a definition", joined), ("python", python)]:
        print(f"{name:25} {took:7.3f} s {packets / took:12.0f} packets/s")
    print(f"{'factor':25} {python / alone:7.1f}")


if __name__ == "__main__":
    main()
