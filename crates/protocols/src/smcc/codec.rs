//! Reports as bytes: TFMCC's report with a first byte of its own, and the layer in the byte that is
//! reserved there.

use super::header::{HeaderError, Report};
use crate::tfmcc;

impl Report {
    /// Writes the report to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        self.tfmcc.encode_as(kind, self.layer, bytes)
    }

    /// Reads a report from the start of `bytes`. Never panics; trailing bytes are ignored.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Result<Report, HeaderError> {
        let (tfmcc, layer) = tfmcc::header::Report::decode_as(kind, bytes)?;
        Ok(Report { tfmcc, layer })
    }
}
