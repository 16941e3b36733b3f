"""Sweeps on other processes and machines, by engines that exist.

`layercast.sweep(..., client=client)` makes a task of each replication of each cell that is missing, and keeps the
part that comes back as the file that the sweep itself would have written: byte for byte, wherever it ran. The client
is a `dask.distributed.Client`, or any `concurrent.futures.Executor` (those of joblib's loky, Ray and mpi4py too).

A worker with another build, or with other files of the scenario, refuses the task (`VersionError`): the task carries
the version and a digest of the sources that decide results, and the digest of the scenario.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import TYPE_CHECKING, Any

from layercast import _layercast
from layercast._children import close_idle, run_in_child, serve
from layercast._extras import load
from layercast._progress import shown
from layercast.errors import LayercastError

if TYPE_CHECKING:
    from distributed import Client


#: How long a scheduler may take to answer, in seconds.
CONNECT_S = 10


def run_task(task: bytes) -> bytes:
    """Runs one replication in this process.

    Parameters
    ----------
    task : bytes
        What `Sweep.task` made.

    Returns
    -------
    bytes
        The part, as the sweep stores it.

    Raises
    ------
    VersionError
        Another build made the task, or a file that the scenario names differs here.
    RunError
        The replication cannot be run.
    """
    return _layercast.run_task(task)


def run_task_apart(task: bytes, time_limit_s: float | None = None) -> bytes:
    """As `run_task`, in a child process: a task that hangs or ends its process harms no other.

    The child waits for further tasks of this process, as long as it keeps to the time limit.

    Parameters
    ----------
    task : bytes
        What `Sweep.task` made.
    time_limit_s : float, optional
        After so many seconds the child is killed, and the next task gets a new one.

    Raises
    ------
    TaskError
        It took too long, or the child was killed.
    """
    return run_in_child(task, time_limit_s)


Submit = Callable[[bytes, str], Any]


def _engine(
    client: Client | futures.Executor, time_limit_s: float | None
) -> tuple[Submit, Callable[[Iterable[Any]], Iterator[Any]]]:
    """How a task is submitted under a name, and how futures are awaited in the order of their completion."""
    if isinstance(client, futures.Executor):
        if time_limit_s is None:
            return lambda task, _: client.submit(run_task, task), futures.as_completed
        return lambda task, _: client.submit(run_task_apart, task, time_limit_s), futures.as_completed
    try:
        import distributed
    except ImportError:
        raise TypeError("the client is neither an executor nor one of dask.distributed") from None
    if not isinstance(client, distributed.Client):
        raise TypeError("the client is neither an executor nor one of dask.distributed")

    def submit(task: bytes, name: str) -> Any:
        return client.submit(run_task_apart, task, time_limit_s, key=name, retries=0, pure=False)

    return submit, distributed.as_completed


def run_parts(
    grid: _layercast.Sweep,
    client: Client | futures.Executor,
    show: Callable[[float], object] | None,
    time_limit_s: float | None,
) -> bool:
    """Runs what a sweep lacks, and keeps each part as soon as it comes.

    Returns
    -------
    bool
        Whether Ctrl-C ended it.

    Raises
    ------
    VersionError, RunError
        Of the first task that fails; those that have not begun are cancelled then, and what came is kept.
    """
    submit, completed = _engine(client, time_limit_s)
    missing = grid.missing()
    waiting: dict[Any, tuple[int, int]] = {}
    try:
        for cell, replication in missing:
            task = grid.task(cell, replication)
            waiting[submit(task, _name(task, cell, replication))] = (cell, replication)
        for future in completed(list(waiting)):
            cell, replication = waiting.pop(future)
            grid.take(cell, replication, future.result())
            if show is not None:
                show(1 - len(waiting) / len(missing))
    except KeyboardInterrupt:
        return True
    finally:
        for future in waiting:
            future.cancel()
        # Of threads of this process; those of others end with them.
        close_idle()
    return False


def _name(task: bytes, cell: int, replication: int) -> str:
    """What the dashboard calls a task. The digest of the task keeps those of different sweeps apart."""
    from hashlib import sha256

    return f"layercast-{sha256(task).hexdigest()[:12]}-cell-{cell + 1}-replication-{replication}"


def fill(address: str, request: bytes) -> int:
    """Runs what a sweep lacks on the cluster of a scheduler, for `layercast sweep --on`.

    Parameters
    ----------
    address : str
        Of the scheduler, such as `tcp://host:8786`.
    request : bytes
        JSON: the sweep as the command has it, and its directory.

    Returns
    -------
    int
        The status to exit with.
    """
    try:
        client_of = load("cluster", "distributed").Client
    except ImportError as error:
        print(f"error: `--on`: {error}", file=sys.stderr)
        return 1
    of = json.loads(request)
    if of["layercast"] != _layercast.VERSION:
        versions = f"the command is of version {of['layercast']}, the package of {_layercast.VERSION}"
        print(f"error: {versions}", file=sys.stderr)
        return 1
    try:
        grid = _layercast.Sweep(
            of["id"],
            of["text"],
            of["overrides"],
            of["vary"],
            of["metrics"],
            of["directory"],
            of["command"],
            of["replications"],
            of["seed"],
        )
        with client_of(address, timeout=CONNECT_S) as client, shown(None, of["id"]) as show:
            return 130 if run_parts(grid, client, show, None) else 0
    except (LayercastError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def main(arguments: list[str]) -> int:
    """A child process of a worker, where a task comes in and a part goes out, or of the command."""
    if len(arguments) == 2 and arguments[0] == "--sweep":
        return fill(arguments[1], sys.stdin.buffer.read())
    if arguments == ["--tasks"]:
        return serve()
    print("usage: python -m layercast.cluster --tasks, as a child process of a worker", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
