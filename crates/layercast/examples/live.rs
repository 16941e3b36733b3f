//! Sends the time of day ten times a second, or prints the times that come: `live send GROUP INTERFACE` or `live receive GROUP INTERFACE`.

use std::error::Error;
use std::io::{ErrorKind, Read as _, Write as _, pipe};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use layercast::{Rate, Receiver, Sender, StreamReceived, StreamSent, Units};

/// Each time is a unit, which comes whole and within half a second, or not at all.
const BYTES: usize = 8;

pub(crate) fn send(group: &str, interface: &str, times: usize) -> Result<StreamSent, Box<dyn Error>> {
    let (data, mut handle) = pipe()?;
    let sender = Sender::stream_builder().group(group).interface(interface).to(Rate::from_kbps(256.0));
    let sending = sender.units(Units::Fixed(BYTES as u32)).input(data).start()?;
    for _ in 0..times {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
        handle.write_all(&now.to_be_bytes())?;
        thread::sleep(Duration::from_millis(100));
    }
    // The stream ends with its input.
    drop(handle);
    Ok(sending.wait()?)
}

pub(crate) fn receive(
    group: &str,
    interface: &str,
    mut each: impl FnMut(u64),
) -> Result<StreamReceived, Box<dyn Error>> {
    let (mut data, output) = pipe()?;
    let receiver = Receiver::stream_builder().group(group).interface(interface).output(output);
    let receiving = receiver.start()?;
    let mut unit = [0; BYTES];
    loop {
        match data.read_exact(&mut unit) {
            Ok(()) => each(u64::from_be_bytes(unit)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(receiving.wait()?),
            Err(error) => return Err(error.into()),
        }
    }
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["send", group, interface] => {
            println!("{:?}", send(group, interface, usize::MAX)?.stopped);
        }
        ["receive", group, interface] => {
            println!("{:?}", receive(group, interface, |time| println!("{time}"))?.ended);
        }
        _ => return Err("send GROUP INTERFACE, or receive GROUP INTERFACE".into()),
    }
    Ok(())
}
