//! Why nothing arrives: what of this host and its network keeps multicast from being sent or received, with remedies.
//!
//! Nothing is changed. What cannot be read without more permissions is said to be unknown.

mod firewall;
mod membership;
mod probe;
mod system;

use core::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use layercast_core::units::Size;
use layercast_delivery::session::is_usable_group;

use crate::host::Interface;

/// What is to be checked.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// The base layer's group and port.
    pub group: SocketAddr,
    /// The interface by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The source, if it is known.
    pub source: Option<IpAddr>,
    /// The size of the session's packets.
    pub packet: Size,
    /// Send test packets to the group.
    pub send: bool,
    /// Listen for packets and queries for this time.
    pub listen: Option<Duration>,
}

/// How it is with one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Fine,
    /// It may be the cause, or cannot be read here.
    Note,
    /// Something is wrong.
    Wrong,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub text: String,
    /// What to do about it; empty if there is nothing to do.
    pub remedy: String,
}

impl Finding {
    fn fine(text: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Fine, text: text.into(), remedy: String::new() }
    }

    fn note(text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Note, text: text.into(), remedy: remedy.into() }
    }

    fn wrong(text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Wrong, text: text.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Fine => "fine ",
            Verdict::Note => "note ",
            Verdict::Wrong => "WRONG",
        };
        write!(f, "{verdict}  {}", self.text)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; remedy: {}", self.remedy) }
    }
}

/// Looks at everything; `say` gets each finding when it is there. Whether something is wrong.
pub fn examine(options: &DoctorOptions, stop: &AtomicBool, say: &mut dyn FnMut(&Finding)) -> bool {
    let mut wrong = false;
    let mut say = |finding: Finding| {
        wrong |= finding.verdict == Verdict::Wrong;
        say(&finding);
    };
    let group = options.group;
    say(of_group(group));
    let interface = match Interface::find(options.interface.as_deref(), group) {
        Ok(interface) => interface,
        Err(error) => {
            say(Finding::wrong(
                error.to_string(),
                "`ip address` and `ip route` show what there is; then --interface NAME",
            ));
            return true;
        }
    };
    system::interface(&interface).into_iter().for_each(&mut say);
    say(system::route(&interface, group));
    say(system::reverse_path(&interface, group, options.source));
    say(membership::version(&interface, group, options.source.is_some()));
    say(membership::limit(group));
    say(membership::joined(&interface, group));
    say(membership::snooping(&interface, group.is_ipv6()));
    firewall::check(&interface, group, options.source).into_iter().for_each(&mut say);
    say(system::receive_buffer());
    say(system::mtu(&interface, group, options.packet));
    say(system::time_to_live());
    probe::own_packet(&interface, group).into_iter().for_each(&mut say);
    if options.send {
        say(probe::send(&interface, group, stop));
    }
    match options.listen {
        Some(time) => {
            probe::listen(&interface, group, options.source, time, stop).into_iter().for_each(&mut say)
        }
        None => say(Finding::note(
            "whether packets of others and queries of a querier arrive was not looked at",
            "start `layercast doctor --send` at the source, and here --listen \"130 s\", which is longer than the \
             interval of queries (125 s)",
        )),
    }
    wrong
}

fn of_group(group: SocketAddr) -> Finding {
    if is_usable_group(group.ip()) {
        return Finding::fine(format!("{} is a multicast group that routers may forward", group.ip()));
    }
    Finding::wrong(
        format!("{} is not a multicast group that routers may forward", group.ip()),
        "use one from 224.0.1.0 to 239.255.255.255, 239.x.x.x within an organisation, or ff03:: to ffff::",
    )
}

/// The first line of a file of the system, without the space around it.
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_with_its_remedy() {
        assert_eq!(Finding::fine("a").to_string(), "fine   a");
        assert_eq!(Finding::wrong("no b", "do c").to_string(), "WRONG  no b; remedy: do c");
    }

    #[test]
    fn an_interface_that_is_not_there_is_wrong_and_named() {
        let options = DoctorOptions {
            group: "239.1.2.3:5500".parse().expect("an address"),
            interface: Some("nosuch0".into()),
            source: None,
            packet: Size::from_bytes(1000),
            send: false,
            listen: None,
        };
        let mut lines = Vec::new();
        let wrong =
            examine(&options, &AtomicBool::new(false), &mut |finding| lines.push(finding.to_string()));
        assert!(wrong);
        assert!(lines.iter().any(|line| line.starts_with("WRONG") && line.contains("nosuch0")), "{lines:?}");
    }
}
