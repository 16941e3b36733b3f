//! The peak memory of a process.

/// The peak resident memory so far of a process (`self`, or its number), in bytes. None where the system
/// does not report it, or after the process has ended.
pub(crate) fn peak(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
