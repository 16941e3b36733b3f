//! The `layercast` command.

fn main() {}
