//! The protocols from outside. All tests are one program, since linking each alone takes longer than most of them run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod plan;
mod window_sessions;

mod amca_hostile;
mod amca_session;
mod amca_trees;
mod bias;
mod contract_elm;
mod contract_every_endpoint;
mod convergence;
mod dither;
mod elm_sessions;
mod elm_strategies;
mod fair_to;
mod flid_sessions;
mod golden;
mod golestani_sabnani_session;
mod option_tables;
mod pgmcc_session;
mod properties;
mod rla_session;
mod rlc_session;
mod rlm_session;
mod smcc_session;
mod tfmcc_session;
mod tfrc_sessions;
mod webrc_session;
mod wei_zhang_session;
