#!/usr/bin/env bash
# Plants a mistake in each of several places of the delivery layer, in a copy of the tree, and runs seeds until the
# explorer finds it. Fails if it misses one, or if it finds one where there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}/mutants
tree=$target/tree
seeds=${SEEDS:-5000}
mkdir -p "$tree"

# name | file | the right line | the mistake
mistakes=(
  "the hash of a complete file is not compared|crates/delivery/src/object/entry.rs|wanted.is_none_or(.wanted. wanted == found.sha256)|wanted.is_none_or(\|_\| true)"
  "a table counts as whole without all of its instances|crates/delivery/src/listing.rs|self.newest.is_some_and(.newest. newest.complete) \&\& self.has_all()|self.newest.is_some_and(\|newest\| newest.complete)"
  "a file is renamed before it is on the disk|crates/delivery/src/placing.rs|    file.sync()?;|    let _ = file;"
  "what was placed before another version counts as placed|crates/delivery/src/reception/entries.rs|            self.drop_object(other);|            let _ = other;"
  "repair symbols repeat|crates/delivery/src/carousel.rs|slot.next_esi = (slot.next_esi + 1) % ESI_LIMIT;|slot.next_esi = (slot.next_esi + 1) % slot.symbols;"
  "packet numbers begin again after a restart|crates/delivery/src/security/sequence.rs|Sequence { last: stored, granted: stored }|Sequence { last: 0, granted: stored }"
  "replayed packets are not refused|crates/delivery/src/security/sequence.rs|if self.came.get(word).is_none_or(.word. word . bit != 0) { Err(Refused::Again) } else { Ok(()) }|let _ = (word, bit, Refused::Again); Ok(())"
  "a forged session takes the place of a silent one|crates/delivery/src/node/session_receiver.rs|may_be_followed = others.is_some_and(.others. others.accept(bytes).is_ok());|may_be_followed = others.is_some();"
  "a receiver that left too early does not come back|crates/delivery/src/node/receiver/ending.rs|^            self.search(Wait { not: None, patience: self.settings.patience });|            self.end(Ok(()));"
  "a child asks the first relay of its list alone|crates/delivery/src/relay/child/targets.rs|self.next = (self.next + 1) % self.given.len().max(1);|let _ = self.next;"
  "a relay knows one relay above it alone|crates/delivery/src/node/relay.rs|Child::new(key, relays, self.now|Child::new(key, \&relays[..1], self.now"
  "packet numbers are used before they are stored|crates/delivery/src/send_state.rs|            self.rounds = due.rounds;|            (self.rounds, self.numbers.granted) = (due.rounds, due.numbers.granted);"
  "an AMT relay takes updates that gateways did not send|crates/delivery/src/amt/relay.rs|if !self.secrets.is_right(now, gateway, nonce, mac) {|if false {"
  "the record of a mirror is begun without waiting for the disk|crates/delivery/src/placed.rs|^        records.sync()?;|        let _ = \&records;"
)

copy() {
  git ls-files -z | tar --null --files-from=- --create | tar --extract --directory "$tree"
}

# A tree that does not compile is no mistake found.
build() {
  (cd "$tree" && CARGO_TARGET_DIR=$target cargo build --release --quiet --package layercast-explorer --example until_broken)
}

run() {
  "$target/release/examples/until_broken" 0 "$1"
}

copy
# A copy keeps times, by which cargo would not see that the last mistake of an earlier run is gone.
find "$tree/crates/delivery/src" -name '*.rs' -exec touch {} +
build
echo "as it is: $(run 500)"
failed=0
for mistake in "${mistakes[@]}"; do
  IFS='|' read -r name file right wrong <<< "${mistake//\\|/$'\x01'}"
  wrong=${wrong//$'\x01'/|}
  copy
  sed -i "s#$right#$wrong#" "$tree/$file"
  if cmp --silent "$file" "$tree/$file"; then
    echo "$name: could not be planted: $file has changed" >&2
    failed=1
    continue
  fi
  build
  if found=$(run "$seeds"); then
    echo "$name: NOT FOUND in $seeds seeds" >&2
    failed=1
  else
    echo "$name: $found"
  fi
done
exit $failed
