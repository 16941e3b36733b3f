//! The poll: a header extension by which a source asks some of its receivers for reception reports.
//!
//! ```text
//!          0        1        2        3
//!          +--------+--------+--------+--------+
//!        0 |  120   |   2    | number |  left  |   left: time to answer, in units of 20 ms
//!        4 |  all   |  slow  | floor           |   exponents; the floor as a share of 65535
//!          +-----------------------------------+
//! ```

use layercast_core::units::Duration;

/// The largest exponent: one of 2^24 receivers answers.
pub const EXPONENT_MAX: u8 = 24;
/// The unit of the time to answer.
const LEFT_UNIT: Duration = Duration::from_ms(20);
/// The length of the content in bytes, without type and length.
const CONTENT: usize = 6;

/// What every table packet of the base channel asks of its receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// The number of the poll, modulo 2^8. A receiver answers each at most once.
    pub number: u8,
    left: u8,
    all: u8,
    slow: u8,
    /// The share of its objects (65535 is all) below which a receiver is slow.
    pub floor: u16,
}

impl Poll {
    /// The length on the wire, with type and length.
    pub const BYTES: usize = CONTENT + 2;

    /// A poll in which a receiver answers with probability 2^-`all`, and one that has less than `floor` of its objects
    /// with probability 2^-`slow`. Exponents are cut to [`EXPONENT_MAX`], and that of slow receivers to the other one.
    pub fn new(number: u8, all: u8, slow: u8, floor: u16) -> Poll {
        let all = all.min(EXPONENT_MAX);
        Poll { number, left: 0, all, slow: slow.min(all), floor }
    }

    /// The same poll with so much time left to answer, rounded down to 20 ms and at most 5.1 s.
    #[must_use]
    pub fn with_left(self, left: Duration) -> Poll {
        let units = left.as_ns() / LEFT_UNIT.as_ns();
        Poll { left: u8::try_from(units).unwrap_or(u8::MAX), ..self }
    }

    /// The time that is left to answer.
    pub fn left(&self) -> Duration {
        LEFT_UNIT * u64::from(self.left)
    }

    /// The exponent for receivers that are not slow.
    pub fn all(&self) -> u8 {
        self.all
    }

    /// The exponent for slow receivers, never larger than that for all.
    pub fn slow(&self) -> u8 {
        self.slow
    }

    /// The exponent for a receiver that has this share of its objects.
    pub fn exponent(&self, share: u16) -> u8 {
        if share < self.floor { self.slow } else { self.all }
    }

    /// The content as bytes.
    pub(super) fn content(self) -> [u8; CONTENT] {
        let [high, low] = self.floor.to_be_bytes();
        [self.number, self.left, self.all, self.slow, high, low]
    }

    /// Reads the content; none if it is no poll: the packet is good all the same.
    pub(super) fn read(content: &[u8]) -> Option<Poll> {
        match content {
            &[number, left, all, slow, high, low] if slow <= all && all <= EXPONENT_MAX => {
                Some(Poll { number, left, all, slow, floor: u16::from_be_bytes([high, low]) })
            }
            _ => None,
        }
    }
}
