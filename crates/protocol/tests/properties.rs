//! Properties that hold for any input.

mod properties {
    mod amca;
    mod equation;
    mod loss;
    mod rates;
    mod rlc;
    mod sequence;
    mod smcc;
    mod webrc;
}
