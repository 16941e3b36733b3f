//! What a seed decides.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};
use layercast_delivery::carousel::BlockWindow;
use layercast_delivery::node::Paths;
use layercast_delivery::object::PART_SYMBOLS;
use layercast_delivery::security::encryption::Salt;

use crate::fault::{Fault, ForgedAnnouncement, Forgery, Scheduled};

/// Until then faults begin; all have ended soon after.
pub(crate) const FAULTS_UNTIL: Time = Time::from_ns(60_000_000_000);

const PROTOCOLS: [&str; 6] = ["elm", "tide", "rlc", "flid-sl", "fixed", "wei-zhang"];

/// A receiver and its path.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverPlan {
    /// The rate of its link.
    pub rate: Rate,
    /// The delay of its link.
    pub delay: Duration,
    /// The packets that its link's queue holds.
    pub queue: u32,
    /// The probability that its link loses a packet.
    pub loss: f64,
    /// The probability that a packet arrives twice.
    pub duplicated: f64,
    /// The probability that a packet arrives up to a fifth of a second late.
    pub delayed: f64,
    /// When its program starts.
    pub start: Time,
    /// By which paths packets come to it.
    pub paths: Paths,
    /// The relays that it asks, in this order.
    pub relays: Vec<usize>,
}

/// A change of the files that are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// Paths and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Paths that are removed.
    pub removed: Vec<String>,
}

/// How packets are protected by a group key, which the source and the receivers share and forgers do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The first salt with which they are encrypted; none if they only have a MAC.
    pub salt: Option<Salt>,
    /// Whether the other source has the group key.
    pub of_others: bool,
    /// How long the source's disk takes to store its state.
    pub storing: Duration,
}

/// A receiver that multicast does not reach, and that gets it through an AMT relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amt {
    /// Which.
    pub receiver: usize,
    /// Whether it finds the relay by anycast.
    pub is_discovered: bool,
}

/// How a source sends files whose hashes it does not know yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// The least length of such a file.
    pub from: u64,
    /// Wake-ups of the source until it knows the hash.
    pub after: u64,
    /// Whether tags come from lengths alone, so that another version of a file may have the tag of the one before.
    pub of_lengths: bool,
}

/// A transfer and what goes wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The seed that decided it.
    pub seed: u64,
    /// The congestion control.
    pub protocol: &'static str,
    /// The rate of the base layer; each further one doubles all.
    pub base: Rate,
    /// The number of layers.
    pub layers: u16,
    /// The size of packets in bytes.
    pub packet: u32,
    /// The relays, each with those above it, in the order in which it asks them; one without any has its packets by multicast.
    pub relays: Vec<Vec<usize>>,
    /// The receivers.
    pub receivers: Vec<ReceiverPlan>,
    /// The files, in the order of time; the first change is at the start, and after the last one there are no more.
    pub changes: Vec<Change>,
    /// Whether the source signs, and receivers take only what it has signed. Then forged packets look genuine.
    pub is_signed: bool,
    /// How files have tags, and their hashes later; none if hashes are known from the start.
    pub tags: Option<Tags>,
    /// Whether sources pack small files.
    pub packs: bool,
    /// When the source's blocks take turns.
    pub block_window: BlockWindow,
    /// The maximum number of symbols of an object: longer files have parts.
    pub longest_part: u64,
    /// The memory of receivers for records of symbols.
    pub records: u64,
    /// How packets are protected, if they are.
    pub protection: Option<Protection>,
    /// Whether the source sends only levels that are in demand, and polls its receivers.
    pub on_demand: bool,
    /// The receiver that has an AMT relay, if one has.
    pub amt: Option<Amt>,
    /// Whether receivers know their session's name alone, and sources announce it.
    pub is_announced: bool,
    /// Whether receivers go on after errors and ended sessions, until all is there.
    pub is_service: bool,
    /// Whether receivers keep their folders in step with the source's.
    pub is_mirror: bool,
    /// What users have in the receivers' folders before these start.
    pub own: Vec<(String, Vec<u8>)>,
    /// The files of another source.
    pub others: Vec<(String, Vec<u8>)>,
    /// The faults in the order of time.
    pub faults: Vec<Scheduled>,
}

