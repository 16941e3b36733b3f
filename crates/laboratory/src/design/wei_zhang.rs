//! Wei and Zhang: the tau_0 and base rate that give receivers the rate of a TCP with a round-trip time.

use std::path::Path;

use layercast_core::units::{Duration, Rate};
use layercast_protocols::wei_zhang::theory::{Aim, Design as Choice, Structure, design as choose, place};
use serde::Serialize;

use super::Written;
use super::plot::{self, Curve};
use super::three_digits;
use crate::results::ResultsError;
use crate::results::layout::table;
use crate::results::text::decimal;

/// The numbers m of base packets in each tau_0 that are compared.
const COMPARED: [u32; 9] = [1, 2, 3, 4, 6, 8, 16, 32, 64];
/// The most steps of the base rate that a climb to the share should have (this project's choice).
const MOST_STEPS: f64 = 30.0;
/// The loss event rates of the table.
const TOLD: [f64; 7] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05];
/// The range of loss event rates of the curves, and in how many points they are drawn.
const DRAWN: (f64, f64, u32) = (0.0001, 0.1, 240);

/// A design request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The path, the packets and the structure of the layers.
    pub aim: Aim,
    /// m, packets of the base layer in each tau_0; by default the fewest that suffice.
    pub packets: Option<u32>,
    /// The deaf period: one that hides points of layer 1 does not suit.
    pub deaf: Duration,
}

/// Why a design failed.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// A duration, a rate or a number is zero.
    #[error("{0} must be above zero")]
    Empty(&'static str),
    /// The share of time is not between 0 and 1.
    #[error("the share of time on the upper level must be from 0 to 1, not {0}")]
    Share(f64),
    /// The fastest receiver is slower than the expected rate.
    #[error("the fastest receiver's rate, {fastest}, must not be below the expected one, {share}")]
    Fastest {
        /// The fastest receiver's rate.
        fastest: Rate,
        /// The expected rate.
        share: Rate,
    },
    /// None of the compared numbers of packets suits.
    #[error(
        "no number of base packets in each tau_0 up to {0} suits: the climb is too long or the deaf period \
         hides points of layer 1; choose one with --packets"
    )]
    NoneSuits(u32),
}

/// The result of one number of base packets in each tau_0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChoiceRow {
    /// m, packets of the base layer in each tau_0.
    pub packets: u32,
    /// tau_0 in seconds.
    pub base_interval_s: f64,
    /// The rate of the base layer, kbit/s.
    pub base_kbps: f64,
    /// K'.
    pub scale: f64,
    /// The lower of the levels that the share lies between.
    pub level: u32,
    /// Layers up to the fastest receiver's rate.
    pub layers: u32,
    /// How long the climb from the base to the share takes, in seconds.
    pub climb_s: f64,
    /// The spacing of the points of layer 1, in seconds.
    pub first_spacing_s: f64,
    /// Whether the climb has few enough steps.
    pub climbs: bool,
    /// Whether points of layer 1 are further apart than the deaf period.
    pub hears: bool,
}

/// The expected behaviour at one loss event rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossRow {
    /// Loss events per packet.
    pub loss_event_rate: f64,
    /// The rate of the TCP, kbit/s.
    pub target_kbps: f64,
    /// The mean rate of a receiver, kbit/s.
    pub mean_kbps: f64,
    /// The lower of the levels between which it is.
    pub level: u32,
    /// The share of time on the upper one.
    pub upper_share: f64,
}

/// A design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Design {
    /// The protocol.
    pub protocol: &'static str,
    /// "linear" or "exponential".
    pub structure: &'static str,
    /// The round-trip time of the TCP, in seconds.
    pub rtt_s: f64,
    /// The TCP constant c.
    pub tcp_constant: f64,
    /// The size of packets in bytes.
    pub packet_bytes: u32,
    /// The rate that a receiver is expected to get, kbit/s.
    pub share_kbps: f64,
    /// The share of time on the upper level from which K' is computed.
    pub upper_share: f64,
    /// The deaf period in seconds.
    pub deaf_s: f64,
    /// The chosen row.
    pub chosen: ChoiceRow,
    /// The rows compared.
    pub choices: Vec<ChoiceRow>,
    /// The expected behaviour of the chosen row at some loss event rates.
    pub losses: Vec<LossRow>,
    /// The curves of the picture.
    pub curves: Vec<LossRow>,
}

