"""One function for each command."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layercast import _layercast, _settings
from layercast._layercast import OptionInfo, ProtocolInfo
from layercast._progress import Progress, shown
from layercast._settings import ScenarioLike, Settings, Value
from layercast.errors import ScenarioError, ScenarioWarning, Stopped
from layercast.results import Comparison, Result, SweepResult

if TYPE_CHECKING:
    from distributed import Client


def _warn(text: str) -> None:
    if text:
        warnings.warn(text.rstrip(), ScenarioWarning, stacklevel=3)


def run(
    scenario: ScenarioLike,
    *,
    set: Settings = None,
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    progress: Progress = None,
    out: str | os.PathLike[str] | None = None,
) -> Result:
    """Runs a scenario, as `layercast run`.

    Parameters
    ----------
    scenario : str, path or Scenario
        A built-in scenario's name, a file, TOML text, or dataclasses.
    set : mapping or sequence of str, optional
        Values of the scenario to change: `{"link.G2-R1.loss": 0.02}`, or `["link.G2-R1.loss=0.02"]`.
    replications, seed : int, optional
        In place of the scenario's.
    jobs : int, optional
        How many threads; one for each core by default. Results do not depend on it.
    progress : bool or callable, optional
        Whether to show a bar of tqdm; by default where one can be seen. A callable gets the fraction done.
    out : path, optional
        Where to write what the command writes.

    Returns
    -------
    Result

    Raises
    ------
    ScenarioError
        The scenario or a setting is wrong: all mistakes at once.
    RunError
        The run failed, or its files could not be written.
    Stopped
        Ctrl-C; its `result` has the replications that were done.

    Warns
    -----
    ScenarioWarning
        Something makes the results doubtful.
    """
    jobs, (name, text) = _settings.threads(jobs), _settings.resolve(scenario)
    changed = _settings.settings(set)
    deciding = [*changed]
    deciding += [f"replications={replications}"] if replications is not None else []
    deciding += [f"seed={seed}"] if seed is not None else []
    flags = [("--set", changed), ("--replications", replications), ("--seed", seed)]
    with shown(progress, name) as show:
        ran = _layercast.run(name, text, deciding, _settings.command("run", name, flags), jobs, show)
    if ran is None:
        raise Stopped(None)
    result = Result(ran)
    if result.stopped:
        raise Stopped(result)
    _warn(result.warnings)
    if out is not None:
        result.write(out)
    return result


def sweep(
    scenario: ScenarioLike,
    vary: Mapping[str, Value] | Iterable[str],
    *,
    set: Settings = None,
    replications: int | None = None,
    seed: int | None = None,
    metrics: Iterable[str] = (),
    jobs: int | None = None,
    progress: Progress = None,
    out: str | os.PathLike[str] | None = None,
    client: Client | Executor | None = None,
    time_limit_s: float | None = None,
) -> SweepResult:
    """Runs a scenario in every cell of a grid of values, as `layercast sweep`.

    Parameters
    ----------
    scenario, set, replications, seed, jobs, progress
        As for `run`.
    vary : mapping or sequence of str
        The values of each key: `{"link.G2-R1.loss": [0.01, 0.02], "flow.tcp.count": "1..128*2"}`; text is a range
        as for the command.
    metrics : iterable of str, optional
        Which metrics summary, report and `sweep.parquet` have. The tables of the result have all.
    out : path, optional
        The directory of the sweep. What it has of this sweep is not run again, so an interrupted sweep goes on
        there. Without one the parts are kept in a temporary directory, and lost at the end.
    client : dask.distributed.Client or concurrent.futures.Executor, optional
        Where replications run, instead of on threads of this process; see `layercast.cluster`. The same bytes.
    time_limit_s : float, optional
        With a client: how long one replication may take, in seconds.

    Returns
    -------
    SweepResult

    Raises
    ------
    ScenarioError
        The scenario, a setting or a key is wrong, or the directory holds something else.
    RunError
        A replication failed.
    VersionError
        A worker has another build, or other files of the scenario.
    Stopped
        Ctrl-C; its `result` has the parts that were done.
    """
    if client is not None and jobs is not None:
        raise ScenarioError("error: `jobs` is of threads of this process, and `client` runs replications elsewhere")
    if client is None and time_limit_s is not None:
        raise ScenarioError("error: `time_limit_s` needs a `client`: a thread of this process cannot be ended")
    jobs, (name, text) = _settings.threads(jobs), _settings.resolve(scenario)
    changed, varied, chosen = _settings.settings(set), _settings.ranges(vary), list(metrics)
    flags = [
        ("--vary", varied),
        ("--set", changed),
        ("--metric", ",".join(chosen) or None),
        ("--replications", replications),
        ("--seed", seed),
    ]
    command = _settings.command("sweep", name, flags)
    with tempfile.TemporaryDirectory(prefix="layercast-") as temporary:
        directory = Path(temporary if out is None else out)
        grid = _layercast.Sweep(name, text, changed, varied, chosen, directory, command, replications, seed)
        _warn(grid.warnings)
        with shown(progress, name) as show:
            if client is None:
                stopped = grid.run(jobs, show)
            else:
                from layercast.cluster import run_parts

                stopped = run_parts(grid, client, show, time_limit_s)
        swept = grid.results()
        if out is not None and swept.complete:
            swept.write(directory)
    result = SweepResult(swept, None if out is None else directory)
    if stopped and not swept.complete:
        raise Stopped(result)
    return result


def compare(
    scenario: ScenarioLike,
    protocols: Iterable[str],
    *,
    set: Settings = None,
    sessions: Iterable[str] = (),
    with_: Settings = None,
    replications: int | None = None,
    seed: int | None = None,
    reference: str | None = None,
    skip_refused: bool = False,
    jobs: int | None = None,
    progress: Progress = None,
    out: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Runs a scenario with each of several protocols, as `layercast compare`.

    Parameters
    ----------
    scenario, set, replications, seed, jobs, progress, out
        As for `run`.
    protocols : iterable of str
        The protocols; see `layercast.protocols`.
    sessions : iterable of str, optional
        The sessions that run them; all by default.
    with_ : mapping or sequence of str, optional
        Settings of one protocol alone: `{"elm.strategy": "lazy"}`.
    reference : str, optional
        The protocol that the others are compared with; the best one by default.
    skip_refused : bool
        Leave out protocols that cannot carry the scenario.

    Returns
    -------
    Comparison

    Raises
    ------
    ScenarioError, RunError, Stopped
        As `run`; a comparison that was stopped has the protocols that had run to their end.
    """
    jobs, (name, text) = _settings.threads(jobs), _settings.resolve(scenario)
    chosen, changed, own = list(protocols), _settings.settings(set), _settings.settings(with_)
    only = list(sessions)
    flags = [
        ("--protocols", ",".join(chosen)),
        ("--session", only),
        ("--with", own),
        ("--set", changed),
        ("--reference", reference),
        ("--skip-refused", skip_refused),
        ("--replications", replications),
        ("--seed", seed),
    ]
    command = _settings.command("compare", name, flags)
    with shown(progress, name) as show:
        compared = _layercast.compare(
            name, text, chosen, changed, only, own, command, replications, seed, reference, skip_refused, jobs, show
        )
    if compared is None:
        raise Stopped(None)
    result = Comparison(compared)
    _warn(compared.warnings)
    if result.stopped:
        raise Stopped(result)
    if out is not None:
        result.write(out)
    return result


def check(scenario: ScenarioLike, *, set: Settings = None) -> str:
    """Reads and checks a scenario without running it, as `layercast check`.

    Returns
    -------
    str
        Warnings about it; empty if there are none.

    Raises
    ------
    ScenarioError
        All mistakes at once.
    """
    name, text = _settings.resolve(scenario)
    return _layercast.check(name, text, _settings.settings(set))


def expand(scenario: ScenarioLike, *, set: Settings = None) -> str:
    """A scenario as one flat TOML text, with templates and topologies worked in, as `layercast expand`."""
    name, text = _settings.resolve(scenario)
    return _layercast.expand(name, text, _settings.settings(set))


def protocols() -> list[ProtocolInfo]:
    """The multicast protocols, with what distinguishes them."""
    return _layercast.protocols()


def options(name: str) -> list[OptionInfo]:
    """The options of a protocol, a TCP, a queue or a kind of traffic, as `layercast list NAME`.

    Raises
    ------
    ScenarioError
        There is nothing of that name; the text has the nearest.
    """
    return _layercast.options(name)


def scenarios() -> dict[str, str]:
    """The built-in scenarios: the title of each, by name."""
    found: dict[str, Any] = dict(_layercast.scenarios())
    return found