/// Numbers of a stream.
struct Draw(Stream);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.bits() % bound.max(1)
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0.uniform_in(low, high)
    }

    fn ms(&mut self, low: f64, high: f64) -> Duration {
        Duration::from_us((self.within(low, high) * 1000.0) as u64)
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        // Not all random: equal parts of files must not hide mistakes, nor may only unequal ones.
        let (seed, step) = (self.0.bits(), self.below(7) + 1);
        (0..length).map(|at| (seed.rotate_left((at / step % 64) as u32) as u8) ^ (at >> 3) as u8).collect()
    }

    fn order(&mut self, mut of: Vec<usize>) -> Vec<usize> {
        (0..of.len()).map(|_| of.swap_remove(self.below(of.len() as u64) as usize)).collect()
    }

    fn length(&mut self) -> u64 {
        match self.below(6) {
            0 => 0,
            1 => self.below(300),
            2 => self.below(4_000),
            3 => self.below(70_000),
            4 => 65_536 + self.below(3) - 1,
            _ => 66_000 + self.below(80_000),
        }
    }

    fn path(&mut self) -> String {
        const NAMES: [&str; 8] = ["a", "b/c", "b/d", "b/e/f", "g", "Ünï cödé", "h.partial", "i.symbols"];
        NAMES[self.below(8) as usize].to_owned()
    }

    fn files(&mut self, most: u64) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for _ in 0..1 + self.below(most) {
            let path = self.path();
            if !files.iter().any(|(other, _)| *other == path) {
                let length = self.length();
                let bytes = self.bytes(length);
                files.push((path, bytes));
            }
        }
        files
    }
}

fn tags(draw: &mut Draw) -> Option<Tags> {
    let is_tagged = draw.below(3) == 0;
    let (from, most) = (1 + draw.below(100_000), 10 << draw.below(9));
    let tags = Tags { from, after: draw.below(most), of_lengths: draw.below(4) == 0 };
    is_tagged.then_some(tags)
}

impl Plan {
    /// The plan of a seed.
    pub fn of(seed: u64) -> Plan {
        let mut draw = Draw(Stream::new(seed, "plan"));
        let base = Rate::from_kbps(draw.within(200.0, 800.0));
        let mut receivers = (0..1 + draw.below(3)).map(|_| receiver(&mut draw, base)).collect::<Vec<_>>();
        let mut changes = changes(&mut draw);
        // By numbers of their own, so that other plans are what they were.
        let mut signing = Draw(Stream::new(seed, "signed"));
        let is_signed = signing.below(4) == 0;
        if is_signed && let Some(first) = changes.first_mut() {
            // Of several blocks, if packets are small.
            let length = 150_000 + signing.below(250_000);
            first.files.push(("j/long".to_owned(), signing.bytes(length)));
        }
        let packs = pack(&mut Draw(Stream::new(seed, "packages")), &mut changes);
        let own = own(&mut Draw(Stream::new(seed, "mirror")), &changes);
        let (longest_part, records) = parts(&mut Draw(Stream::new(seed, "parts")));
        let mut faults = faults(&mut draw, receivers.len());
        let mut history = Draw(Stream::new(seed, "history"));
        if history.below(8) == 0 {
            alternate(&mut history, &mut changes, &mut faults);
        }
        let mut relays = Vec::new();
        if relay(&mut Draw(Stream::new(seed, "relay")), &mut receivers, &mut faults) {
            relays = chain(&mut Draw(Stream::new(seed, "relays")), &mut receivers, &mut faults);
        }
        state(&mut Draw(Stream::new(seed, "state")), &mut faults);
        let is_announced = announced(&mut Draw(Stream::new(seed, "announced")), receivers.len(), &mut faults);
        let amt = amt(&mut Draw(Stream::new(seed, "amt")), &receivers, &mut faults);
        Plan {
            seed,
            relays,
            protocol: PROTOCOLS[draw.below(PROTOCOLS.len() as u64) as usize],
            base,
            layers: 1 + draw.below(4) as u16,
            packet: 300 + 4 * draw.below(200) as u32,
            receivers,
            changes,
            is_signed,
            tags: tags(&mut Draw(Stream::new(seed, "tags"))).filter(|_| !is_signed),
            packs,
            block_window: block_window(&mut Draw(Stream::new(seed, "turns"))),
            longest_part,
            records,
            protection: protection(&mut Draw(Stream::new(seed, "protection"))),
            on_demand: Draw(Stream::new(seed, "demand")).below(2) == 0,
            amt,
            is_announced,
            is_service: Draw(Stream::new(seed, "service")).below(3) == 0,
            is_mirror: own.is_some(),
            own: own.unwrap_or_default(),
            others: draw.files(2),
            faults,
        }
    }

