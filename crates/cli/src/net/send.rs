//! `layercast send`.

mod arguments;
pub(crate) mod configured;
pub(crate) mod files;
mod layering;
mod modes;
pub(crate) mod stream;

pub(crate) use arguments::Send;
pub(crate) use modes::SEND;
