"""Packages that only a part of this one needs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def load(extra: str, *modules: str) -> ModuleType:
    """Imports what an extra brings, and gives the last.

    Raises
    ------
    ImportError
        One is not installed; the text names the extra.
    """
    for name in modules:
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            # What an installed package lacks itself is its own error.
            if error.name != name:
                raise
            remedy = f"the extra `{extra}` brings it: pip install '.[{extra}]' in the project's folder"
            raise ModuleNotFoundError(f"{name} is not installed; {remedy}", name=name) from None
    return module
