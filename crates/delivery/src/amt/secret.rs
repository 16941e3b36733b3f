//! Nonces and Response MACs, from a random seed of 32 bytes.

use hmac::{Hmac, KeyInit as _, Mac as _};
use layercast_core::units::{Duration, Time};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::message::{MAC_BYTES, ResponseMac, TunnelEndpoint};

type Keyed = Hmac<Sha256>;

/// The seed of nonces or of secrets, random and known to nobody else.
pub type Seed = [u8; 32];

fn keyed(seed: &Seed) -> Keyed {
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(seed);
    Keyed::new(&(*block).into())
}

/// Nonces that nobody without the seed can predict (RFC 7450, sections 5.2.3.4.5 and 5.2.3.5.6).
#[derive(Clone)]
pub(super) struct Nonces {
    keyed: Keyed,
    count: u64,
}

impl core::fmt::Debug for Nonces {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Nonces")
    }
}

impl Nonces {
    pub(super) fn new(seed: &Seed) -> Nonces {
        Nonces { keyed: keyed(seed), count: 0 }
    }

    /// The next nonce, not zero.
    pub(super) fn next(&mut self) -> u32 {
        self.count += 1;
        let mut mac = self.keyed.clone();
        mac.update(b"amt nonce");
        mac.update(&self.count.to_be_bytes());
        let bytes: [u8; 32] = mac.finalize().into_bytes().into();
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| u32::from_be_bytes(*word)).find(|&nonce| nonce != 0).unwrap_or(1)
    }
}

/// The private secret of a relay, which changes after a lifetime (RFC 7450, section 5.3.6). Each follows from the seed and its
/// number, so that none is stored.
#[derive(Clone)]
pub(super) struct Secrets {
    keyed: Keyed,
    lifetime: Duration,
    /// How long after a change the secret before it is still good.
    grace: Duration,
}

impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    pub(super) fn new(seed: &Seed, lifetime: Duration, grace: Duration) -> Secrets {
        Secrets { keyed: keyed(seed), lifetime: lifetime.max(Duration::from_secs(1)), grace }
    }

    fn number(&self, now: Time) -> u64 {
        now.as_ns() / self.lifetime.as_ns()
    }

    fn state(&self, number: u64, gateway: TunnelEndpoint, nonce: u32) -> Keyed {
        let mut mac = self.keyed.clone();
        mac.update(b"amt response mac");
        mac.update(&number.to_be_bytes());
        mac.update(&gateway.address);
        mac.update(&gateway.port.to_be_bytes());
        mac.update(&nonce.to_be_bytes());
        mac
    }

    /// The Response MAC for a gateway's request (section 5.3.5).
    pub(super) fn mac(&self, now: Time, gateway: TunnelEndpoint, nonce: u32) -> ResponseMac {
        let bytes: [u8; 32] = self.state(self.number(now), gateway, nonce).finalize().into_bytes().into();
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(&bytes[..MAC_BYTES]);
        mac
    }

    /// Whether a MAC is right by the current secret, or by the one before while that is good. The comparison takes the same
    /// time for every wrong MAC.
    pub(super) fn is_right(&self, now: Time, gateway: TunnelEndpoint, nonce: u32, mac: &ResponseMac) -> bool {
        let number = self.number(now);
        let begin = Time::from_ns(number.saturating_mul(self.lifetime.as_ns()));
        let before = number.checked_sub(1).filter(|_| now.since(begin) < self.grace);
        [Some(number), before]
            .into_iter()
            .flatten()
            .any(|number| self.state(number, gateway, nonce).verify_truncated_left(mac).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_outlives_its_change_by_the_grace_only() {
        let hour = Duration::from_secs(3600);
        let secrets = Secrets::new(&[7; 32], hour, Duration::from_secs(250));
        let gateway = TunnelEndpoint { port: 5, address: [1; 16] };
        let at = |seconds: u64| Time::ZERO + Duration::from_secs(seconds);
        let mac = secrets.mac(at(3500), gateway, 9);
        for (seconds, is_right) in
            [(0, true), (3599, true), (3700, true), (3849, true), (3851, false), (7300, false)]
        {
            assert_eq!(secrets.is_right(at(seconds), gateway, 9, &mac), is_right, "after {seconds} s");
        }
        assert!(!secrets.is_right(at(3500), gateway, 8, &mac));
        assert!(!secrets.is_right(at(3500), TunnelEndpoint { port: 6, ..gateway }, 9, &mac));
        assert!(!Secrets::new(&[8; 32], hour, hour).is_right(at(3500), gateway, 9, &mac));
    }

    #[test]
    fn nonces_differ() {
        let mut nonces = Nonces::new(&[1; 32]);
        let some: std::collections::BTreeSet<u32> = (0..1000).map(|_| nonces.next()).collect();
        assert_eq!(some.len(), 1000);
        assert_ne!(Nonces::new(&[2; 32]).next(), Nonces::new(&[1; 32]).next());
    }
}
