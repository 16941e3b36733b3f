//! Sequence numbers: a wrapping form for the wire, an unwrapped one for algorithms.

/// A 32-bit sequence number as packets carry it. It wraps, so it is not ordered: compare by
/// [`WireSeq::distance`], or unwrap it with [`WireSeq::expand`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WireSeq(pub u32);

/// An unwrapped sequence number. The only form that algorithms order and subtract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl WireSeq {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> WireSeq {
        WireSeq(self.0.wrapping_add(1))
    }

    /// The number `count` after this one.
    #[must_use]
    pub const fn plus(self, count: u32) -> WireSeq {
        WireSeq(self.0.wrapping_add(count))
    }

    /// The signed distance `self - other` in the wrapping space, in [-2^31, 2^31).
    pub const fn distance(self, other: WireSeq) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }

    /// The unwrapped number nearest to `near` that has this wire form; at least zero.
    pub fn expand(self, near: Seq) -> Seq {
        let distance = i64::from(self.distance(WireSeq(near.0 as u32)));
        Seq(near.0.saturating_add_signed(distance))
    }
}

impl Seq {
    /// The wire form.
    pub const fn wire(self) -> WireSeq {
        WireSeq(self.0 as u32)
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}
