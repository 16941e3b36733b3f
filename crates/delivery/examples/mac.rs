//! What protection costs per packet of 1000 bytes, on one core:
//!
//! ```sh
//! cargo run --release -p layercast-delivery --example mac
//! ```
//!
//! The best of several rounds. The row for Poly1305 is the cipher over a packet that is only authenticated, which is what
//! RFC 8439's MAC alone would cost, for comparison.

#![allow(clippy::disallowed_methods, reason = "this measures real time")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut as _, KeyInit as _};
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_delivery::security::protection::{AUTH_BYTES, Incoming, Outgoing, Scheme};
use layercast_delivery::security::sequence::{ReplayWindow, Sequence};
use layercast_delivery::security::signed::{Context, Signature};
use sha2::{Digest as _, Sha256};

const PACKET: usize = 1000;
const ROUNDS: usize = 30;
const PACKETS: usize = 10_000;
const TSI: u32 = 7;

/// Nanoseconds per packet in the best round.
fn measure(mut once: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (0..PACKETS).for_each(&mut once);
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / PACKETS as f64);
    }
    best
}

fn row(what: &str, ns: f64) {
    println!("{what:<52} {ns:>8.0} ns  {:>7.2} Gbit/s", PACKET as f64 * 8.0 / ns);
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = GroupKey::from_seed(&[1; 32]);
    let mut plain = [0x41; PACKET];
    // Version 1, 32 bits each of CCI, TSI and TOI, RaptorQ.
    plain[..16].copy_from_slice(&[0x10, 0xa0, 4, 6, 0, 0, 0, 1, 0, 0, 0, TSI as u8, 0, 0, 0, 1]);
    let schemes = [
        ("group MAC (HMAC-SHA-256, 128 bits)", Scheme::mac(&key, TSI)),
        ("encryption (ChaCha20-Poly1305)", Scheme::encryption(&key, Salt([2; 16]), TSI)),
    ];
    for (name, scheme) in schemes {
        let mut sequence = Sequence::after(0);
        sequence.grant(u64::MAX);
        let mut outgoing = Outgoing::new(scheme.clone(), sequence);
        let mut sent = vec![[0; PACKET + AUTH_BYTES]; PACKETS];
        let mut failed = false;
        let ns = measure(|index| {
            let room = &mut sent[index];
            room[..PACKET].copy_from_slice(&plain);
            failed |= outgoing.protect(room, PACKET).is_err();
        });
        row(&format!("{name}: protect"), ns);
        // The last round's packets, each time by a receiver that has seen none of them.
        let fresh = || Incoming::new(scheme.clone(), TSI, ReplayWindow::above(0));
        let mut incoming = fresh();
        let mut room = [0; PACKET + AUTH_BYTES];
        let ns = measure(|index| {
            if index == 0 {
                incoming = fresh();
            }
            room.copy_from_slice(&sent[index]);
            failed |= incoming.accept(&mut room).is_err();
        });
        row(&format!("{name}: accept"), ns);
        let mut forged = sent[0];
        forged[900] ^= 1;
        let mut incoming = fresh();
        let ns = measure(|_| {
            room.copy_from_slice(&forged);
            failed |= incoming.accept(&mut room).is_ok();
        });
        row(&format!("{name}: a forged one"), ns);
        let mut incoming = fresh();
        room.copy_from_slice(&sent[0]);
        failed |= incoming.accept(&mut room).is_err();
        let ns = measure(|_| failed |= black_box(&mut incoming).accept(black_box(&mut room)).is_ok());
        row(&format!("{name}: a replayed one"), ns);
        if failed {
            return Err(format!("{name}: a packet was not treated as it should be").into());
        }
    }

    let cipher = ChaCha20Poly1305::new(&[1; 32].into());
    let ns = measure(|index| {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&(index as u64).to_be_bytes());
        let _ =
            black_box(cipher.encrypt_inout_detached(&nonce.into(), black_box(&plain), (&mut [][..]).into()));
    });
    row("Poly1305 alone, with a key per packet", ns);
    let ns = measure(|_| {
        black_box(Sha256::digest(black_box(&plain)));
    });
    row("SHA-256 (hashes of blocks)", ns);

    let secret = SecretKey::from_seed(&[1; 32]);
    let start = Instant::now();
    let signatures: Vec<Signature> =
        (0..1000).map(|_| Signature::sign(&secret, Context::Table, &plain)).collect();
    let sign = start.elapsed().as_secs_f64() * 1e6 / signatures.len() as f64;
    let start = Instant::now();
    let trusted = [secret.public()];
    let right = signatures.iter().filter(|one| one.verify(&trusted, Context::Table, &plain).is_ok()).count();
    let verify = start.elapsed().as_secs_f64() * 1e6 / signatures.len() as f64;
    println!(
        "Ed25519 over 1000 bytes: sign {sign:.0} us, verify {verify:.0} us ({right} of {})",
        signatures.len()
    );
    Ok(())
}
