#!/bin/sh
# The rustdoc of `make test`: a crate whose examples cargo tests has its reference written before, with what is compiled
# already. A warning is an error.
#
# Cargo calls it as RUSTDOC: rustdoc.sh ARGUMENTS...
for argument in "$@"; do
  if [ "$argument" = --test ]; then
    (
      count=$#
      while [ "$count" -gt 0 ]; do
        count=$((count - 1))
        case $1 in
          --test) ;;
          --test-run-directory | --test-args) shift && count=$((count - 1)) ;;
          *) set -- "$@" "$1" ;;
        esac
        shift
      done
      exec rustdoc "$@" -D warnings --out-dir "$REFERENCE"
    ) || exit
  fi
done
exec rustdoc "$@"
