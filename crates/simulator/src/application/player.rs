//! A player of video in segments, which chooses the rate of each by what is in its buffer: BBA-0 of Huang, Johari,
//! McKeown, Trunnell and Watson, "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, section 4, algorithm 1.
//!
//! As for web pages, the sender is the server, and the acknowledgement of a segment stands for the request for the
//! next. The player fetches one segment after another, and waits while there is no room for one.

use layercast_core::units::{Duration, Rate, Time};

use super::pages::Response;

/// What a player plays, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerConfig {
    /// How long a segment plays.
    pub segment: Duration,
    /// The rates that there are, rising; at least one.
    pub ladder: Vec<Rate>,
    /// With less than this in the buffer the lowest rate is chosen.
    pub reservoir: Duration,
    /// Over how much more in the buffer the rate rises to the highest.
    pub cushion: Duration,
    /// The most that the buffer holds.
    pub buffer: Duration,
    /// Playing begins, and goes on after a stall, with this much in the buffer.
    pub startup: Duration,
}

/// What a player has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerCounters {
    /// How long it has played.
    pub played: Duration,
    /// How long it has stood still after playing had begun.
    pub stalled: Duration,
    /// How often.
    pub stalls: u64,
    /// From its start until playing began; none if it has not.
    pub startup: Option<Duration>,
    /// How long what it has fetched plays.
    pub fetched: Duration,
    /// The bytes of that.
    pub fetched_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not started, or stopped.
    Off,
    /// Waits for enough to begin.
    Starting,
    Playing,
    Stalled,
}

/// A player.
#[derive(Debug)]
pub(super) struct Player {
    config: PlayerConfig,
    /// The place in the ladder of the last segment.
    rung: usize,
    is_fetching: bool,
    has_connection: bool,
    playback: Playback,
}

/// What changes with time alone.
#[derive(Clone, Copy, Debug)]
struct Playback {
    state: State,
    started: Time,
    /// The time of what follows.
    now: Time,
    /// What is in the buffer.
    buffered: Duration,
    counters: PlayerCounters,
}

impl Playback {
    /// Lets time pass.
    fn advance(&mut self, now: Time) {
        let passed = now.since(self.now);
        self.now = now;
        match self.state {
            State::Off | State::Starting => {}
            State::Stalled => self.counters.stalled += passed,
            State::Playing => {
                let played = passed.min(self.buffered);
                self.buffered = self.buffered.saturating_sub(played);
                self.counters.played += played;
                if passed > played {
                    self.counters.stalled += passed.saturating_sub(played);
                    self.counters.stalls += 1;
                    self.state = State::Stalled;
                }
            }
        }
    }

    /// Begins to play, or goes on.
    fn play(&mut self) {
        if self.state == State::Starting {
            self.counters.startup = Some(self.now.since(self.started));
        }
        self.state = State::Playing;
    }
}

impl Player {
    pub(super) fn new(config: PlayerConfig) -> Player {
        let playback = Playback {
            state: State::Off,
            started: Time::ZERO,
            now: Time::ZERO,
            buffered: Duration::ZERO,
            counters: PlayerCounters::default(),
        };
        Player { config, rung: 0, is_fetching: false, has_connection: false, playback }
    }

    pub(super) fn start(&mut self, now: Time) {
        (self.playback.started, self.playback.now) = (now, now);
        self.playback.state = State::Starting;
    }

    pub(super) fn stop(&mut self, now: Time) {
        self.playback.advance(now);
        self.playback.state = State::Off;
    }

    /// What it has done until `now`.
    pub(super) fn counters(&self, now: Time) -> PlayerCounters {
        let mut playback = self.playback;
        playback.advance(now);
        playback.counters
    }

    /// The next segment.
    pub(super) fn request(&mut self, now: Time) -> Response {
        self.playback.advance(now);
        self.rung = next_rung(&self.config, self.rung, self.playback.buffered);
        self.is_fetching = true;
        let on_new_connection = !self.has_connection;
        self.has_connection = true;
        Response { bytes: self.segment_bytes(), on_new_connection }
    }

    /// A segment was delivered: the time to the next request. None if none was on its way.
    pub(super) fn delivered(&mut self, now: Time) -> Option<Duration> {
        if !std::mem::take(&mut self.is_fetching) {
            return None;
        }
        let bytes = self.segment_bytes();
        let config = &self.config;
        let playback = &mut self.playback;
        playback.advance(now);
        playback.buffered += config.segment;
        playback.counters.fetched += config.segment;
        playback.counters.fetched_bytes += bytes as u64;
        // What is there once there is room for another segment.
        let excess = (playback.buffered + config.segment).saturating_sub(config.buffer);
        let waits = matches!(playback.state, State::Starting | State::Stalled);
        if waits && (playback.buffered >= config.startup || !excess.is_zero()) {
            playback.play();
        }
        Some(excess)
    }

    fn segment_bytes(&self) -> f64 {
        let rate = self.config.ladder.get(self.rung).copied().unwrap_or(Rate::ZERO);
        (rate.as_bytes_per_s() * self.config.segment.as_secs_f64()).ceil()
    }
}

/// The place in the ladder of the next segment (algorithm 1): the last one's, unless the rate that the map allows
/// has reached the next rung up or down.
fn next_rung(config: &PlayerConfig, last: usize, buffered: Duration) -> usize {
    let ladder = &config.ladder;
    let top = ladder.len().saturating_sub(1);
    if buffered <= config.reservoir {
        return 0;
    }
    if buffered >= config.reservoir + config.cushion {
        return top;
    }
    let bps = |rung: usize| ladder.get(rung).map_or(0.0, |rate| rate.as_bps());
    let allowed = allowed_bps(config, buffered);
    let (up, down) = ((last + 1).min(top), last.saturating_sub(1));
    if allowed >= bps(up) {
        // The highest below what is allowed.
        (0..=top).rev().find(|&rung| bps(rung) < allowed).unwrap_or(0)
    } else if allowed <= bps(down) {
        // The lowest above it.
        (0..=top).find(|&rung| bps(rung) > allowed).unwrap_or(top)
    } else {
        last
    }
}

