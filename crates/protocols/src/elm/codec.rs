//! ELM's headers as bytes; the layout is in [`header`](super::header).

use core::num::NonZeroU64;

use super::header::{
    Base, Data, Echo, Header, HeaderError, MAX_HEADER, MAX_LAYERS, ReceiverId, Report, TableEntry, WireRate,
};
use super::wire::{Reader, Writer};
use layercast_core::units::WireSeq;

const VERSION: u8 = 1;
const TYPE_DATA: u8 = 1;
const TYPE_REPORT: u8 = 2;
const FLAG_ECHO: u8 = 1;
const FLAG_END: u8 = 2;
const FLAG_HAS_RTT: u8 = 1;
const FLAG_SLOW_START: u8 = 2;
const FLAG_LEAVING: u8 = 4;
const FLAG_HEARD_BASE: u8 = 8;
const NO_LEVEL: u8 = 255;

impl Header {
    /// Writes the header to the start of `bytes` and returns its length.
    pub fn encode(&self, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let mut to = Writer::new(bytes);
        match self {
            Header::Data(data) => encode_data(data, &mut to),
            Header::Report(report) => encode_report(report, &mut to),
        }
        to.written()
    }

    /// Reads a header from the start of `bytes`; returns it and its length. Never panics.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(bytes: &[u8]) -> Result<(Header, usize), HeaderError> {
        let mut from = Reader::new(bytes);
        let first = from.u8()?;
        if first >> 4 != VERSION {
            return Err(HeaderError::Version(first >> 4));
        }
        let header = match first & 15 {
            TYPE_DATA => Header::Data(decode_data(&mut from)?),
            TYPE_REPORT => Header::Report(decode_report(&mut from)?),
            kind => return Err(HeaderError::Type(kind)),
        };
        Ok((header, from.taken()))
    }
}

fn encode_data(data: &Data, to: &mut Writer<'_>) {
    let echo = data.base.and_then(|base| base.echo);
    to.u8(VERSION << 4 | TYPE_DATA);
    to.u8(if echo.is_some() { FLAG_ECHO } else { 0 } | if data.end_of_session { FLAG_END } else { 0 });
    to.u8(data.layer);
    to.u8(data.layer_count);
    to.u32(data.session);
    to.u32(data.seq.0);
    to.u32(data.timestamp_us);
    let Some(base) = data.base else { return };
    to.u32(base.feedback_interval_ms);
    to.u32(u32::from(base.entry.layer) << 24);
    to.u32(base.entry.rate.0);
    let Some(echo) = base.echo else { return };
    to.u64(echo.receiver.0.get());
    to.u32(echo.timestamp_us);
    to.u32(echo.hold_us);
}

fn decode_data(from: &mut Reader<'_>) -> Result<Data, HeaderError> {
    let flags = from.u8()?;
    let (layer, layer_count) = (from.u8()?, from.u8()?);
    let mut data = Data {
        session: from.u32()?,
        layer,
        layer_count,
        end_of_session: flags & FLAG_END != 0,
        seq: WireSeq(from.u32()?),
        timestamp_us: from.u32()?,
        base: None,
    };
    let has_echo = flags & FLAG_ECHO != 0;
    if layer == 0 {
        let feedback_interval_ms = from.u32()?;
        let entry = TableEntry { layer: (from.u32()? >> 24) as u8, rate: WireRate(from.u32()?) };
        let echo = if has_echo { Some(decode_echo(from)?) } else { None };
        data.base = Some(Base { feedback_interval_ms, entry, echo });
    } else if has_echo {
        return Err(HeaderError::MisplacedEcho);
    }
    data.check()?;
    Ok(data)
}

fn decode_echo(from: &mut Reader<'_>) -> Result<Echo, HeaderError> {
    Ok(Echo { receiver: decode_receiver(from)?, timestamp_us: from.u32()?, hold_us: from.u32()? })
}

fn decode_receiver(from: &mut Reader<'_>) -> Result<ReceiverId, HeaderError> {
    NonZeroU64::new(from.u64()?).map(ReceiverId).ok_or(HeaderError::Receiver)
}

fn encode_report(report: &Report, to: &mut Writer<'_>) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    to.u8(VERSION << 4 | TYPE_REPORT);
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
