"""Plots of results by matplotlib, in the report's colours.

Each method draws into the axes it is given, or into new ones, and returns them, so that titles, limits and styles
are yours to change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from layercast._extras import load

load("plot", "numpy", "matplotlib")

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from numpy.typing import NDArray

from layercast import _layercast
from layercast._layercast import Axis, Table

if TYPE_CHECKING:
    from layercast.results import Comparison, Result, SweepResult

#: The report's dashes of a hue that is used again.
_DASHES: tuple[Any, ...] = ("-", (0, (7, 2)), (0, (1, 2)), (0, (6, 2, 1, 2)))

#: The share of the values of a flow for which a plot has room, as the report: a burst of a second at the start would
#: make all else flat.
_SHOWN = 0.99

#: The look of what is alone, or of rows that are alike.
_ONE = {"color": "#0072B2"}

#: How metrics are called along an axis.
_TITLES = {
    "throughput_kbps": "Throughput (kbit/s)",
    "loss_rate": "Loss rate",
    "mean_level": "Mean level",
    "level_changes": "Level changes",
    "jain_index": "Jain index",
    "utilisation": "Utilisation",
}


def _title(metric: str) -> str:
    return _TITLES.get(metric, metric.replace("_", " "))


def _axes(axes: Axes | None, width: float = 6.4, height: float = 3.6) -> Axes:
    if axes is None:
        _, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#E6E8EC", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def _looks(protocols: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colour and dashes of each protocol, as the report has them."""
    names = list(dict.fromkeys(protocols))
    return {
        name: {"color": ink, "linestyle": _DASHES[used % len(_DASHES)]}
        for name, (ink, used) in zip(names, _layercast.colours(names))
    }


def _interval(samples: NDArray[np.float64]) -> float:
    """Half the width of the 95 % interval of a mean (Student's t), as the command has it; zero of one sample."""
    return _layercast.half_interval(samples[~np.isnan(samples)].tolist()) or 0.0


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    return np.array(table.column(name), dtype=np.float64)


def _texts(table: Table, name: str) -> NDArray[np.str_]:
    return np.array(table.column(name), dtype=np.str_)


def _distinct(values: NDArray[np.str_]) -> list[str]:
    return list(dict.fromkeys(values.tolist()))


