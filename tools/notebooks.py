"""Runs the notebooks of docs/notebooks, each in a fresh kernel, and keeps them with their outputs.

`python tools/notebooks.py OUT [--long] [NAME...]` writes `OUT/NAME.ipynb`; all notebooks without names, and with
`--long` those that take minutes. A cell that raises, an assertion among them, or that writes to standard error fails
the run.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "notebooks"

#: Notebooks that take minutes.
LONG = [ROOT / "examples" / "python" / "learned.py"]

#: How long a cell may take, in seconds.
CELL_S = 600


def complaints(notebook: Any) -> str:
    """What cells wrote to standard error."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.text for output in outputs if output.get("name") == "stderr")


def run(source: Path, out: Path) -> str:
    """Runs a notebook and stores it.

    Returns
    -------
    str
        What is wrong with it; empty if nothing is.
    """
    notebook = jupytext.read(source)
    # Sockets of files, which only this user can reach.
    config = Config({"KernelManager": {"transport": "ipc"}})
    place = {"metadata": {"path": str(ROOT)}}
    client = NotebookClient(notebook, timeout=CELL_S, kernel_name="python3", resources=place, config=config)
    try:
        client.execute()
        wrong = complaints(notebook)
    except CellExecutionError as error:
        wrong = str(error)
    write: Any = nbformat.write
    write(notebook, out / f"{source.stem}.ipynb")
    return wrong


def main(arguments: list[str]) -> int:
    """Runs all notebooks, and says what fails."""
    out, names = Path(arguments[0]), [name for name in arguments[1:] if name != "--long"]
    out.mkdir(parents=True, exist_ok=True)
    # A bar would be an output that differs each time.
    os.environ["TQDM_DISABLE"] = "1"
    sources = [*sorted(FOLDER.glob("*.py")), *(LONG if "--long" in arguments else [])]
    sources = [source for source in sources if not names or source.stem in names]
    failed = 0
    for source in sources:
        begun = time.monotonic()
        wrong = run(source, out)
        print(f"notebook {source.stem}: {time.monotonic() - begun:.1f} s{', FAILED' if wrong else ''}", flush=True)
        if wrong:
            failed += 1
            print(wrong, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
