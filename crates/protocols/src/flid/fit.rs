//! Fitting increase probabilities to a target curve (FLID-DL paper, appendix).

use alloc::vec;
use alloc::vec::Vec;

use super::{Model, SEPARATION, Target};
use layercast_core::math::{abs, exp, exp_m1, sqrt};

/// The inverse of the golden ratio.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// How often the search along one coordinate narrows its interval.
const NARROWINGS: u32 = 50;

/// How the distance of a rate from its target counts (FLID-DL paper, appendix: any
/// measure will do, the paper uses the first).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The square of the distance over the target rate.
    #[default]
    RelativeSquares,
    /// The square of the distance in packets/s: high rates weigh most.
    Squares,
    /// The distance in packets/s: like its square, but outliers weigh less.
    Absolute,
}

impl Objective {
    fn of(self, rate: f64, target: f64) -> f64 {
        let distance = rate - target;
        match self {
            Objective::RelativeSquares => (distance / target) * (distance / target),
            Objective::Squares => distance * distance,
            Objective::Absolute => abs(distance),
        }
    }
}

/// Loss rates with the target rates of a protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    points: Vec<(f64, f64)>,
    objective: Objective,
}

impl Goal {
    /// Points of any curve: loss rates, from 0 to 1, with rates above 0 in packets/s.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Goal {
        Goal { points: points.into_iter().collect(), objective: Objective::default() }
    }

    /// The same points by another measure.
    #[must_use]
    pub fn by(self, objective: Objective) -> Goal {
        Goal { objective, ..self }
    }

    /// `count` loss rates, at least 2, at equal distances from `low` to `high` (FLID-DL paper, appendix
    /// B: 500 from 0.001 to 0.1).
    pub fn over(target: &Target, low: f64, high: f64, count: u32) -> Goal {
        let step = (high - low) / f64::from(count.max(2) - 1);
        Goal::new((0..count.max(2)).map(|i| low + step * f64::from(i)).map(|loss| (loss, target.rate(loss))))
    }

    /// The target of the FLID-DL paper's examples.
    pub fn from_paper(target: &Target) -> Goal {
        Goal::over(target, 0.001, 0.1, 500)
    }

    /// The sum of a model's errors by the [objective](Objective). Of squared relative errors that is the
    /// paper's "normalized mean square error", which is not divided by the number of points.
    pub fn error(&self, model: &Model, increase_probabilities: &[f64]) -> f64 {
        let mean = |&(loss, _): &(f64, f64)| model.mean_rate(increase_probabilities, loss);
        self.error_of(self.points.iter().map(mean))
    }

    fn error_of(&self, rates: impl Iterator<Item = f64>) -> f64 {
        let objective = self.objective;
        let of = |((_, target), rate): (&(f64, f64), f64)| objective.of(rate, *target);
        self.points.iter().zip(rates).map(of).sum()
    }

    /// The mean error of a point from a sum of errors: for squares the root of their mean, which is
    /// relative or in packets/s; for distances their mean in packets/s.
    pub fn mean(&self, error: f64) -> f64 {
        let mean = error / self.points.len().max(1) as f64;
        match self.objective {
            Objective::RelativeSquares | Objective::Squares => sqrt(mean),
            Objective::Absolute => mean,
        }
    }
}

/// The parameters of hill climbing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Climb {
    /// The smallest distance between the increase probabilities of two levels: alpha.
    pub separation: f64,
    /// It ends when a sweep moves the probabilities by less than this, squared and summed: beta.
    pub enough: f64,
    /// The most sweeps.
    pub sweeps: u32,
}

impl Default for Climb {
    /// The values of the FLID-DL paper, Example 6; at most 400 sweeps.
    fn default() -> Climb {
        Climb { separation: SEPARATION, enough: 0.000_02, sweeps: 400 }
    }
}

/// The result of hill climbing.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The increase probabilities.
    pub increase_probabilities: Vec<f64>,
    /// Their [error](Goal::error).
    pub error: f64,
    /// How many sweeps it took.
    pub sweeps: u32,
}

/// Hill climbing (FLID-DL paper, appendix A): one probability after the other is moved between its neighbours
/// to the point of least error, until none moves any more. `start` must be
/// [separated](super::separated).
pub fn climb(model: &Model, goal: &Goal, start: &[f64], how: &Climb) -> Fitted {
    let mut climber = Climber::new(model, goal, start);
    let mut sweeps = 0;
    while sweeps < how.sweeps {
        sweeps += 1;
        if climber.sweep(how.separation) < how.enough {
            break;
        }
    }
    let increase_probabilities = climber.increase_probabilities;
    let error = goal.error(model, &increase_probabilities);
    Fitted { increase_probabilities, error, sweeps }
}

