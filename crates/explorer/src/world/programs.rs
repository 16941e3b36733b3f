//! Programs: when they start, what they do at their deadlines, and how they end.

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::disk::REPLACE_OPERATIONS;
use layercast_delivery::node::{ReceiverSettings, Relay};
use layercast_delivery::search::Known;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::send_state::file::Saved;

use super::{RESTART_AFTER, Step, TICK, World, say, source_at};
use crate::judge::{self, Broken};
use crate::listener::announced;
use crate::receiver::{Ended, ReceiverProgram};
use crate::source::{Files, SourceProgram};
use crate::state;
use crate::wire::CHANNELS;

impl World {
    pub(super) fn start_programs(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        self.start_relays(watch);
        for number in 0..self.sources.len() {
            if self.sources[number].starts_at.is_some_and(|at| at <= self.now) {
                self.start_source(number, watch)?;
            }
            if self.sources[number].ends_at.is_some_and(|at| at <= self.now) {
                self.sources[number].ends_at = None;
                self.kill_source(number, false);
                self.sources[number].starts_at = None;
                say(watch, self.now, || format!("source {number} ends without a word"));
            }
        }
        for number in 0..self.receivers.len() {
            let receiver = &mut self.receivers[number];
            if receiver.starts_at.is_some_and(|at| at <= self.now) {
                receiver.starts_at = None;
                receiver.lives += 1;
                self.outcome.starts += 1;
                self.begin_receiver(number, watch);
                say(watch, self.now, || format!("receiver {number} starts"));
            }
            let receiver = &mut self.receivers[number];
            if receiver.disk_until <= self.now {
                receiver.disk_until = Time::MAX;
                receiver.disk.set(|disk| (disk.space, disk.failing) = (None, 0.0));
                say(watch, self.now, || format!("receiver {number}: the disk works again"));
            }
        }
        (0..self.sources.len()).for_each(|number| self.store_state(number, watch));
        if self.now >= self.next_tick {
            self.next_tick = self.now + TICK;
        }
        Ok(())
    }

    /// A receiver receives a session of which this is known, whether or not by its name.
    pub(super) fn open_receiver(&mut self, number: usize, known: Known, salt: Option<Salt>, is_named: bool) {
        self.open_tunnel(number);
        let receiver = &mut self.receivers[number];
        let stream = Stream::new(self.plan.seed, &format!("receiver/{number}/{}", receiver.lives));
        let local = self.now + receiver.ahead;
        let found =
            ReceiverSettings { salt, announced: is_named.then(announced), ..ReceiverSettings::new(known) };
        let disk = receiver.disk.clone();
        let program = ReceiverProgram::new(&self.plan, number, source_at(0), found, disk, stream, local);
        receiver.program = Some(program);
        receiver.last = "started".to_owned();
        self.carry_receiver(number);
    }

    /// A source stores what it has reached, which takes its disk a while.
    fn store_state(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) {
        let now = self.now;
        let source = &mut self.sources[number];
        if source.disk_until <= now {
            source.disk_until = Time::MAX;
            source.disk.set(|disk| (disk.space, disk.failing) = (None, 0.0));
            say(watch, now, || format!("source {number}: the disk works again"));
        }
        let Some(program) = &mut source.program else { return };
        if now >= self.next_tick
            && let Some(state) = program.poll(now, source.storing.is_none())
        {
            source.storing = Some((now + self.plan.storing(), state));
        }
        let Some((_, state)) = source.storing.take_if(|(at, _)| *at <= now) else { return };
        match state::replace(source.disk.clone(), &state.bytes) {
            Ok(()) => program.stored(&self.plan, now, state.granted),
            Err(error) if program.is_started() => {
                say(watch, now, || format!("source {number}: its state is not written: {error}"));
            }
            Err(error) => self.source_failed(number, &format!("its state cannot be written: {error}"), watch),
        }
    }

    /// A source's program is killed in the midst of what it stores; its machine may lose its power.
    pub(super) fn kill_source(&mut self, number: usize, power: bool) {
        let Some(source) = self.sources.get_mut(number) else { return };
        source.program = None;
        if let Some((_, state)) = source.storing.take() {
            let after = (self.chaos.bits() % (REPLACE_OPERATIONS + 1)) as u32;
            source.disk.set(|disk| disk.killed_after = Some(after));
            // The program does not learn of it any more.
            let _ = state::replace(source.disk.clone(), &state.bytes);
            source.disk.set(|disk| disk.killed_after = None);
        }
        if power {
            source.disk.lose_power();
        }
    }

