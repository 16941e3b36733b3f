//! How much applications send and when.

mod distribution;
mod pages;
mod player;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};

pub use self::distribution::Distribution;
pub use self::pages::PagesConfig;
use self::pages::{Pages, Response};
use self::player::Player;
pub use self::player::{PlayerConfig, PlayerCounters};

/// What the application of a TCP connection has to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Demand {
    /// Unlimited data.
    #[default]
    Endless,
    /// One transfer after another, each on a new connection.
    Transfers {
        /// The size of each in bytes on the wire, rounded up to whole packets.
        bytes: Distribution,
        /// The time from the end of one to the start of the next. `None` leaves the starts to
        /// [`Simulation::add_arrivals`](crate::Simulation::add_arrivals).
        gap_s: Option<Distribution>,
    },
    /// On and off periods over one connection: unlimited data, then none. After a pause longer than the
    /// retransmission timeout the window is no larger than the initial one (RFC 5681).
    OnOff {
        /// How long there is data, in seconds.
        on_s: Distribution,
        /// How long there is none, in seconds.
        off_s: Distribution,
    },
    /// A user who reads web pages.
    Pages(PagesConfig),
    /// A player of video segments.
    Player(PlayerConfig),
}

/// The running application of one TCP connection.
#[derive(Debug)]
pub(crate) struct Application {
    activity: Activity,
    stream: Stream,
    /// Its next timer.
    pub(crate) next: Option<Time>,
    /// When its transfer or page began, if one is in progress.
    pub(crate) began: Option<Time>,
    /// When it fell silent, while it is.
    pub(crate) silent_since: Option<Time>,
}

/// What a demand has become, with its state.
#[derive(Debug)]
enum Activity {
    Transfers { bytes: Distribution, gap_s: Option<Distribution> },
    OnOff { on_s: Distribution, off_s: Distribution },
    Pages(Pages),
    Player(Box<Player>),
}

/// What an application does next on its connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NextStep {
    /// A new connection with this many bytes.
    Transfer(f64),
    /// So many bytes more on the same connection.
    More(f64),
    /// No more data for now.
    Silence,
    /// Data again.
    Data,
}

impl Application {
    /// None for unlimited data, which needs no scheduling.
    pub(crate) fn new(demand: Demand, stream: Stream) -> Option<Box<Application>> {
        let activity = match demand {
            Demand::Endless => return None,
            Demand::Transfers { bytes, gap_s } => Activity::Transfers { bytes, gap_s },
            Demand::OnOff { on_s, off_s } => Activity::OnOff { on_s, off_s },
            Demand::Pages(config) => Activity::Pages(Pages::new(config)),
            Demand::Player(config) => Activity::Player(Box::new(Player::new(config))),
        };
        Some(Box::new(Application { activity, stream, next: None, began: None, silent_since: None }))
    }

    /// The flow starts. True if it has data at once.
    pub(crate) fn start(&mut self, now: Time) -> bool {
        match &mut self.activity {
            Activity::Transfers { gap_s, .. } => {
                self.next = gap_s.map(|_| now);
                false
            }
            Activity::OnOff { on_s, .. } => {
                self.next = Some(now + on_s.draw_duration(&mut self.stream));
                true
            }
            Activity::Pages(pages) => {
                self.next = Some(now + pages.draw_reading(&mut self.stream));
                false
            }
            Activity::Player(player) => {
                player.start(now);
                self.next = Some(now);
                false
            }
        }
    }

    /// Its timer has fired, or an arrival requests a transfer.
    pub(crate) fn next_step(&mut self, now: Time) -> NextStep {
        let response = match &mut self.activity {
            Activity::Transfers { bytes, .. } => {
                self.next = None;
                self.began = Some(now);
                return NextStep::Transfer(bytes.draw(&mut self.stream));
            }
            Activity::OnOff { on_s, off_s } => {
                let distribution = if self.silent_since.is_some() { on_s } else { off_s };
                self.next = Some(now + distribution.draw_duration(&mut self.stream));
                if self.silent_since.take().is_some() {
                    return NextStep::Data;
                }
                self.silent_since = Some(now);
                return NextStep::Silence;
            }
            Activity::Pages(pages) => {
                self.began.get_or_insert(now);
                pages.request(&mut self.stream)
            }
            Activity::Player(player) => player.request(now),
        };
        self.next = None;
        self.silent_since = None;
        match response {
            Response { bytes, on_new_connection: true } => NextStep::Transfer(bytes),
            Response { bytes, on_new_connection: false } => NextStep::More(bytes),
        }
    }

