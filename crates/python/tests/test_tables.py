"""Tables go to data frames without copying, and show themselves."""

from __future__ import annotations

import math

import layercast
import pandas
import polars
import pyarrow
import pytest
from conftest import SMALL


@pytest.fixture(scope="module")
def result() -> layercast.Result:
    return layercast.run(SMALL, replications=2)


def test_data_frames_have_the_same_values(result: layercast.Result) -> None:
    frames = result.series.to_polars(), result.series.to_pandas(), result.series.to_arrow()
    assert isinstance(frames[0], polars.DataFrame)
    assert isinstance(frames[1], pandas.DataFrame)
    assert isinstance(frames[2], pyarrow.Table)
    rows, columns = result.series.shape
    # 2 replications, 2 flows, 20 bins
    assert rows == 80
    assert frames[0].shape == frames[1].shape == (frames[2].num_rows, frames[2].num_columns) == (rows, columns)
    levels = result.series.column("level")
    assert frames[0]["level"].to_list() == levels == frames[2]["level"].to_pylist()
    assert [None if math.isnan(level) else level for level in frames[1]["level"]] == levels
    assert None in levels and 0 in levels


def test_nothing_is_copied(result: layercast.Result) -> None:
    series = result.series
    one, two = (pyarrow.table(series)["throughput_kbps"].chunk(0).buffers()[1].address for _ in range(2))
    assert one == two
    part = pyarrow.table(series.slice(40, 1000))
    assert part.num_rows == 40
    assert part["throughput_kbps"].to_pylist() == series.column("throughput_kbps")[40:]


def test_a_table_outlives_its_result() -> None:
    frame = layercast.run(SMALL, replications=1).flows.to_arrow()
    assert frame["flow"].to_pylist() == ["elm@R1", "tcp@R1"] * 2


def test_claims_and_groups(result: layercast.Result) -> None:
    (claim,) = result.claims.to_polars().to_dicts()
    assert (claim["subject"], claim["metric"], claim["relation"], claim["paper"]) == (
        "elm@R1",
        "throughput_kbps",
        "about",
        900.0,
    )
    assert claim["mean"] == result.summary["flows"][0]["throughput_kbps"]["mean"]
    assert claim["ratio"] == pytest.approx(claim["mean"] / 900)
    assert claim["agrees"] == (abs(claim["mean"] - 900) <= 0.25 * 900)
    groups = result.groups.to_polars()
    assert groups.columns == ["window", "from_s", "until_s", "replication", "group", "jain_index"]
    assert groups.height == 4 and groups["jain_index"].is_between(0.5, 1).all()


def test_probes() -> None:
    probed = SMALL + '\n[probes.queue]\nof = "link S-R1"\nwhat = ["queue_packets"]\nevery = "1 s"\n'
    probes = layercast.run(probed, replications=1).probes.to_polars()
    assert probes.height == 20
    assert set(probes["quantity"]) == {"queue_packets"}


def test_what_is_shown_is_short(result: layercast.Result) -> None:
    assert "40 rows" not in repr(result.series)
    assert repr(result.series).endswith("80 rows × 12 columns, 1 not shown")
    assert len(repr(result.series).splitlines()) == 12
    assert repr(result).startswith("ELM and TCP")
    html = result._repr_html_()
    assert "<td>elm@R1</td>" in html and "±" in html
    assert "80 rows" in result.series._repr_html_()
    with pytest.raises(KeyError):
        result.series.column("speed")
