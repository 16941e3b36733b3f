//! Programs: when they start, what they do at their deadlines, and how they end.

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::node::Relay;

use super::{CHANNELS, RESTART_AFTER, SAVE_EVERY, Step, World, say, source_at};
use crate::judge::{self, Broken};
use crate::receiver::{Ended, ReceiverProgram};
use crate::source::{Saved, SourceProgram};

impl World {
    pub(super) fn start_programs(&mut self, watch: &mut dyn FnMut(&Step)) {
        self.start_relays(watch);
        for number in 0..self.sources.len() {
            if self.sources[number].starts_at.is_some_and(|at| at <= self.now) {
                self.start_source(number, watch);
            }
            if self.sources[number].ends_at.is_some_and(|at| at <= self.now) {
                self.sources[number].ends_at = None;
                self.kill_source(number);
                say(watch, self.now, || format!("source {number} ends without a word"));
            }
        }
        for number in 0..self.receivers.len() {
            let receiver = &mut self.receivers[number];
            if receiver.starts_at.is_some_and(|at| at <= self.now) {
                receiver.starts_at = None;
                receiver.lives += 1;
                self.outcome.starts += 1;
                let stream = Stream::new(self.plan.seed, &format!("receiver/{number}/{}", receiver.lives));
                let local = self.now + receiver.ahead;
                let disk = receiver.disk.clone();
                let program = ReceiverProgram::new((&self.plan, number), source_at(0), disk, stream, local);
                receiver.program = Some(program);
                receiver.last = "started".to_owned();
                self.carry_receiver(number);
                say(watch, self.now, || format!("receiver {number} starts"));
            }
            let receiver = &mut self.receivers[number];
            if receiver.disk_until <= self.now {
                receiver.disk_until = Time::MAX;
                receiver.disk.set(|disk| (disk.space, disk.failing) = (None, 0.0));
                say(watch, self.now, || format!("receiver {number}: the disk works again"));
            }
        }
        self.store_states();
    }

    /// Sources store what they have reached, which takes their disk a while.
    fn store_states(&mut self) {
        let is_due = self.now >= self.next_save;
        if is_due {
            self.next_save = self.now + SAVE_EVERY;
        }
        let takes = self.plan.protection.map_or(Duration::ZERO, |protection| protection.storing);
        for source in &mut self.sources {
            let Some(program) = &mut source.program else { continue };
            if is_due && source.storing.is_none() {
                source.storing = Some((self.now + takes, program.save()));
            }
            if let Some((_, saved)) = source.storing.take_if(|(at, _)| *at <= self.now) {
                program.stored(&saved);
                source.saved = saved;
            }
        }
    }

    /// A source's program is killed. A state that it was about to store may be there.
    pub(super) fn kill_source(&mut self, number: usize) {
        let Some(source) = self.sources.get_mut(number) else { return };
        source.program = None;
        if let Some((_, saved)) = source.storing.take()
            && self.chaos.chance(0.5)
        {
            source.saved = saved;
        }
    }

    fn start_source(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) {
        // Two programs must not go on from one stored state.
        self.kill_source(number);
        let place = &mut self.sources[number];
        place.starts_at = None;
        place.lives += 1;
        self.outcome.starts += 1;
        let started = SourceProgram::new(&self.plan, place.address, place.lives, &mut place.saved, self.now);
        let Some(mut program) = started else { return };
        if number == 0 {
            // What the folder holds by now.
            let mut files = BTreeMap::new();
            for change in self.plan.changes.iter().take(self.next_change) {
                change.removed.iter().for_each(|path| drop(files.remove(path)));
                files.extend(change.files.iter().cloned());
            }
            let files: Vec<_> = files.into_iter().collect();
            let is_last = self.next_change >= self.plan.changes.len();
            program.change(&files, &[], is_last, &place.saved);
        } else {
            program.change(&self.plan.others, &[], true, &Saved::default());
        }
        program.start(self.now);
        say(watch, self.now, || format!("source {number} starts: session {}", program.session().tsi));
        place.program = Some(program);
    }

