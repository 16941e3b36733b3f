"""Sweeps on other processes give the same bytes, and refuse other builds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import layercast
import pytest
from conftest import SMALL, Command
from layercast import _children, _layercast
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
    with pytest.raises(layercast.TaskError, match="took more than 0.1 s"):
        run_task_apart(long(tmp_path), 0.1)
    assert run_task_apart(task, 60) == run_task(task)


def long(directory: Path) -> bytes:
    """A task that takes minutes."""
    changed, vary = ["duration=100000 s"], ["link.S-R1.loss=0"]
    return _layercast.Sweep("s", SMALL, changed, vary, [], directory / "long", "", replications=1).task(0, 1)


def test_a_child_runs_task_after_task(tmp_path: Path) -> None:
    _children.close_idle()
    sweep = grid(tmp_path)
    for cell in (0, 1):
        assert run_task_apart(sweep.task(cell, 1)) == run_task(sweep.task(cell, 1))
        children = list(_children._idle)
        assert len(children) == 1
    assert children[0].run(sweep.task(0, 1), 60) == run_task(sweep.task(0, 1))
    # What is no task is an error of its own, and the child goes on.
    with pytest.raises(layercast.TaskError, match="not a task"):
        run_task_apart(b"{}")
    assert _children._idle == children
    # One that ended while it waited is replaced without a word.
    children[0]._process.kill()
    children[0]._process.wait()
    assert run_task_apart(sweep.task(0, 1)) == run_task(sweep.task(0, 1))
    assert len(_children._idle) == 1 and _children._idle != children


def test_a_child_that_is_killed_is_an_error(tmp_path: Path) -> None:
    child = _children.Child()
    threading.Timer(0.5, child._process.kill).start()
    with pytest.raises(layercast.TaskError, match="ended with status -9"):
        child.run(long(tmp_path), None)
    assert not child.is_alive


def test_children_end_with_their_parent(tmp_path: Path) -> None:
    program = """
import sys, threading
from layercast import _children
threading.Thread(target=_children.run_in_child, args=(sys.stdin.buffer.read(), None), daemon=True).start()
import time
until = time.monotonic() + 60
while not _children._idle and time.monotonic() < until:
    time.sleep(0.05)
print(_children._idle[0]._process.pid, flush=True)
"""
    task = grid(tmp_path).task(0, 1)
    done = subprocess.run([sys.executable, "-c", program], input=task, capture_output=True, check=True)
    pid = int(done.stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.long("a cluster of processes")
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


@pytest.mark.long("a cluster of processes")
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
