//! `layercast receive`.

mod arguments;
pub(crate) mod configured;
pub(crate) mod files;
mod modes;
mod on_complete;
pub(crate) mod stream;

pub(crate) use arguments::Receive;
pub(crate) use modes::RECEIVE;
