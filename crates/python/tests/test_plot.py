"""Plots show what the tables have, in the report's colours."""

from __future__ import annotations

import re

import layercast
import numpy as np
import pytest
from conftest import SMALL
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer


@pytest.fixture(scope="module")
def result() -> layercast.Result:
    return layercast.run(SMALL)


@pytest.fixture(autouse=True)
def closed() -> object:
    yield
    pyplot.close("all")


def labels(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_throughput_has_a_line_for_each_flow(result: layercast.Result) -> None:
    axes = result.plot.throughput(smooth_s=0)
    assert labels(axes) == ["elm@R1", "tcp@R1"]
    series = result.series.to_polars()
    of_flow = series.filter(series["flow"] == "tcp@R1")["throughput_kbps"].to_numpy().reshape(3, 20)
    assert np.allclose(axes.lines[1].get_ydata(), np.nanmean(of_flow, axis=0))
    assert "kbit/s" in axes.get_ylabel()
    # The report of the same run draws the same colours.
    inks = {to_hex(line.get_color()).upper() for line in axes.lines}
    assert inks <= {ink.upper() for ink in re.findall(r"#[0-9A-Fa-f]{6}", result.report())}
    with pytest.raises(KeyError, match="there is no flow"):
        result.plot.throughput(["tcp@R9"])


def test_levels_are_those_of_a_replication(result: layercast.Result) -> None:
    axes = result.plot.levels(replication=2)
    assert labels(axes) == ["elm@R1"]
    series = result.series.to_polars()
    mine = series.filter((series["flow"] == "elm@R1") & (series["replication"] == 2))["level"]
    assert np.array_equal(axes.lines[0].get_ydata(), mine.to_numpy())
    assert "0 (128 kbit/s)" in [tick.get_text() for tick in axes.get_yticklabels()]


def test_fairness_has_a_row_for_each_group(result: layercast.Result) -> None:
    axes = result.plot.fairness()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["both"]
    assert np.size(axes.lines[0].get_xdata()) == 3


def test_maps_of_one_and_two_keys() -> None:
    loss = {"link.S-R1.loss": [0.0, 0.02, 0.05]}
    curve = layercast.sweep(SMALL, loss, replications=2)
    axes = curve.plot.sweep_map("throughput_kbps", "tcp@R1")
    assert np.array_equal(axes.lines[0].get_xdata(), [0.0, 0.02, 0.05])
    summary = [
        flow["throughput_kbps"]["mean"]
        for cell in curve.summary["cells"]
        for flow in cell["windows"][0]["flows"]
        if flow["name"] == "tcp@R1"
    ]
    assert np.allclose(axes.lines[0].get_ydata(), summary)
    both = {**loss, "session.elm.strategy": ["naive", "lazy"]}
    axes = layercast.sweep(SMALL, both, replications=1).plot.sweep_map("jain_index", "both")
    drawn = axes.images[0].get_array()
    assert drawn is not None and drawn.shape == (3, 2)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("session.elm.strategy", "link.S-R1.loss")
    with pytest.raises(KeyError, match="there is no flow, group or link"):
        curve.plot.sweep_map("throughput_kbps", "tcp@R9")
    with pytest.raises(KeyError, match="there is no metric"):
        curve.plot.sweep_map("speed", "tcp@R1")


def test_three_keys_are_curves_and_maps_where_others_have_a_value() -> None:
    grid = {
        "link.S-R1.loss": [0.0, 0.05],
        "session.elm.strategy": ["naive", "lazy"],
        "link.S-R1.delay": ["10 ms", "20 ms"],
    }
    swept = layercast.sweep(SMALL, grid, replications=2, metrics=["throughput_kbps"])
    of_tcp = [
        row
        for row in swept.means.to_polars().iter_rows(named=True)
        if (row["name"], row["metric"], row["window"]) == ("tcp@R1", "throughput_kbps", 1)
    ]
    mean = {(row["link.S-R1.loss"], row["session.elm.strategy"], row["link.S-R1.delay"]): row["mean"] for row in of_tcp}
    assert len(mean) == 8 and {row["replications"] for row in of_tcp} == {2}
    first = swept.summary["cells"][0]["windows"][0]["flows"]
    assert of_tcp[0]["ci95"] == next(flow for flow in first if flow["name"] == "tcp@R1")["throughput_kbps"]["ci95"]

    axes = swept.plot.curves("throughput_kbps", "tcp@R1", where={"link.S-R1.delay": "20 ms"})
    assert labels(axes) == ["naive", "lazy"]
    delay = swept.axes[2].numbers
    assert delay is not None
    for curve, strategy in zip(axes.containers, ["naive", "lazy"]):
        assert isinstance(curve, ErrorbarContainer)
        drawn = curve.lines[0].get_ydata()
        assert np.allclose(drawn, [mean[loss, strategy, delay[1]] for loss in (0.0, 0.05)])
    assert len(swept.plot.curves("throughput_kbps", "tcp@R1", x="link.S-R1.delay").containers) == 4

    axes = swept.plot.sweep_map("throughput_kbps", "tcp@R1", where={"session.elm.strategy": "lazy"})
    shown = axes.images[0].get_array()
    assert shown is not None
    assert np.allclose(shown, [[mean[loss, "lazy", at] for at in delay] for loss in (0.0, 0.05)])
    with pytest.raises(ValueError, match="3 remain: .*; `where` sets others"):
        swept.plot.sweep_map("throughput_kbps", "tcp@R1")
    with pytest.raises(KeyError, match="has no value 'eager'; there are naive, lazy"):
        swept.plot.curves("throughput_kbps", "tcp@R1", where={"session.elm.strategy": "eager"})
    with pytest.raises(KeyError, match="link.S-R2.loss is not varied"):
        swept.plot.curves("throughput_kbps", "tcp@R1", where={"link.S-R2.loss": 0.0})


def test_a_comparison_has_a_row_for_each_candidate() -> None:
    compared = layercast.compare(SMALL, ["elm", "rlc"], replications=3)
    axes = compared.plot.compare("throughput_kbps", "tcp@R1")
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names[:2] == ["elm", "rlc"]
    flows = compared.flows.to_polars()
    tcp = flows.filter((flows["flow"] == "tcp@R1") & (flows["window"] == 1) & (flows["candidate"] == "rlc"))
    assert np.array_equal(axes.lines[names.index("rlc") * 4].get_xdata(), tcp["throughput_kbps"].to_numpy())
    with pytest.raises(KeyError, match="there is no metric"):
        compared.plot.compare("speed", "tcp@R1")
