#!/usr/bin/env bash
# The compiler of `make test`: rustc with clippy's lints, so that what is tested is compiled once and not checked twice.
# A warning is an error.
#
# Tests themselves are not optimised, only the libraries that they call: that builds them in a third of the time. The
# tests in the simulator's folder stay as they are: they compile it for applications of their own. What is not built
# step by step is built as one unit: each crate takes a fifth less time, and there are crates enough for all processors.
# A library is linted where its unit tests are built, with them, and not a second time on its own.
#
# Cargo calls it as RUSTC_WORKSPACE_WRAPPER: lint.sh RUSTC ARGUMENTS... Other shells than bash drop variables whose names
# have a dash, such as CARGO_BIN_EXE_layercast-trials.
shift
compiler='clippy-driver rustc' level= units='-C codegen-units=1'
case " $* " in *' --test '*) ;; *' --crate-type lib '*) compiler=rustc ;; esac
for argument in "$@"; do
  case "$argument:$CARGO_PKG_NAME:$CARGO_CRATE_NAME" in
    --test:layercast-simulator:all) ;;
    --test:*) level='-C opt-level=0' ;;
    incremental=*) units= ;;
  esac
done
# Unquoted: each is some words or none.
exec $compiler "$@" $level $units -D warnings
