//! FLID: the increase probability of each level, and the mean rate that follows.

use std::fmt::Write as _;
use std::path::Path;

use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::units::{Duration, Size};
use layercast_protocols::flid::{
    Climb, Goal, Model, Objective, SEPARATION, Target, climb, heuristic, separated,
};
use serde::Serialize;

use super::Written;
use super::plot::{self, Curve};
use super::three_digits;
use crate::results::ResultsError;
use crate::results::layout::table;
use crate::results::text::decimal;

/// The range of loss rates to which the increase probabilities are fitted, and its number of points
/// (FLID-DL paper, appendix B).
const FITTED: (f64, f64, u32) = (0.001, 0.1, 500);
/// The loss rates of the table.
const TOLD: [f64; 7] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
/// The number of points of a curve.
const DRAWN: u32 = 120;

/// The method that chooses the increase probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By the loss rate at which TCP would have the level's rate.
    Heuristic,
    /// The heuristic, improved by hill climbing, by this measure.
    HillClimbing(Objective),
}

/// A design request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The layers.
    pub layers: LayerTable,
    /// The size of packets on the wire.
    pub packet: Size,
    /// The slot duration.
    pub slot: Duration,
    /// The nominal round-trip time.
    pub rtt: Duration,
    /// The method that chooses the increase probabilities.
    pub by: By,
}

/// Why a design failed.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// The layers are not a valid structure.
    #[error(transparent)]
    Layers(#[from] LayerError),
    /// The slot duration, the round-trip time or the packet size is zero.
    #[error("{0} must be greater than zero")]
    Empty(&'static str),
    /// The base has too few packets.
    #[error(
        "the base layer has {per_slot:.2} packets in a slot of {slot}, and needs at least one: use a faster \
         base layer, smaller packets or longer slots"
    )]
    ThinBase {
        /// How many it has.
        per_slot: f64,
        /// The slot duration.
        slot: Duration,
    },
}

/// One level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelRow {
    /// Its number.
    pub level: u16,
    /// The rate of its layer alone, kbit/s.
    pub rate_kbps: f64,
    /// The cumulative rate, kbit/s.
    pub cumulative_kbps: f64,
    /// Packets of its layer in a slot.
    pub packets_per_slot: f64,
    /// Its increase probability: the fraction of slots in which receivers may join it.
    pub rise: f64,
}

/// The expected behaviour at one loss rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossRow {
    /// The probability that a packet is lost.
    pub loss: f64,
    /// The rate of TCP at the nominal round-trip time, kbit/s.
    pub target_kbps: f64,
    /// The mean rate of FLID, kbit/s.
    pub mean_kbps: f64,
    /// Joins per second with dynamic layers; as many leaves.
    pub joins_dynamic: f64,
    /// The same if the base layer is static.
    pub joins_static_base: f64,
    /// Joins per second with static layers; as many leaves.
    pub joins_static: f64,
}

/// A design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Design {
    /// The protocol.
    pub protocol: &'static str,
    /// The slot duration in seconds.
    pub slot_s: f64,
    /// The nominal round-trip time in seconds.
    pub rtt_s: f64,
    /// The size of packets in bytes.
    pub packet_bytes: u32,
    /// The method that chose the increase probabilities.
    pub by: &'static str,
    /// The objective that hill climbing minimised.
    pub objective: Option<&'static str>,
    /// Sweeps of hill climbing.
    pub sweeps: Option<u32>,
    /// The sum of the squared relative errors of the mean rate over the fitted loss rates.
    pub error: f64,
    /// The root of its mean.
    pub root_mean_error: f64,
    /// The root mean of the squared errors of the mean rate over the same loss rates, kbit/s.
    pub root_mean_error_kbps: f64,
    /// The mean of the absolute errors, kbit/s.
    pub mean_error_kbps: f64,
    /// The levels from the base up.
    pub levels: Vec<LevelRow>,
    /// The expected behaviour at some loss rates.
    pub losses: Vec<LossRow>,
    /// The curves of the picture.
    pub curves: Vec<LossRow>,
}

