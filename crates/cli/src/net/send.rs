//! Parts of `layercast send`.

pub(crate) mod configured;
pub(crate) mod layering;
pub(crate) mod modes;