    /// Whether receivers take files of the other source: not if they know the keys of the first and it has others.
    pub fn takes_others(&self) -> bool {
        !self.is_signed && self.protection.is_none_or(|protection| protection.of_others)
    }

    /// Every content that receivers take from a source at a path at some time.
    pub fn versions<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let others = if self.takes_others() { self.others.as_slice() } else { &[] };
        let files = self.changes.iter().flat_map(|change| &change.files).chain(others);
        files.filter(move |(other, _)| other == path).map(|(_, bytes)| bytes.as_slice())
    }

    /// How long the disk of a source takes to store its state.
    pub(crate) fn storing(&self) -> Duration {
        self.protection.map_or(Duration::ZERO, |protection| protection.storing)
    }

    /// Which of the changes before this one wrote a path last.
    pub(crate) fn written_by(&self, path: &str, next: usize) -> usize {
        let mut changes = self.changes.iter().take(next);
        changes.rposition(|change| change.files.iter().any(|(other, _)| other == path)).unwrap_or(0)
    }

    /// The files that are sent in the end.
    pub fn last_files(&self) -> Vec<(&str, &[u8])> {
        let mut files = std::collections::BTreeMap::new();
        for change in &self.changes {
            change.removed.iter().for_each(|path| {
                files.remove(path.as_str());
            });
            for (path, bytes) in &change.files {
                files.insert(path.as_str(), bytes.as_slice());
            }
        }
        files.into_iter().collect()
    }
}

/// Blocks take turns in a third of the plans; after the start, if what is added makes them so many, in some.
fn block_window(draw: &mut Draw) -> BlockWindow {
    if draw.below(3) > 0 {
        return BlockWindow::NONE;
    }
    let all_up_to = draw.below(2) * draw.below(500);
    let turn = 1.0 / (1 + draw.below(16)) as f64;
    let lead = (draw.below(2) * draw.below(200)) as u32;
    // No draw of its own: seeds that once failed keep the rest of their plans.
    BlockWindow { all_up_to, turn, is_fine: lead % 2 == 1, lead }
}

/// Long files have parts in a third of the plans, and their receivers hold few records in memory in half of these: the maximum
/// number of symbols of a part, and the memory for records.
fn parts(draw: &mut Draw) -> (u64, u64) {
    if draw.below(3) > 0 {
        return (PART_SYMBOLS, 16 << 20);
    }
    (20 + draw.below(200), if draw.below(2) == 0 { 16 << 20 } else { draw.below(3_000) })
}

fn receiver(draw: &mut Draw, base: Rate) -> ReceiverPlan {
    let rough = draw.below(3) == 0;
    ReceiverPlan {
        // A path carries the base layer with space to spare.
        rate: Rate::from_bps(base.as_bps() * draw.within(1.5, 12.0)),
        delay: draw.ms(1.0, 80.0),
        queue: 8 + draw.below(40) as u32,
        loss: if draw.below(2) == 0 { 0.0 } else { draw.within(0.0, 0.2) },
        duplicated: if rough { draw.within(0.0, 0.2) } else { 0.0 },
        delayed: if rough { draw.within(0.0, 0.2) } else { 0.0 },
        paths: Paths::Multicast,
        relays: vec![0],
        start: Time::ZERO + if draw.below(3) == 0 { draw.ms(0.0, 20_000.0) } else { draw.ms(0.0, 100.0) },
    }
}

