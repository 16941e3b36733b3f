//! Packet captures: what a link transmits as a pcap file that other tools read.

mod multicast;
mod packet;
mod tcp;
mod udp;

use layercast_core::family::{AnyHeader, Family};
use std::path::{Path, PathBuf};
use std::time::Duration;

use layercast_simulator::{Carried, LinkEvent, LinkId, LinkRecord};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};

use self::packet::Packet;
use self::tcp::TcpPackets;
use super::super::world::World;
use super::addresses::{Address, Addresses, node_address};
use crate::results::{PartialFile, ResultsError};
use crate::scenario::Scenario;

/// The capture of a link. Both directions are watched, whichever is written: the timestamps of TCP echo those
/// of the other one.
pub(super) struct Capture {
    ways: [Way; 2],
    addresses: Addresses,
    tcp: TcpPackets,
}

/// One direction of a link.
struct Way {
    link: LinkId,
    /// The nodes that send on it and at its far end.
    near: Address,
    far: Address,
    file: Option<CaptureFile>,
}

struct CaptureFile {
    path: PathBuf,
    writer: PcapWriter<PartialFile>,
}

impl Capture {
    /// Starts the files of a link, of those directions that are captured. None if there is no such link.
    pub(super) fn create<F: Family>(
        directory: &Path,
        scenario: &Scenario,
        world: &mut World<F>,
        link: usize,
        captured: [bool; 2],
    ) -> Result<Option<Capture>, ResultsError> {
        let (Some(plan), Some(&[there, back])) =
            (scenario.links.get(link), world.links.get(2 * link..).and_then(<[LinkId]>::first_chunk))
        else {
            return Ok(None);
        };
        let way = |link, from: usize, to: usize, is_captured: bool| -> Result<Way, ResultsError> {
            let file = || CaptureFile::create(directory, &scenario.nodes[from], &scenario.nodes[to]);
            let file = is_captured.then(file).transpose()?;
            Ok(Way { link, near: node_address(from), far: node_address(to), file })
        };
        let ways =
            [way(there, plan.from, plan.to, captured[0])?, way(back, plan.to, plan.from, captured[1])?];
        ways.iter().for_each(|way| world.simulation_mut().watch_link(way.link));
        let addresses = Addresses::new(scenario, world);
        let tcp = TcpPackets::new(addresses.connection_count());
        Ok(Some(Capture { ways, addresses, tcp }))
    }

    /// Writes what the link has begun to transmit since the last call.
    pub(super) fn collect<F: Family>(&mut self, world: &mut World<F>) -> Result<(), ResultsError> {
        let mut sent = Vec::new();
        for (number, way) in self.ways.iter().enumerate() {
            world.simulation_mut().drain_link(way.link, &mut |record| {
                if record.event == LinkEvent::Sent {
                    sent.push((number, record));
                }
            });
        }
        // Stable: at the same time, the direction that the scenario names goes first.
        sent.sort_by_key(|(_, record)| record.at);
        for (number, record) in &sent {
            let way = &mut self.ways[*number];
            let packet = encode(record, way.near, way.far, &self.addresses, &mut self.tcp);
            if let (Some(file), Some(packet)) = (&mut way.file, packet) {
                let path = || file.path.clone();
                write(&mut file.writer, record, &packet)
                    .map_err(|source| ResultsError::Capture { path: path(), source })?;
            }
        }
        Ok(())
    }

    /// Gives the files their names.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        self.ways.into_iter().filter_map(|way| way.file).try_for_each(CaptureFile::finish)
    }
}

impl CaptureFile {
    fn create(directory: &Path, from: &str, to: &str) -> Result<CaptureFile, ResultsError> {
        let path = directory.join(format!("capture-{from}-{to}.pcap"));
        let header = PcapHeader {
            snaplen: u32::from(u16::MAX),
            datalink: DataLink::IPV4,
            ts_resolution: TsResolution::NanoSecond,
            // The same bytes on every machine.
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(PartialFile::create(&path)?, header)
            .map_err(|source| ResultsError::Capture { path: path.clone(), source })?;
        Ok(CaptureFile { path, writer })
    }

    fn finish(self) -> Result<(), ResultsError> {
        self.writer.into_writer().complete()
    }
}

fn write<H>(
    writer: &mut PcapWriter<PartialFile>,
    record: &LinkRecord<H>,
    packet: &Packet,
) -> Result<(), PcapError> {
    let bytes = packet.bytes();
    let at = Duration::from_nanos(record.at.as_ns());
    let whole = (packet.whole_length() as u32).max(bytes.len() as u32);
    writer.write_packet(&PcapPacket::new(at, whole, bytes)).map(|_| ())
}

/// The packet of a record. None if the scenario has no such flow, which does not happen.
fn encode<H: AnyHeader>(
    record: &LinkRecord<H>,
    near: Address,
    far: Address,
    addresses: &Addresses,
    tcp: &mut TcpPackets,
) -> Option<Packet> {
    let (size, ecn) = (record.size.as_bytes(), record.ecn);
    match &record.carried {
        Carried::TcpData { connection, seq, incarnation, reduced } => {
            let (number, connection) = addresses.connection(*connection)?;
            let moment = tcp.moment(number, *incarnation, record.at);
            Some(tcp::data(connection, moment, *seq, *reduced, ecn))
        }
        Carried::TcpAck { connection, cumulative, blocks, incarnation, echo } => {
            let (number, connection) = addresses.connection(*connection)?;
            let moment = tcp.moment(number, *incarnation, record.at);
            Some(tcp::ack(connection, moment, *cumulative, blocks, *echo, ecn))
        }
        Carried::Datagram { flow } => {
            let flow = addresses.datagrams(*flow)?;
            Some(udp::packet(flow.from, flow.to, flow.from_port, udp::STREAM_PORT, &[], size, ecn))
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
                (None, _) => (near, far),
            };
            Some(multicast::unicast(from, to, header, size, ecn))
        }
        Carried::Membership { session, channel, change } => {
            let (source, group) = (addresses.source(*session)?, addresses.group(*session, *channel)?);
            Some(multicast::membership(near, far, source, group, *change, ecn))
        }
    }
}
