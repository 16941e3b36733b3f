//! What a paper's figures are made of, whatever the paper: studies that are run, panels that are drawn,
//! claims that are checked, and the pages that tell of them.

pub(crate) mod effort;
pub(crate) mod figure;
pub(crate) mod finding;
pub(crate) mod gallery;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod samples;
pub(crate) mod scale;
pub(crate) mod study;
pub(crate) mod time_series;
