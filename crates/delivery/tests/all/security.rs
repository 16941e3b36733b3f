//! Keys, signatures and protected packets: what is authentic is accepted, and nothing else.

mod keys;
mod protection;
mod signed;
mod vectors;

/// Bytes from hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}
