//! Values that may be plain or a small table: draws and losses.

use layercast_core::units::Duration;
use layercast_simulator::{
    GilbertElliott, LengthDistribution, LossKind, LossUnit, PeriodicLoss, TwoStateLoss,
};

use super::context::Context;
use super::table::TableReader;
use super::values::{Read, list, number, parsed};
use crate::scenario::field::{FieldKind, LOSS, UNIFORM, quoted};
use crate::scenario::plan::{Draw, LossModel, LossPlace};
use crate::scenario::problems::Problem;
use crate::scenario::renamed::is_renamed;
use crate::scenario::tables::LOSS_MODEL;
use crate::scenario::tree::{Node, Value};

/// The loss of a link in both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Loss {
    pub(super) forward: DirectionLoss,
    pub(super) backward: DirectionLoss,
}

/// The loss in one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectionLoss {
    pub(super) model: LossModel,
    pub(super) place: LossPlace,
    pub(super) marks: bool,
}

impl Read for Draw<Duration> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Draw<Duration>> {
        if !matches!(node.value, Value::Table(_)) {
            return parsed(node, kind, context, |_: &Duration| true).map(Draw::Fixed);
        }
        let table = TableReader::open(node, &UNIFORM, context)?;
        table.get::<(Duration, Duration)>("uniform", context).map(|(low, high)| Draw::Uniform { low, high })
    }
}

impl Read for Loss {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Loss> {
        if !matches!(node.value, Value::Table(_)) {
            let forward = plain_loss(node, kind, context)?;
            return Some(Loss { forward, backward: DirectionLoss::default() });
        }
        let table = TableReader::open(node, &LOSS, context)?;
        let (forward, backward) = (table.get("forward", context), table.get("backward", context));
        Some(Loss { forward: forward?, backward: backward? })
    }
}

/// A plain number: losses that are independent of each other, before the queue.
fn plain_loss(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<DirectionLoss> {
    let probability = number(node, kind, context, |loss| (0.0..1.0).contains(&loss))?;
    let model = if probability > 0.0 { LossModel::Bernoulli(probability) } else { LossModel::None };
    Some(DirectionLoss { model, ..DirectionLoss::default() })
}

impl Read for DirectionLoss {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<DirectionLoss> {
        if !matches!(node.value, Value::Table(_)) {
            return plain_loss(node, kind, context);
        }
        let table = TableReader::open(node, &LOSS_MODEL, context)?;
        let place: Option<LossPlace> = table.choice("place", context);
        let marks: Option<bool> = table.get("mark", context);
        let model = loss_model(node, &table, context);
        Some(DirectionLoss { model: model?, place: place?, marks: marks? })
    }
}

fn loss_model(node: &Node, table: &TableReader<'_>, context: &mut Context<'_>) -> Option<LossModel> {
    let kind: LossKind = table.choice("model", context)?;
    let keys: &[&str] = match kind {
        LossKind::Bernoulli | LossKind::BernoulliPerByte => &["probability"],
        LossKind::GilbertElliott => &["to_bad", "to_good", "bad_loss", "good_loss"],
        LossKind::TwoState => &["good_length", "bad_length", "unit", "distribution", "ns2_compat"],
        LossKind::Periodic => &["period", "offset", "burst"],
        LossKind::List => &["packets"],
    };
    check_keys(node, kind.name(), &["model", "place", "mark"], keys, context);
    match kind {
        LossKind::Bernoulli => needed(table, "probability", context).map(LossModel::Bernoulli),
        LossKind::BernoulliPerByte => needed(table, "probability", context).map(LossModel::BernoulliPerByte),
        LossKind::GilbertElliott => {
            let (to_bad, to_good) = (needed(table, "to_bad", context), needed(table, "to_good", context));
            let (bad_loss, good_loss) = (table.get("bad_loss", context), table.get("good_loss", context));
            Some(LossModel::GilbertElliott(GilbertElliott {
                to_bad: to_bad?,
                to_good: to_good?,
                bad_loss: bad_loss?,
                good_loss: good_loss?,
            }))
        }
        LossKind::TwoState => {
            let (good, bad) = (needed(table, "good_length", context), needed(table, "bad_length", context));
            let unit: Option<LossUnit> = table.choice("unit", context);
            let distribution: Option<LengthDistribution> = table.choice("distribution", context);
            Some(LossModel::TwoState(TwoStateLoss {
                unit: unit?,
                distribution: distribution?,
                good: good?,
                bad: bad?,
                ns2_compat: table.get("ns2_compat", context)?,
            }))
        }
        LossKind::Periodic => {
            let period: Option<u32> = needed(table, "period", context);
            let (offset, burst): (Option<u32>, Option<u32>) =
                (table.get("offset", context), table.get("burst", context));
            let (period, offset, burst) = (period?.into(), offset?.into(), burst?.into());
            Some(LossModel::Periodic(PeriodicLoss { period, offset, burst }))
        }
        LossKind::List => needed(table, "packets", context).map(LossModel::List),
    }
}

/// A value that a model cannot do without, though others can.
pub(super) fn needed<T: Read>(table: &TableReader<'_>, key: &str, context: &mut Context<'_>) -> Option<T> {
    if table.node(key).is_none() {
        table.missing(key, context);
    }
    table.get(key, context)
}

/// Tells the keys that the choice of a table does not use: a key without effect misleads.
pub(super) fn check_keys(
    node: &Node,
    choice: &str,
    always: &[&'static str],
    own: &[&'static str],
    context: &mut Context<'_>,
) {
    // A renamed key has been answered with its new name.
    let known = |key: &str| always.contains(&key) || own.contains(&key) || is_renamed(key);
    for entry in node.entries().iter().filter(|entry| !known(&entry.key)) {
        let message = format!("`{choice}` does not use `{}`", entry.key);
        let problem = Problem::at(entry.key_at, &entry.node.path, message);
        context.problems.push(problem.allowed(quoted(always.iter().chain(own).copied())));
    }
}

impl Read for Vec<u64> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Vec<u64>> {
        let items = list(node, kind, context)?;
        let numbers: Vec<Option<u64>> = items.iter().map(|item| u64::read(item, kind, context)).collect();
        numbers.into_iter().collect()
    }
}