/// Makes a design.
///
/// # Errors
/// [`DesignError`] if the request is invalid.
pub fn design(request: &Request) -> Result<Design, DesignError> {
    for (what, is_empty) in [
        ("the slot", request.slot.is_zero()),
        ("the round-trip time", request.rtt.is_zero()),
        ("a packet", request.packet.as_bits() == 0),
    ] {
        if is_empty {
            return Err(DesignError::Empty(what));
        }
    }
    let table = &request.layers;
    let model = Model::new(table, request.packet, request.slot);
    let kbits = request.packet.as_bits() as f64 / 1e3;
    let levels = table.layers().map(|layer| LevelRow {
        level: layer.0,
        rate_kbps: table.rate(layer).as_kbps(),
        cumulative_kbps: table.cumulative(layer).as_kbps(),
        packets_per_slot: table.rate(layer).as_kbps() * model.slot_s / kbits,
        rise: 0.0,
    });
    let mut levels: Vec<LevelRow> = levels.collect();
    let per_slot = levels.first().map_or(0.0, |base| base.packets_per_slot);
    if per_slot < 1.0 - 1e-9 {
        return Err(DesignError::ThinBase { per_slot, slot: request.slot });
    }
    let target = Target::new(request.rtt);
    let goal = Goal::over(&target, FITTED.0, FITTED.1, FITTED.2);
    let start = heuristic(&model, &target);
    let (by, increase_probabilities, climbed) = match request.by {
        By::Heuristic => ("heuristic", start, None),
        By::HillClimbing(objective) => {
            let goal = goal.clone().by(objective);
            let fitted = climb(&model, &goal, &separated(&start, SEPARATION), &Climb::default());
            ("hill-climbing", fitted.increase_probabilities, Some((name(objective), fitted.sweeps)))
        }
    };
    for (level, &rise) in levels.iter_mut().zip(&increase_probabilities) {
        level.rise = rise;
    }
    let expected = |loss: f64| {
        let joins = model.memberships(&increase_probabilities, loss);
        LossRow {
            loss,
            target_kbps: target.rate(loss) * kbits,
            mean_kbps: model.mean_rate(&increase_probabilities, loss) * kbits,
            joins_dynamic: joins.dynamic,
            joins_static_base: joins.dynamic_above_base,
            joins_static: joins.fixed,
        }
    };
    let drawn = |step: u32| {
        let place = f64::from(step) / f64::from(DRAWN - 1);
        FITTED.0 * libm::pow(FITTED.1 / FITTED.0, place)
    };
    let mean_error = |objective: Objective| {
        let goal = goal.clone().by(objective);
        goal.mean(goal.error(&model, &increase_probabilities))
    };
    Ok(Design {
        protocol: "flid",
        slot_s: model.slot_s,
        rtt_s: request.rtt.as_secs_f64(),
        packet_bytes: request.packet.as_bytes(),
        by,
        objective: climbed.map(|(objective, _)| objective),
        sweeps: climbed.map(|(_, sweeps)| sweeps),
        error: goal.error(&model, &increase_probabilities),
        root_mean_error: mean_error(Objective::RelativeSquares),
        root_mean_error_kbps: mean_error(Objective::Squares) * kbits,
        mean_error_kbps: mean_error(Objective::Absolute) * kbits,
        levels,
        losses: TOLD.into_iter().map(expected).collect(),
        curves: (0..DRAWN).map(drawn).map(expected).collect(),
    })
}

/// The name of an objective.
fn name(objective: Objective) -> &'static str {
    match objective {
        Objective::RelativeSquares => "relative-squares",
        Objective::Squares => "squares",
        Objective::Absolute => "absolute",
    }
}

impl Design {
    /// The design as tables of text.
    #[must_use]
    pub fn table(&self) -> String {
        let level = |row: &LevelRow| {
            vec![
                row.level.to_string(),
                three_digits(row.rate_kbps),
                three_digits(row.cumulative_kbps),
                three_digits(row.packets_per_slot),
                decimal(row.rise, 4),
            ]
        };
        let loss = |row: &LossRow| {
            vec![
                format!("{} %", row.loss * 100.0),
                three_digits(row.target_kbps),
                three_digits(row.mean_kbps),
                three_digits(row.mean_kbps / row.target_kbps),
                three_digits(row.joins_dynamic),
                three_digits(row.joins_static_base),
                three_digits(row.joins_static),
            ]
        };
        let heading = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let sweeps = self.sweeps.map_or(String::new(), |sweeps| format!(", {sweeps} sweeps"));
        // The paper's objective is the default and is not named.
        let objective = self.objective.filter(|name| *name != self::name(Objective::default()));
        let objective = objective.map_or(String::new(), |name| format!(" on {name}"));
        let mut text = format!(
            "FLID · slots of {} s · round-trip time {} s · packets of {} bytes · shares by {}{objective}{sweeps}\n\n",
            self.slot_s, self.rtt_s, self.packet_bytes, self.by
        );
        text.push_str(&table(
            &heading(&["level", "layer kbit/s", "cumulative kbit/s", "packets/slot", "may rise"]),
            &self.levels.iter().map(level).collect::<Vec<_>>(),
            usize::MAX,
        ));
        text.push('\n');
        text.push_str(&table(
            &heading(&["loss", "TCP kbit/s", "FLID kbit/s", "ratio", "joins/s: DL", "static base", "SL"]),
            &self.losses.iter().map(loss).collect::<Vec<_>>(),
            usize::MAX,
        ));
        let (low, high, points) = FITTED;
        let _ = writeln!(
            text,
            "\nSquared relative error over {points} loss rates from {} % to {} %: sum {}, root mean {}\n\
             Squared error: root mean {} kbit/s · absolute error: mean {} kbit/s",
            low * 100.0,
            high * 100.0,
            decimal(self.error, 3),
            decimal(self.root_mean_error, 4),
            three_digits(self.root_mean_error_kbps),
            three_digits(self.mean_error_kbps)
        );
        text
    }

