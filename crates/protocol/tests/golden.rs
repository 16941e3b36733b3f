//! Golden vectors for equations, estimators, layers, ELM, RLC, RLM, Wei and Zhang, TFRC, TFMCC and WEBRC. Every case of a group is run.

mod golden {
    mod elm;
    mod equation;
    mod layers;
    mod loss;
    mod path;
    mod rates;
    mod rlc;
    mod rlm;
    mod sequence;
    mod tfmcc;
    mod tfrc;
    mod webrc;
    mod wei_zhang;
}

const EQUATION_BASED: &str = "vectors-equation-based.json";
const JOIN_LEAVE: &str = "vectors-join-leave.json";
const ACTIVE: &str = "vectors-active-and-unicast.json";