    /// A source ends with an error, and its operator starts it again.
    pub(super) fn source_failed(&mut self, number: usize, why: &str, watch: &mut dyn FnMut(&Step)) {
        self.kill_source(number, false);
        self.sources[number].starts_at = Some(self.now + RESTART_AFTER);
        say(watch, self.now, || format!("source {number} ends: {why}"));
    }

    /// What the source before left. If that is damaged, the operator begins with a new state: then receivers must know a new salt.
    fn saved_state(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) -> Result<Saved, Broken> {
        let (at, seed) = (self.now, self.plan.seed);
        let place = &mut self.sources[number];
        // Another may have taken its place, also where the program saw an error.
        let is_damaged = place.damaged.is_some() && place.damaged == state::bytes(&place.disk);
        let broken = |reason| Broken::State { at, source_number: number, is_damaged, reason };
        let error = match state::read(&place.disk) {
            Ok(_) if is_damaged => return Err(broken("no error".to_owned())),
            Ok(saved) => return Ok(saved),
            Err(error) if !is_damaged => return Err(broken(error.to_string())),
            Err(error) => error,
        };
        say(watch, at, || format!("source {number}: its state is removed: {error}"));
        state::remove(place.disk.clone());
        place.states += 1;
        place.highest = 0;
        let Some(salt) = &mut place.salt else { return Ok(Saved::default()) };
        let mut random = Stream::new(seed, &format!("salt/{number}/{}", place.states));
        *salt = Salt((u128::from(random.bits()) << 64 | u128::from(random.bits())).to_be_bytes());
        for receiver in 0..self.receivers.len() {
            if self.receivers[receiver].program.is_some() && !self.knows_name(receiver) {
                self.stop_receiver(receiver, RESTART_AFTER, "the source has a new salt", watch)?;
            }
        }
        Ok(Saved::default())
    }

    fn start_source(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        // Two programs must not go on from one stored state.
        self.kill_source(number, false);
        let saved = self.saved_state(number, watch)?;
        let place = &mut self.sources[number];
        place.starts_at = None;
        place.lives += 1;
        self.outcome.starts += 1;
        let started =
            SourceProgram::new(&self.plan, place.address, place.lives, &saved, place.salt, self.now);
        let Some(mut program) = started else { return Ok(()) };
        if number == 0 {
            // What the folder holds by now.
            let mut files = BTreeMap::new();
            for change in self.plan.changes.iter().take(self.next_change) {
                change.removed.iter().for_each(|path| drop(files.remove(path)));
                files.extend(change.files.iter().cloned());
            }
            let files: Vec<_> = files.into_iter().collect();
            let is_last = self.next_change >= self.plan.changes.len();
            let written_by = |path: &str| self.plan.written_by(path, self.next_change);
            program.change(&Files { files: &files, written_by: &written_by, removed: &[], is_last }, &saved);
        } else {
            let files = Files { files: &self.plan.others, written_by: &|_| 0, removed: &[], is_last: true };
            program.change(&files, &saved);
        }
        say(watch, self.now, || format!("source {number} starts: session {}", program.session().tsi));
        place.storing = Some((self.now + self.plan.storing(), program.first_state()));
        place.program = Some(program);
        Ok(())
    }

    pub(super) fn change_files(&mut self, watch: &mut dyn FnMut(&Step)) {
        while let Some(change) =
            self.plan.changes.get(self.next_change).filter(|change| change.at <= self.now)
        {
            self.next_change += 1;
            let is_last = self.next_change >= self.plan.changes.len();
            let written_by = |path: &str| self.plan.written_by(path, self.next_change);
            let files = &change.files;
            let files = Files { files, written_by: &written_by, removed: &change.removed, is_last };
            if let Some(program) = self.sources.first_mut().and_then(|source| source.program.as_mut()) {
                program.change(&files, &Saved::default());
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
            if receiver.listener.as_ref().is_some_and(|listener| listener.deadline() <= local) {
                self.listen(number, watch)?;
                continue;
            }
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
        for place in std::mem::take(&mut self.receivers[number].relocated) {
            self.finds(number, &place, watch)?;
        }
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
        self.close_tunnel(number);
        let receiver = &mut self.receivers[number];
        (receiver.program, receiver.done) = (None, true);
        let (disk, was_killed) = (&receiver.disk, receiver.lives > 1);
        judge::check(&self.plan, self.now, number, disk)?;
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
        (receiver.program, receiver.listener, receiver.tunnel) = (None, None, None);
        receiver.last = why.to_owned();
        receiver.starts_at = Some(self.now + down);
        for channel in 0..CHANNELS {
            self.set_joined(number, Channel(channel), false);
        }
        judge::check(&self.plan, self.now, number, &self.receivers[number].disk)
    }
}
