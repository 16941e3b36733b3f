#!/bin/sh
# Other multicast file transfers through an emulated tree (emulated-peers.toml): who completes, and when.
#
# Needs root, and the Debian packages uftp and udpcast. LAYERCAST names the program if it is not on the path.
# Usage: emulated-peers.sh [KILOBYTES [KBIT_PER_SECOND [SECONDS]]]
set -eu
layercast=${LAYERCAST:-layercast}
here=$(cd "$(dirname "$0")" && pwd)
size=${1:-500}
rate=${2:-1500}
patience=${3:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head -c "${size}000" /dev/urandom > "$work/file"

# Runs a sender until all receivers have the file, or for as long as patience lasts. Arguments: a name for the folder of
# received files, the sender's command.
cat > "$work/watch" <<'WATCH'
#!/bin/sh
work=$1 name=$2 patience=$3
shift 3
begun=$(date +%s%N)
"$@" > "$work/$name.log" 2>&1 &
missing="R1 R2 R3"
took=0
while [ -n "$missing" ] && [ "$took" -lt "${patience}000" ]; do
    sleep 0.1
    took=$((($(date +%s%N) - begun) / 1000000))
    still=
    for node in $missing; do
        if cmp -s "$work/file" "$work/$name/$node/file"; then
            printf '%-8s %s complete after %d.%03d s\n' "$name" "$node" $((took / 1000)) $((took % 1000))
        else
            still="$still $node"
        fi
    done
    missing=$still
done
for node in $missing; do printf '%-8s %s not complete after %d s\n' "$name" "$node" "$patience"; done
[ -z "$missing" ]
WATCH
# Runs a command with its output in a file: the file, the command.
cat > "$work/quietly" <<'QUIETLY'
#!/bin/sh
log=$1
shift
exec "$@" > "$log" 2>&1
QUIETLY
chmod +x "$work/watch" "$work/quietly"

prepare() {
    mkdir -p "$work/$1/R1" "$work/$1/R2" "$work/$1/R3"
}

missing() {
    echo "$1 is not installed; install the Debian package $2" >&2
}

failed=0

if command -v uftp > /dev/null && command -v uftpd > /dev/null; then
    prepare uftp
    receiver() {
        # Ready before the sender announces, which goes on until all have registered.
        echo "at $1 $work/quietly $work/uftp-$1.log uftpd -d -I net0 -D $work/uftp/$1"
    }
    # shellcheck disable=SC2046 # the words of receivers are meant to be split
    "$layercast" emulate "$here/emulated-peers.toml" --quiet -- \
        $(receiver R1) $(receiver R2) $(receiver R3) \
        at S "$work/watch" "$work" uftp "$patience" uftp -t 16 -R "$rate" -I net0 "$work/file" || failed=1
else
    missing uftp uftp
fi

if command -v udp-sender > /dev/null && command -v udp-receiver > /dev/null; then
    prepare udpcast
    receiver() {
        echo "at $1 $work/quietly $work/udpcast-$1.log udp-receiver --nokbd --interface net0 --ttl 16 --mcast-rdv-address 239.1.2.3 --file $work/udpcast/$1/file"
    }
    # shellcheck disable=SC2046
    "$layercast" emulate "$here/emulated-peers.toml" --quiet -- \
        $(receiver R1) $(receiver R2) $(receiver R3) \
        at S "$work/watch" "$work" udpcast "$patience" udp-sender --nokbd --interface net0 --ttl 16 \
        --mcast-rdv-address 239.1.2.3 --mcast-data-address 239.1.2.4 --min-receivers 3 --rexmit-hello-interval 500 \
        --max-bitrate "${rate}k" --file "$work/file" || failed=1
else
    missing udp-sender udpcast
fi
exit $failed
