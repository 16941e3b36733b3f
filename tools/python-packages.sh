#!/usr/bin/env bash
# Makes the environment of the Python package: what its tests need, and with LAYERCAST_LONG=1 what runs notebooks.
# Installs again only when the list has changed. Mostly it waits for the network, so `make test` starts it while it compiles.
#
# tools/python-packages.sh ENVIRONMENT: prints why it could not, on one line, and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=$1 python=${PYTHON:-python3}

"$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
  || { echo "Python of at least 3.10 with venv and pip is missing"; exit 1; }
needed=$("$python" - <<'LIST'
import os, re
text = open("pyproject.toml").read()
lists = ["dependencies", "test"] + ["notebooks"] * (os.environ.get("LAYERCAST_LONG") == "1")
found = [re.search(rf"(?ms)^{name} = \[(.*?)\]", text).group(1) for name in lists]
print("\n".join(re.findall(r'"([^"]+)"', " ".join(found))))
LIST
)
[ "$needed" != "$(cat "$environment/installed.txt" 2>/dev/null)" ] || exit 0
[ -x "$environment/bin/python" ] || "$python" -m venv "$environment" >&2
mapfile -t packages <<< "$needed"
# What is not imported need not be compiled.
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-compile "${packages[@]}" >&2 \
  || { echo "packages for its tests could not be installed"; exit 1; }
echo "$needed" > "$environment/installed.txt"
