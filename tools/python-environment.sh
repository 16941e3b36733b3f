# To be sourced, in the project's root, with `target` (the folder for builds) and `skipped` (the file of skipped tests)
# set: makes the environment of the Python package in target/venv, builds the package as for tests, and makes the
# environment the active one. Where Python or packages are missing, that is a skipped test and the end, unless
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

# stage NAME COMMAND...: runs it and says how long it took.
stage() {
  local begun=$EPOCHREALTIME
  "${@:2}"
  awk "BEGIN { printf \"python, $1: %.1f s\n\", $EPOCHREALTIME - $begun }"
}

mkdir -p "$target"
missing=$(tools/python-packages.sh "$environment") || skip "$missing"
export VIRTUAL_ENV=$(realpath "$environment")

# The whole workspace decides the features of dependencies, as for its tests, which then find all of this built. Outside
# of the environment, on which PyO3 would depend. With an example, as tests have dependencies of their own.
build() {
  env -u VIRTUAL_ENV ${CARGO:-cargo} build --quiet --locked ${WORKSPACE:---workspace} --lib --bins --example stubs --target-dir "$target"
  local package=crates/python/python
  library=$target/debug/lib_layercast.so
  [ -f "$library" ] || library=$target/debug/lib_layercast.dylib
  # Not into the file, which another process may have loaded.
  rm -f "$package/layercast/_layercast.abi3.so"
  cp "$library" "$package/layercast/_layercast.abi3.so"
  realpath "$package" > "$("$environment/bin/python" -c 'import site; print(site.getsitepackages()[0])')/layercast.pth"
}
stage build build

export PATH=$VIRTUAL_ENV/bin:$PATH
unset CONDA_PREFIX PYTHONPATH PYTHONHOME
