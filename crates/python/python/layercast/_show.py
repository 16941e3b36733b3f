"""Tables as short texts and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from layercast._layercast import Table

MOST_ROWS = 10
MOST_COLUMNS = 12
MOST_LINES = 30


def cell(value: Any) -> str:
    """A value in few characters; unknown ones are a dash."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return str(value)


def _shown(table: Table) -> tuple[list[str], list[list[str]]]:
    """The first columns and rows, without columns that are unknown throughout."""
    head = table.slice(0, MOST_ROWS)
    columns = {name: head.column(name) for name in table.columns}
    names = [name for name, values in columns.items() if any(value is not None for value in values)]
    names = names[:MOST_COLUMNS]
    return names, [[cell(columns[name][row]) for name in names] for row in range(len(head))]


def counted(number: int, what: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _size(table: Table, names: Sequence[str]) -> str:
    rows, columns = table.shape
    more = f", {columns - len(names)} not shown" if columns > len(names) else ""
    return f"{counted(rows, 'row')} × {counted(columns, 'column')}{more}"


def table_text(table: Table) -> str:
    """The first rows, and how many there are."""
    names, rows = _shown(table)
    widths = [max(len(name), *(len(row[at]) for row in rows), 0) for at, name in enumerate(names)] if rows else []
    lines = ["  ".join(text.rjust(width) for text, width in zip(line, widths)) for line in [names, *rows]]
    return "\n".join([*lines, _size(table, names)])


def rows_html(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """An HTML table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table_html(table: Table) -> str:
    """The same as HTML."""
    names, rows = _shown(table)
    return rows_html(names, rows, _size(table, names))


def short(text: str) -> str:
    """The beginning of a long text, and how much is left out."""
    lines = text.rstrip().splitlines()
    if len(lines) <= MOST_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:MOST_LINES], f"... and {len(lines) - MOST_LINES} more lines: print(result.text())"])
