"""What needs a package that is not installed names the extra that brings it."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

import layercast
import pytest
from conftest import SMALL
from layercast import cluster

USES: list[tuple[str, str, Callable[[layercast.Result], object]]] = [
    ("polars", "polars", lambda result: result.flows.to_polars()),
    ("pyarrow", "pandas", lambda result: result.flows.to_arrow()),
    ("pyarrow", "pandas", lambda result: result.flows.to_pandas()),
    ("pandas", "pandas", lambda result: result.flows.to_pandas()),
    ("matplotlib", "plot", lambda result: result.plot),
    ("numpy", "plot", lambda result: result.plot),
    ("tqdm", "progress", lambda _: layercast.run(SMALL, replications=1, progress=True)),
]


@pytest.fixture(scope="module")
def result() -> layercast.Result:
    return layercast.run(SMALL, replications=1)


@pytest.mark.parametrize("package, extra, use", USES)
def test_the_error_names_the_extra(
    package: str,
    extra: str,
    use: Callable[[layercast.Result], object],
    result: layercast.Result,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "layercast.plot", raising=False)
    remedy = re.escape(f"pip install '.[{extra}]'")
    with pytest.raises(ImportError, match=f"{package} is not installed; the extra `{extra}` brings it: {remedy}"):
        use(result)


def test_a_cluster_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cluster.fill("tcp://127.0.0.1:1", b"{}") == 1
    assert "pip install '.[cluster]'" in capsys.readouterr().err


def test_what_a_package_lacks_itself_is_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "polars.py").write_text("import what_it_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError, match="No module named 'what_it_needs'"):
        layercast.run(SMALL, replications=1).flows.to_polars()
