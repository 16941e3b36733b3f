//! Reads links, and finds nodes and ways between them.

use std::collections::BTreeMap;

use layercast_core::units::{Duration, Rate};

use super::compound::Loss;
use super::context::Context;
use super::defaults::merge;
use super::queues::read_queue;
use super::table::TableReader;
use super::values::Named;
use super::variation::{read_trace, read_variations};
use crate::scenario::default_queue::default_queue;
use crate::scenario::naming::matches;
use crate::scenario::nearest::nearest;
use crate::scenario::plan::{
    Draw, LinkDirection, LinkPlan, LinkVariation, LossModel, LossPlace, QueueLimit, QueuePlan,
};
use crate::scenario::problems::Problem;
use crate::scenario::tables::{LINK, QUEUE};
use crate::scenario::tree::{self, Entry, Node};

/// Nodes and links.
#[derive(Debug, Default)]
pub(super) struct Topology {
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkPlan>,
    /// The position of each node.
    positions: BTreeMap<String, usize>,
    /// The link between two nodes, the lower one first.
    between: BTreeMap<(usize, usize), usize>,
    /// The link that results call so, in either direction.
    shown: BTreeMap<String, usize>,
    /// Another node of the same connected part; a node that is its own stands for its part.
    parents: Vec<usize>,
    /// Names of links without readable nodes.
    malformed: Vec<String>,
}

impl Topology {
    /// Reads all links.
    pub(super) fn read(
        root: &TableReader<'_>,
        defaults: Option<&Node>,
        context: &mut Context<'_>,
    ) -> Topology {
        let mut topology = Topology::default();
        for entry in root.entries("links", context) {
            topology.read_link(entry, defaults, context);
        }
        topology
    }

    fn read_link(&mut self, entry: &Entry, defaults: Option<&Node>, context: &mut Context<'_>) {
        let node = merge(&entry.node, defaults, &LINK);
        let plan = TableReader::open(&node, &LINK, context).and_then(|link| read_link(&link, context));
        let Some((from, to)) = read_ends(entry, &node, context) else {
            self.malformed.push(entry.key.clone());
            return;
        };
        let (from, to) = (from.as_str(), to.as_str());
        let (from_index, to_index) = (self.index(from), self.index(to));
        let pair = (from_index.min(to_index), from_index.max(to_index));
        let doubled = self.between.get(&pair).and_then(|link| self.links.get(*link));
        let shown = [format!("{from}-{to}"), format!("{to}-{from}")];
        let taken = shown.iter().find_map(|name| self.shown.get(name)).and_then(|link| self.links.get(*link));
        let message = match doubled.or(taken) {
            Some(link) if doubled.is_none() => format!(
                "results would call this link `{from}-{to}`, as they call `{}`; rename a node",
                link.name
            ),
            Some(link) => format!("there is a link between `{from}` and `{to}` already: `{}`", link.name),
            None if from_index == to_index => "a link goes from one node to another".to_owned(),
            None => String::new(),
        };
        if !message.is_empty() {
            context.problems.push(Problem::at(entry.key_at, &entry.node.path, message));
            return;
        }
        let (forward, backward, shared_delay) = plan.unwrap_or((NOWHERE, NOWHERE, true));
        let name = entry.key.clone();
        self.between.insert(pair, self.links.len());
        self.shown.extend(shown.map(|name| (name, self.links.len())));
        let (one, other) = (self.part(from_index), self.part(to_index));
        // Files go from the source outward, so this way round the ways to the top stay short.
        if let Some(parent) = self.parents.get_mut(other) {
            *parent = one;
        }
        self.links.push(LinkPlan { name, from: from_index, to: to_index, forward, backward, shared_delay });
    }

    fn index(&mut self, name: &str) -> usize {
        if let Some(index) = self.positions.get(name) {
            return *index;
        }
        let index = self.nodes.len();
        self.nodes.push(name.to_owned());
        self.positions.insert(name.to_owned(), index);
        self.parents.push(index);
        index
    }

