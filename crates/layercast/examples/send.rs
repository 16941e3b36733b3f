//! Sends a file or folder until a receiver has it: `send PATH GROUP INTERFACE`.

use std::error::Error;

use layercast::{Event, Progress, Rate, Sender, Sent};

pub(crate) fn send(path: &str, group: &str, interface: &str) -> Result<Sent, Box<dyn Error>> {
    let to = Rate::from_mbps(20.0);
    let sender = Sender::builder().path(path).group(group).interface(interface).to(to).until_complete(1);
    let sending = sender.start()?;
    for event in &sending {
        match event {
            Event::Ready(ready) => println!("sending {} files to {group}", ready.objects),
            Event::Progress(Progress::Send(progress)) => println!("sent {:.2} times", progress.rounds),
            Event::Notice(notice) => eprintln!("{notice}"),
            _ => {}
        }
    }
    Ok(sending.wait()?)
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, group, interface] = arguments.as_slice() else { return Err("PATH GROUP INTERFACE".into()) };
    println!("complete: {:?}", send(path, group, interface)?.completed);
    Ok(())
}
