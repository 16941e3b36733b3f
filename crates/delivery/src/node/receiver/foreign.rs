//! A session of another FLUTE sender: one channel, which is joined and held. There is no congestion control, as the sender
//! provides none; the circuit breaker leaves a path that loses most packets.

use std::net::IpAddr;

use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};

use super::output::{Failure, Output};
use super::symbol_loss::SymbolLoss;
use super::{Receiver, State, TICK};
use crate::accept::AcceptCounters;
use crate::announce::flute::FluteSession;
use crate::node::error::{ReceiveError, reasons};
use crate::node::packet_loss::RecentPackets;
use crate::node::sink::{Datagram, Sink};
use crate::packet::View;
use crate::part::{FlutePacket, Part};
use crate::reception::ReceptionProgress;
use crate::session::ip_udp_bytes;

/// A sender may announce the end in the last few seconds of its packets (RFC 5651, section 5.1: flag A).
const ENDS_WITHIN: Duration = Duration::from_secs(3);

/// What came of the session.
#[derive(Debug)]
pub(super) struct Foreign {
    /// Its source is known from the first packet on, if any source will do.
    session: FluteSession,
    counters: AcceptCounters,
    loss: SymbolLoss,
    begun: Time,
    heard: Time,
    ends: Option<Time>,
    /// The longest payload.
    symbol: usize,
    is_reported: bool,
}

impl Foreign {
    pub(super) fn new(now: Time, session: FluteSession) -> Foreign {
        Foreign {
            session,
            counters: AcceptCounters::default(),
            loss: SymbolLoss::default(),
            begun: now,
            heard: now,
            ends: None,
            symbol: 0,
            is_reported: false,
        }
    }

    /// A datagram arrived. What it carries, and the length of that.
    pub(super) fn packet(&mut self, datagram: &Datagram, bytes: &[u8]) -> Option<(Part, usize)> {
        let from = datagram.incoming.from.ip();
        let view = View::new(bytes).ok().filter(|_| !datagram.incoming.is_cut);
        let Some((view, packet)) = view.and_then(|view| Some((view, FlutePacket::read(&view).ok()?))) else {
            self.counters.malformed += 1;
            return None;
        };
        if packet.tsi != self.session.tsi {
            self.counters.other_session += 1;
            return None;
        }
        if *self.session.source.get_or_insert(from) != from {
            self.counters.other_source += 1;
            return None;
        }
        self.counters.packets += 1;
        self.counters.bytes += bytes.len() as u64 + u64::from(ip_udp_bytes(from));
        self.heard = datagram.at;
        if packet.close_session {
            self.ends.get_or_insert(self.heard);
        }
        let part = packet.part?;
        self.loss.observe(datagram.at, &part, view.payload());
        self.symbol = self.symbol.max(view.payload().len());
        Some((part, view.payload().len()))
    }

    /// Once: the session, when its source is known.
    pub(super) fn take_found(&mut self) -> Option<FluteSession> {
        let is_new = self.counters.packets > 0 && !self.is_reported;
        self.is_reported |= is_new;
        is_new.then_some(self.session)
    }

    /// Where its packets come from, as far as is known, and its number.
    pub(super) fn source_and_number(&self) -> (Option<IpAddr>, u64) {
        (self.session.source, self.session.tsi)
    }

    /// For how long nothing came; before the table, since the start.
    pub(super) fn silent_for(&self, now: Time, has_table: bool) -> Duration {
        now.since(if has_table { self.heard } else { self.begun })
    }

    /// Whether nothing more is to be expected when all that the table named is there: by the end of the session or its
    /// silence. A table need not say that it is complete (RFC 6726, section 3.4.2).
    pub(super) fn is_over(&self, now: Time, patience: Duration, objects: &ReceptionProgress) -> bool {
        let has_all = objects.objects > 0 && objects.complete + objects.failed == objects.objects;
        has_all && (self.ends.is_some() || now.since(self.heard) >= patience)
    }

    /// Whether the sender has ended the session, and its last packets have come. The next session may follow.
    pub(super) fn take_end(&mut self, now: Time) -> bool {
        self.ends.take_if(|since| now.since(*since) >= ENDS_WITHIN).is_some()
    }

    /// Packets by what became of them.
    pub(super) fn counters(&self) -> &AcceptCounters {
        &self.counters
    }

    /// The packets of the last seconds; none if nothing can be said.
    pub(super) fn recent_packets(&self, now: Time) -> Option<RecentPackets> {
        self.loss.recent(now)
    }

    /// The size of its symbols, as far as is known, in bytes.
    pub(super) fn symbol_size(&self) -> usize {
        self.symbol
    }
}

impl<F: Family, S: Sink> Receiver<F, S> {
    pub(super) fn receive_foreign(&mut self) -> Result<(), Failure<S::Error>> {
        let (now, keeps_going) = (self.now, self.settings.keep_going);
        self.is_busy = self.sink.work(now).map_err(Failure::Sink)?;
        let is_complete = !keeps_going && !self.sink.needs_packets() && self.sink.is_complete();
        let (progress, _) = self.sink.progress();
        let (has_table, patience) = (progress.objects > 0, self.settings.patience);
        let can_listen = self.can_listen();
        let State::Foreign(foreign) = &mut self.state else { return Ok(()) };
        let is_over = is_complete || foreign.is_over(now, patience, &progress);
        if is_complete || now >= self.next_tick {
            self.next_tick = now + TICK;
            self.outputs.push_back(Output::Tick);
            self.tend_sink();
            let State::Foreign(foreign) = &self.state else { return Ok(()) };
            let silent = foreign.silent_for(now, true);
            self.turn(silent);
            let State::Foreign(foreign) = &self.state else { return Ok(()) };
            if let Some(pause) = self.breaker.check(true, foreign.recent_packets(now), TICK) {
                self.yield_path(pause);
                return Ok(());
            }
            if !keeps_going && !self.is_busy && is_over {
                self.end(Ok(()));
                return Ok(());
            }
        }
        if self.is_busy {
            return self.check_limit();
        }
        let State::Foreign(foreign) = &mut self.state else { return Ok(()) };
        if foreign.take_end(now) {
            if !keeps_going {
                let (held, needed) = (progress.held, progress.needed);
                return Err(Failure::Session(ReceiveError::SessionEnded { held, needed }));
            }
            self.sink.restart();
        }
        let waited = foreign.silent_for(now, has_table);
        // What is complete ends with the next report.
        let is_lost = if keeps_going { can_listen } else { !is_over };
        if waited >= if has_table { patience } else { self.wait.patience } && is_lost {
            let reasons = reasons(foreign.counters(), 0, has_table);
            let (group, waited) = (self.settings.known.group(), waited.into());
            return Err(Failure::Session(ReceiveError::Silent { group, waited, reasons }));
        }
        self.check_limit()
    }
}