/// Makes a design.
///
/// # Errors
/// [`DesignError`] if the request is invalid.
pub fn design(request: &Request) -> Result<Design, DesignError> {
    check(request)?;
    let aim = &request.aim;
    let row = |packets| row(request, &choose(aim, packets));
    let choices = COMPARED.map(row).to_vec();
    let suits = |row: &&ChoiceRow| row.climbs && row.hears;
    let chosen = match request.packets {
        Some(packets) => row(packets),
        None => *choices.iter().find(suits).ok_or(DesignError::NoneSuits(COMPARED[COMPARED.len() - 1]))?,
    };
    let kbits = aim.packet_size.as_bits() as f64 / 1e3;
    let top = aim.structure.multiple(chosen.layers.saturating_sub(1));
    let expected = |loss_event_rate: f64| {
        let place = place(aim.structure, f64::from(chosen.packets), loss_event_rate);
        LossRow {
            loss_event_rate,
            target_kbps: aim.tcp_constant / libm::sqrt(loss_event_rate) * kbits / aim.rtt.as_secs_f64(),
            mean_kbps: place.multiple.min(top) * chosen.base_kbps,
            level: place.level,
            upper_share: place.upper_share,
        }
    };
    let drawn = |step: u32| {
        let (low, high, points) = DRAWN;
        expected(low * libm::pow(high / low, f64::from(step) / f64::from(points - 1)))
    };
    Ok(Design {
        protocol: "wei-zhang",
        structure: match aim.structure {
            Structure::Linear => "linear",
            Structure::Exponential => "exponential",
        },
        rtt_s: aim.rtt.as_secs_f64(),
        tcp_constant: aim.tcp_constant,
        packet_bytes: aim.packet_size.as_bytes(),
        share_kbps: aim.share.as_kbps(),
        upper_share: aim.upper_share,
        deaf_s: request.deaf.as_secs_f64(),
        chosen,
        choices,
        losses: TOLD.into_iter().map(expected).collect(),
        curves: (0..DRAWN.2).map(drawn).collect(),
    })
}

fn check(request: &Request) -> Result<(), DesignError> {
    let aim = &request.aim;
    let is_positive = |value: f64| value.is_finite() && value > 0.0;
    for (what, is_given) in [
        ("the round-trip time", !aim.rtt.is_zero()),
        ("the size of packets", aim.packet_size.as_bits() > 0),
        ("the expected rate", is_positive(aim.share.as_kbps())),
        ("the TCP constant", is_positive(aim.tcp_constant)),
        ("the number of base packets in each tau_0", request.packets != Some(0)),
    ] {
        if !is_given {
            return Err(DesignError::Empty(what));
        }
    }
    if !(0.0..=1.0).contains(&aim.upper_share) {
        return Err(DesignError::Share(aim.upper_share));
    }
    if aim.fastest < aim.share {
        return Err(DesignError::Fastest { fastest: aim.fastest, share: aim.share });
    }
    Ok(())
}

fn row(request: &Request, choice: &Choice) -> ChoiceRow {
    let interval_s = choice.base_interval.as_secs_f64();
    // The rate grows by B_0 in each tau_0, whatever the structure.
    let steps = request.aim.share.as_kbps() / choice.base_rate.as_kbps();
    let first_spacing_s = 2.0 * interval_s;
    ChoiceRow {
        packets: choice.packets,
        base_interval_s: interval_s,
        base_kbps: choice.base_rate.as_kbps(),
        scale: choice.scale,
        level: choice.level,
        layers: choice.layers,
        climb_s: steps * interval_s,
        first_spacing_s,
        climbs: steps <= MOST_STEPS,
        hears: first_spacing_s > request.deaf.as_secs_f64(),
    }
}

impl ChoiceRow {
    /// Whether the row is suitable, and if not, why.
    fn verdict(&self) -> &'static str {
        match (self.climbs, self.hears) {
            (true, true) => "yes",
            (false, true) => "no: long climb",
            (true, false) => "no: deaf to points",
            (false, false) => "no: long climb, deaf to points",
        }
    }
}

impl Design {
    /// The design as tables of text.
    #[must_use]
    pub fn table(&self) -> String {
        let choice = |row: &ChoiceRow| {
            vec![
                row.packets.to_string(),
                three_digits(row.base_interval_s * 1e3),
                three_digits(row.base_kbps),
                decimal(row.scale, 3),
                format!("{}–{}", row.level, row.level + 1),
                row.layers.to_string(),
                decimal(row.climb_s, 2),
                row.verdict().to_owned(),
            ]
        };
        let loss = |row: &LossRow| {
            vec![
                format!("{} %", row.loss_event_rate * 100.0),
                three_digits(row.target_kbps),
                three_digits(row.mean_kbps),
                three_digits(row.mean_kbps / row.target_kbps),
                format!("{}–{}", row.level, row.level + 1),
                decimal(row.upper_share, 2),
            ]
        };
        let heading = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let mut text = format!(
            "Wei and Zhang · {} layers · TCP with a round-trip time of {} s and c = {} · packets of {} bytes · {} \
             kbit/s expected\n\n",
            self.structure,
            self.rtt_s,
            decimal(self.tcp_constant, 3),
            self.packet_bytes,
            three_digits(self.share_kbps)
        );
        text.push_str(&table(
            &heading(&["m", "tau_0 ms", "B_0 kbit/s", "K'", "levels", "layers", "climb s", "suits"]),
            &self.choices.iter().map(choice).collect::<Vec<_>>(),
            usize::MAX,
        ));
        text.push_str(&format!(
            "\nChosen: m = {}, tau_0 = {} ms, B_0 = {} kbit/s, {} layers\n\n",
            self.chosen.packets,
            three_digits(self.chosen.base_interval_s * 1e3),
            three_digits(self.chosen.base_kbps),
            self.chosen.layers
        ));
        text.push_str(&table(
            &heading(&["loss events", "TCP kbit/s", "mean kbit/s", "ratio", "levels", "on upper"]),
            &self.losses.iter().map(loss).collect::<Vec<_>>(),
            usize::MAX,
        ));
        text
    }

