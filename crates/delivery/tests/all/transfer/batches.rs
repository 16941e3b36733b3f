//! Packets that are taken together give what they give one by one.

use layercast_delivery::object::{DecodeJob, Decoded};
use layercast_delivery::part::Part;
use layercast_delivery::reception::Decoders;
use layercast_delivery::reception::JobOf;

use super::*;

type Packets = Vec<(Part, Vec<u8>)>;

/// The packets of two channels of a session of a long file, a short one and an empty one, of which some are lost, some come
/// twice, and each may come up to `late` packets later.
fn received(lost: u64, late: usize, seed: u64) -> (Packets, [Vec<u8>; 2]) {
    let files = [content(300_000, 1), content(9_000, 2)];
    let mut source = Source::new(2);
    source.put(&[("long", &files[0]), ("short", &files[1]), ("empty", &[])], &[], true);
    let mut random = Stream::new(seed, "packets");
    let mut packets = Vec::new();
    for number in 0..8000u16 {
        let (repr, payload) = source.next(number % 2);
        let times = if random.chance(lost as f64 / 100.0) { 0 } else { 1 + u64::from(random.chance(0.05)) };
        (0..times).for_each(|_| packets.push((Part::from(&repr), payload.clone())));
    }
    for at in 0..packets.len() {
        let other = (at + (random.bits() % (late as u64 + 1)) as usize).min(packets.len() - 1);
        packets.swap(at, other);
    }
    (packets, files)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn packets_give_together_what_they_give_one_by_one(
        lost in 0..25u64, late in 0..30usize, most in 1..300usize, seed: u64,
    ) {
        let (packets, files) = received(lost, late, seed);
        let mut together = receiver(ReceptionSettings::default());
        let mut each = receiver(ReceptionSettings::default());
        for batch in packets.chunks(most) {
            let packet = |number: usize| {
                batch.get(number).map(|(part, payload)| (*part, payload.as_slice()))
            };
            together.packets(batch.len(), packet).unwrap();
            for (part, payload) in batch {
                each.packet(*part, payload).unwrap();
            }
            finish(&mut together);
            finish(&mut each);
            together.flush();
            // Of a batch the table is read first, and source symbols come before repair symbols.
            prop_assert!(together.progress().held >= each.progress().held);
        }
        let progress = (together.progress(), each.progress(), together.counters());
        prop_assert!(together.is_complete() && each.is_complete(), "{progress:?}");
        for (path, bytes) in ["long", "short"].iter().zip(&files) {
            let found = together.disk().files().find(|(name, _)| name == path);
            prop_assert_eq!(found.as_ref().map(|(_, found)| found), Some(bytes));
        }
    }
}

/// Decodes blocks when their results are asked for, and some of them only when asked again.
#[derive(Debug, Default)]
struct Later {
    jobs: Vec<(JobOf, DecodeJob)>,
    asked: usize,
}

impl Decoders for Later {
    fn has_room(&self) -> bool {
        self.jobs.len() < 2
    }

    fn begin(&mut self, of: JobOf, job: DecodeJob) {
        assert!(self.has_room());
        self.jobs.push((of, job));
    }

    fn take(&mut self) -> Option<(JobOf, Decoded)> {
        self.asked += 1;
        // The last that was begun is done first.
        self.jobs.pop_if(|_| self.asked.is_multiple_of(5)).map(|(of, job)| (of, job.run()))
    }

    fn is_working(&self) -> bool {
        !self.jobs.is_empty()
    }
}

#[test]
fn blocks_that_are_decoded_elsewhere_are_those_that_are_decoded_here() {
    for (is_signed, seed) in [(false, 1), (true, 2), (false, 3), (true, 4)] {
        let key = SecretKey::from_seed(&[7; 32]);
        let bytes = content(2_000_000, seed);
        let mut source = Source::signing(1, is_signed.then(|| key.clone()));
        source.put(&[("long", &bytes)], &[], true);
        let keys: Arc<[_]> = if is_signed { Arc::new([key.public()]) } else { Arc::default() };
        let mut reception = Reception::trusting(MemoryDisk::default(), ReceptionSettings::default(), keys);
        reception.set_decoders(Box::new(Later::default()));
        let mut random = Stream::new(seed.into(), "losses");
        for _ in 0..40_000 {
            let (repr, payload) = source.next(0);
            if random.chance(0.2) {
                continue;
            }
            reception.packet(&repr, &payload).unwrap();
            // Between packets there is time for some of the work only.
            reception.work().unwrap();
            if !reception.needs_packets() {
                break;
            }
        }
        while reception.work().unwrap() || reception.is_decoding() {}
        assert!(reception.is_complete(), "{:?}", reception.progress());
        assert!(reception.counters().decoded > 5 && reception.counters().forged == 0);
        let found = reception.disk().files().find(|(name, _)| *name == "long");
        assert_eq!(found.unwrap().1, bytes);
    }
}
