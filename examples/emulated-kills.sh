#!/bin/bash
# 100 emulated runs in a row, of which 20 are killed with SIGKILL at random moments. Nothing may be left: no network
# namespace, no process, no link or route, no file. Needs root.
#
#   examples/emulated-kills.sh [PROGRAM] [RUNS] [KILLS]
set -u
program=${1:-target/release/layercast} runs=${2:-100} kills=${3:-20}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

cat > "$work/two.toml" <<'SCENARIO'
name = "Two hosts and a tree"
duration = "1 s"
replications = 1
windows = [["0 s", "end"]]

[links]
S-A = { rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "drop-tail", limit = "50 packets" } }
A-B = { rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "drop-tail", limit = "50 packets" } }
A-C = { rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "drop-tail", limit = "50 packets" } }

[sessions.session]
protocol = "elm"
source = "S"
receivers = ["B", "C"]
layers = { scheme = "doubling", base = "128 kbit/s", count = 4 }
packet_size = "1000 bytes"

[flows.tcp]
protocol = "tcp-cubic"
from = "S"
to = ["B"]
SCENARIO

# What a run could leave. The kernel removes a namespace soon after its last process, not at once.
left() {
  # Those without a process too: the kernel's own count, which is exact after its pages were given back.
  echo 1 > /sys/kernel/slab/net_namespace/shrink
  echo "namespaces $(awk '$1 == "net_namespace" { print $2 }' /proc/slabinfo), named $(ls /run/netns 2>/dev/null | wc -l)"
  echo "processes $(pgrep -cf "$program|two.toml")"
  echo "links $(ip -o link | wc -l), routes $(ip route show table all | wc -l), IPv6 $(ip -6 route show table all | wc -l)"
  echo "mounts $(wc -l < /proc/self/mounts), files $(ls -A /tmp /dev/shm | grep -v -F "$(basename "$work")" | wc -l)"
}

left > "$work/before"
killed=0 ended=0
for ((run = 1; run <= runs; run++)); do
  "$program" run "$work/two.toml" --world emulated --quiet --out "$work/out-$run" >/dev/null 2>"$work/errors" &
  pid=$!
  # Kills are spread evenly over the runs, each at a moment within the first second.
  if ((run * kills / runs > (run - 1) * kills / runs)); then
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))" && kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
  fi
  wait $pid 2>/dev/null && ended=$((ended + 1))
done
# The kernel takes namespaces apart in the background, one after the other.
for ((wait = 0; wait < 180; wait++)); do
  sleep 5
  left > "$work/after"
  diff -q "$work/before" "$work/after" >/dev/null && break
done
echo "$runs runs: $ended ended, $killed killed"
cat "$work/after"
diff "$work/before" "$work/after" && echo "Nothing is left."
