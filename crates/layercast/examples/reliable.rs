//! Sends a file to all that come, or receives it, each chunk once and in order: `reliable send FILE GROUP ADDRESS:PORT` or
//! `reliable receive GROUP FOLDER ADDRESS:PORT`. The address is that of the sender, or of a relay that takes part.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use layercast::{Received, Receiver, Sender, Sent};

pub(crate) fn send(file: &str, group: &str, listen: SocketAddr) -> Result<Sent, Box<dyn Error>> {
    // It begins five seconds after the first has come.
    let sender = Sender::builder().path(file).group(group).gather(Duration::from_secs(5));
    Ok(sender.reliable().serve(listen).start()?.wait()?)
}

pub(crate) fn receive(group: &str, folder: &str, from: SocketAddr) -> Result<Received, Box<dyn Error>> {
    let receiver = Receiver::builder().group(group).into(folder);
    Ok(receiver.reliable().relay(from).start()?.wait()?)
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["send", file, group, listen] => println!("{:?}", send(file, group, listen.parse()?)?.stopped),
        ["receive", group, folder, from] => {
            println!("received {:?}", receive(group, folder, from.parse()?)?.path())
        }
        _ => return Err("send FILE GROUP ADDRESS:PORT, or receive GROUP FOLDER ADDRESS:PORT".into()),
    }
    Ok(())
}
