//! The TCPs that are compared, by the names that scenario files and the scripts for ns-2 give them.

use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};

/// Those that ns-2 has.
pub(crate) const IN_NS: [TcpVariant; 5] =
    [TcpVariant::Tahoe, TcpVariant::Reno, TcpVariant::NewReno, TcpVariant::Sack, TcpVariant::Vegas];

/// Those that it does not have. BBR is omitted: its rate does not depend on the loss rate, by which these
/// are compared.
pub(crate) const OURS_ALONE: [TcpVariant; 2] = [TcpVariant::Sack6675, TcpVariant::Cubic];

/// Its name in the scripts.
pub(crate) fn name(tcp: TcpVariant) -> &'static str {
    match tcp {
        TcpVariant::Tahoe => "tahoe",
        TcpVariant::Reno => "reno",
        TcpVariant::NewReno => "newreno",
        TcpVariant::Sack => "sack",
        TcpVariant::Sack6675 => "sack-6675",
        TcpVariant::Vegas => "vegas",
        TcpVariant::Cubic => "cubic",
        TcpVariant::Bbr => "bbr",
    }
}

/// Its display name.
pub(crate) fn title(tcp: TcpVariant) -> &'static str {
    match tcp {
        TcpVariant::Tahoe => "Tahoe",
        TcpVariant::Reno => "Reno",
        TcpVariant::NewReno => "NewReno",
        TcpVariant::Sack => "Sack1",
        TcpVariant::Sack6675 => "RFC 6675",
        TcpVariant::Vegas => "Vegas",
        TcpVariant::Cubic => "CUBIC",
        TcpVariant::Bbr => "BBR",
    }
}

/// The options that the scripts set too: ns-2's defaults with another window.
pub(crate) fn options(tcp: TcpVariant, window: u32) -> TcpOptions {
    TcpOptions { window, ..TcpOptions::new(tcp, TcpProfile::Ns2) }
}
