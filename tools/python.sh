#!/usr/bin/env bash
# Builds the Python package as for tests into an environment of its own, and tests it: whether the stub is fresh, pytest,
# and with LAYERCAST_LONG=1 types, the notebooks and what `pip install` makes. Where Python or its packages are missing,
# that is a skipped test, unless LAYERCAST_REQUIRE names `python`.
#
# tools/python.sh TARGET [SKIPPED [seldom]]: the folder for builds, the file of skipped tests; with `seldom` types and the
# tests alone that `make test` leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 skipped=${2:-}
. tools/python-environment.sh
# The tests of the package compare it with the command.
command=$(realpath "$target/debug/layercast")

stub=crates/python/python/layercast/_layercast.pyi
"$target/debug/examples/stubs" "$library" > "$target/_layercast.pyi"
if [ "${UPDATE_GENERATED:-}" = 1 ]; then cp "$target/_layercast.pyi" "$stub"; fi
diff -u "$stub" "$target/_layercast.pyi" || {
  echo "$stub is stale: \`UPDATE_GENERATED=1 make python\` rewrites it" >&2; exit 1; }
export LAYERCAST=$command LAYERCAST_SKIPPED=$skipped
if [ "${3:-}" = seldom ]; then
  LAYERCAST_LONG=1 stage "long tests" python -m pytest -m long
  stage types mypy
  exit 0
fi
stage tests python -m pytest
if [ "${LAYERCAST_LONG:-}" != 1 ]; then
  words="types of the Python package, notebooks and an installation of the Python package (long): LAYERCAST_LONG=1 runs them"
  echo "SKIPPED $words"
  if [ -n "$skipped" ]; then echo "$words" >> "$skipped"; fi
  exit 0
fi
stage types mypy
stage notebooks python tools/notebooks.py "$target/notebooks"
# What users install, by README's line, runs README's block.
installation() {
  local whole=$(realpath "$target")
  "$python" -m venv --clear "$whole/installed"
  # Without optimisation: that it installs is what must be shown, and much of it is there from the tests.
  CARGO_TARGET_DIR=$whole MATURIN_PEP517_ARGS="--profile dev" "$whole/installed/bin/pip" install --quiet --disable-pip-version-check \
    "$(grep -o "'\.\[.*\]'" README.md | tr -d "'")"
  LAYERCAST_PYTHON=$whole/installed/bin/python python -m pytest -k "test_python_runs and README"
}
stage installation installation
