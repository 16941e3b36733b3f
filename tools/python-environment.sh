# To be sourced, in the project's root, with `target` (the folder for builds) and `skipped` (the file of skipped tests)
# set: makes the environment of the Python package in target/venv, builds the package into it with the profile of tests,
# and makes it the active one. Where Python or packages are missing, that is a skipped test and the end, unless
# LAYERCAST_REQUIRE names `python`.
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

maturin develop --quiet --profile dev
