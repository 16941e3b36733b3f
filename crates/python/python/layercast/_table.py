"""What all tables of a scenario have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


class Table:
    """A table of a scenario file as a dataclass: what is None is left out, so the file's default holds."""

    def to_dict(self) -> dict[str, Any]:
        """The table as TOML's types."""
        found = {}
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            if value is not None:
                # `from` and `for` are words of Python.
                found[field.name.rstrip("_")] = _plain(value)
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
