"""Sweeps on other processes give the same bytes, and refuse other builds."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import layercast
import pytest
from conftest import SMALL, Command
from layercast import _layercast
from layercast.cluster import run_task, run_task_apart

VARY = {"link.S-R1.loss": [0.0, 0.01, 0.02], "session.elm.strategy": ["naive", "lazy"]}


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("local")
    layercast.sweep(SMALL, VARY, replications=2, out=directory)
    return files(directory)


def test_executors_give_the_same_bytes(local: dict[str, bytes], tmp_path: Path) -> None:
    shares: list[float] = []
    with ThreadPoolExecutor(2) as threads:
        layercast.sweep(SMALL, VARY, replications=2, out=tmp_path / "t", client=threads, progress=shares.append)
    assert files(tmp_path / "t") == local
    assert len(shares) == 12 and shares[-1] == 1.0
    with ProcessPoolExecutor(2) as processes:
        layercast.sweep(SMALL, VARY, replications=2, out=tmp_path / "p", client=processes)
    assert files(tmp_path / "p") == local


def test_only_what_is_missing_is_run(local: dict[str, bytes], tmp_path: Path) -> None:
    layercast.sweep(SMALL, VARY, replications=1, out=tmp_path)
    shares: list[float] = []
    with ThreadPoolExecutor(2) as threads:
        layercast.sweep(SMALL, VARY, replications=2, out=tmp_path, client=threads, progress=shares.append)
    assert len(shares) == 6
    assert files(tmp_path) == local


def grid(directory: Path) -> _layercast.Sweep:
    return _layercast.Sweep("s", SMALL, [], ["link.S-R1.loss=0.01,0.02"], [], directory, "", replications=1)


def test_another_build_is_refused(tmp_path: Path) -> None:
    task = json.loads(grid(tmp_path).task(0, 1))
    assert task["made_by"] == layercast.BUILD
    other = json.dumps({**task, "made_by": "0.0.1+0"}).encode()
    for run in (run_task, run_task_apart):
        with pytest.raises(layercast.VersionError, match="the sweep is of Layercast 0.0.1"):
            run(other)
    changed = json.dumps({**task, "scenario_hash": "0"}).encode()
    with pytest.raises(layercast.VersionError, match="a file that the scenario names differs"):
        run_task(changed)


def test_a_part_of_another_cell_is_refused(tmp_path: Path) -> None:
    sweep = grid(tmp_path)
    part = run_task(sweep.task(0, 1))
    with pytest.raises(layercast.RunError, match="is not its part"):
        sweep.take(1, 1, part)
    with pytest.raises(layercast.RunError, match="is not its part"):
        sweep.take(0, 1, part[:-10])
    assert sweep.missing() == [(0, 1), (1, 1)]
    sweep.take(0, 1, part)
    assert sweep.missing() == [(1, 1)]


def test_a_task_has_a_time_limit(tmp_path: Path) -> None:
    task = grid(tmp_path).task(0, 1)
    assert run_task_apart(task, 60) == run_task(task)
    with pytest.raises(layercast.TaskError, match="took more than 0.01 s"):
        run_task_apart(task, 0.01)


def test_the_command_runs_on_a_cluster(small: str, command: Command, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    sweep = ["sweep", small, "--vary", "link.S-R1.loss=0,0.02", "--replications", "2"]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        ran = command(*sweep, "--out", str(tmp_path / "cluster"), "--on", cluster.scheduler_address)
        assert ran.returncode == 0, ran.stderr
    here = command(*sweep, "--out", str(tmp_path / "here"))
    assert files(tmp_path / "cluster") == files(tmp_path / "here")
    assert ran.stdout.replace("cluster", "here") == here.stdout
    wrong = command(*sweep, "--out", str(tmp_path / "wrong"), "--on", "tcp://127.0.0.1:1")
    assert wrong.returncode == 1 and "127.0.0.1:1" in wrong.stderr


def test_dask_over_tcp_survives_a_killed_worker(local: dict[str, bytes], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        assert cluster.scheduler_address.startswith("tcp://")
        pids = list(client.run(os.getpid).values())
        killed = False

        def kill_one(share: float) -> None:
            nonlocal killed
            if not killed:
                killed = True
                os.kill(pids[0], signal.SIGKILL)

        layercast.sweep(SMALL, VARY, replications=2, out=tmp_path, client=client, progress=kill_one)
        assert killed
    assert files(tmp_path) == local
