//! Writes the stub of the native part to standard output: `stubs LIBRARY`, the library as Cargo built it.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use pyo3_introspection::{introspect_cdylib, module_stub_files};

fn main() -> Result<()> {
    let library = std::env::args_os().nth(1).context("usage: stubs LIBRARY")?;
    let module = introspect_cdylib(library, "_layercast")?;
    let stubs = module_stub_files(&module);
    let stub = stubs.get(Path::new("__init__.pyi")).context("the library has no description of itself")?;
    Ok(std::io::stdout().write_all(stub.as_bytes())?)
}