class ResultPlots:
    """Plots of a run: `result.plot`."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def _series(
        self, quantity: str, flows: Sequence[str] | None, node: str | None, replication: int | None
    ) -> tuple[NDArray[np.float64], list[tuple[str, str, NDArray[np.float64]]]]:
        """Time, and of each chosen flow its name, its protocol and its values: a row for each replication."""
        series = self._result.series
        names, protocols = _texts(series, "flow"), _texts(series, "protocol")
        nodes, numbers = _texts(series, "node"), _numbers(series, "replication")
        times, values = _numbers(series, "time_s"), _numbers(series, quantity)
        chosen = []
        time: NDArray[np.float64] = np.array([])
        for name in _distinct(names) if flows is None else flows:
            rows = names == name
            if not rows.any():
                raise KeyError(f"there is no flow {name!r}")
            if node is not None and nodes[rows][0] != node:
                continue
            if replication is not None:
                rows &= numbers == replication
            time = np.unique(times[rows])
            of_flow = values[rows].reshape(-1, time.size)
            if not np.isnan(of_flow).all():
                chosen.append((name, str(protocols[rows][0]), of_flow))
        return time, chosen

    def throughput(
        self,
        flows: Sequence[str] | None = None,
        *,
        node: str | None = None,
        smooth_s: float = 5.0,
        replication: int | None = None,
        axes: Axes | None = None,
    ) -> Axes:
        """Throughput over time.

        Parameters
        ----------
        flows : sequence of str, optional
            The flows; all by default.
        node : str, optional
            Only flows that are measured at this node.
        smooth_s : float
            Over how many seconds a moving mean is taken; 0 for none.
        replication : int, optional
            Only this one. By default the mean over all, with its 95 % interval as a band.
        axes : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Time in seconds, throughput in kbit/s.
        """
        axes = _axes(axes)
        time, chosen = self._series("throughput_kbps", flows, node, replication)
        looks = _looks(protocol for _, protocol, _ in chosen)
        tops = [1.0]
        width = max(1, round(smooth_s / float(time[0]))) if time.size and smooth_s > 0 else 1
        for name, protocol, values in chosen:
            smooth = np.array([_moving_mean(row, width) for row in values])
            known = ~np.isnan(smooth).all(axis=0)
            mean = np.full(time.size, np.nan)
            mean[known] = np.nanmean(smooth[:, known], axis=0)
            axes.plot(time, mean, label=name, linewidth=1.6, **looks[protocol])
            half = np.array([_interval(column) for column in smooth.T])
            tops.append(float(np.nanquantile(mean + half, _SHOWN)))
            if half.any():
                ink = looks[protocol]["color"]
                axes.fill_between(time, mean - half, mean + half, color=ink, alpha=0.18, linewidth=0)
        axes.set(xlabel="Time (s)", ylabel=_title("throughput_kbps"))
        axes.set(xlim=(0, time[-1] if time.size else 1), ylim=(0, 1.08 * max(tops)))
        axes.legend(frameon=False, fontsize="small")
        return axes

    def levels(
        self,
        flows: Sequence[str] | None = None,
        *,
        node: str | None = None,
        replication: int = 1,
        axes: Axes | None = None,
    ) -> Axes:
        """The level of each receiver over time, in one replication.

        Parameters
        ----------
        flows, node, axes
            As for `throughput`; flows without levels are left out.
        replication : int
            Which one.

        Returns
        -------
        matplotlib.axes.Axes
            Time in seconds, level with its cumulative rate where all flows have the same layers; -1 is no layer.
        """
        axes = _axes(axes)
        time, chosen = self._series("level", flows, node, replication)
        looks = _looks(protocol for _, protocol, _ in chosen)
        changes = {name: int(np.count_nonzero(np.diff(values[0]))) for name, _, values in chosen}
        for name, protocol, values in chosen:
            # Steady lines above restless ones, which would hide them.
            order, restless = 3 - changes[name] / (1 + sum(changes.values())), changes[name] > time.size / 10
            width = 0.9 if restless else 1.8
            axes.step(time, values[0], where="pre", label=name, linewidth=width, zorder=order, **looks[protocol])
        ladders = {tuple(self._result.level_rates(name)) for name, _, _ in chosen}
        top = max((np.nanmax(values) for _, _, values in chosen), default=0)
        ticks = range(-1, int(top) + 1)
        axes.set_yticks(list(ticks))
        if len(ladders) == 1 and (rates := ladders.pop()):
            labels = ["none" if level < 0 else f"{level} ({rates[level]:.0f} kbit/s)" for level in ticks]
            axes.set_yticklabels(labels)
        axes.set(xlabel="Time (s)", ylabel="Level", xlim=(0, time[-1] if time.size else 1))
        axes.legend(frameon=False, fontsize="small")
        return axes

    def fairness(self, groups: Sequence[str] | None = None, *, window: int = 1, axes: Axes | None = None) -> Axes:
        """The Jain index of each group: a dot for each replication, the mean with its 95 % interval.

        Parameters
        ----------
        groups : sequence of str, optional
            The groups; all by default.
        window : int
            The measurement window, from 1.
        axes : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
        """
        table = self._result.groups
        names, index = _texts(table, "group"), _numbers(table, "jain_index")
        in_window = _numbers(table, "window") == window
        shown = _distinct(names) if groups is None else list(groups)
        samples = {name: index[(names == name) & in_window] for name in shown}
        for name, of_name in samples.items():
            if not of_name.size:
                raise KeyError(f"there is no group {name!r} in window {window}")
        axes = _dots(axes, samples, dict.fromkeys(shown, _ONE), _title("jain_index"))
        axes.set(xlim=(None, 1.005))
        return axes


def _dots(
    axes: Axes | None, samples: Mapping[str, NDArray[np.float64]], looks: Mapping[str, dict[str, Any]], title: str
) -> Axes:
    """A row for each name: its samples, and their mean with its 95 % interval."""
    axes = _axes(axes, height=0.9 + 0.32 * max(len(samples), 2))
    for row, (name, values) in enumerate(samples.items()):
        ink, below = looks[name]["color"], np.full(values.size, row + 0.22)
        axes.plot(values, below, "o", color=ink, alpha=0.35, markersize=4, markeredgewidth=0)
        if not np.isnan(values).all():
            axes.errorbar(np.nanmean(values), row, xerr=_interval(values), fmt="o", color=ink, markersize=6, capsize=3)
    axes.set_yticks(range(len(samples)), list(samples))
    axes.set_ylim(len(samples) - 0.5, -0.5)
    axes.grid(False, axis="y")
    axes.set(xlabel=title)
    return axes


def _rows_of(
    result: Comparison | SweepResult, metric: str, subject: str
) -> tuple[Table, NDArray[np.bool_]]:
    """The table that has a flow, group or link and this metric, and the subject's rows in the first window."""
    tables = {"flow": result.flows, "group": result.groups, "link": result.links}
    for kind, table in tables.items():
        rows = _texts(table, kind) == subject
        if rows.any():
            if metric not in table.columns:
                raise KeyError(f"there is no metric {metric!r}; there are {', '.join(table.columns)}")
            return table, rows & (_numbers(table, "window") == 1)
    known = [name for kind, table in tables.items() for name in _distinct(_texts(table, kind))]
    raise KeyError(f"there is no flow, group or link {subject!r}; there are {', '.join(known)}")


