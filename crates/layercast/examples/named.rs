//! Sends a file under a name, or receives what is sent under it: `named send NAME INTERFACE FILE GROUP` or
//! `named receive NAME INTERFACE FOLDER`.

use std::error::Error;

use layercast::{Event, Received, Receiver, Sender, Sent};

pub(crate) fn send(name: &str, interface: &str, file: &str, group: &str) -> Result<Sent, Box<dyn Error>> {
    let sender = Sender::builder().name(name).announce(true).group(group).interface(interface);
    Ok(sender.path(file).until_complete(1).start()?.wait()?)
}

pub(crate) fn receive(name: &str, interface: &str, folder: &str) -> Result<Received, Box<dyn Error>> {
    let receiver = Receiver::builder().session_name(name).interface(interface).into(folder);
    let receiving = receiver.start()?;
    for event in &receiving {
        if let Event::Session(session) = event {
            println!("{name} is sent by {} to {}", session.source, session.group);
        }
    }
    Ok(receiving.wait()?)
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["send", name, interface, file, group] => {
            println!("complete: {:?}", send(name, interface, file, group)?.completed)
        }
        ["receive", name, interface, folder] => {
            println!("received {:?}", receive(name, interface, folder)?.path())
        }
        _ => return Err("send NAME INTERFACE FILE GROUP, or receive NAME INTERFACE FOLDER".into()),
    }
    Ok(())
}