    /// The connection has delivered all data. Returns the duration of the transfer or page that this completes.
    pub(crate) fn finish(&mut self, now: Time) -> Option<Duration> {
        match &mut self.activity {
            Activity::Transfers { gap_s, .. } => {
                let took = now.since(self.began.take()?);
                if let Some(gap_s) = gap_s {
                    self.next = Some(now + gap_s.draw_duration(&mut self.stream));
                }
                Some(took)
            }
            Activity::OnOff { .. } => None,
            Activity::Pages(pages) => {
                let delivered = pages.delivered(&mut self.stream)?;
                self.silent_since = Some(now);
                self.next = Some(now + delivered.wait);
                let began = if delivered.is_last { self.began.take() } else { None };
                began.map(|began| now.since(began))
            }
            Activity::Player(player) => {
                if let Some(wait) = player.delivered(now) {
                    self.silent_since = Some(now);
                    self.next = Some(now + wait);
                }
                None
            }
        }
    }

    /// The flow stops.
    pub(crate) fn stop(&mut self, now: Time) {
        if let Activity::Player(player) = &mut self.activity {
            player.stop(now);
        }
    }

    /// What a player has played and fetched until `now`; none of other applications.
    pub(crate) fn player(&self, now: Time) -> Option<PlayerCounters> {
        match &self.activity {
            Activity::Player(player) => Some(player.counters(now)),
            _ => None,
        }
    }

    /// Whether it waits for an arrival.
    pub(crate) fn is_free(&self) -> bool {
        self.began.is_none() && self.next.is_none()
    }
}

/// Starts transfers on flows that are free.
#[derive(Debug)]
pub(crate) struct Arrivals {
    gap_s: Distribution,
    stream: Stream,
    /// The senders.
    pub(crate) agents: Vec<u32>,
    /// Arrivals that found no flow free. They wait for the next one that is.
    pub(crate) waiting: u64,
}

impl Arrivals {
    pub(crate) fn new(gap_s: Distribution, stream: Stream, agents: Vec<u32>) -> Arrivals {
        Arrivals { gap_s, stream, agents, waiting: 0 }
    }

    pub(crate) fn next(&mut self, now: Time) -> Time {
        now + self.gap_s.draw_duration(&mut self.stream)
    }
}

/// Sends packets of one size at a constant rate, continuously or with pauses, without feedback.
#[derive(Debug)]
pub struct UdpSource {
    pub(crate) size: Size,
    interval: Duration,
    /// How long it sends and how long it pauses.
    pauses: Option<(Distribution, Distribution)>,
    /// Whether the first packet waits for a random part of the interval.
    has_random_phase: bool,
    stream: Stream,
    pause_at: Time,
}

impl UdpSource {
    /// A source. With `has_random_phase` the first packet waits for a random part of the time between two.
    pub fn new(
        rate: Rate,
        size: Size,
        pauses: Option<(Distribution, Distribution)>,
        has_random_phase: bool,
        stream: Stream,
    ) -> UdpSource {
        let interval = Duration::from_secs_f64(f64::from(size.as_bytes()) / rate.as_bytes_per_s());
        // Time must pass between two packets.
        let interval = interval.max(Duration::from_ns(1));
        UdpSource { size, interval, pauses, has_random_phase, stream, pause_at: Time::MAX }
    }

    /// It starts. Returns when its first packet is due.
    pub fn start(&mut self, now: Time) -> Time {
        if let Some((on_s, _)) = self.pauses {
            self.pause_at = now + on_s.draw_duration(&mut self.stream);
        }
        if self.has_random_phase { now + self.stream.uniform_duration(self.interval) } else { now }
    }

    /// When the packet after the one sent now is due.
    pub fn next(&mut self, now: Time) -> Time {
        let mut next = now + self.interval;
        if let Some((on_s, off_s)) = self.pauses
            && next >= self.pause_at
        {
            next = next.max(self.pause_at + off_s.draw_duration(&mut self.stream));
            self.pause_at = next + on_s.draw_duration(&mut self.stream);
        }
        next
    }
}
