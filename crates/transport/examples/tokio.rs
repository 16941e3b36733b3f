//! A receiver in a program that has tokio: the node that `layercast receive` runs, on tokio's sockets and timers.
//!
//! `cargo run --example tokio -- 239.1.2.0:5500 192.0.2.1 inbox` receives the files of a session on the interface with this
//! address. The node decides everything; this program carries datagrams, time and wishes.

use std::collections::HashMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::Path;

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::accept::Incoming;
use layercast_delivery::node::{Datagram, Output, Receiver, ReceiverSettings, Single};
use layercast_delivery::reception::{Reception, ReceptionProgress, ReceptionSettings};
use layercast_delivery::search::Known;
use layercast_protocols::registry::Registry;
use layercast_transport::disk::Folder;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The longest datagram of a session.
const LONGEST: usize = 9000;

/// A datagram of a channel.
struct Arrived(Datagram, Vec<u8>);

/// Joins a group, and passes on what comes until the task is aborted, which leaves it.
fn listen(
    channel: Channel,
    group: SocketAddrV4,
    interface: Ipv4Addr,
    begin: Instant,
    to: mpsc::Sender<Arrived>,
) -> Result<JoinHandle<()>, Box<dyn Error>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::V4(group).into())?;
    socket.join_multicast_v4(group.ip(), &interface)?;
    socket.set_nonblocking(true)?;
    let socket = UdpSocket::from_std(socket.into())?;
    Ok(tokio::spawn(async move {
        let mut room = vec![0; LONGEST];
        while let Ok((length, from)) = socket.recv_from(&mut room).await {
            let incoming = Incoming { from, channel: Some(channel), is_cut: false };
            let datagram = Datagram { at: since(begin), incoming, ecn: Ecn::NotCapable };
            if to.send(Arrived(datagram, room[..length].to_vec())).await.is_err() {
                return;
            }
        }
    }))
}

fn since(begin: Instant) -> Time {
    Time::from_ns(begin.elapsed().as_nanos() as u64)
}

/// Receives the files of a session into a directory.
///
/// # Errors
/// Why it ended early.
pub(crate) async fn receive(
    known: Known,
    interface: Ipv4Addr,
    into: &Path,
) -> Result<ReceptionProgress, Box<dyn Error>> {
    let patience = Duration::from_secs(30);
    let settings =
        ReceiverSettings { silent: false, start_within: patience, patience, ..ReceiverSettings::new(known) };
    let reception = Reception::new(Folder::open(into)?, ReceptionSettings::default());
    let mut node = Receiver::<Registry, _>::new(settings, reception);
    let begin = Instant::now();
    let (to, mut arrivals) = mpsc::channel(1024);
    let reports = UdpSocket::bind((interface, 0)).await?;
    let mut groups: HashMap<Channel, JoinHandle<()>> = HashMap::new();
    node.start(since(begin));
    loop {
        while let Some(output) = node.poll() {
            match output {
                Output::Join(channel, SocketAddr::V4(group)) if !groups.contains_key(&channel) => {
                    groups.insert(channel, listen(channel, group, interface, begin, to.clone())?);
                }
                Output::Leave(channel, _) => {
                    groups.remove(&channel).into_iter().for_each(|task| task.abort());
                }
                Output::Send(_, message, to) => drop(reports.send_to(message.bytes(), to).await),
                Output::Notice(notice) => eprintln!("{notice}"),
                Output::Ended(result) => {
                    result?;
                    return Ok(node.sink.progress());
                }
                _ => {}
            }
        }
        let due = node.deadline().unwrap_or(Time::MAX).min(since(begin) + Duration::from_secs(1));
        let due = begin + std::time::Duration::from_nanos(due.as_ns());
        tokio::select! {
            Some(Arrived(datagram, mut bytes)) = arrivals.recv() => {
                node.handle(&mut Single(datagram, &mut bytes));
            }
            () = tokio::time::sleep_until(due) => {}
        }
        node.handle_timer(since(begin));
    }
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [group, interface, into] = arguments.as_slice() else {
        return Err("GROUP:PORT INTERFACE-ADDRESS DIRECTORY".into());
    };
    let known = Known::Group(group.parse()?, None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let progress = runtime.block_on(receive(known, interface.parse()?, Path::new(into)))?;
    println!("{} files are complete", progress.complete);
    Ok(())
}
