#!/usr/bin/env bash
# Writes the site of the project into TARGET/book: pages, notebooks with what they give, the Python API, and the crates'
# reference as `cargo doc` left it in TARGET/doc. A link that leads nowhere is an error.
#
# tools/book.sh TARGET [notebooks]: with `notebooks` only runs those.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 skipped=
export LAYERCAST_REQUIRE=python LAYERCAST_LONG=1
. tools/python-environment.sh

python tools/notebooks.py "$target/notebooks" --long
if [ "${2:-}" = notebooks ]; then exit 0; fi

if ! cmp -s book/requirements.txt "$environment/book.txt"; then
  pip install --quiet --disable-pip-version-check -r book/requirements.txt
  cp book/requirements.txt "$environment/book.txt"
fi
# The theme advertises its successor at each build.
CARGO_TARGET_DIR=$(realpath "$target") NO_MKDOCS_2_WARNING=1 \
  mkdocs build --quiet --strict --config-file book/mkdocs.yml --site-dir "$(realpath "$target")/book"
echo "The site is $target/book/index.html; its search needs a server: python3 -m http.server --directory $target/book"
