"""Progress by tqdm, where it is installed and somebody looks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from layercast._extras import load

Progress: TypeAlias = bool | Callable[[float], object] | None
"""True or False; a function that gets the fraction done, from 0 to 1; None for a bar where one can be seen."""


def _is_seen() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def shown(progress: Progress, what: str) -> Iterator[Callable[[float], object] | None]:
    """What is to be called with the fraction done."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not _is_seen()):
        yield None
        return
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets the bar is text, which needs no warning.
            warnings.simplefilter("ignore")
            tqdm = load("progress", "tqdm", "tqdm.auto").tqdm
    except ImportError:
        if progress:
            raise
        yield None
        return
    form = "{l_bar}{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=what, leave=False, bar_format=form) as bar:

        def show(share: float) -> None:
            bar.update(share - bar.n)

        yield show
