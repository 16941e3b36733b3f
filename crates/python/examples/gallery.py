"""Draws the pictures of docs/python.md: `python crates/python/examples/gallery.py docs/images`."""

from __future__ import annotations

import sys
from pathlib import Path

import layercast
from matplotlib import pyplot
from matplotlib.axes import Axes


def save(axes: Axes, directory: Path, name: str) -> None:
    """Keeps a picture."""
    pyplot.figure(axes.get_figure(root=True))
    pyplot.savefig(directory / f"python-{name}.png", dpi=110)
    pyplot.close("all")


def main(directory: Path) -> None:
    """Draws all."""
    result = layercast.run("thesis/simulation-2", replications=5)
    save(result.plot.throughput(node="R1", smooth_s=10), directory, "throughput")
    save(result.plot.levels(["elm@R1", "rlc@R1"]), directory, "levels")
    save(result.plot.fairness(), directory, "fairness")
    sweep = layercast.sweep(
        "thesis/simulation-2",
        {
            "session.elm.t_join_max": ["5 s", "10 s", "25 s", "60 s"],
            "link.G2-R1.loss": [0.005, 0.01, 0.02, 0.04, 0.08],
        },
        replications=3,
    )
    save(sweep.plot.sweep_map("throughput_kbps", "elm@R1"), directory, "map")
    save(sweep.plot.curves("throughput_kbps", "elm@R1"), directory, "curves")
    compared = layercast.compare("thesis/simulation-2", ["elm", "rlc", "flid-dl", "tide"], sessions=["elm"], replications=5)
    save(compared.plot.compare("throughput_kbps", "tcp@R1"), directory, "compare")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
