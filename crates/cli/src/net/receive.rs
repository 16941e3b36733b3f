//! Parts of `layercast receive`.

pub(crate) mod amt;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod configured;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod modes;
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) mod on_complete;