/// In a third of the plans there is a relay, which some receivers ask where no multicast comes, and some always; multicast ends
/// for a while, and the relay is killed.
fn relay(draw: &mut Draw, receivers: &mut [ReceiverPlan], faults: &mut Vec<Scheduled>) -> bool {
    if draw.below(3) > 0 {
        return false;
    }
    for receiver in receivers.iter_mut() {
        receiver.paths = [Paths::Multicast, Paths::Both, Paths::Both, Paths::Relay][draw.below(4) as usize];
    }
    for _ in 0..1 + draw.below(3) {
        let at = Time::ZERO + draw.ms(0.0, 30_000.0);
        let receiver = draw.below(receivers.len() as u64) as usize;
        let fault = match draw.below(3) {
            0 => Fault::KillRelay { relay: 0, down: Some(draw.ms(0.0, 8_000.0)) },
            _ => Fault::LoseMulticast { receiver, lasts: draw.ms(1_000.0, 60_000.0) },
        };
        faults.push(Scheduled { at, fault });
    }
    faults.sort_by_key(|scheduled| scheduled.at);
    true
}

/// The relays. In half of the plans with one there are two more, which the first one and receivers ask in some order; one relay is
/// killed for good, or some come back.
fn chain(draw: &mut Draw, receivers: &mut [ReceiverPlan], faults: &mut Vec<Scheduled>) -> Vec<Vec<usize>> {
    if draw.below(2) == 0 {
        return vec![Vec::new()];
    }
    for receiver in receivers.iter_mut() {
        receiver.relays = draw.order(vec![0, 1, 2]);
        if draw.below(2) == 0 {
            // What goes through two relays is where most can go wrong.
            receiver.relays.sort_unstable();
            receiver.paths = Paths::Relay;
        }
    }
    let relays =
        vec![draw.order(vec![1, 2]), if draw.below(3) == 0 { vec![2] } else { Vec::new() }, Vec::new()];
    // Nobody may be left without any that is alive: the second may know the third alone.
    let last = if relays.get(1).is_some_and(Vec::is_empty) { 3 } else { 2 };
    let is_for_good = draw.below(2) == 0;
    for _ in 0..if is_for_good { 1 } else { 1 + draw.below(3) } {
        let down = draw.ms(0.0, 8_000.0);
        let relay = draw.below(if is_for_good { last } else { 3 }) as usize;
        let fault = Fault::KillRelay { relay, down: (!is_for_good).then_some(down) };
        // Transfers are short.
        faults.push(Scheduled { at: Time::ZERO + draw.ms(0.0, 10_000.0), fault });
    }
    faults.sort_by_key(|scheduled| scheduled.at);
    relays
}

fn protection(draw: &mut Draw) -> Option<Protection> {
    if draw.below(3) > 0 {
        return None;
    }
    let salt = Salt([draw.0.bits().to_be_bytes(), draw.0.bits().to_be_bytes()].concat().try_into().ok()?);
    Some(Protection {
        salt: (draw.below(2) == 0).then_some(salt),
        of_others: draw.below(2) == 0,
        storing: draw.ms(0.0, 1_500.0),
    })
}

/// What users have in the folders of mirrors; none if receivers are no mirrors.
fn own(draw: &mut Draw, changes: &[Change]) -> Option<Vec<(String, Vec<u8>)>> {
    if draw.below(4) > 0 {
        return None;
    }
    let mut own = Vec::new();
    for path in ["mine", "b/mine"] {
        let length = draw.below(3_000);
        own.push((path.to_owned(), draw.bytes(length)));
    }
    match (draw.below(3), changes.first().and_then(|first| first.files.first())) {
        // A file that the source has as well.
        (0, Some(same)) => own.push(same.clone()),
        // One that it may replace.
        (1, _) => {
            let (path, length) = (draw.path(), draw.length());
            own.push((path, draw.bytes(length)));
        }
        _ => {}
    }
    Some(own)
}

