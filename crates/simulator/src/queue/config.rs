//! Which queue a direction of a link has, and what can be set on it.

use std::fmt;

use layercast_core::choices;
use layercast_core::option::{OptionError, OptionSet, OptionSpec, RawValue};

use super::{
    CoDelConfig, DropTailConfig, DualPi2Config, FairConfig, FqCoDelConfig, PieConfig, QueueLimit, RedConfig,
    RemConfig,
};

choices! {
    /// A kind of queue, by its name in scenario files.
    pub enum QueueKind {
        /// First in, first out; arrivals that do not fit are dropped, or the first that wait.
        DropTail = "drop-tail",
        /// Random early detection.
        Red = "red",
        /// Controlled delay.
        CoDel = "codel",
        /// Random exponential marking.
        Rem = "rem",
        /// Proportional integral controller, enhanced.
        Pie = "pie",
        /// A queue under controlled delay for each flow.
        FqCoDel = "fq-codel",
        /// Two coupled queues, for scalable and for classic senders.
        DualPi2 = "dualpi2",
        /// A queue for each flow, in turns of equal bytes.
        Fair = "fair",
    }
}

/// The queue of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out.
    DropTail(DropTailConfig),
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Random exponential marking.
    Rem(RemConfig),
    /// Proportional integral controller, enhanced.
    Pie(PieConfig),
    /// A queue under controlled delay for each flow.
    FqCoDel(FqCoDelConfig),
    /// Two coupled queues, for scalable and for classic senders.
    DualPi2(DualPi2Config),
    /// A queue for each flow, in turns of equal bytes.
    Fair(FairConfig),
}

impl QueueConfig {
    /// A queue of a kind, with its defaults.
    #[must_use]
    pub fn new(kind: QueueKind) -> QueueConfig {
        match kind {
            QueueKind::DropTail => QueueConfig::DropTail(DropTailConfig::default()),
            QueueKind::Red => QueueConfig::Red(RedConfig::default()),
            QueueKind::CoDel => QueueConfig::CoDel(CoDelConfig::default()),
            QueueKind::Rem => QueueConfig::Rem(RemConfig::default()),
            QueueKind::Pie => QueueConfig::Pie(PieConfig::default()),
            QueueKind::FqCoDel => QueueConfig::FqCoDel(FqCoDelConfig::default()),
            QueueKind::DualPi2 => QueueConfig::DualPi2(DualPi2Config::default()),
            QueueKind::Fair => QueueConfig::Fair(FairConfig::default()),
        }
    }

    /// A drop-tail queue that counts as ns-2 does.
    #[must_use]
    pub const fn drop_tail(limit: QueueLimit) -> QueueConfig {
        QueueConfig::DropTail(DropTailConfig { limit, ns2_compat: true, drop_front: false })
    }

    /// What kind of queue it is.
    #[must_use]
    pub fn kind(&self) -> QueueKind {
        match self {
            QueueConfig::DropTail(_) => QueueKind::DropTail,
            QueueConfig::Red(_) => QueueKind::Red,
            QueueConfig::CoDel(_) => QueueKind::CoDel,
            QueueConfig::Rem(_) => QueueKind::Rem,
            QueueConfig::Pie(_) => QueueKind::Pie,
            QueueConfig::FqCoDel(_) => QueueKind::FqCoDel,
            QueueConfig::DualPi2(_) => QueueKind::DualPi2,
            QueueConfig::Fair(_) => QueueKind::Fair,
        }
    }

    /// Whether it marks ECN-capable packets.
    #[must_use]
    pub fn marks(&self) -> bool {
        match self {
            QueueConfig::Red(config) => config.ecn,
            QueueConfig::CoDel(config) => config.ecn,
            QueueConfig::Rem(config) => config.ecn,
            QueueConfig::Pie(config) => config.ecn,
            QueueConfig::FqCoDel(config) => config.ecn,
            QueueConfig::DualPi2(_) => true,
            QueueConfig::DropTail(_) | QueueConfig::Fair(_) => false,
        }
    }

    /// Whether it can drop: all can but plain queues without a limit.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self, QueueConfig::DropTail(DropTailConfig { limit: QueueLimit::Unlimited, .. }))
    }

    /// How much it holds; none where that follows from the link.
    #[must_use]
    pub fn limit(&self) -> Option<QueueLimit> {
        match self {
            QueueConfig::DropTail(config) => Some(config.limit),
            QueueConfig::Red(config) => config.limit,
            QueueConfig::CoDel(config) => Some(config.limit),
            QueueConfig::Rem(config) => Some(config.limit),
            QueueConfig::Pie(config) => Some(config.limit),
            QueueConfig::FqCoDel(config) => Some(config.limit),
            QueueConfig::DualPi2(config) => config.limit,
            QueueConfig::Fair(config) => Some(config.limit),
        }
    }

    /// What can be set on it, with its own values as the defaults. A profile stands first, since it sets
    /// all others.
    #[must_use]
    pub fn option_specs(&self) -> Vec<OptionSpec> {
        let mut own = *self;
        own.options().option_specs()
    }

    /// Sets an option. A profile sets all others too.
    ///
    /// # Errors
    /// As [`Options::set`](layercast_core::option::Options::set).
    pub fn set_option(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        self.options().set_option(name, value)?;
        if let (QueueConfig::Red(config), "profile") = (self, name) {
            *config = RedConfig::new(config.profile);
        }
        Ok(())
    }

    fn options(&mut self) -> &mut dyn OptionSet {
        match self {
            QueueConfig::DropTail(config) => config,
            QueueConfig::Red(config) => config,
            QueueConfig::CoDel(config) => config,
            QueueConfig::Rem(config) => config,
            QueueConfig::Pie(config) => config,
            QueueConfig::FqCoDel(config) => config,
            QueueConfig::DualPi2(config) => config,
            QueueConfig::Fair(config) => config,
        }
    }
}

/// The kind and the limit: `drop-tail, 50 packets`.
impl fmt::Display for QueueConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())?;
        match self.option_specs().into_iter().find(|spec| spec.name == "limit") {
            Some(limit) => write!(f, ", {}", limit.default),
            None => Ok(()),
        }
    }
}

impl Default for QueueConfig {
    fn default() -> Self {
        QueueConfig::new(QueueKind::DropTail)
    }
}
