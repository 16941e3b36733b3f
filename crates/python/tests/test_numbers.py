"""The package gives what the command gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import layercast
from conftest import Command

SETS = {"link.S-R1.loss": 0.01, "session.elm.strategy": "lazy", "flow.tcp.start": "1 s"}


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_run_is_that_of_the_command(small: str, command: Command, tmp_path: Path) -> None:
    flags = [flag for key, value in SETS.items() for flag in ("--set", f"{key}={value}")]
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ran = command("run", small, *flags, "--replications", "2", "--seed", "7", "--out", str(theirs))
    assert ran.returncode == 0, ran.stderr
    result = layercast.run(small, set=SETS, replications=2, seed=7, out=ours)
    expected, found = read(theirs / "summary.json"), read(ours / "summary.json")
    assert expected.pop("engine").keys() == found.pop("engine").keys()
    assert found == expected
    assert result.summary["scenario_hash"] == expected["scenario_hash"]
    assert (ours / "series.parquet").read_bytes() == (theirs / "series.parquet").read_bytes()
    assert ran.stdout.startswith(result.text())
    assert "layercast run" in (ours / "report.html").read_text()


def test_the_tables_have_the_samples_of_the_summary(small: str) -> None:
    result = layercast.run(small)
    flows = result.flows
    for flow in result.summary["flows"]:
        rows = [
            row
            for row, (name, window) in enumerate(zip(flows.column("flow"), flows.column("window")))
            if (name, window) == (flow["name"], 1)
        ]
        for metric in ("throughput_kbps", "loss_rate", "mean_level"):
            if metric in flow:
                assert [flows.column(metric)[row] for row in rows] == flow[metric]["samples"]
    links = result.links
    by_name = {link["name"]: link for link in result.summary["links"]}
    for name, window, replication, p95 in zip(
        *(links.column(column) for column in ("link", "window", "replication", "queue_delay_p95_ms"))
    ):
        if window == 1:
            assert by_name[name]["queue_delay_p95_ms"]["samples"][replication - 1] == p95


def test_threads_change_nothing(small: str) -> None:
    one, two = layercast.run(small, jobs=1), layercast.run(small, jobs=2)
    assert one.series.to_polars().equals(two.series.to_polars())


def test_a_sweep_is_that_of_the_command(small: str, command: Command, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    vary = {"link.S-R1.loss": [0, 0.02], "session.elm.strategy": ["naive", "lazy"]}
    flags = ["--vary", "link.S-R1.loss=0,0.02", "--vary", "session.elm.strategy=naive,lazy"]
    ran = command("sweep", small, *flags, "--replications", "1", "--out", str(theirs))
    assert ran.returncode == 0, ran.stderr
    result = layercast.sweep(small, vary, replications=1, out=ours)
    names = sorted(path.relative_to(theirs) for path in theirs.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(ours) for path in ours.rglob("*") if path.is_file())
    assert len(names) == 3 + 1 + 4
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    assert ran.stdout.startswith(result.text())
    assert sorted(set(result.flows.column("link.S-R1.loss"))) == [0.0, 0.02]
    assert set(result.flows.column("session.elm.strategy")) == {"naive", "lazy"}


def test_a_comparison_is_that_of_the_command(small: str, command: Command, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ran = command("compare", small, "--protocols", "elm,rlc", "--replications", "3", "--out", str(theirs))
    assert ran.returncode == 0, ran.stderr
    result = layercast.compare(small, ["elm", "rlc"], replications=3, out=ours)
    expected, found = (without_cost(read(path / "compare.json")) for path in (theirs, ours))
    assert found == expected
    assert set(result.flows.column("candidate")) == {"elm", "rlc", "without multicast"}
    assert result.verdict["best"]


def without_cost(value: Any) -> Any:
    """A JSON value without what a run cost."""
    if isinstance(value, dict):
        return {key: without_cost(inner) for key, inner in value.items() if not key.startswith("cpu")}
    if isinstance(value, list):
        return [without_cost(inner) for inner in value]
    return value


def test_checking_says_what_the_command_says(small: str, command: Command) -> None:
    sets = {"session.elm.layers.base": "4 Mbit/s"}
    said = command("check", small, "--set", "session.elm.layers.base=4 Mbit/s").stdout
    warnings = layercast.check(small, set=sets)
    assert "base-above-link" in warnings
    assert said.endswith(warnings)


def test_what_can_be_run_is_what_the_command_lists(command: Command) -> None:
    listed = command("list", "--plain").stdout.split()
    known = [*layercast.scenarios(), *(protocol.name for protocol in layercast.protocols())]
    assert set(known) <= set(listed)
    names = [option.name for option in layercast.options("elm")]
    assert names == command("list", "elm", "--plain").stdout.split()
