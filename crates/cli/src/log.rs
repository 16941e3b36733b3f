//! What the libraries report besides their results.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes warnings to standard error, in words for the user. `LAYERCAST_LOG` asks for the
/// developer's log in its place, by level and module, such as `layercast_transport=debug`.
pub(crate) fn start() {
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr);
    match EnvFilter::try_from_env("LAYERCAST_LOG") {
        Ok(filter) => log.with_env_filter(filter).init(),
        Err(_) => log.with_env_filter(EnvFilter::new("warn")).event_format(Warning).init(),
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