    /// Both curves over the loss event rate, as SVG.
    ///
    /// # Errors
    /// [`ResultsError::Plot`].
    pub fn picture(&self) -> Result<String, ResultsError> {
        let points = |rate: fn(&LossRow) -> f64| -> Vec<(f64, f64)> {
            self.curves.iter().map(|row| (row.loss_event_rate, rate(row))).collect()
        };
        let tcp = format!("TCP at {} ms", three_digits(self.rtt_s * 1e3));
        let own = format!("{} layers, mean", self.structure);
        plot::logarithmic(
            "loss event rate",
            "rate in kbit/s",
            &[
                Curve { name: &tcp, points: points(|row| row.target_kbps), protocol: "tcp" },
                Curve { name: &own, points: points(|row| row.mean_kbps), protocol: "wei-zhang" },
            ],
        )
    }

    /// Writes `design.json` and `design.svg` into a directory.
    ///
    /// # Errors
    /// [`ResultsError`] if a file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<Written, ResultsError> {
        super::write(directory, self, &self.picture()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Size;

    fn request(structure: Structure) -> Request {
        let aim = Aim {
            structure,
            rtt: Duration::from_ms(100),
            tcp_constant: libm::sqrt(1.5),
            packet_size: Size::from_bytes(1000),
            share: Rate::from_kbps(1875.0),
            fastest: Rate::from_kbps(15_000.0),
            upper_share: 0.5,
        };
        Request { aim, packets: None, deaf: Duration::from_ms(100) }
    }

    #[test]
    fn the_mean_rate_follows_tcp() {
        for structure in [Structure::Linear, Structure::Exponential] {
            let design = design(&request(structure)).unwrap();
            assert!(design.chosen.climbs && design.chosen.hears, "{:?}", design.chosen);
            let ratios =
                design.losses.iter().filter(|row| row.level > 0 && row.level + 2 < design.chosen.layers);
            let ratios: Vec<f64> = ratios.map(|row| row.mean_kbps / row.target_kbps).collect();
            assert!(ratios.len() >= 4, "{structure:?}: {ratios:?}");
            assert!(ratios.iter().all(|ratio| (0.7..1.43).contains(ratio)), "{structure:?}: {ratios:?}");
        }
    }

    #[test]
    fn the_least_number_of_packets_that_suits_is_chosen() {
        let design_with = |change: fn(&mut Request)| {
            let mut request = request(Structure::Linear);
            change(&mut request);
            design(&request)
        };
        let of = |change| design_with(change).unwrap().chosen.packets;
        assert_eq!(of(|_| ()), 1);
        // Points of layer 1 are 160 ms apart then.
        assert_eq!(of(|request| request.deaf = Duration::from_ms(200)), 2);
        // One packet makes steps of 98 kbit/s: too many of them up to this rate.
        let fast = |request: &mut Request| {
            (request.aim.share, request.aim.fastest) = (Rate::from_kbps(4000.0), Rate::from_kbps(5000.0));
        };
        assert_eq!(of(fast), 2);
        assert_eq!(of(|request| request.packets = Some(5)), 5);
        let nothing = design_with(|request| request.deaf = Duration::from_secs(60)).unwrap_err().to_string();
        assert!(nothing.contains("up to 64 suits"), "{nothing}");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = |change: fn(&mut Request)| {
            let mut request = request(Structure::Linear);
            change(&mut request);
            design(&request).unwrap_err().to_string()
        };
        assert!(error(|request| request.aim.rtt = Duration::ZERO).contains("the round-trip time"));
        assert!(error(|request| request.packets = Some(0)).contains("base packets"));
        assert!(error(|request| request.aim.upper_share = 1.5).contains("from 0 to 1, not 1.5"));
        assert!(error(|request| request.aim.fastest = Rate::from_kbps(1.0)).contains("must not be below"));
    }

    #[test]
    fn the_picture_has_a_staircase_beside_tcp() {
        let svg = design(&request(Structure::Exponential)).unwrap().picture().unwrap();
        for text in ["TCP at 100 ms", "exponential layers, mean", "loss event rate"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN"));
    }
}