    /// The node that stands for the connected part that a node is in.
    fn part(&self, mut node: usize) -> usize {
        while let Some(&parent) = self.parents.get(node).filter(|parent| **parent != node) {
            node = parent;
        }
        node
    }

    /// The node of a name; reports an unknown one.
    pub(super) fn find(&self, name: &Named, context: &mut Context<'_>) -> Option<usize> {
        let found = self.positions.get(&name.text).copied();
        // A link whose name is wrong has been reported; that its nodes are unknown follows from that.
        if found.is_none() && !self.malformed.iter().any(|link| link.contains(&name.text)) {
            let nodes = || self.nodes.iter().map(String::as_str);
            let nearest = if context.problems.are_many() { None } else { nearest(&name.text, nodes()) };
            let problem = Problem::of(&name.node, format!("there is no node `{}`", name.text));
            context.problems.push(problem.allowed(self.known_nodes()).nearest(nearest));
        }
        found
    }

    /// The nodes that a name means: one, or all but `source` that fit a pattern. None of them is unknown
    /// without a report.
    pub(super) fn find_all(
        &self,
        name: &Named,
        source: Option<usize>,
        context: &mut Context<'_>,
    ) -> Vec<Option<usize>> {
        if !name.text.contains('*') {
            return vec![self.find(name, context)];
        }
        let fits = |&(index, node): &(usize, &String)| Some(index) != source && matches(&name.text, node);
        let found: Vec<_> =
            self.nodes.iter().enumerate().filter(fits).map(|(index, _)| Some(index)).collect();
        if found.is_empty() && self.malformed.is_empty() {
            let problem = Problem::of(&name.node, format!("no node fits `{}`", name.text));
            context.problems.push(problem.allowed(self.known_nodes()));
        }
        found
    }

    /// What is allowed where a node is named.
    fn known_nodes(&self) -> String {
        const MOST: usize = 40;
        let shown = self.nodes.get(..MOST).unwrap_or(&self.nodes).join(", ");
        let more = if self.nodes.len() > MOST { ", ..." } else { "" };
        match self.nodes.is_empty() {
            true => "a node that a link mentions".to_owned(),
            false => format!("a node that a link mentions: {shown}{more}"),
        }
    }

    /// Tells if `name` cannot be reached from `from`, or is `from` itself.
    pub(super) fn check_way(
        &self,
        from: Option<usize>,
        to: Option<usize>,
        name: &Named,
        context: &mut Context<'_>,
    ) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let message = if from == to {
            "a flow goes from one node to another, but both ends are here"
        } else if self.malformed.is_empty() && self.part(from) != self.part(to) {
            "no links lead here from the source"
        } else {
            return;
        };
        context.problems.push(Problem::of(&name.node, message));
    }
}

/// What stands for a direction that could not be read; the scenario is refused then.
const NOWHERE: LinkDirection = LinkDirection {
    rate: Rate::ZERO,
    delay: Draw::Fixed(Duration::ZERO),
    queue: QueuePlan::drop_tail(QueueLimit::Unlimited),
    default_queue: false,
    loss: LossModel::None,
    loss_place: LossPlace::BeforeQueue,
    loss_marks: false,
    variation: LinkVariation {
        changes: Vec::new(),
        repeat: None,
        avoid_reordering: false,
        trace: None,
        outages: Vec::new(),
        flushes_queue: false,
    },
};

fn is_node_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The ends that a link's name shows: it has one dash.
fn named_ends(name: &str) -> Option<(&str, &str)> {
    name.split_once('-').filter(|(from, to)| is_node_name(from) && is_node_name(to) && !to.contains('-'))
}

