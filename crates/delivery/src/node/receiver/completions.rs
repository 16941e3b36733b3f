//! The messages to the source that a receiver has everything. They are not acknowledged, so there are a few copies, which
//! are spread so that those of many receivers do not come at once. Their loss does no harm to the files.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

/// The longest delay before a completion.
const SPREAD: Duration = Duration::from_secs(1);
/// How many copies there are.
const COPIES: u32 = 3;
/// The most tries of a receiver that ends, of half a second each: one that was busy for seconds first has to be admitted by
/// its relay again, and one whose relay has died notices that within five seconds and goes to the next.
const TRIES: u32 = 24;

/// The completions of one session.
#[derive(Debug, Default)]
pub(super) struct Completions {
    has_begun: bool,
    /// When the next copy is sent, or it is looked again whether they have gone on.
    due: Option<Time>,
    copies: u32,
    tries: u32,
}

impl Completions {
    /// Begins, if it has not.
    pub(super) fn begin(&mut self, now: Time, random: &mut Stream) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.due = Some(now + random.uniform_duration(SPREAD));
        }
    }

    /// When there is something to do.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.due
    }

    /// Whether a copy is to be sent now. `has_carried` says whether those before have gone further than to a relay that is
    /// gone, as far as is known.
    pub(super) fn take_due(&mut self, now: Time, has_carried: bool, random: &mut Stream) -> bool {
        if self.due.is_none_or(|due| due > now) {
            return false;
        }
        let is_done = self.copies >= COPIES && has_carried;
        self.due = (!is_done).then(|| now + random.uniform_duration(SPREAD));
        self.copies += u32::from(!is_done);
        self.tries += u32::from(!is_done);
        !is_done
    }

    /// The last copy was the first that went by this way: another relay has had none of those before.
    pub(super) fn restart(&mut self) {
        self.copies = 1;
    }

    /// Whether a receiver that has nothing else to do may end.
    pub(super) fn is_over(&self) -> bool {
        self.due.is_none() || self.tries >= TRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At which times copies are sent, if they are carried from a time on.
    fn sent(carried_from: Time) -> Vec<Time> {
        let (mut completions, mut random) = (Completions::default(), Stream::new(1, "completions"));
        completions.begin(Time::ZERO, &mut random);
        let mut sent = Vec::new();
        while let Some(due) = completions.deadline().filter(|_| !completions.is_over()) {
            if completions.take_due(due, due >= carried_from, &mut random) {
                sent.push(due);
            }
        }
        sent
    }

    #[test]
    fn a_few_copies_are_sent_and_more_until_they_are_carried() {
        let few = sent(Time::ZERO);
        assert_eq!(few.len(), 3);
        assert!(few.is_sorted() && few[2] < Time::ZERO + SPREAD * 3);
        let late = sent(Time::from_secs_f64(4.0));
        assert!(late.len() > 4 && late.len() < TRIES as usize, "{late:?}");
        assert_eq!(sent(Time::MAX).len(), TRIES as usize);
    }

    #[test]
    fn another_relay_gets_all_copies() {
        let (mut completions, mut random) = (Completions::default(), Stream::new(1, "completions"));
        completions.begin(Time::ZERO, &mut random);
        let mut sent = 0;
        while let Some(due) = completions.deadline() {
            if completions.take_due(due, true, &mut random) {
                sent += 1;
                if sent == 3 {
                    completions.restart();
                }
            }
        }
        assert_eq!(sent, 5);
    }
}
