//! The laboratory from outside. All tests are one program, since linking each alone takes longer than most of them run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod conforming;
mod made_up;
mod running;
mod tfmcc_world;

mod amca;
mod bias;
mod capture;
mod changing_links;
mod compare;
mod determinism;
mod edges;
mod experiments;
mod fair_to;
mod fingerprints;
mod flid;
mod nca;
mod notes;
mod objects;
mod outside_family;
mod phases;
mod probes;
mod results;
mod scoreboard;
mod single_rate;
mod small_packets;
mod smcc;
mod stop;
mod strategies;
mod sweep;
mod tfmcc;
mod tfrc;
mod tide;
mod today;
mod traffic;
mod webrc;
mod wei_zhang;
mod why;
