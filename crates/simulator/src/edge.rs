//! How an edge router handles the reports and leaves of the hosts at its node: IGMPv2 (RFC 2236), IGMPv3
//! (RFC 3376), MLDv1 (RFC 2710) and MLDv2 (RFC 3810).

use layercast_core::units::Duration;

/// What an edge router does when a host leaves a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveRule {
    /// It tracks its hosts individually and stops forwarding when the leave latency of the last host has
    /// passed.
    Latency,
    /// It queries for remaining members and stops forwarding when no query is answered (RFC 2236, section
    /// 3; RFC 3376, section 6.4.2).
    Check {
        /// The last member query interval: from one query to the next, and the longest wait of an
        /// answer.
        interval: Duration,
        /// The last member query count: the number of queries; 0 counts as 1.
        count: u32,
        /// Whether it tracks its hosts individually and queries only after the last one has left.
        tracking: bool,
    },
    /// It tracks its hosts individually and stops forwarding when the last one has left.
    Fast {
        /// The processing time of the leave.
        processing: Duration,
    },
}

/// How an edge router keeps the memberships of the hosts at its node. Several receivers at the node
/// are hosts on one local network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeConfig {
    /// What it does when a host leaves.
    pub leave: LeaveRule,
    /// The probability that a report is lost.
    pub report_loss: f64,
    /// The probability that a leave is lost.
    pub leave_loss: f64,
    /// The unsolicited report interval, after which a host repeats the report of a join.
    pub report_repeat: Duration,
    /// The robustness variable: the total number of reports of a join; 0 counts as 1.
    pub robustness: u32,
    /// From one general query to the next.
    pub query_interval: Duration,
    /// The query response interval: the longest wait of an answer to a general query.
    pub query_response: Duration,
    /// The maximum number of channels, over all sessions; no limit if absent.
    pub group_limit: Option<u32>,
}

impl EdgeConfig {
    /// The group membership interval: how long an edge keeps a host that has stopped reporting (RFC 3376,
    /// section 8.4).
    #[must_use]
    pub fn membership_interval(&self) -> Duration {
        self.query_interval * u64::from(self.robustness.max(1)) + self.query_response
    }

    /// The last member query time: the duration of a check without an answer (RFC 3376, section 8.8); none
    /// without a check.
    #[must_use]
    pub fn last_member_query_time(&self) -> Option<Duration> {
        match self.leave {
            LeaveRule::Check { interval, count, .. } => Some(interval * u64::from(count.max(1))),
            LeaveRule::Latency | LeaveRule::Fast { .. } => None,
        }
    }
}

impl Default for EdgeConfig {
    /// No losses, no limit, the leave latencies of the receivers, and the timers of IGMPv2.
    fn default() -> EdgeConfig {
        EdgeConfig { leave: LeaveRule::Latency, ..QuerierProfile::IgmpV2.config() }
    }
}

/// A protocol between hosts and their edge router, which decides defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuerierProfile {
    /// RFC 2236, section 8.
    IgmpV2,
    /// RFC 3376, section 8.
    IgmpV3,
    /// RFC 2710, section 7.
    MldV1,
    /// RFC 3810, section 9.
    MldV2,
}

impl QuerierProfile {
    /// All of them.
    pub const ALL: [QuerierProfile; 4] =
        [QuerierProfile::IgmpV2, QuerierProfile::IgmpV3, QuerierProfile::MldV1, QuerierProfile::MldV2];

    /// Its name in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            QuerierProfile::IgmpV2 => "igmpv2",
            QuerierProfile::IgmpV3 => "igmpv3",
            QuerierProfile::MldV1 => "mldv1",
            QuerierProfile::MldV2 => "mldv2",
        }
    }

    /// The profile of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<QuerierProfile> {
        QuerierProfile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Whether a router can track its hosts individually. In the older versions a host suppresses its
    /// report when another host has reported.
    #[must_use]
    pub fn can_track(self) -> bool {
        matches!(self, QuerierProfile::IgmpV3 | QuerierProfile::MldV2)
    }

    /// The defaults of the RFC, without tracking, losses and limit.
    #[must_use]
    pub fn config(self) -> EdgeConfig {
        let second = Duration::from_secs(1);
        EdgeConfig {
            leave: LeaveRule::Check { interval: second, count: 2, tracking: false },
            report_loss: 0.0,
            leave_loss: 0.0,
            report_repeat: if self.can_track() { second } else { Duration::from_secs(10) },
            robustness: 2,
            query_interval: Duration::from_secs(125),
            query_response: Duration::from_secs(10),
            group_limit: None,
        }
    }
}

/// The state of an edge router. All sessions share it.
#[derive(Debug)]
pub(crate) struct EdgeRouter {
    pub(crate) config: EdgeConfig,
    /// How many channels it keeps.
    pub(crate) groups: u32,
}

impl EdgeRouter {
    /// Whether it cannot accept another channel.
    pub(crate) fn is_full(&self) -> bool {
        self.config.group_limit.is_some_and(|limit| self.groups >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_testkit::golden;

    #[test]
    fn golden_last_member_query_time() {
        let case = golden::vector("vectors-join-leave.json", "IG-01");
        let pairs = case.input["pairs"].as_array().unwrap();
        let times: Vec<f64> = pairs
            .iter()
            .map(|pair| {
                let pair = golden::numbers(pair);
                let (interval, count) = (Duration::from_secs_f64(pair[0]), pair[1] as u32);
                let leave = LeaveRule::Check { interval, count, tracking: false };
                let config = EdgeConfig { leave, ..EdgeConfig::default() };
                config.last_member_query_time().unwrap().as_secs_f64()
            })
            .collect();
        case.check_list("LMQT", &times, &case.expected["LMQT"]);
    }

    #[test]
    fn profiles_have_the_defaults_of_their_rfcs() {
        for profile in QuerierProfile::ALL {
            let config = profile.config();
            assert_eq!(config.last_member_query_time(), Some(Duration::from_secs(2)));
            assert_eq!(config.membership_interval(), Duration::from_secs(260));
            assert_eq!(QuerierProfile::named(profile.name()), Some(profile));
        }
        let repeats = QuerierProfile::ALL.map(|profile| profile.config().report_repeat.as_secs_f64());
        assert_eq!(repeats, [10.0, 1.0, 10.0, 1.0]);
        assert_eq!(EdgeConfig::default().last_member_query_time(), None);
    }
}