fn changes(draw: &mut Draw) -> Vec<Change> {
    let mut changes = vec![Change { at: Time::ZERO, files: draw.files(5), removed: Vec::new() }];
    if draw.below(2) == 0 {
        for _ in 0..draw.below(4) {
            let removed = if draw.below(2) == 0 { vec![draw.path()] } else { Vec::new() };
            let mut files = draw.files(2);
            // A file may return to an earlier content.
            if draw.below(2) == 0
                && let Some(before) = changes.first().and_then(|first: &Change| first.files.first())
            {
                files.retain(|(path, _)| *path != before.0);
                files.push(before.clone());
            }
            files.retain(|(path, _)| !removed.contains(path));
            changes.push(Change { at: Time::ZERO + draw.ms(500.0, 40_000.0), files, removed });
        }
        changes.sort_by_key(|change| change.at);
    }
    changes
}

/// A file changes between two contents, and the source is killed meanwhile.
fn alternate(draw: &mut Draw, changes: &mut Vec<Change>, faults: &mut Vec<Scheduled>) {
    let path = draw.path();
    let contents = [(); 2].map(|()| {
        let length = draw.length();
        draw.bytes(length)
    });
    let mut at = Time::ZERO;
    for content in contents.iter().cycle().take(3 + draw.below(3) as usize) {
        at += draw.ms(1_000.0, 12_000.0);
        changes.push(Change { at, files: vec![(path.clone(), content.clone())], removed: Vec::new() });
    }
    changes.sort_by_key(|change| change.at);
    for _ in 0..1 + draw.below(2) {
        let at = Time::ZERO + draw.ms(1_000.0, 40_000.0);
        faults.push(Scheduled { at, fault: kill_source(draw.ms(0.0, 4_000.0)) });
    }
    faults.sort_by_key(|scheduled| scheduled.at);
}

/// Whether files are packed; then there are some more small ones, and changes of these.
fn pack(draw: &mut Draw, changes: &mut [Change]) -> bool {
    let packs = draw.below(3) > 0;
    for (number, change) in changes.iter_mut().enumerate().filter(|_| packs) {
        for name in 0..3 + draw.below(8) {
            let path = format!("p/{name}");
            if number == 0 || draw.below(3) > 0 {
                let length = draw.below(3_000);
                change.files.push((path, draw.bytes(length)));
            } else if draw.below(3) == 0 {
                change.removed.push(path);
            }
        }
    }
    packs
}

fn faults(draw: &mut Draw, receivers: usize) -> Vec<Scheduled> {
    let span = if draw.below(2) == 0 { 60_000.0 } else { 10_000.0 };
    let mut faults: Vec<Scheduled> = (0..draw.below(9))
        .map(|_| Scheduled { at: Time::ZERO + draw.ms(50.0, span), fault: fault(draw, receivers) })
        .collect();
    faults.sort_by_key(|scheduled| scheduled.at);
    faults
}

fn kill_source(down: Duration) -> Fault {
    Fault::KillSource { down, power: false }
}

/// In half of the kills of the source its machine loses its power; and in a third of the plans something is wrong with its disk, and
/// it is killed meanwhile, or soon after.
fn state(draw: &mut Draw, faults: &mut Vec<Scheduled>) {
    for scheduled in faults.iter_mut() {
        if let Fault::KillSource { power, .. } = &mut scheduled.fault {
            *power = draw.below(2) == 0;
        }
    }
    if draw.below(3) > 0 {
        return;
    }
    for _ in 0..1 + draw.below(2) {
        // Transfers are short.
        let at = Time::ZERO + draw.ms(0.0, 15_000.0);
        let lasts = draw.ms(100.0, 20_000.0);
        let fault = match draw.below(4) {
            0 => Fault::DamageState,
            1 => Fault::FullState { lasts },
            _ => Fault::FailingState { share: draw.within(0.2, 1.2).min(1.0), lasts },
        };
        faults.push(Scheduled { at, fault });
        let down = draw.ms(0.0, 4_000.0);
        let fault = Fault::KillSource { down, power: draw.below(2) == 0 };
        faults.push(Scheduled { at: at + lasts.scaled(draw.within(0.0, 1.2)), fault });
    }
    faults.sort_by_key(|scheduled| scheduled.at);
}

