//! The modes of `layercast send`.

use std::net::SocketAddr;
use std::path::PathBuf;

use layercast_core::family::AnyProtocol;
use layercast_core::layers::LayerTable;
use layercast_core::units::Size;
use layercast_delivery::announce::relays::RELAYS_MAX;
use layercast_delivery::protocols::{deployed, set_options};
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::session::PACKET_BYTES;
use layercast_delivery::stream::{StreamPlan, Units};
use layercast_transport::announcing::name_of;
use layercast_transport::host::Interface;
use layercast_transport::relay::ServeOptions;
use layercast_transport::send::modes::{RELIABLE, SendMode, is_announced, only_layer};
use layercast_transport::send::stream::{StreamInput, StreamSendOptions};
use layercast_transport::send::{Ends, SendOptions, ServeUse};

use crate::failure::Failure;
use crate::modes::Given;
use crate::net::configured::{addresses, at_most, check_links, group_key, input, with_routers};
use crate::net::failure::failure;
use crate::net::key::read_as;
use crate::net::send::arguments::{PacketSize, Send, Serving, UnitSize};
use crate::net::send::layering;
use crate::net::send::modes::SEND;

/// A mode with what it needs.
// Made once.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(crate) enum SendConfig<P> {
    Files(FilesSend<P>),
    Stream(StreamSend<P>),
}

#[derive(Debug)]
pub(crate) struct FilesSend<P> {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) options: SendOptions<P>,
    pub(crate) describe: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) quiet: bool,
}

#[derive(Debug)]
pub(crate) struct StreamSend<P> {
    pub(crate) inputs: Vec<StreamInput>,
    pub(crate) options: StreamSendOptions<P>,
    pub(crate) describe: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) quiet: bool,
}

impl<P: AnyProtocol> SendConfig<P> {
    pub(crate) fn of(send: &Send, given: &Given) -> Result<SendConfig<P>, Failure> {
        Ok(match SEND.mode(given) {
            SendMode::Files => SendConfig::Files(files(send)?),
            SendMode::Stream => SendConfig::Stream(stream(send)?),
            SendMode::Reliable => SendConfig::Files(reliable(send, given)?),
        })
    }
}

fn files<P: AnyProtocol>(send: &Send) -> Result<FilesSend<P>, Failure> {
    let mut protocol: P = protocol(send, "tide")?;
    let packet = packet_size(send)?;
    let layers = layering::table(&send.layering, &mut protocol, packet)?;
    let common = layered(send, protocol, layers, packet)?;
    let options = SendOptions {
        ends: Ends { rounds: send.rounds, completions: send.until_complete, ..common.ends },
        follow: send.follow,
        state: send.state.clone(),
        ..common
    };
    Ok(of_files(send, options))
}

fn of_files<P>(send: &Send, options: SendOptions<P>) -> FilesSend<P> {
    FilesSend {
        paths: send.paths.clone(),
        options: SendOptions { packs: !send.no_packages, ..options },
        describe: send.describe.clone(),
        json: send.watching.json,
        metrics: send.watching.metrics,
        quiet: send.quiet,
    }
}

fn stream<P: AnyProtocol>(send: &Send) -> Result<StreamSend<P>, Failure> {
    let packet = packet_size(send)?;
    let protocol: P = protocol(send, "elm")?;
    let layers = layering::stream_table(&send.layering, send.paths.len())?;
    let units = match send.stream.units {
        UnitSize::Fixed(size) => Units::Fixed(size.as_bytes()),
        UnitSize::Length => Units::Length,
    };
    let options = StreamSendOptions {
        send: layered(send, protocol, layers, packet)?,
        plan: StreamPlan { deadline: send.stream.deadline, units },
        share: send.stream.repair,
    };
    let one = |path: &PathBuf| match path.as_os_str() == "-" {
        true => StreamInput::Standard,
        false => StreamInput::Path(path.clone()),
    };
    let inputs: Vec<StreamInput> = send.paths.iter().map(one).collect();
    if inputs.iter().filter(|input| matches!(input, StreamInput::Standard)).count() > 1 {
        return Err(input("standard input can be one input only: name pipes for others"));
    }
    Ok(StreamSend {
        inputs,
        options,
        describe: send.describe.clone(),
        json: send.watching.json,
        metrics: send.watching.metrics,
        quiet: send.quiet,
    })
}

/// Files in order, by a protocol whose routers take part. It has one layer, on whose rate it decides itself.
fn reliable<P: AnyProtocol>(send: &Send, given: &Given) -> Result<FilesSend<P>, Failure> {
    let PacketSize::Fixed(packet) = send.packet else {
        return Err(input("--packet mtu: relays may be anywhere; give a size in bytes"));
    };
    check_links(send.serving.max_children, given)?;
    let protocol = protocol(send, &with_routers(send.control.as_deref().unwrap_or(RELIABLE))?)?;
    let layers = only_layer().map_err(|error| input(&error.to_string()))?;
    let common = layered(send, protocol, layers, packet)?;
    Ok(of_files(send, SendOptions { is_announced: send.announce, ..common }))
}

/// The options that files and live data have, with what is of files only as live data needs it.
fn layered<P: AnyProtocol>(
    send: &Send,
    mut protocol: P,
    layers: LayerTable,
    packet: Size,
) -> Result<SendOptions<P>, Failure> {
    set_options(&mut protocol, &send.options).map_err(|error| failure(error.into()))?;
    at_most("--relays", &send.serving.relays, RELAYS_MAX)?;
    Ok(SendOptions {
        interface: send.interface.clone(),
        feedback_port: send.feedback_port,
        packet,
        ttl: send.ttl,
        ends: Ends { after: send.after.map(Into::into), ..Ends::default() },
        group_key: group_key(send.group_key.as_deref())?,
        key: send.key.as_deref().map(|path| read_as(path, KeyFile::into_secret)).transpose()?,
        reports: !send.no_reports,
        on_demand: !send.all_layers,
        encrypts: send.encrypt,
        serve: serving(&send.serving, send.group),
        relays: addresses(&send.serving.relays)?,
        name: send.name.clone().unwrap_or_else(|| name_of(&send.paths)),
        is_announced: is_announced(send.group, send.announce, send.no_announce),
        ..SendOptions::new(send.group, protocol, layers)
    })
}

fn protocol<P: AnyProtocol>(send: &Send, default: &str) -> Result<P, Failure> {
    let control = send.control.as_deref().unwrap_or(default);
    deployed(control).ok_or_else(|| {
        let known = P::names().join(", ");
        input(&format!("there is no protocol `{control}`; there are {known}"))
    })
}

/// The size of packets, that of the interface's MTU if so asked.
fn packet_size(send: &Send) -> Result<Size, Failure> {
    if let PacketSize::Fixed(size) = send.packet {
        return Ok(size);
    }
    let interface = Interface::find(send.interface.as_deref(), send.group).map_err(failure)?;
    let mtu = interface.mtu(send.group).map(|mtu| mtu.min(*PACKET_BYTES.end()));
    mtu.map(Size::from_bytes).ok_or_else(|| {
        let name = &interface.name;
        Failure::Other(anyhow::anyhow!(
            "the system does not say the MTU of {name}: name a size with --packet"
        ))
    })
}

/// How a sender serves children itself.
fn serving(serving: &Serving, group: SocketAddr) -> Option<ServeUse> {
    let listen = serving.serve?;
    let session = SessionKey { group, source: None };
    let serve = ServeOptions::of_session(listen, session, serving.max_children);
    Some(ServeUse { serve, only: serving.serve_only, gather: serving.gather.into() })
}