/// The ends of a link: what its name shows, or `from` and `to`. `node` is the link with its defaults.
fn read_ends(entry: &Entry, node: &Node, context: &mut Context<'_>) -> Option<(String, String)> {
    let shown = named_ends(&entry.key);
    let gives_ends = ["from", "to"].iter().any(|key| entry.node.get(key).is_some());
    if let Some((from, to)) = shown.filter(|_| !gives_ends) {
        return Some((from.to_owned(), to.to_owned()));
    }
    let end = |key: &str| node.get(key).and_then(Node::text).filter(|name| is_node_name(name));
    let (message, allowed) = match (end("from"), end("to")) {
        (Some(from), Some(to)) if shown.is_none_or(|shown| shown == (from, to)) => {
            return Some((from.to_owned(), to.to_owned()));
        }
        (Some(_), Some(_)) => (
            "`from` and `to` are not the ends that the link's name shows",
            "the same ends, or a name without a dash",
        ),
        _ if gives_ends => (
            "the link needs both of its ends",
            "`from` and `to`, each a node of letters, digits, `_`, `.` and `-`",
        ),
        _ if entry.key.matches('-').count() > 1 => (
            "the name of this link has more than one dash",
            "two nodes with one dash between, or `from` and `to` for nodes with dashes, such as { from = \"rack-1\", to = \"core\" }",
        ),
        _ => (
            "this is not the name of a link",
            "two different nodes with a dash between, such as `G2-R1`; nodes are letters, digits, `_` and `.`, and `-` with `from` and `to`",
        ),
    };
    context.problems.push(Problem::at(entry.key_at, &entry.node.path, message).allowed(allowed));
    None
}

/// Tells that a link whose forward direction has a trace has nothing for the other.
fn missing_backward(link: &TableReader<'_>, context: &mut Context<'_>) {
    let path = tree::join(&link.own().path, "rate_backward");
    let message = "`rate_backward` is missing: `trace` is the direction of the link's name alone";
    let problem = Problem::at(link.own().at, &path, message);
    context.problems.push(problem.allowed("`rate_backward = \"2 Mbit/s\"`, or `trace_backward`"));
}

fn read_link(
    link: &TableReader<'_>,
    context: &mut Context<'_>,
) -> Option<(LinkDirection, LinkDirection, bool)> {
    let trace = read_trace(link, "trace", context);
    let trace_backward = read_trace(link, "trace_backward", context);
    // With traces there may be nothing left that needs a rate.
    let needs_rate = link.node("trace").is_none()
        || (link.node("trace_backward").is_none() && link.node("rate_backward").is_none());
    let rate: Option<Rate> = if link.node("rate").is_none() && link.node("trace").is_some() && needs_rate {
        missing_backward(link, context);
        None
    } else if needs_rate || link.node("rate").is_some() {
        link.get("rate", context)
    } else {
        Some(Rate::ZERO)
    };
    let delay = link.get("delay", context);
    let loss: Option<Loss> = link.get("loss", context);
    let own_rate = link.get("rate_backward", context);
    let own_delay = link.get("delay_backward", context);
    let queue = read_queue(link.node("queue"), context);
    let queue_backward = match (link.node("queue_backward"), link.node("queue")) {
        (Some(own), both) => read_queue(Some(&merge(own, both, &QUEUE)), context),
        (None, _) => queue,
    };
    let (variation, variation_backward) = read_variations(link, trace, trace_backward, context);
    let (rate, delay, loss) = (rate?, delay?, loss?);
    let mean = |variation: &LinkVariation| variation.trace.as_ref().map(|trace| trace.mean_rate());
    let forward_rate = mean(&variation).unwrap_or(rate);
    let backward_rate = mean(&variation_backward).or(own_rate).unwrap_or(rate);
    let (queue, queue_backward) = (queue?, queue_backward?);
    let forward = LinkDirection {
        rate: forward_rate,
        delay,
        default_queue: queue.is_none(),
        queue: queue.unwrap_or_else(|| default_queue(forward_rate)),
        loss: loss.forward.model,
        loss_place: loss.forward.place,
        loss_marks: loss.forward.marks,
        variation,
    };
    let backward = LinkDirection {
        rate: backward_rate,
        delay: own_delay.unwrap_or(delay),
        default_queue: queue_backward.is_none(),
        queue: queue_backward.unwrap_or_else(|| default_queue(backward_rate)),
        loss: loss.backward.model,
        loss_place: loss.backward.place,
        loss_marks: loss.backward.marks,
        variation: variation_backward,
    };
    Some((forward, backward, own_delay.is_none()))
}
