"""Scenarios of dataclasses are scenario files."""

from __future__ import annotations

import sys
from pathlib import Path

import layercast
import numpy as np
import pytest
from conftest import SMALL
from layercast._settings import ranges, settings
from layercast.scenario import Defaults, Flow, Layers, Link, Loss, LossModel, Paper, Queue, Scenario, Session

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def built() -> Scenario:
    """The short scenario, built in Python."""
    return Scenario(
        name="ELM and TCP",
        duration="20 s",
        replications=3,
        windows=[["5 s", "end"], ["0 s", "10 s"]],
        defaults=Defaults(
            link=Link(rate="2 Mbit/s", delay="10 ms", queue=Queue(kind="drop-tail", limit="30 packets"))
        ),
        links={"S-R1": Link()},
        sessions={
            "elm": Session(
                protocol="elm",
                source="S",
                receivers="R1",
                layers=Layers(scheme="doubling", base="128 kbit/s", count=5),
            )
        },
        flows={"tcp": Flow(protocol="tcp-sack", from_="S", to="R1")},
        groups={"both": ["elm@R1", "tcp@R1"]},
        paper={"elm@R1": Paper(throughput_kbps="about 900")},
    )


def test_it_is_the_same_file() -> None:
    assert tomllib.loads(built().to_toml()) == tomllib.loads(SMALL)
    ours, theirs = (layercast.run(scenario, replications=1) for scenario in (built(), SMALL))
    assert ours.flows.to_polars().equals(theirs.flows.to_polars())


def test_mistakes_have_lines_of_the_text_that_is_written() -> None:
    scenario = built()
    scenario.sessions = {"elm": Session(protocol="elmo", source="S", receivers="R1")}
    with pytest.raises(layercast.ScenarioError) as caught:
        layercast.check(scenario)
    wrong = next(mistake for mistake in caught.value.mistakes if mistake.nearest == "elm")
    assert scenario.to_toml().splitlines()[wrong.line - 1] == 'protocol = "elmo"'


def test_tables_nest() -> None:
    loss = Loss(forward=LossModel(model="periodic", period=50))
    scenario = built()
    scenario.links = {"S-R1": Link(loss=loss)}
    assert "period = 50" in scenario.to_toml()
    layercast.check(scenario)
    lossy = layercast.run(scenario, replications=1).links.to_polars()
    assert lossy.filter((lossy["link"] == "S-R1") & (lossy["window"] == 1))["losses"][0] > 0


def test_a_path_a_name_and_a_text(small: str) -> None:
    for scenario in (small, Path(small), SMALL):
        assert "few-replications" in layercast.check(scenario)
        assert layercast.check(scenario, set={"replications": 5}) == ""
    assert "[links" in layercast.expand("thesis/simulation-2")
    assert len(layercast.scenarios()) > 50


def test_settings_are_written_as_one_types_them() -> None:
    given = {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": "5 s",
        "e": "lazy",
        "f": "true",
        "g": ["1 s", "2 s"],
        "h": {"kind": "red", "limit": 3},
        "i": np.float64(0.25),
        "j": "a, b",
        "k": Queue(kind="red"),
    }
    assert settings(given) == [
        "a=1",
        "b=0.5",
        "c=true",
        "d=5 s",
        "e=lazy",
        'f="true"',
        'g=["1 s", "2 s"]',
        'h={ kind = "red", limit = 3 }',
        "i=0.25",
        'j="a, b"',
        'k={ kind = "red" }',
    ]
    assert ranges({"a": "1..8*2", "b": [1, 2], "c": np.linspace(0, 1, 3)}) == ["a=1..8*2", "b=1,2", "c=0.0,0.5,1.0"]
    assert settings(["a=1"]) == settings("a=1") == ["a=1"]
    with pytest.raises(TypeError):
        settings({"a": object()})
