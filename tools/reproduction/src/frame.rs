//! The frame of all papers' figures: studies that are run, panels that are plotted, claims that are
//! checked, and the pages that report them.

pub(crate) mod effort;
pub(crate) mod figure;
pub(crate) mod gallery;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod scale;
pub(crate) mod study;
pub(crate) mod summary;
pub(crate) mod time_series;