    pub(super) fn change_files(&mut self, watch: &mut dyn FnMut(&Step)) {
        while let Some(change) =
            self.plan.changes.get(self.next_change).filter(|change| change.at <= self.now)
        {
            self.next_change += 1;
            let is_last = self.next_change >= self.plan.changes.len();
            if let Some(source) = self.sources.first_mut()
                && let Some(program) = &mut source.program
            {
                program.change(&change.files, &change.removed, is_last, &source.saved);
            }
            let (put, removed) = (change.files.len(), change.removed.len());
            say(watch, self.now, || format!("{put} files change, {removed} are removed"));
        }
    }

    /// Serves deadlines.
    pub(super) fn serve_programs(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        for source in &mut self.sources {
            if let Some(program) = &mut source.program
                && program.deadline().is_some_and(|deadline| deadline <= self.now)
            {
                program.timer(self.now);
            }
        }
        for number in 0..self.relays.len() {
            let program = self.relays.get(number).and_then(|place| place.program.as_ref());
            if program.and_then(Relay::deadline).is_some_and(|due| due <= self.now) {
                self.with_relay(number, Relay::handle_timer);
            }
        }
        for number in 0..self.receivers.len() {
            let receiver = &mut self.receivers[number];
            let local = self.now + receiver.ahead;
            let Some(program) = receiver.program.as_mut().filter(|program| program.deadline() <= local)
            else {
                continue;
            };
            program.work(local);
            self.after(number, watch)?;
        }
        Ok(())
    }

    /// A receiver's program has had an input.
    pub(super) fn after(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        self.note_events(number, watch);
        if self.receivers[number].disk.was_killed() {
            return self.killed_by_disk(number, watch);
        }
        let ended = self.carry_receiver(number);
        let has_all_of = self.receivers[number].program.as_ref().and_then(ReceiverProgram::has_all_of);
        match (ended, has_all_of) {
            (Some(Ended::Complete(source)), _) => self.complete(number, source, watch),
            (Some(Ended::Failed(why)), _) => self.stop_receiver(number, RESTART_AFTER, &why, watch),
            (None, Some(source)) => {
                let local = self.now + self.receivers[number].ahead;
                if let Some(program) = &mut self.receivers[number].program {
                    program.stop(local);
                }
                self.carry_receiver(number);
                self.complete(number, source, watch)
            }
            (None, None) => Ok(()),
        }
    }

    fn complete(
        &mut self,
        number: usize,
        source: IpAddr,
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        say(watch, self.now, || format!("receiver {number} is complete"));
        let receiver = &mut self.receivers[number];
        (receiver.program, receiver.done) = (None, true);
        let (disk, was_killed) = (&receiver.disk, receiver.lives > 1);
        judge::look(&self.plan, self.now, number, disk)?;
        judge::complete(&self.plan, self.now, number, disk, source != source_at(0), was_killed)
    }

    pub(super) fn note_events(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) {
        let Some(program) = &mut self.receivers[number].program else { return };
        for event in program.events() {
            let what = format!("receiver {number}: {event:?}");
            say(watch, self.now, || what.clone());
            self.receivers[number].last = what;
        }
    }

    /// The program was killed in the midst of an operation of its disk.
    pub(super) fn killed_by_disk(
        &mut self,
        number: usize,
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let (down, power) = receiver.after_kill;
        receiver.program = None;
        receiver.disk.set(|disk| disk.killed_after = None);
        if power {
            receiver.disk.lose_power();
        }
        self.stop_receiver(number, down, "killed in the midst of an operation", watch)
    }

    pub(super) fn stop_receiver(
        &mut self,
        number: usize,
        down: Duration,
        why: &str,
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        say(watch, self.now, || format!("receiver {number} ends: {why}"));
        let receiver = &mut self.receivers[number];
        receiver.program = None;
        receiver.last = why.to_owned();
        receiver.starts_at = Some(self.now + down);
        for channel in 0..CHANNELS {
            self.set_joined(number, Channel(channel), false);
        }
        judge::look(&self.plan, self.now, number, &self.receivers[number].disk)
    }
}
