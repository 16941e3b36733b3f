//! Packets as bytes, and what programs want of the network.

use layercast_core::contract::{Header as _, Host, Payload, Send, Target, TraceEvent};
use layercast_core::family::AnyHeader as _;
use layercast_core::units::{Channel, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::packet::{HET_AUTH, MAX_HEADER, View};
use layercast_delivery::security::protection::{AUTH_BYTES, Outgoing};
use layercast_delivery::sender::Sender;
use layercast_protocols::registry::Header;

/// What a program wants of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To send a packet on a channel.
    Multicast(Channel, Vec<u8>),
    /// To join a channel.
    Join(Channel),
    /// To leave a channel.
    Leave(Channel),
    /// To send a message to the source of its session.
    Report(Vec<u8>),
}

/// The number of a protected packet (RFC 6584, section 5.1), read without the code that is judged by it.
pub(crate) fn packet_number(bytes: &[u8]) -> Option<u64> {
    let view = View::new(bytes).ok()?;
    let (number, _) = view.extensions().find(HET_AUTH)?.split_at_checked(6)?;
    Some(number.iter().skip(1).fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The host of a source: it builds packets.
pub(crate) struct SourceHost<'a> {
    pub(crate) now: Time,
    pub(crate) tsi: u32,
    pub(crate) packet: usize,
    pub(crate) sender: &'a mut Sender,
    pub(crate) objects: &'a mut MemoryObjects,
    pub(crate) protection: &'a mut Option<Outgoing>,
    pub(crate) wishes: &'a mut Vec<Wish>,
}

impl Host<Header> for SourceHost<'_> {
    fn send(&mut self, send: Send<Header>) {
        let Target::Channel(channel) = send.target else { return };
        for index in 0..send.count {
            let header = if index == 0 { send.header } else { send.header.nth(index) };
            let Some(fields) = header.to_lct() else { continue };
            let mut room = vec![0; self.packet];
            let load = match send.payload {
                Payload::Next => {
                    let Ok(load) = self.sender.next(channel, self.now, &mut room, self.objects);
                    load
                }
                Payload::None | Payload::Stored(_) | Payload::Arrived => Default::default(),
            };
            let repr = load.repr(fields, self.tsi);
            let mut head = [0; MAX_HEADER];
            let length = repr.write(&mut head);
            let mut bytes = head.get(..length).unwrap_or_default().to_vec();
            bytes.extend_from_slice(room.get(..load.length).unwrap_or_default());
            if let Some(protection) = self.protection {
                let length = bytes.len();
                bytes.resize(length + AUTH_BYTES, 0);
                // Without a number that is granted a packet must not be sent.
                let Ok(protected) = protection.protect(&mut bytes, length) else { continue };
                bytes.truncate(protected);
            }
            self.wishes.push(Wish::Multicast(channel, bytes));
        }
    }

    fn join(&mut self, _channel: Channel) {}

    fn leave(&mut self, _channel: Channel) {}

    fn trace(&mut self, _note: TraceEvent) {}
}

/// The host of a receiver's endpoint.
pub(crate) struct ReceiverHost<'a> {
    pub(crate) wishes: &'a mut Vec<Wish>,
    pub(crate) has_ended: &'a mut bool,
}

impl Host<Header> for ReceiverHost<'_> {
    fn send(&mut self, send: Send<Header>) {
        let mut bytes = [0; MAX_REPORT];
        if send.target == Target::Source
            && let Some(length) = send.header.encode_report(&mut bytes)
        {
            self.wishes.push(Wish::Report(bytes.get(..length).unwrap_or_default().to_vec()));
        }
    }

    fn join(&mut self, channel: Channel) {
        self.wishes.push(Wish::Join(channel));
    }

    fn leave(&mut self, channel: Channel) {
        self.wishes.push(Wish::Leave(channel));
    }

    fn trace(&mut self, note: TraceEvent) {
        *self.has_ended |= note == TraceEvent::SessionEnded;
    }
}
