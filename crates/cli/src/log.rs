//! What the libraries report besides their results.

use std::fmt;
use std::io;

use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::output::complain;

/// Writes warnings to standard error, in words for the user. `LAYERCAST_LOG` asks for the
/// developer's log in its place, by level and module, such as `layercast_transport=debug`.
pub(crate) fn start() {
    let log = tracing_subscriber::fmt().with_writer(|| Lines);
    match EnvFilter::try_from_env("LAYERCAST_LOG") {
        Ok(filter) => log.with_env_filter(filter).init(),
        Err(_) => log.with_env_filter(EnvFilter::new("warn")).event_format(Warning).init(),
    }
}

/// Where lines go, each by itself.
struct Lines;

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        complain(String::from_utf8_lossy(line).trim_end_matches('\n'));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line without time, level and module.
struct Warning;

impl<S, N> FormatEvent<S, N> for Warning
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        write!(writer, "warning: ")?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
