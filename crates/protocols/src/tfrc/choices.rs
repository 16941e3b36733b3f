//! The named choices among TFRC's options.

use layercast_core::choices;

choices! {
    /// The rules that a session follows.
    pub enum Profile {
        /// RFC 5348.
        Rfc5348 = "rfc5348",
        /// RFC 3448, which it replaced.
        Rfc3448 = "rfc3448",
        /// The agent of ns-2 as of 2004.
        Ns2 = "ns2",
    }
}

choices! {
    /// Amount sent in the first round trip whose length is known (RFC 5348, section 4.2).
    pub enum InitialWindow {
        /// By profile: `rfc3390` for rfc5348, `one-packet` for the others.
        ByProfile = "by-profile",
        /// Two to four packets (RFC 3390).
        Rfc3390 = "rfc3390",
        /// One packet.
        OnePacket = "one-packet",
    }
}

choices! {
    /// Which receive rates bound the sending rate (RFC 5348, section 4.3). The rules of ns-2 always use
    /// the newest one.
    pub enum ReceiveLimit {
        /// By profile: `recent` for rfc5348, `newest` for the others.
        ByProfile = "by-profile",
        /// The largest of the last two round trips, with a milder bound for a data-limited source.
        Recent = "recent",
        /// The newest.
        Newest = "newest",
    }
}

choices! {
    /// The rate for which the first loss interval is calculated (RFC 5348, section 6.3.1).
    pub enum FirstTarget {
        /// By profile: `largest` for rfc5348, `newest` for the others.
        ByProfile = "by-profile",
        /// The largest receive rate so far.
        Largest = "largest",
        /// The newest receive rate.
        Newest = "newest",
    }
}
