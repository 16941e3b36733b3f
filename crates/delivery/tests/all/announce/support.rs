//! A signature scheme that is good enough for tests, sessions, and vectors from files.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use layercast_delivery::announce::sap::{Kind, Message, message_hash};
use layercast_delivery::announce::sdp::{Description, Media, Origin};
use layercast_delivery::announce::signature::{PublicKey, Signature, Signer, Verifier};
use layercast_delivery::security::signed::Context;
use sha2::{Digest as _, Sha256};

/// Whoever knows the public key can sign. Different keys, purposes and bytes have different signatures.
pub(crate) struct Toy(pub(crate) PublicKey);

impl Signer for Toy {
    fn public_key(&self) -> PublicKey {
        self.0
    }

    fn sign(&self, context: Context, bytes: &[u8]) -> Signature {
        let digest =
            Sha256::new().chain_update(self.0).chain_update(context.name()).chain_update(bytes).finalize();
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&digest);
        signature
    }
}

/// Checks signatures of [`Toy`].
pub(crate) struct Check;

impl Verifier for Check {
    fn verify(&self, key: &PublicKey, context: Context, bytes: &[u8], signature: &Signature) -> bool {
        Toy(*key).sign(context, bytes) == *signature
    }
}

/// A session of one channel on the host 10.x.y.z, where the last three bytes are `host`.
pub(crate) fn session(host: u32, name: &str, version: u64) -> Description {
    let [_, a, b, c] = host.to_be_bytes();
    Description {
        origin: Origin::new(IpAddr::from([10, a, b, c]), 1000, version),
        name: name.to_owned(),
        information: None,
        start_s: 0,
        stop_s: 0,
        source: Some(IpAddr::from([10, a, b, c])),
        tsi: u64::from(host),
        key: None,
        fec: Vec::new(),
        media: vec![Media {
            port: 5500,
            group: IpAddr::from([239, 1, b, c]),
            ttl: Some(16),
            channels: 1,
            kbps: Some(1000),
            fec: Vec::new(),
        }],
        lines: Vec::new(),
    }
}

/// The address of the host of [`session`].
pub(crate) fn address(host: u32) -> IpAddr {
    let [_, a, b, c] = host.to_be_bytes();
    IpAddr::from([10, a, b, c])
}

/// A packet about a session.
pub(crate) fn packet(kind: Kind, description: &Description, signer: Option<&dyn Signer>) -> Vec<u8> {
    let text = description.write().unwrap();
    let line = description.origin.line();
    let payload = if kind == Kind::Announcement { &text } else { &line };
    let origin = description.origin.address.parse().unwrap();
    Message { kind, hash: message_hash(&text), origin, payload }.write(signer).unwrap()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/announce").join(name)
}

/// A text file.
pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap()
}

/// Bytes from a file of hexadecimal numbers, quoted text, and comments.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text(name).lines() {
        if let Some(quoted) = line.strip_prefix('"') {
            let inner = quoted.strip_suffix('"').unwrap();
            bytes.extend(inner.replace("\\r", "\r").replace("\\n", "\n").bytes());
        } else {
            let (hex, _comment) = line.split_once('#').unwrap_or((line, ""));
            bytes.extend(hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
        }
    }
    bytes
}
