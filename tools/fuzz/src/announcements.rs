//! Announcements of sessions, and the lines that name them.

use std::net::{IpAddr, Ipv4Addr};

use layercast_core::units::Time;
use layercast_delivery::announce::directory::{Directory, Limits};
use layercast_delivery::announce::sap::Packet;
use layercast_delivery::announce::sdp::{Description, Origin, SdpProblem};
use layercast_delivery::announce::signature::{PublicKey, Signature, Verifier};
use layercast_delivery::announce::url::SessionUrl;
use layercast_delivery::session::Session;

/// Takes some signatures for right and some for wrong.
struct Half;

impl Verifier for Half {
    fn verify(
        &self,
        _: &PublicKey,
        _: layercast_delivery::security::signed::Context,
        _: &[u8],
        signature: &Signature,
    ) -> bool {
        signature[0] & 1 == 0
    }
}

/// A packet of SAP, or a description in SDP, or the `o=` line of a deletion.
///
/// # Panics
/// If what was read does not come back after it is written.
pub fn announcement(bytes: &[u8]) {
    let from = IpAddr::from(Ipv4Addr::LOCALHOST);
    let mut directory = Directory::new(Limits::default(), 0);
    for _ in 0..2 {
        if let Err(refusal) = directory.receive(bytes, from, &Half, Time::ZERO) {
            drop(refusal.to_string());
        }
    }
    assert!(directory.sessions().count() < 2, "a packet describes one session");
    let payload = Packet::read(bytes).map_or(bytes, |packet| packet.payload);
    if let Ok(origin) = Origin::read(payload) {
        assert_eq!(Origin::read(origin.line().as_bytes()).as_ref(), Ok(&origin));
    }
    let Ok(description) = Description::read(payload) else { return };
    match description.write() {
        Ok(text) => assert_eq!(Description::read(text.as_bytes()).as_ref(), Ok(&description)),
        // Ends of lines are longer where they were line feeds alone.
        Err(error) => assert!(matches!(error.problem, SdpProblem::Long(_)), "{error}"),
    }
    if let Some(url) = description.url() {
        assert_eq!(url.to_string().parse().as_ref(), Ok(&url));
    }
    if let Ok(text) = description.session_text() {
        drop(text.parse::<Session>().map_err(|error| error.to_string()));
    }
}

/// A line that names a session.
///
/// # Panics
/// If a line that was read does not come back after it is written.
pub fn session_url(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match text.parse::<SessionUrl>() {
        Ok(url) => assert_eq!(url.to_string().parse().as_ref(), Ok(&url)),
        Err(error) => drop(error.to_string()),
    }
}
