#!/bin/sh
# A video in three temporal layers to two receivers behind links of different rates.
#
#   cargo build --release -p layercast-cli && cargo build --release -p layercast-transport --example video
#   sudo examples/stream-video.sh [SECONDS [OUT]]
#
# Needs root for network namespaces, and ffmpeg with libx264; where something is missing it says so and exits with 0.
# Environment: BIN (target/release), NARROW and WIDE (rates of the two links), DEADLINE.
set -eu
SECONDS_LONG=${1:-40} OUT=${2:-results/stream-video}
BIN=${BIN:-target/release} NARROW=${NARROW:-650kbit} WIDE=${WIDE:-10mbit} DEADLINE=${DEADLINE:-500 ms}
skip() { echo "skipped: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for tool in ffmpeg ffprobe ip tc; do command -v $tool >/dev/null || skip "there is no $tool here"; done
ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx264 || skip "ffmpeg has no libx264"
for program in layercast examples/video; do [ -x "$BIN/$program" ] || { echo "build $BIN/$program first" >&2; exit 1; }; done

mkdir -p "$OUT" && OUT=$(cd "$OUT" && pwd) && BIN=$(cd "$BIN" && pwd)
rm -rf "$OUT"/source "$OUT"/narrow "$OUT"/wide && mkdir "$OUT/source" "$OUT/narrow" "$OUT/wide"
P=lcv$$
started=
clean() {
    for pid in $started; do kill "$pid" 2>/dev/null || true; done
    for name in bridge source narrow wide; do ip netns del $P$name 2>/dev/null || true; done
}
trap clean EXIT INT TERM
for name in bridge source narrow wide; do
    ip netns add $P$name 2>/dev/null || skip "no network namespaces here"
    ip -n $P$name link set lo up
done
ip -n ${P}bridge link add br0 type bridge mcast_snooping 1 mcast_igmp_version 3 mcast_query_response_interval 100 \
    mcast_startup_query_interval 100 mcast_last_member_interval 10 mcast_last_member_count 1 2>/dev/null || skip "no bridge here"
ip -n ${P}bridge link set br0 up && ip -n ${P}bridge link set br0 type bridge mcast_querier 1
address=1
for name in source narrow wide; do
    ip -n ${P}bridge link add $name type veth peer name up0 netns $P$name
    ip -n ${P}bridge link set $name master br0 up
    ip -n $P$name addr add 10.78.0.$address/24 dev up0 && ip -n $P$name link set up0 up
    ip -n $P$name route add 224.0.0.0/4 dev up0
    address=$((address + 1))
done
for link in "narrow $NARROW" "wide $WIDE"; do
    tc -n ${P}bridge qdisc add dev ${link% *} root handle 1: tbf rate ${link#* } burst 5kb latency 100ms
done
sleep 1

mkfifo "$OUT/source/0" "$OUT/source/1" "$OUT/source/2"
for name in narrow wide; do
    mkfifo "$OUT/$name/layer-0" "$OUT/$name/layer-1" "$OUT/$name/layer-2"
    "$BIN/examples/video" merge 0.6 "$OUT/$name/video.h264" "$OUT/$name/layer-0" "$OUT/$name/layer-1" "$OUT/$name/layer-2" \
        >"$OUT/$name/delays" &
    started="$started $!"; eval "merge_$name=$!"
    ip netns exec $P$name "$BIN/layercast" receive --group 239.1.2.0 --stream --into "$OUT/$name" --json \
        >"$OUT/$name/events" 2>"$OUT/$name/errors" &
    started="$started $!"; eval "receive_$name=$!"
done
ip netns exec ${P}source "$BIN/layercast" send --stream "$OUT/source/0" "$OUT/source/1" "$OUT/source/2" --units length \
    --group 239.1.2.0 --protocol elm --rates "700 kbit/s,1100 kbit/s,1700 kbit/s" --deadline "$DEADLINE" --no-announce \
    >"$OUT/source/log" 2>&1 &
send=$!
started="$started $send"
# Thirty frames per second in groups of four; the base layer has 7.5, with the middle layer 15.
ffmpeg -hide_banner -loglevel error -re -f lavfi -i "testsrc2=size=640x360:rate=30:duration=$SECONDS_LONG" -an -c:v libx264 \
    -preset veryfast -b:v 900k -maxrate 900k -bufsize 112k -pix_fmt yuv420p \
    -x264-params "bframes=3:b-adapt=0:b-pyramid=none:keyint=60:min-keyint=60:scenecut=0:aud=1:repeat-headers=1:rc-lookahead=0:sync-lookahead=0:threads=1:slices=1:weightb=0" \
    -f h264 - | tee "$OUT/source/video.h264" | "$BIN/examples/video" split "$OUT/source/0" "$OUT/source/1" "$OUT/source/2"
wait $send
wait $receive_narrow $merge_narrow $receive_wide $merge_wide
started=
grep "^Layer" "$OUT/source/log"
frames() { ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0 "$1"; }
echo "source: $(frames "$OUT/source/video.h264") frames"
for name in narrow wide; do
    echo "$name:"
    sed 's/^/    /' "$OUT/$name/delays"
    ffmpeg -hide_banner -loglevel error -y -i "$OUT/$name/video.h264" -pix_fmt yuv420p "$OUT/$name/video.mp4" 2>"$OUT/$name/decoder" \
        || echo "    the video cannot be decoded"
    echo "    played into $OUT/$name/video.mp4: $(frames "$OUT/$name/video.mp4") frames," \
        "$(wc -l <"$OUT/$name/decoder") complaints of the decoder"
done
