#!/usr/bin/env bash
# Builds the Python package with the profile of tests into an environment of its own, and tests it: pytest, mypy, and
# whether the stub is fresh. Where Python or its packages are missing, that is a skipped test, unless LAYERCAST_REQUIRE
# names `python`.
#
# tools/python.sh TARGET COMMAND [SKIPPED]: the folder for builds, the program `layercast`, the file of skipped tests.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 command=$(realpath "$2") skipped=${3:-}
python=${PYTHON:-python3}
environment=$target/venv

skip() {
  if [[ ",${LAYERCAST_REQUIRE:-}," =~ ,(python|all), ]]; then
    echo "The Python package must be tested (LAYERCAST_REQUIRE), and $1." >&2
    exit 1
  fi
  echo "Python package: $1"
  if [ -n "$skipped" ]; then echo "Python package: $1" >> "$skipped"; fi
  exit 0
}

"$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
  || skip "Python of at least 3.10 with venv and pip is missing"
mkdir -p "$target"
[ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
export VIRTUAL_ENV=$(realpath "$environment") PATH=$(realpath "$environment")/bin:$PATH
unset CONDA_PREFIX PYTHONPATH PYTHONHOME

# What tests need is installed again when the list has changed.
if ! cmp -s pyproject.toml "$environment/installed.toml"; then
  needed=$("$python" - <<'LIST'
import re
text = open("pyproject.toml").read()
lists = [re.search(r"(?ms)^test = \[(.*?)\]", text).group(1), re.search(r"dependencies = \[(.*?)\]", text).group(1)]
print("\n".join(re.findall(r'"([^"]+)"', " ".join(lists))))
LIST
)
  mapfile -t needed <<< "$needed"
  pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' "${needed[@]}" \
    || skip "packages for its tests could not be installed"
  cp pyproject.toml "$environment/installed.toml"
fi

stub=crates/python/python/layercast/_layercast.pyi
maturin develop --quiet --profile dev
maturin generate-stubs --quiet --profile dev --manifest-path crates/python/Cargo.toml --out "$target/stubs"
if [ "${UPDATE_GENERATED:-}" = 1 ]; then cp "$target/stubs/layercast/_layercast.pyi" "$stub"; fi
diff -u "$stub" "$target/stubs/layercast/_layercast.pyi" || {
  echo "$stub is stale: \`UPDATE_GENERATED=1 make python\` rewrites it" >&2; exit 1; }
LAYERCAST=$command python -m pytest
mypy
