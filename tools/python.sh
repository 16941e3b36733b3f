#!/usr/bin/env bash
# Builds the Python package with the profile of tests into an environment of its own, and tests it: pytest, mypy,
# whether the stub is fresh, and the notebooks. Where Python or its packages are missing, that is a skipped test, unless
# LAYERCAST_REQUIRE names `python`.
#
# tools/python.sh TARGET COMMAND [SKIPPED]: the folder for builds, the program `layercast`, the file of skipped tests.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 command=$(realpath "$2") skipped=${3:-}
. tools/python-environment.sh

stub=crates/python/python/layercast/_layercast.pyi
maturin generate-stubs --quiet --profile dev --manifest-path crates/python/Cargo.toml --out "$target/stubs"
if [ "${UPDATE_GENERATED:-}" = 1 ]; then cp "$target/stubs/layercast/_layercast.pyi" "$stub"; fi
diff -u "$stub" "$target/stubs/layercast/_layercast.pyi" || {
  echo "$stub is stale: \`UPDATE_GENERATED=1 make python\` rewrites it" >&2; exit 1; }
LAYERCAST=$command python -m pytest
mypy
python tools/notebooks.py "$target/notebooks"
