//! Properties that hold for any input.

mod amca;
mod equation;
mod loss;
mod nca;
mod pgmcc;
mod rates;
mod rlc;
mod sequence;
mod smcc;
mod tide;
mod webrc;
mod windows;