/// Weights of the levels, arranged so that one probability can be changed at a cost that does not grow with
/// the number of levels. Relative to level k, the weights above are proportional to its probability, those up
/// to k do not depend on it: the mean rate is (A + p B) / (C + p D).
struct Climber<'a> {
    model: &'a Model,
    goal: &'a Goal,
    increase_probabilities: Vec<f64>,
    /// For each level but the top and each point: the weight of level k + 1 relative to level k at probability 1.
    steps: Vec<Vec<f64>>,
    /// For each level and point: rates and weights from this level up, where its weight is 1.
    above: Vec<Vec<(f64, f64)>>,
    /// For each point: rates and weights up to the present level, where its weight is 1.
    below: Vec<(f64, f64)>,
    /// For each point: A, B, C, D of the present level.
    terms: Vec<[f64; 4]>,
}

impl<'a> Climber<'a> {
    fn new(model: &'a Model, goal: &'a Goal, start: &[f64]) -> Climber<'a> {
        let points = goal.points.len();
        let step = |level: usize, loss: f64| {
            exp(model.ln_clean(level, loss)) / -exp_m1(model.ln_clean(level + 1, loss))
        };
        let of_level = |level| goal.points.iter().map(|&(loss, _)| step(level, loss)).collect();
        Climber {
            model,
            goal,
            increase_probabilities: start.to_vec(),
            steps: (0..model.levels().saturating_sub(1)).map(of_level).collect(),
            above: vec![vec![(0.0, 0.0); points]; model.levels()],
            below: vec![(0.0, 0.0); points],
            terms: vec![[0.0; 4]; points],
        }
    }

    /// One sweep over all levels. Returns by how much the probabilities moved, squared and summed.
    fn sweep(&mut self, separation: f64) -> f64 {
        self.weigh_above();
        let mut moved = 0.0;
        let mut roof = 1.0;
        for level in 0..self.steps.len() {
            self.weigh_below(level);
            let floor = self.increase_probabilities.get(level + 1).copied().unwrap_or_default();
            let before = self.increase_probabilities[level];
            let after = self.best(floor + separation, roof - separation, before);
            self.increase_probabilities[level] = after;
            moved += (after - before) * (after - before);
            roof = after;
        }
        moved
    }

    fn weigh_above(&mut self) {
        for level in (0..self.model.levels()).rev() {
            let rate = self.model.packets_per_s[level];
            for point in 0..self.below.len() {
                let (rates, weights) = match self.above.get(level + 1) {
                    Some(above) => {
                        let step = self.increase_probabilities[level] * self.steps[level][point];
                        (step * above[point].0, step * above[point].1)
                    }
                    None => (0.0, 0.0),
                };
                self.above[level][point] = (rate + rates, 1.0 + weights);
            }
        }
    }

    /// Advances to `level`, and sets its terms.
    fn weigh_below(&mut self, level: usize) {
        let rate = self.model.packets_per_s[level];
        for (point, below) in self.below.iter_mut().enumerate() {
            let up = match level.checked_sub(1) {
                Some(lower) => {
                    let step = self.increase_probabilities[lower] * self.steps[lower][point];
                    (below.0 / step, below.1 / step)
                }
                None => (0.0, 0.0),
            };
            *below = (rate + up.0, 1.0 + up.1);
            let (step, above) = (self.steps[level][point], self.above[level + 1][point]);
            self.terms[point] = [below.0, step * above.0, below.1, step * above.1];
        }
    }

    fn error_at(&self, rise: f64) -> f64 {
        self.goal.error_of(self.terms.iter().map(|[a, b, c, d]| (a + rise * b) / (c + rise * d)))
    }

    /// The probability between two bounds with the least error, by golden section; the bounds themselves
    /// are tried too. The present one stays unless another is better.
    fn best(&self, low: f64, high: f64, now: f64) -> f64 {
        let mut best = (self.error_at(now), now);
        let mut consider = |rise: f64| {
            let error = self.error_at(rise);
            // An error that is NaN is never less.
            if error < best.0 {
                best = (error, rise);
            }
            error
        };
        if low < high {
            consider(low);
            consider(high);
            let (mut left, mut right) = (low, high);
            let (mut inner_left, mut inner_right) =
                (right - GOLDEN * (right - left), left + GOLDEN * (right - left));
            let (mut at_left, mut at_right) = (consider(inner_left), consider(inner_right));
            for _ in 0..NARROWINGS {
                if at_left < at_right {
                    (right, inner_right, at_right) = (inner_right, inner_left, at_left);
                    inner_left = right - GOLDEN * (right - left);
                    at_left = consider(inner_left);
                } else {
                    (left, inner_left, at_left) = (inner_left, inner_right, at_right);
                    inner_right = left + GOLDEN * (right - left);
                    at_right = consider(inner_right);
                }
            }
        }
        best.1
    }
}