    /// Both curves over the loss rate, as SVG.
    ///
    /// # Errors
    /// [`ResultsError::Plot`].
    pub fn picture(&self) -> Result<String, ResultsError> {
        let points = |rate: fn(&LossRow) -> f64| -> Vec<(f64, f64)> {
            self.curves.iter().map(|row| (row.loss, rate(row))).collect()
        };
        let label = format!("TCP at {} ms", self.rtt_s * 1e3);
        plot::logarithmic(
            "packet loss rate",
            "rate in kbit/s",
            &[
                Curve { name: &label, points: points(|row| row.target_kbps), protocol: "tcp" },
                Curve { name: "FLID, mean", points: points(|row| row.mean_kbps), protocol: "flid-dl" },
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
    use layercast_core::units::Rate;

    fn request(by: By) -> Request {
        Request {
            layers: LayerTable::multiplicative(1.3, Rate::from_kbps(24.0), 30).unwrap(),
            packet: Size::from_bytes(1000),
            slot: Duration::from_ms(500),
            rtt: Duration::from_ms(100),
            by,
        }
    }

    #[test]
    fn hill_climbing_comes_closer_to_tcp() {
        let [heuristic, climbed] =
            [By::Heuristic, By::HillClimbing(Objective::default())].map(|by| design(&request(by)).unwrap());
        assert!((25.37..25.39).contains(&heuristic.error) && climbed.error < 17.0);
        assert!(climbed.sweeps.is_some_and(|sweeps| sweeps > 1) && heuristic.sweeps.is_none());
        let far = |design: &Design| {
            let ratio = |row: &LossRow| (row.mean_kbps / row.target_kbps - 1.0).abs();
            design.losses.iter().map(ratio).fold(0.0, f64::max)
        };
        assert!(far(&heuristic) < 0.4 && far(&climbed) < 0.4);
    }

    /// Each error measure is smallest where it was the objective.
    #[test]
    fn each_objective_is_least_in_its_own_design() {
        let objectives = [Objective::RelativeSquares, Objective::Squares, Objective::Absolute];
        let designs = objectives.map(|objective| design(&request(By::HillClimbing(objective))).unwrap());
        let errors = [
            |design: &Design| design.root_mean_error,
            |design: &Design| design.root_mean_error_kbps,
            |design: &Design| design.mean_error_kbps,
        ];
        for (own, error) in errors.into_iter().enumerate() {
            let all: Vec<f64> = designs.iter().map(error).collect();
            let others = all.iter().enumerate().filter(|(index, _)| *index != own);
            assert!(others.into_iter().all(|(_, other)| all[own] < *other), "{own}: {all:?}");
            assert!(designs[own].objective == Some(name(objectives[own])));
        }
        assert!(designs[2].table().contains("by hill-climbing on absolute"));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let thin = Request { slot: Duration::from_ms(100), ..request(By::Heuristic) };
        assert!(design(&thin).unwrap_err().to_string().contains("0.30 packets in a slot of 100 ms"));
        let nothing = Request { rtt: Duration::ZERO, ..request(By::Heuristic) };
        assert!(design(&nothing).unwrap_err().to_string().contains("the round-trip time"));
    }

    #[test]
    fn the_picture_has_both_curves_on_scales_that_double_and_tenfold() {
        let svg = design(&request(By::Heuristic)).unwrap().picture().unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
        for text in ["TCP at 100 ms", "FLID, mean", "0.01", "1000", "packet loss rate"] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg.matches("NaN").count(), 0);
    }
}
