#!/usr/bin/env bash
# Builds the Python package as for tests into an environment of its own, and tests it: whether the stub is fresh, types,
# pytest, and with LAYERCAST_LONG=1 the notebooks and what `pip install` makes. Where Python or its packages are missing,
# that is a skipped test, unless LAYERCAST_REQUIRE names `python`.
#
# tools/python.sh TARGET COMMAND [SKIPPED]: the folder for builds, the program `layercast`, the file of skipped tests.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 command=$(realpath "$2") skipped=${3:-}
. tools/python-environment.sh

stub=crates/python/python/layercast/_layercast.pyi
"$target/debug/examples/stubs" "$library" > "$target/_layercast.pyi"
if [ "${UPDATE_GENERATED:-}" = 1 ]; then cp "$target/_layercast.pyi" "$stub"; fi
diff -u "$stub" "$target/_layercast.pyi" || {
  echo "$stub is stale: \`UPDATE_GENERATED=1 make python\` rewrites it" >&2; exit 1; }
LAYERCAST=$command stage tests python -m pytest
stage types mypy
if [ "${LAYERCAST_LONG:-}" != 1 ]; then
  echo "python, notebooks and installation: only with LAYERCAST_LONG=1"
  exit 0
fi
stage notebooks python tools/notebooks.py "$target/notebooks"
# What users install, by README's line, runs README's block.
installation() {
  local whole=$(realpath "$target")
  "$python" -m venv --clear "$whole/installed"
  CARGO_TARGET_DIR=$whole "$whole/installed/bin/pip" install --quiet --disable-pip-version-check \
    "$(grep -o "'\.\[.*\]'" README.md | tr -d "'")"
  LAYERCAST=$command LAYERCAST_PYTHON=$whole/installed/bin/python python -m pytest -k "test_python_runs and README"
}
stage installation installation
