//! Sessions on real networks.

#[cfg(all(feature = "transport", target_os = "linux"))]
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod configured;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod doctor;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod events;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod finding;
pub(crate) mod host_address;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod key;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod measures;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod metrics;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod modal;
#[cfg(not(all(feature = "transport", target_os = "linux")))]
#[path = "net/no_modal.rs"]
pub(crate) mod modal;
pub(crate) mod receive;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod reception;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod relay;
pub(crate) mod relaying;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod send;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod sessions;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod stream;
pub(crate) mod stream_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod transfer;
pub(crate) mod transfer_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod transport_failure;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod view;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod watch;
