//! ELM's reports as bytes; the layout is in [`header`](super::header).

use core::num::NonZeroU64;

use super::header::{HeaderError, MAX_LAYERS, REPORT_BYTES, ReceiverId, Report, WireRate};
use super::wire::{Reader, Writer};

const FLAG_HAS_RTT: u8 = 1;
const FLAG_SLOW_START: u8 = 2;
const FLAG_LEAVING: u8 = 4;
const FLAG_HEARD_BASE: u8 = 8;
const NO_LEVEL: u8 = 255;

impl Report {
    /// Writes the report to the start of `bytes` and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        const { assert!(N >= REPORT_BYTES, "no room for a report") };
        let mut to = Writer::new(bytes);
        to.u8(kind);
        encode_report(self, &mut to);
        to.written()
    }

    /// Reads a report from the start of `bytes`. Never panics; trailing bytes are not read.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Result<Report, HeaderError> {
        let mut from = Reader::new(bytes);
        match from.u8()? {
            first if first == kind => decode_report(&mut from),
            first => Err(HeaderError::Kind(first)),
        }
    }
}

fn decode_receiver(from: &mut Reader<'_>) -> Result<ReceiverId, HeaderError> {
    NonZeroU64::new(from.u64()?).map(ReceiverId).ok_or(HeaderError::Receiver)
}

fn encode_report(report: &Report, to: &mut Writer<'_>) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    to.u8(flag(report.has_rtt, FLAG_HAS_RTT)
        | flag(report.in_slow_start, FLAG_SLOW_START)
        | flag(report.leaving, FLAG_LEAVING)
        | flag(report.newest.is_some(), FLAG_HEARD_BASE));
    to.u8(report.layer_count.checked_sub(1).unwrap_or(NO_LEVEL));
    to.u8(0);
    to.u32(report.session);
    to.u64(report.receiver.0.get());
    to.u32(report.timestamp_us);
    to.u32(report.loss);
    to.u32(report.rate.0);
    to.u32(report.rtt_us);
    let (newest, age) = report.newest.unwrap_or((0, 0));
    to.u32(newest);
    to.u32(age);
}

fn decode_report(from: &mut Reader<'_>) -> Result<Report, HeaderError> {
    let flags = from.u8()?;
    let level = from.u8()?;
    let _reserved = from.u8()?;
    if level != NO_LEVEL && u16::from(level) >= MAX_LAYERS {
        return Err(HeaderError::Layer { layer: level, layer_count: MAX_LAYERS as u8 });
    }
    let report = Report {
        session: from.u32()?,
        receiver: decode_receiver(from)?,
        timestamp_us: from.u32()?,
        has_rtt: flags & FLAG_HAS_RTT != 0,
        in_slow_start: flags & FLAG_SLOW_START != 0,
        leaving: flags & FLAG_LEAVING != 0,
        layer_count: level.wrapping_add(1),
        loss: from.u32()?,
        rate: WireRate(from.u32()?),
        rtt_us: from.u32()?,
        newest: Some((from.u32()?, from.u32()?)),
    };
    let newest = report.newest.filter(|_| flags & FLAG_HEARD_BASE != 0);
    Ok(Report { newest, ..report })
}
