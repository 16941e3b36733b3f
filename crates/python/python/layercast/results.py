"""What runs, sweeps and comparisons give."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layercast import _layercast, _show
from layercast._layercast import Axis, Table

if TYPE_CHECKING:
    from layercast.plot import ComparisonPlots, ResultPlots, SweepPlots


class Result:
    """The results of a run.

    Every table has a row for each of its things in each replication, so means, intervals and tests are yours to
    choose; `summary` has those of the command.
    """

    def __init__(self, ran: _layercast.Ran) -> None:
        self._ran = ran

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C ended the run before all replications were done."""
        return self._ran.stopped

    @property
    def warnings(self) -> str:
        """What makes the results doubtful, in the command's words; empty if nothing does."""
        return self._ran.warnings

    @cached_property
    def summary(self) -> dict[str, Any]:
        """`summary.json`: means, 95 % intervals (Student's t) and samples over the replications."""
        summary: dict[str, Any] = json.loads(self._ran.summary())
        return summary

    @cached_property
    def flows(self) -> Table:
        """A row for each replication, measurement window and flow.

        Columns: `window` (from 1), `from_s`, `until_s` (s), `replication`, `flow`, `protocol`, `role`, `session`,
        `node`, and the measures of `docs/results.md`, such as `throughput_kbps` (kbit/s), `loss_rate` (fraction),
        `mean_level` (level); null where one does not apply.
        """
        return self._ran.flows()

    @cached_property
    def groups(self) -> Table:
        """A row for each replication, window and group: `jain_index` (1/n to 1) of the throughputs."""
        return self._ran.groups()

    @cached_property
    def links(self) -> Table:
        """A row for each replication, window and direction of a link.

        Columns after `link`: `utilisation` (fraction), `drops`, `marks`, `packets`, `losses` (packets),
        `mean_queue_packets` (packets), `queue_delay_ms`, `queue_delay_p95_ms`, `queue_delay_p99_ms` (ms).
        """
        return self._ran.links()

    @cached_property
    def series(self) -> Table:
        """The time series: a row for each replication, flow and bin, as in `series.parquet`.

        Columns: `replication`, `flow`, `protocol`, `node`, `time_s` (s, the end of the bin), `throughput_kbps`
        (kbit/s), `level` (-1 for none), `rate_kbps`, `smoothed_rate_kbps` (kbit/s), `loss` (fraction), `rtt_ms`
        (ms), `cwnd_packets` (packets); null where unknown.
        """
        return self._ran.series()

    @cached_property
    def probes(self) -> Table:
        """A row for each replication, probe, quantity and sample, as in `probes.parquet`."""
        return self._ran.probes()

    @cached_property
    def claims(self) -> Table:
        """A row for each number that the paper reports.

        Columns: `subject` (a flow or a group), `metric`, `relation` (`equal`, `about`, `below`, `above`), `paper`,
        `mean`, `ci95`, `ratio` (ours over the paper's) and `agrees`, by the criterion of `docs/results.md`.
        """
        return self._ran.claims()

    @property
    def plot(self) -> ResultPlots:
        """Plots; needs the extra `plot`."""
        from layercast.plot import ResultPlots

        return ResultPlots(self)

    def level_rates(self, flow: str) -> list[float]:
        """The cumulative rates of the layers of a flow's session.

        Returns
        -------
        list of float
            In kbit/s, lowest first, one for each layer; empty where there are no layers.
        """
        return self._ran.level_rates(flow)

    def text(self) -> str:
        """The command's table."""
        return self._ran.text()

    def report(self) -> str:
        """The command's report: one HTML page without scripts or external resources."""
        return self._ran.report()

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Writes the files of `layercast run --out`.

        Raises
        ------
        ScenarioError
            The directory holds results of another command.
        RunError
            A file cannot be written.
        """
        self._ran.write(Path(directory))

    def __repr__(self) -> str:
        return _show.short(self.text())

    def _repr_html_(self) -> str:
        names = ["flow", "protocol", "throughput, kbit/s", "loss", "mean level", "level changes"]
        measures = ["throughput_kbps", "loss_rate", "mean_level", "level_changes"]
        flows = self.summary["flows"]
        rows = [
            [flow["name"], flow["protocol"], *(_with_interval(flow.get(name)) for name in measures)]
            for flow in flows[: _show.MOST_LINES]
        ]
        more = len(flows) - len(rows)
        replications = _show.counted(self.summary["replications"], "replication")
        caption = f"{self.summary['title']} · {replications} · seed {self.summary['seed']}"
        return _show.rows_html(names, rows, caption + (f" · {more} more flows" if more else ""))


def _with_interval(statistic: dict[str, Any] | None) -> str:
    """A mean and half the width of its interval."""
    if statistic is None or statistic["mean"] is None:
        return "–"
    mean, ci95 = statistic["mean"], statistic.get("ci95")
    return _show.cell(mean) if ci95 is None else f"{_show.cell(mean)} ± {_show.cell(ci95)}"


class SweepResult:
    """The results of a sweep."""

    def __init__(self, swept: _layercast.Swept, directory: Path | None) -> None:
        self._swept = swept
        self.directory = directory

    @property
    def complete(self) -> bool:
        """Whether all replications of all cells are done."""
        return self._swept.complete

    @property
    def axes(self) -> list[Axis]:
        """What was varied: `key`, `values` as text, `numbers` and their `unit` where all are numbers."""
        return self._swept.axes

    @property
    def metrics(self) -> list[str]:
        """The names of the reported metrics."""
        return self._swept.metrics

    @property
    def title(self) -> str:
        """The scenario's own name."""
        return self._swept.title

    @cached_property
    def summary(self) -> dict[str, Any]:
        """`sweep.json`: the statistics of each cell.

        Raises
        ------
        ValueError
            The sweep is not complete.
        """
        summary: dict[str, Any] = json.loads(self._swept.summary())
        return summary

    @cached_property
    def flows(self) -> Table:
        """A row for each cell, replication, window and flow: `cell` (from 1), a column for each key, then as
        `Result.flows`."""
        return self._swept.flows()

    @cached_property
    def groups(self) -> Table:
        """A row for each cell, replication, window and group, as `Result.groups`."""
        return self._swept.groups()

    @cached_property
    def links(self) -> Table:
        """A row for each cell, replication, window and link: `utilisation`, `drops`, `marks`,
        `mean_queue_packets`."""
        return self._swept.links()

    @cached_property
    def means(self) -> Table:
        """A row for each cell, window, flow, group or link (`kind`, `name`) and reported `metric`: its `mean` over the
        `replications` that have it, and half the width of the mean's 95 % interval, `ci95`.

        Raises
        ------
        ValueError
            The sweep is not complete.
        """
        return self._swept.means()

    @property
    def plot(self) -> SweepPlots:
        """Plots; needs the extra `plot`."""
        from layercast.plot import SweepPlots

        return SweepPlots(self)

    def text(self) -> str:
        """The command's table."""
        return self._swept.text()

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Writes `sweep.parquet`, `sweep.json` and `report.html` into a directory that exists."""
        self._swept.write(Path(directory))

    def __repr__(self) -> str:
        if not self.complete:
            return f"<SweepResult, not complete: {len(self.flows)} rows of flows>"
        return _show.short(self.text())

    def _repr_html_(self) -> str:
        return _show.table_html(self.flows)


class Comparison:
    """The results of a comparison. Tables have the column `candidate` first: a protocol, or `without multicast`."""

    def __init__(self, compared: _layercast.Compared) -> None:
        self._compared = compared

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C ended it before all protocols had run."""
        return self._compared.stopped

    @cached_property
    def summary(self) -> dict[str, Any]:
        """`compare.json`: a row for each protocol, paired differences, the verdict."""
        summary: dict[str, Any] = json.loads(self._compared.summary())
        return summary

    @property
    def verdict(self) -> dict[str, Any]:
        """Which protocols are best, and what shows it."""
        verdict: dict[str, Any] = self.summary["verdict"]
        return verdict

    @cached_property
    def flows(self) -> Table:
        """As `Result.flows`."""
        return self._compared.flows()

    @cached_property
    def groups(self) -> Table:
        """As `Result.groups`."""
        return self._compared.groups()

    @cached_property
    def links(self) -> Table:
        """As `Result.links`."""
        return self._compared.links()

    @cached_property
    def series(self) -> Table:
        """As `Result.series`."""
        return self._compared.series()

    @cached_property
    def claims(self) -> Table:
        """As `Result.claims`."""
        return self._compared.claims()

    @property
    def plot(self) -> ComparisonPlots:
        """Plots; needs the extra `plot`."""
        from layercast.plot import ComparisonPlots

        return ComparisonPlots(self)

    def text(self, width: int | None = None) -> str:
        """The command's table, so many characters wide."""
        return self._compared.text(width)

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Writes the files of `layercast compare --out`."""
        self._compared.write(Path(directory))

    def __repr__(self) -> str:
        return _show.short(self.text())

    def _repr_html_(self) -> str:
        return _show.table_html(self.flows)