class ComparisonPlots:
    """Plots of a comparison: `comparison.plot`."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def compare(self, metric: str, subject: str, *, axes: Axes | None = None) -> Axes:
        """A metric of each candidate: a dot for each replication, the mean with its 95 % interval.

        Parameters
        ----------
        metric : str
            A column of the result's tables, such as `throughput_kbps`.
        subject : str
            The flow, group or link, such as `tcp@R1`. A candidate without it has no row.
        axes : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        KeyError
            There is no such metric or subject.
        """
        table, rows = _rows_of(self._comparison, metric, subject)
        candidates, values = _texts(table, "candidate")[rows], _numbers(table, metric)[rows]
        samples = {name: values[candidates == name] for name in _distinct(candidates)}
        axes = _dots(axes, samples, _looks(samples), _title(metric))
        axes.set_title(subject, fontsize="medium", loc="left")
        return axes


def _moving_mean(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The mean of the last `width` values that are known."""
    known = ~np.isnan(values)
    total = np.cumsum(np.where(known, values, 0.0))
    count = np.cumsum(known)
    total[width:] -= total[:-width].copy()
    count[width:] -= count[:-width].copy()
    return np.where(known, total / np.maximum(count, 1), np.nan)


class SweepPlots:
    """Plots of a sweep: `result.plot`."""

    def __init__(self, result: SweepResult) -> None:
        self._result = result

    def _cells(self, metric: str, subject: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each cell the mean of a metric, and half the width of its interval: arrays with an axis for each key."""
        table, rows = _rows_of(self._result, metric, subject)
        cells, values = _numbers(table, "cell")[rows], _numbers(table, metric)[rows]
        shape = [len(axis.values) for axis in self._result.axes]
        means, halves = np.full(math.prod(shape), np.nan), np.zeros(math.prod(shape))
        for cell in range(means.size):
            samples = values[cells == cell + 1]
            if samples.size and not np.isnan(samples).all():
                means[cell], halves[cell] = np.nanmean(samples), _interval(samples)
        return means.reshape(shape), halves.reshape(shape)

    def _at(self, where: Mapping[str, object]) -> tuple[list[Axis], tuple[int | slice, ...]]:
        """The keys that stay, and what takes the others' values out of an array with an axis for each key."""
        keys = self._result.axes
        if unknown := set(where) - {key.key for key in keys}:
            known = ", ".join(key.key for key in keys)
            raise KeyError(f"{', '.join(sorted(unknown))} is not varied; there are {known}")
        at: list[int | slice] = []
        for key in keys:
            if key.key not in where:
                at.append(slice(None))
                continue
            wanted = where[key.key]
            same = [number for number, value in enumerate(key.values) if value == str(wanted)]
            if not same and key.numbers is not None and isinstance(wanted, (int, float)):
                same = [number for number, value in enumerate(key.numbers) if math.isclose(value, wanted)]
            if not same:
                raise KeyError(f"{key.key} has no value {wanted!r}; there are {', '.join(key.values)}")
            at.append(same[0])
        return [key for key in keys if key.key not in where], tuple(at)

    def sweep_map(
        self,
        metric: str,
        subject: str,
        *,
        where: Mapping[str, object] | None = None,
        axes: Axes | None = None,
        cmap: str = "viridis",
    ) -> Axes:
        """A metric over the grid: a heat map of two keys, or a curve of one with its 95 % interval.

        Parameters
        ----------
        metric : str
            A column of the result's tables, such as `throughput_kbps`.
        subject : str
            The flow, group or link, such as `elm@R1`.
        where : mapping, optional
            The values of further keys, such as `{"link.S-R1.loss": 0.02}`.
        axes : matplotlib.axes.Axes, optional
            Where to draw.
        cmap : str
            Matplotlib's colour map for heat maps.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        KeyError
            There is no such metric, subject, key or value.
        ValueError
            More than two keys remain, or none.
        """
        keys, at = self._at(where or {})
        if len(keys) not in (1, 2):
            names = ", ".join(key.key for key in keys)
            raise ValueError(f"a map has one or two keys, and {len(keys)} remain: {names}; `where` sets others")
        means, halves = (all_cells[at] for all_cells in self._cells(metric, subject))
        axes = _axes(axes)
        axes.set_title(subject, fontsize="medium", loc="left")
        if len(keys) == 1:
            return _curve(axes, keys[0], means, halves, _title(metric), **_ONE)
        rows, columns = keys
        axes.grid(False)
        image = axes.imshow(means, cmap=cmap, aspect="auto", origin="lower")
        axes.set_xticks(range(len(columns.values)), columns.values)
        axes.set_yticks(range(len(rows.values)), rows.values)
        axes.set(xlabel=columns.key, ylabel=rows.key)
        bar = axes.figure.colorbar(image, ax=axes)
        bar.set_label(_title(metric))
        if means.size <= 100:
            middle = (np.nanmin(means) + np.nanmax(means)) / 2
            for (row, column), value in np.ndenumerate(means):
                colour = "white" if value < middle else "black"
                text = "–" if np.isnan(value) else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize="small")
        return axes

    def curves(
        self,
        metric: str,
        subject: str,
        *,
        x: str | None = None,
        where: Mapping[str, object] | None = None,
        axes: Axes | None = None,
    ) -> Axes:
        """A metric over one key with its 95 % interval: a curve for each combination of the other keys' values.

        Parameters
        ----------
        metric, subject, where, axes
            As for `sweep_map`.
        x : str, optional
            The key along the axis; by default the first one whose values are numbers, or the first.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        KeyError
            There is no such metric, subject, key or value.
        """
        keys, at = self._at(where or {})
        if x is None:
            x = next((key.key for key in keys if key.numbers is not None), keys[0].key if keys else None)
        along = next((number for number, key in enumerate(keys) if key.key == x), None)
        if along is None:
            raise KeyError(f"there is no key {x!r}; there are {', '.join(key.key for key in keys)}")
        means, halves = (np.moveaxis(all_cells[at], along, -1) for all_cells in self._cells(metric, subject))
        others = [key for key in keys if key.key != x]
        labels = {
            cell: ", ".join(key.values[number] for key, number in zip(others, cell))
            for cell in np.ndindex(means.shape[:-1])
        }
        looks = _looks(labels.values())
        axes = _axes(axes)
        axes.set_title(subject, fontsize="medium", loc="left")
        for cell, label in labels.items():
            _curve(axes, keys[along], means[cell], halves[cell], _title(metric), label=label, **looks[label])
        if others:
            named = ", ".join(key.key for key in others)
            axes.legend(frameon=False, fontsize="small", title=named, loc="center left", bbox_to_anchor=(1, 0.5))
        return axes


def _curve(
    axes: Axes, key: Axis, means: NDArray[np.float64], halves: NDArray[np.float64], title: str, **look: Any
) -> Axes:
    """A curve over the values of one key: numbers where they stand, names at equal distances."""
    style: dict[str, Any] = {"marker": "o", "capsize": 3, "markersize": 5, **look}
    if key.numbers is None:
        axes.errorbar(range(len(means)), means, yerr=halves, **{**style, "linestyle": "none"})
        axes.set_xticks(range(len(means)), key.values)
        axes.set_xlabel(key.key)
    else:
        axes.errorbar(key.numbers, means, yerr=halves, **style)
        axes.set_xlabel(f"{key.key} ({key.unit})" if key.unit else key.key)
    axes.set_ylabel(title)
    # Once more with each curve: a limit that is set stays.
    axes.autoscale(axis="y")
    axes.set_ylim(0)
    return axes
