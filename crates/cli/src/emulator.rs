//! Networks of scenarios between hosts of this machine.

#[cfg(all(feature = "emulator", target_os = "linux"))]
pub(crate) mod emulate;
#[cfg(not(all(feature = "emulator", target_os = "linux")))]
#[path = "emulator/no_emulate.rs"]
pub(crate) mod emulate;
#[cfg(all(feature = "emulator", target_os = "linux"))]
pub(crate) mod endpoint;
#[cfg(all(feature = "emulator", target_os = "linux"))]
pub(crate) mod world;
#[cfg(not(all(feature = "emulator", target_os = "linux")))]
#[path = "emulator/no_world.rs"]
pub(crate) mod world;
