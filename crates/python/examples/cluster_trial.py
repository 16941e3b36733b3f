"""A sweep of 200 cells on a Dask cluster over TCP, whose workers come and go.

`python crates/python/examples/cluster_trial.py` starts a scheduler and three workers as processes of their own, kills
one with SIGKILL in the middle, adds one late, and compares every file with those of a local sweep. It prints what was
run twice, how long one worker alone takes, and the scheduler's processor time for a task. An argument is the duration
of a replication in place of `120 s`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import layercast
import psutil
from distributed import Client, SchedulerPlugin
from layercast.scenario import Defaults, Flow, Layers, Link, Queue, Scenario, Session

SCENARIO = Scenario(
    name="One bottleneck",
    duration="120 s",
    replications=1,
    defaults=Defaults(link=Link(rate="4 Mbit/s", delay="20 ms", queue=Queue(kind="drop-tail", limit="50 packets"))),
    links={"S-G": Link(rate="100 Mbit/s"), "G-R": Link()},
    sessions={
        "elm": Session(
            protocol="elm", source="S", receivers="R", layers=Layers(scheme="doubling", base="128 kbit/s", count=6)
        )
    },
    flows={"tcp": Flow(protocol="tcp-sack", from_="S", to="R", count=4)},
    groups={"all": ["elm@R", "tcp-*@R"]},
)
VARY = {
    "link.G-R.loss": [0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08],
    "link.G-R.delay": [f"{delay} ms" for delay in range(5, 105, 5)],
}
CELLS = 200
CHANGED = {"duration": sys.argv[1]} if len(sys.argv) > 1 else {}


class Finished(SchedulerPlugin):
    """Counts how often the scheduler saw the result of each task."""

    name = "finished"

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()

    def transition(self, key: Any, start: Any, finish: Any, *args: Any, **kwargs: Any) -> None:
        """Called for every change of a task's state."""
        if (start, finish) == ("processing", "memory"):
            self.times[key] += 1


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Starts a program of Dask."""
    return subprocess.Popen(["dask", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def worker(address: str) -> subprocess.Popen[bytes]:
    """Starts a worker that runs one task at a time; nobody starts it again when it is killed."""
    return start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")


def files(directory: Path) -> dict[str, bytes]:
    """All files below a directory."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def sweep(client: Client | None, out: Path, on_progress: Any = False) -> float:
    """Runs the sweep, and gives how long it took in seconds."""
    begun = time.monotonic()
    layercast.sweep(SCENARIO, VARY, set=CHANGED, out=out, client=client, progress=on_progress, jobs=1, time_limit_s=300)
    return time.monotonic() - begun


def main() -> None:
    """Runs everything and prints what came of it."""
    port = "8797"
    address = f"tcp://127.0.0.1:{port}"
    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    workers = [worker(address)]
    try:
        with tempfile.TemporaryDirectory() as folder, Client(address, timeout=60) as client:
            root = Path(folder)
            client.wait_for_workers(1)
            print(f"local, one thread: {sweep(None, root / 'local'):.1f} s")
            alone = sweep(client, root / "alone")
            print(f"one worker: {alone:.1f} s")
            workers += [worker(address), worker(address)]
            client.wait_for_workers(3)
            print(f"three workers: {sweep(client, root / 'three'):.1f} s on {os.cpu_count()} processors")
            client.register_plugin(Finished())

            def disturb(share: float) -> None:
                if share >= 0.3 and workers[1].poll() is None:
                    os.kill(workers[1].pid, signal.SIGKILL)
                    workers[1].wait()
                    print(f"killed a worker at {share:.0%}")
                if share >= 0.5 and len(workers) == 3:
                    workers.append(worker(address))
                    print(f"added a worker at {share:.0%}")

            took = sweep(client, root / "disturbed", disturb)
            times = client.run_on_scheduler(lambda dask_scheduler: dict(dask_scheduler.plugins["finished"].times))
            twice = sum(count - 1 for count in times.values())
            left = len(client.run(os.getpid))
            print(f"disturbed: {took:.1f} s; {len(times)} tasks, {twice} finished twice; {left} workers at the end")
            for name in ("alone", "three", "disturbed"):
                found = files(root / name)
                assert len(found) == CELLS + 4, len(found)
                assert found == files(root / "local"), name
            print("every file is that of the local sweep")

            # What the scheduler itself costs: tasks of the same size that do nothing.
            process = psutil.Process(scheduler.pid)
            task, count = os.urandom(2000), 2000
            before, begun = sum(process.cpu_times()[:2]), time.monotonic()
            client.gather([client.submit(len, task + number.to_bytes(4), pure=False) for number in range(count)])
            spent, took = sum(process.cpu_times()[:2]) - before, time.monotonic() - begun
            print(f"scheduler: {1e3 * spent / count:.2f} ms of processor time a task, {count / took:.0f} tasks a second")
    finally:
        for program in [*workers, scheduler]:
            if program.poll() is None:
                program.terminate()
                program.wait()


if __name__ == "__main__":
    main()