/// In a fifth of the plans receivers know the name of their session alone; somebody forges announcements, and the source may be killed
/// while they listen.
fn announced(draw: &mut Draw, receivers: usize, faults: &mut Vec<Scheduled>) -> bool {
    use ForgedAnnouncement::{Ended, Flood, Mutated, OtherSession, Random, Replayed};
    if draw.below(5) > 0 {
        return false;
    }
    for _ in 0..1 + draw.below(4) {
        let receiver = draw.below(receivers as u64) as usize;
        let kind = [Random, Mutated, Replayed, OtherSession, Ended, Flood][draw.below(6) as usize];
        let fault = Fault::ForgeAnnouncements { receiver, count: 1 + draw.below(30) as u32, kind };
        faults.push(Scheduled { at: Time::ZERO + draw.ms(3_000.0, 20_000.0), fault });
    }
    if draw.below(2) == 0 {
        let fault = Fault::KillSource { down: draw.ms(0.0, 4_000.0), power: false };
        faults.push(Scheduled { at: Time::ZERO + draw.ms(2_000.0, 12_000.0), fault });
    }
    faults.sort_by_key(|scheduled| scheduled.at);
    true
}

/// In a fifth of the plans one of the receivers that ask no relays of ours has an AMT relay, which is killed, or whose messages are forged.
fn amt(draw: &mut Draw, receivers: &[ReceiverPlan], faults: &mut Vec<Scheduled>) -> Option<Amt> {
    if draw.below(5) > 0 {
        return None;
    }
    let (first, count) = (draw.below(receivers.len() as u64) as usize, receivers.len());
    let mut order = (first..first + count).map(|number| number % count);
    let is_plain = |number: &usize| receivers.get(*number).is_some_and(|one| one.paths == Paths::Multicast);
    let receiver = order.find(is_plain)?;
    let is_discovered = draw.below(2) == 0;
    for _ in 0..1 + draw.below(4) {
        let kinds = [Forgery::Random, Forgery::Mutated, Forgery::Replayed, Forgery::OtherSession];
        let fault = match draw.below(5) {
            0 | 1 => Fault::KillAmtRelay { down: draw.ms(0.0, 8_000.0) },
            _ => Fault::ForgeAmt { count: 1 + draw.below(40) as u32, kind: kinds[draw.below(4) as usize] },
        };
        // Transfers are short.
        faults.push(Scheduled { at: Time::ZERO + draw.ms(0.0, 15_000.0), fault });
    }
    faults.sort_by_key(|scheduled| scheduled.at);
    Some(Amt { receiver, is_discovered })
}

fn fault(draw: &mut Draw, receivers: usize) -> Fault {
    let receiver = draw.below(receivers as u64) as usize;
    let down = draw.ms(0.0, 8_000.0);
    let lasts = draw.ms(100.0, 10_000.0);
    let power = draw.below(2) == 0;
    match draw.below(12) {
        0 | 1 => Fault::KillReceiver { receiver, down, power },
        2 | 3 => Fault::KillAtOperation { receiver, after: draw.below(400) as u32, down, power },
        4 => kill_source(down),
        5 => Fault::Partition { receiver: (draw.below(3) > 0).then_some(receiver), lasts },
        6 => Fault::DiskFull { receiver, left: draw.below(100_000), lasts },
        7 => Fault::FailingDisk { receiver, share: draw.within(0.0, 0.5), lasts },
        8 => Fault::ClockJump { receiver, by: draw.ms(1.0, 60_000.0) },
        9 | 10 => {
            let kinds = [Forgery::Random, Forgery::Mutated, Forgery::Replayed, Forgery::OtherSession];
            let kind = kinds[draw.below(4) as usize];
            Fault::Forge { receiver, count: 1 + draw.below(40) as u32, kind }
        }
        _ => Fault::SecondSource { lasts },
    }
}
