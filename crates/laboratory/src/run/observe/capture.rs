//! Packet captures: what a link transmits as a pcap file that other tools read.

mod multicast;
mod packet;
mod tcp;
mod udp;

use layercast_core::family::{AnyHeader, Family};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use layercast_simulator::{Carried, LinkEvent, LinkId, LinkRecord, Simulation};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};

use self::packet::Packet;
use self::tcp::TcpPackets;
use super::addresses::Addresses;
use crate::results::{ResultsError, partial_name};

/// The capture of one direction of a link, being written.
pub(super) struct Capture {
    path: PathBuf,
    partial: PathBuf,
    link: LinkId,
    addresses: Addresses,
    tcp: TcpPackets,
    writer: PcapWriter<BufWriter<File>>,
}

impl Capture {
    /// Starts the file of a link, under a partial name.
    pub(super) fn create(
        directory: &Path,
        link: LinkId,
        addresses: Addresses,
    ) -> Result<Capture, ResultsError> {
        let path = directory.join(format!("capture-{}.pcap", addresses.link));
        let partial = partial_name(&path);
        let file =
            File::create(&partial).map_err(|source| ResultsError::Write { path: path.clone(), source })?;
        let header = PcapHeader {
            snaplen: u32::from(u16::MAX),
            datalink: DataLink::IPV4,
            ts_resolution: TsResolution::NanoSecond,
            // The same bytes on every machine.
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(BufWriter::new(file), header)
            .map_err(|source| ResultsError::Capture { path: path.clone(), source })?;
        let tcp = TcpPackets::new(addresses.connection_count());
        Ok(Capture { path, partial, link, addresses, tcp, writer })
    }

    /// Writes what the link has begun to transmit since the last call.
    pub(super) fn collect<F: Family>(&mut self, simulation: &mut Simulation<F>) -> Result<(), ResultsError> {
        let mut outcome = Ok(());
        let Capture { link, addresses, tcp, writer, .. } = self;
        simulation.drain_link(*link, &mut |record| {
            if record.event == LinkEvent::Sent && outcome.is_ok() {
                outcome = write(writer, &record, addresses, tcp);
            }
        });
        outcome.map_err(|source| ResultsError::Capture { path: self.path.clone(), source })
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        let Capture { path, partial, writer, .. } = self;
        let flushed = writer.into_writer().flush().and_then(|()| fs::rename(&partial, &path));
        flushed.map_err(|source| ResultsError::Write { path, source })
    }
}

fn write<H: AnyHeader>(
    writer: &mut PcapWriter<BufWriter<File>>,
    record: &LinkRecord<H>,
    addresses: &Addresses,
    tcp: &mut TcpPackets,
) -> Result<(), PcapError> {
    let Some(packet) = encode(record, addresses, tcp) else { return Ok(()) };
    let bytes = packet.bytes();
    let at = Duration::from_nanos(record.at.as_ns());
    let whole = (packet.whole_length() as u32).max(bytes.len() as u32);
    writer.write_packet(&PcapPacket::new(at, whole, bytes)).map(|_| ())
}

/// The packet of a record. None if the scenario has no such flow, which does not happen.
fn encode<H: AnyHeader>(
    record: &LinkRecord<H>,
    addresses: &Addresses,
    tcp: &mut TcpPackets,
) -> Option<Packet> {
    let (size, ecn) = (record.size.as_bytes(), record.ecn);
    match &record.carried {
        Carried::TcpData { connection, seq, reduced } => {
            let (_, connection) = addresses.connection(*connection)?;
            Some(tcp::data(connection, *seq, *reduced, size, ecn))
        }
        Carried::TcpAck { connection, cumulative, blocks, echo } => {
            let (number, connection) = addresses.connection(*connection)?;
            Some(tcp.ack((number, connection), *cumulative, blocks, *echo, size, ecn))
        }
        Carried::Datagram { flow } => {
            let flow = addresses.datagrams(*flow)?;
            Some(udp::packet((flow.from, flow.to), (flow.from_port, udp::STREAM_PORT), &[], size, ecn))
        }
        Carried::Data { session, channel, header } => {
            let (source, group) = (addresses.source(*session)?, addresses.group(*session, *channel)?);
            Some(multicast::data(source, group, session.index() as u32 + 1, header, size, ecn))
        }
        Carried::Unicast { receiver, to_source, header } => {
            let (from, to) = match (addresses.receiver(*receiver), to_source) {
                (Some((receiver, source)), true) => (receiver, source),
                (Some((receiver, source)), false) => (source, receiver),
                // A router, which has no address: identified by the ends of the link.
                (None, _) => (addresses.near, addresses.far),
            };
            Some(multicast::unicast(from, to, header, size, ecn))
        }
        Carried::Membership { session, channel, change } => {
            let (source, group) = (addresses.source(*session)?, addresses.group(*session, *channel)?);
            Some(multicast::membership((addresses.near, addresses.far), source, group, *change, ecn))
        }
    }
}
