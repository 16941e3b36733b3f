"""Errors have the command's words, and the place and the nearest name as attributes."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import layercast
import pytest
from conftest import SMALL, Command


def test_a_wrong_file_has_line_and_nearest_name(small: str, command: Command) -> None:
    wrong = SMALL.replace('delay = "10 ms"', 'dealy = "10 ms"').replace('"elm"\nsource', '"emlm"\nsource')
    with open(small, "w") as file:
        file.write(wrong)
    said = command("run", small)
    assert said.returncode == 2
    with pytest.raises(layercast.ScenarioError) as caught:
        layercast.run(small)
    error = caught.value
    assert said.stderr.strip() == str(error)
    found = {mistake.nearest: mistake for mistake in error.mistakes}
    for text, nearest in (("dealy", "delay"), ('"emlm"', "elm")):
        assert found[nearest].line == 1 + wrong[: wrong.index(text)].count("\n")
    assert (error.line, error.nearest) == (found["delay"].line, "delay")
    assert found["elm"].value == '"emlm"'
    assert all(mistake.origin == small for mistake in error.mistakes)


def test_a_wrong_setting_has_its_column() -> None:
    with pytest.raises(layercast.ScenarioError) as caught:
        layercast.run(SMALL, set={"session.elm.stratgy": "lazy"})
    (mistake,) = caught.value.mistakes
    assert (mistake.origin, mistake.line, mistake.column) == ("--set", 1, 13)
    assert mistake.nearest == "strategy"


def test_a_wrong_name_names_the_nearest() -> None:
    with pytest.raises(layercast.ScenarioError, match="did you mean `thesis/simulation-2`"):
        layercast.run("thesis/simulaton-2")
    with pytest.raises(layercast.ScenarioError, match="did you mean `elm`"):
        layercast.options("emlm")
    assert issubclass(layercast.ScenarioError, ValueError)


def test_a_wrong_sweep_and_a_wrong_comparison() -> None:
    with pytest.raises(layercast.ScenarioError) as caught:
        layercast.sweep(SMALL, {"session.elm.strategy": ["lazy", "lzay"]}, metrics=["throughput"])
    assert len(caught.value.mistakes) == 2
    with pytest.raises(layercast.ScenarioError, match="there is no protocol `elmo`"):
        layercast.compare(SMALL, ["elm", "elmo"])


def test_a_directory_with_other_results_is_refused(small: str, tmp_path: object) -> None:
    layercast.run(small, replications=1, out=f"{tmp_path}/out")
    with pytest.raises(layercast.ScenarioError, match="holds the results of a run"):
        layercast.sweep(small, {"link.S-R1.loss": [0.01]}, out=f"{tmp_path}/out")


def test_doubtful_results_warn() -> None:
    with pytest.warns(layercast.ScenarioWarning, match="base-above-link"):
        layercast.run(SMALL, set={"session.elm.layers.base": "4 Mbit/s"}, replications=1)


def test_doubtful_sweeps_and_comparisons_warn_once_for_all_cells() -> None:
    high = {"session.elm.layers.base": "4 Mbit/s"}
    with pytest.warns(layercast.ScenarioWarning) as caught:
        layercast.sweep(SMALL, {"link.S-R1.loss": [0.0, 0.01]}, set=high, replications=1)
        layercast.compare(SMALL, ["elm", "rlc"], set=high, replications=1)
    assert [str(warning.message).count("base-above-link") for warning in caught] == [1, 1]


def test_errors_cross_processes() -> None:
    for error in (layercast.VersionError("other"), layercast.TaskError("late"), layercast.RunError("no")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("jobs", [0, -1, 1025])
def test_threads_are_as_many_as_the_command_takes(small: str, command: Command, jobs: int) -> None:
    said = command("run", small, "--jobs", str(jobs))
    assert said.returncode == 2
    for call in (
        lambda: layercast.run(small, jobs=jobs),
        lambda: layercast.compare(small, ["elm"], jobs=jobs),
        lambda: layercast.sweep(small, {"link.S-R1.loss": [0.01]}, jobs=jobs),
    ):
        with pytest.raises(layercast.ScenarioError) as caught:
            call()
        assert str(caught.value) == said.stderr.splitlines()[0]


def test_a_sweep_refuses_what_would_have_no_effect(small: str) -> None:
    vary = {"link.S-R1.loss": [0.01]}
    with ThreadPoolExecutor(1) as client, pytest.raises(layercast.ScenarioError, match="jobs"):
        layercast.sweep(small, vary, jobs=1, client=client)
    with pytest.raises(layercast.ScenarioError, match="time_limit_s"):
        layercast.sweep(small, vary, time_limit_s=5)
