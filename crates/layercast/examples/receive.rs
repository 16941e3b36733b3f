//! Receives the files of a session into a folder: `receive GROUP FOLDER INTERFACE`.

use std::error::Error;

use layercast::{Event, ObjectEvent, Received, Receiver};

pub(crate) fn receive(group: &str, folder: &str, interface: &str) -> Result<Received, Box<dyn Error>> {
    let receiving = Receiver::builder().group(group).into(folder).interface(interface).start()?;
    for event in &receiving {
        match event {
            Event::Object(ObjectEvent::Complete { path, length }) => {
                println!("{path}: {length} bytes")
            }
            Event::Progress(_) => println!("{:.0} %", receiving.share().unwrap_or(0.0) * 100.0),
            Event::Notice(notice) => eprintln!("{notice}"),
            _ => {}
        }
    }
    Ok(receiving.wait()?)
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [group, folder, interface] = arguments.as_slice() else {
        return Err("GROUP FOLDER INTERFACE".into());
    };
    let received = receive(group, folder, interface)?;
    println!("{} files are in {folder}", received.progress.objects.complete);
    Ok(())
}
