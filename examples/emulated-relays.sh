#!/bin/sh
# A file from a source to twelve receivers at three sites, in emulated networks:
#
#   sudo examples/emulated-relays.sh [MEGABYTES [HOW [OPTIONS OF EMULATE]]]
#
# HOW is `relays` (a tree of relays, no multicast), `native` (multicast by the network) or `copies` (curl, twelve times).
# It prints what each link carried, and for each receiver the seconds that it took and whether the file is right.
# LAYERCAST names the program.
set -eu

layercast=${LAYERCAST:-layercast}
size=$((${1:-40} * 1000000))
how=${2:-relays}
if [ $# -gt 2 ]; then shift 2; else shift $#; fi
set -- "$@" --
here=$(dirname "$0")
group=239.77.2.0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/source"
head -c "$size" /dev/urandom > "$folder/source/file"

# Runs a command, and writes when it began to the folder that is named first.
cat > "$folder/timed" <<'END'
#!/bin/sh
into=$1
shift
date +%s%N > "$into/began"
exec "$@"
END
# Writes how many milliseconds passed until the file was there, verified and with its name.
cat > "$folder/there" <<'END'
#!/bin/sh
echo $((($(date +%s%N) - $(cat "$1/began")) / 1000000)) > "$1/ms"
END
# Waits until all receivers have ended.
cat > "$folder/then-wait" <<END
#!/bin/sh
"\$@"
until [ "\$(cat $folder/*/ms 2>/dev/null | wc -l)" = 12 ]; do sleep 0.2; done
END
chmod +x "$folder/timed" "$folder/there" "$folder/then-wait"

receivers() {
  for site in A B C; do
    for number in 1 2 3 4; do
      echo "$site$number"
    done
  done
}

for name in $(receivers); do
  mkdir "$folder/$name"
done
send="$layercast send $folder/source/file --group $group --interface net0 --no-announce --until-complete 12 --for 1h -q"
rates="--from 500kbit --to ${TO:-60mbit}"
case $how in
relays)
  for name in $(receivers); do
    set -- "$@" at "$name" "$folder/timed" "$folder/$name" "$layercast" receive --group $group \
      --into "$folder/$name" --relay-only --relay "{${name%?}}" --on-complete "$folder/there $folder/$name" -q
  done
  for site in A B C; do
    set -- "$@" at "$site" "$layercast" relay $group --parent "{W}" --listen 0.0.0.0:5600 -q
  done
  set -- "$@" at W "$layercast" relay $group --parent "{S}" --listen 0.0.0.0:5600 -q \
    at S "$folder/then-wait" $send $rates --serve 0.0.0.0:5600 --serve-only
  ;;
native)
  for name in $(receivers); do
    set -- "$@" at "$name" "$folder/timed" "$folder/$name" "$layercast" receive --group $group --interface net0 \
      --into "$folder/$name" --on-complete "$folder/there $folder/$name" -q
  done
  set -- "$@" at S "$folder/then-wait" $send $rates
  ;;
copies)
  for name in $(receivers); do
    set -- "$@" at "$name" "$folder/timed" "$folder/$name" sh -c "curl --silent --retry 9 --retry-connrefused \
      --output $folder/$name/file http://{S}:8000/file && $folder/there $folder/$name"
  done
  set -- "$@" at S python3 -m http.server --directory "$folder/source" 8000 \
    at S "$folder/then-wait" true
  ;;
*)
  echo "HOW is relays, native or copies" >&2
  exit 2
  ;;
esac

"$layercast" emulate "$here/emulated-relays.toml" --lateness "5 ms" "$@" 2>&1 | grep -v "GET /file" || true
for name in $(receivers); do
  cmp "$folder/source/file" "$folder/$name/file" || continue
  ms=$(cat "$folder/$name/ms")
  awk -v name="$name" -v ms="$ms" -v size="$size" \
    'BEGIN { printf "%s: %.1f s, %.2f Mbit/s, the same file\n", name, ms / 1000, size * 8e-3 / ms }'
done