/// The rate that a buffer allows: the map f of the paper, linear over the cushion.
fn allowed_bps(config: &PlayerConfig, buffered: Duration) -> f64 {
    let ends = config.ladder.first().zip(config.ladder.last());
    let (low, high) = ends.map_or((0.0, 0.0), |(low, high)| (low.as_bps(), high.as_bps()));
    let into = buffered.saturating_sub(config.reservoir).as_secs_f64();
    let share = into / config.cushion.as_secs_f64().max(f64::MIN_POSITIVE);
    low + (high - low) * share.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rates, 10 s of reservoir and 30 s of cushion: the map rises by 100 kbit/s in each second.
    fn config() -> PlayerConfig {
        PlayerConfig {
            segment: Duration::from_secs(4),
            ladder: [1000, 2000, 3000, 4000].map(|kbps| Rate::from_bps(f64::from(kbps) * 1e3)).to_vec(),
            reservoir: Duration::from_secs(10),
            cushion: Duration::from_secs(30),
            buffer: Duration::from_secs(44),
            startup: Duration::from_secs(8),
        }
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn the_rate_follows_the_buffer_as_in_algorithm_1() {
        let rung = |last: usize, buffered: u64| next_rung(&config(), last, Duration::from_secs(buffered));
        // In the reservoir and above the cushion the last rate does not matter.
        assert_eq!([0, 3, 10].map(|buffered| rung(3, buffered)), [0, 0, 0]);
        assert_eq!([40, 44].map(|buffered| rung(0, buffered)), [3, 3]);
        // f(19 s) = 1900, below the next rate up: it stays. f(20 s) = 2000 reaches it, and the highest below f is
        // 1000; f(21 s) = 2100 gives 2000.
        assert_eq!([19, 20, 21].map(|buffered| rung(0, buffered)), [0, 0, 1]);
        // From 1000 at once to 3000 with f(35 s) = 3500.
        assert_eq!(rung(0, 35), 2);
        // Downwards: from 3000, f(21 s) = 2100 is above the next rate down, so it stays; f(20 s) = 2000 is not, and
        // the lowest above it is 3000; f(15 s) = 1500 gives 2000.
        assert_eq!([21, 20, 15].map(|buffered| rung(2, buffered)), [2, 2, 1]);
        // f(11 s) = 1100 from the top: the lowest above is 2000.
        assert_eq!(rung(3, 11), 1);
    }

    #[test]
    fn it_starts_plays_stalls_and_goes_on() {
        let mut player = Player::new(config());
        player.start(at(0));
        let fetch = |player: &mut Player, from: u64, to: u64| {
            player.request(at(from));
            player.delivered(at(to))
        };
        assert_eq!(fetch(&mut player, 0, 3), Some(Duration::ZERO));
        assert_eq!(
            player.counters(at(5)),
            PlayerCounters { fetched: Duration::from_secs(4), fetched_bytes: 500_000, ..Default::default() }
        );
        // 8 s are in the buffer at 6 s; they last until 14 s.
        fetch(&mut player, 3, 6);
        let playing = player.counters(at(10));
        assert_eq!((playing.startup, playing.played), (Some(Duration::from_secs(6)), Duration::from_secs(4)));
        let stalled = player.counters(at(20));
        assert_eq!((stalled.played, stalled.stalled), (Duration::from_secs(8), Duration::from_secs(6)));
        // One segment is not enough to go on, two are.
        fetch(&mut player, 6, 20);
        fetch(&mut player, 20, 22);
        let on = player.counters(at(25));
        assert_eq!((on.played, on.stalled), (Duration::from_secs(11), Duration::from_secs(8)));
        assert_eq!((on.stalls, on.fetched), (1, Duration::from_secs(16)));
        player.stop(at(25));
        assert_eq!(player.counters(at(100)), on, "what stopped neither plays nor stalls");
        assert_eq!(player.delivered(at(26)), None, "nothing is on its way");
    }

    #[test]
    fn it_waits_while_its_buffer_is_full() {
        let mut player = Player::new(config());
        player.start(at(0));
        // Playing begins at 8 s; with 40 s there is no room left but for one segment.
        let waits: Vec<Duration> = (0..11)
            .map(|_| {
                player.request(at(0));
                player.delivered(at(0)).unwrap()
            })
            .collect();
        assert_eq!(waits[..10], [Duration::ZERO; 10]);
        assert_eq!(waits[10], Duration::from_secs(4), "44 s, and the limit is 44 s");
        player.request(at(4));
        assert_eq!(player.segment_bytes(), 2_000_000.0, "40 s in the buffer allow the highest rate");
    }

    /// A start-up that the buffer cannot hold would never end.
    #[test]
    fn a_full_buffer_starts_playing() {
        let mut player = Player::new(PlayerConfig {
            startup: Duration::from_secs(7),
            buffer: Duration::from_secs(7),
            ..config()
        });
        player.start(at(0));
        player.request(at(0));
        assert_eq!(player.delivered(at(1)), Some(Duration::from_secs(1)));
        assert_eq!(player.counters(at(1)).startup, Some(Duration::from_secs(1)));
    }
}
