#!/bin/sh
# A file from a source to twelve receivers at three sites through a tree of relays, without multicast, in emulated networks:
#
#   sudo examples/emulated-relays.sh [MEGABYTES]
#
# It prints each receiver's time and rate, and what each link carried. LAYERCAST names the program.
set -eu

layercast=${LAYERCAST:-layercast}
size=$((${1:-40} * 1000000))
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
head -c "$size" /dev/urandom > "$folder/file"
here=$(dirname "$0")
group=239.77.2.0

for site in A B C; do
  for number in 1 2 3 4; do
    mkdir "$folder/$site$number"
  done
done

set --
for site in A B C; do
  for number in 1 2 3 4; do
    set -- "$@" at "$site$number" "$layercast" receive --group $group --interface net0 \
      --into "$folder/$site$number" --relay-only --relay "{$site}" -q
  done
done
"$layercast" emulate "$here/emulated-relays.toml" --lateness "5 ms" -- \
  at W "$layercast" relay $group --parent "{S}" --listen 0.0.0.0:5600 -q \
  at A "$layercast" relay $group --parent "{W}" --listen 0.0.0.0:5600 -q \
  at B "$layercast" relay $group --parent "{W}" --listen 0.0.0.0:5600 -q \
  at C "$layercast" relay $group --parent "{W}" --listen 0.0.0.0:5600 -q \
  "$@" \
  at S "$layercast" send "$folder/file" --group $group --interface net0 --from "500 kbit/s" --to "60 Mbit/s" \
    --serve 0.0.0.0:5600 --serve-only --no-announce --until-complete 12 --for "300 s" -q
for copy in "$folder"/[ABC][1-4]/file; do
  cmp "$folder/file" "$copy" && echo "$copy: the same"
done
