//! How a table of a scenario file is described: the one list that the reader, the schema, the
//! override paths and the documentation come from.

use layercast_core::option::OptionSpec;

use super::nearest::nearest;

/// A kind of table.
#[derive(Debug)]
pub struct TableSpec {
    /// Its name in documentation and schema.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// How it may look where a value is expected.
    pub example: &'static str,
    /// The key whose value decides what the other keys mean, if there is one. A table that states
    /// another choice than its defaults takes nothing else from them.
    pub choice: Option<&'static str>,
    /// Its keys that are options of what it describes, if there are such.
    pub options: Option<fn() -> &'static [Field]>,
    /// Its other keys.
    pub fields: &'static [Field],
}

/// A key of a table.
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// What it takes.
    pub kind: FieldKind,
    /// What it means.
    pub doc: &'static str,
    /// What happens if it is absent.
    pub absent: Absent,
}

/// What happens if a key is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It must be given.
    Required,
    /// This value holds, written as in a file but without quotes.
    Default(&'static str),
    /// Described in words.
    Means(&'static str),
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// Text that is not empty.
    Text,
    /// A whole number of up to 63 bits.
    Seed,
    /// A whole number of at least and at most this.
    Count(u32, u32),
    /// `true` or `false`.
    Flag,
    /// A length of time, or a time since the start of the run.
    Duration,
    /// A length of time above zero.
    Period,
    /// A length of time, or a range that it is drawn from.
    Draw,
    /// A rate above zero.
    Rate,
    /// A list of rates, rising.
    Rates,
    /// A number above 1.
    Factor,
    /// The size of a packet.
    Size,
    /// An amount of data above zero.
    DataSize,
    /// A probability of loss, or one for each direction.
    Loss,
    /// The probability of loss in one direction, or a model of it.
    DirectionLoss,
    /// A probability below 1.
    Probability,
    /// A probability that may be 1.
    Chance,
    /// A number above 0 and up to 1.
    Share,
    /// A number above 0.
    Positive,
    /// A list of numbers above 0.
    Positives,
    /// Numbers of packets.
    Arrivals,
    /// A size, or a distribution that it is drawn from.
    SizeDistribution,
    /// A time, or a distribution that it is drawn from.
    TimeDistribution,
    /// The two ends of a range of spans.
    Range,
    /// A list of measurement windows.
    Windows,
    /// The name of a node.
    Node,
    /// A list of nodes.
    Nodes,
    /// A list of nodes that may be empty.
    NodesOrNone,
    /// A node or a list of nodes.
    NodeOrNodes,
    /// A list of nodes, or `all` or `none` of those that there are.
    Routers,
    /// A protocol of the catalogue.
    Protocol,
    /// One of a few names.
    Choice(&'static [&'static str]),
    /// Options of a protocol.
    Options,
    /// A list of texts.
    Texts,
    /// A list of texts that may be empty.
    TextsOrNone,
    /// Two numbers with those between them.
    Band,
    /// Lists of flows under names.
    Groups,
    /// A number of a paper.
    PaperValue,
    /// What a probe looks at.
    Subject,
    /// What a probe keeps.
    Quantities,
    /// Stretches of time, rising and without overlap.
    Outages,
    /// A list of tables.
    TableList(&'static TableSpec),
    /// An option of what the table describes, as its choices declare it; at least one does.
    Option(&'static [OptionOf]),
    /// The variables of a template.
    Each,
    /// Tables under names, with variables.
    Templates,
    /// A table.
    Table(&'static TableSpec),
    /// Tables under names.
    Tables(&'static TableSpec),
}

/// An option as one choice of a table declares it, such as one kind of queue.
#[derive(Debug)]
pub struct OptionOf {
    /// The choice; none if the table has none.
    pub choice: Option<&'static str>,
    /// The profile whose default it shows, if the choice has profiles.
    pub profile: Option<&'static str>,
    /// The declaration.
    pub spec: OptionSpec,
}

/// The table form of a range that a value is drawn from.
pub const UNIFORM: TableSpec = TableSpec {
    name: "draw",
    doc: "A value drawn in each replication, or as often as its key says.",
    example: "{ uniform = [\"5 ms\", \"6 ms\"] }",
    choice: None,
    options: None,
    fields: &[Field {
        key: "uniform",
        kind: FieldKind::Range,
        doc: "The two ends of the range; every value between them is equally likely.",
        absent: Absent::Required,
    }],
};

/// The table form of a link's loss.
pub const LOSS: TableSpec = TableSpec {
    name: "loss",
    doc: "Losses of each direction other than the queue's.",
    example: "{ forward = 0.01, backward = 0.0 }",
    choice: None,
    options: None,
    fields: &[
        Field {
            key: "forward",
            kind: FieldKind::DirectionLoss,
            doc: "From the first node of the link's name to the second.",
            absent: Absent::Default("0"),
        },
        Field {
            key: "backward",
            kind: FieldKind::DirectionLoss,
            doc: "From the second node to the first.",
            absent: Absent::Default("0"),
        },
    ],
};

impl TableSpec {
    /// The description of a key.
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.key == key)
    }

    /// All keys with their descriptions, in order.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().chain(self.options.map_or(&[][..], |options| options()))
    }

    /// The known key most like another one.
    pub fn nearest(&self, key: &str) -> Option<String> {
        nearest(key, self.keys())
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields().map(|field| field.key)
    }
}

impl Field {
    /// The default, if there is one that can be written.
    pub fn default(&self) -> Option<&'static str> {
        match self.absent {
            Absent::Default(text) => Some(text),
            Absent::Required | Absent::Means(_) => None,
        }
    }
}

impl FieldKind {
    /// What it takes, in words.
    pub fn describe(&self) -> String {
        let words = match self {
            FieldKind::Text => "text that is not empty",
            FieldKind::Seed => "a whole number, not negative",
            FieldKind::Count(least, u32::MAX) => return format!("a whole number of at least {least}"),
            FieldKind::Count(least, most) => return format!("a whole number from {least} to {most}"),
            FieldKind::Flag => "true or false",
            FieldKind::Duration => "a time such as \"250 ms\" or \"10 s\"",
            FieldKind::Period => "a time above zero, such as \"1 s\"",
            FieldKind::Draw => {
                "a time such as \"10 s\", or a range such as { uniform = [\"0 s\", \"20 s\"] }"
            }
            FieldKind::Rate => "a rate above zero, such as \"100 Mbit/s\"",
            FieldKind::Rates => "a list of rising rates, such as [\"128 kbit/s\", \"256 kbit/s\"]",
            FieldKind::Factor => "a number above 1",
            FieldKind::Size => "a size above zero, such as \"1000 bytes\"",
            FieldKind::DataSize => "a size above zero, such as \"700 MB\" or \"2 GB\"",
            FieldKind::Loss => "a number from 0 to below 1, or { forward = 0.01, backward = 0.0 }",
            FieldKind::DirectionLoss => {
                "a number from 0 to below 1, or a model such as { model = \"periodic\", period = 100 }"
            }
            FieldKind::Probability => "a number from 0 to below 1",
            FieldKind::Chance => "a number from 0 to 1",
            FieldKind::Share => "a number above 0 and up to 1",
            FieldKind::Positive => "a number above 0",
            FieldKind::Positives => "a list of numbers above 0, such as [0.8, 0.9, 1.1]",
            FieldKind::Arrivals => "a list of whole numbers, such as [10, 11, 40]",
            FieldKind::SizeDistribution => {
                "a size such as \"20 kB\", or a distribution such as { distribution = \"exponential\", mean = \"20 kB\" }"
            }
            FieldKind::TimeDistribution => {
                "a time above zero such as \"1 s\", or a distribution such as { distribution = \"exponential\", mean = \"1 s\" }"
            }
            FieldKind::Range => "two times, such as [\"0 s\", \"20 s\"]",
            FieldKind::Windows => "a list such as [[\"30 s\", \"end\"], [\"10 s\", \"300 s\"]]",
            FieldKind::Node => "the name of a node",
            FieldKind::Nodes => "a list of nodes, such as [\"R1\", \"R2\"]",
            FieldKind::NodesOrNone => "a list of nodes, such as [\"R1\", \"R2\"], or []",
            FieldKind::NodeOrNodes => "a node such as \"R1\", or a list of nodes",
            FieldKind::Each => "a table such as { site = \"01..30\", rate = [\"5 Mbit/s\", \"8 Mbit/s\"] }",
            FieldKind::Templates => "tables under names, with `{variable}` in names and texts",
            FieldKind::Routers => "\"all\", \"none\" or a list of nodes, such as [\"A\", \"B\"]",
            FieldKind::Protocol => "the name of a protocol",
            FieldKind::Choice(names) => return format!("one of {}", quoted(names.iter().copied())),
            FieldKind::Options => "a table of options, such as { strategy = \"lazy\" }",
            FieldKind::Texts => "a list of texts, such as [\"duration=60 s\"]",
            FieldKind::TextsOrNone => "a list of texts, such as [\"duration=60 s\"], or []",
            FieldKind::Band => "two numbers, the lower first, such as [0.7, 1.4], or \"any\" for no bound",
            FieldKind::Groups => {
                "lists of flows under names, such as \"R1/elm\" = [\"elm@R1\", \"tcp-*@R1\"]"
            }
            FieldKind::PaperValue => "a number, or text such as \"about 430\", \"< 10\" or \"> 300\"",
            FieldKind::Subject => "a link or a flow, such as \"link G1-G2\" or \"flow elm@R1\"",
            FieldKind::Quantities => "a list of quantities, such as [\"queue_packets\", \"queue_bytes\"]",
            FieldKind::Outages => {
                "a list of rising times without overlap, such as [[\"10 s\", \"12 s\"], [\"20 s\", \"21 s\"]]"
            }
            FieldKind::Option(choices) => {
                let mut takes: Vec<String> = Vec::new();
                for words in choices.iter().map(|option| option.spec.takes()) {
                    if !takes.contains(&words) {
                        takes.push(words);
                    }
                }
                return takes.join("; ");
            }
            FieldKind::TableList(spec) => return format!("a list such as [{}]", spec.example),
            FieldKind::Table(spec) => return format!("a table such as {}", spec.example),
            FieldKind::Tables(spec) => return format!("tables under names, each such as {}", spec.example),
        };
        words.to_owned()
    }
}

/// Names in quotes, with commas between.
pub(super) fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    quoted.join(", ")
}

/// Keys, and the options of a protocol behind them. Many options are shown by a command instead.
pub(super) fn quoted_options<'a>(
    keys: impl Iterator<Item = &'a str>,
    protocol: &str,
    options: &[&'a str],
) -> String {
    const MOST: usize = 20;
    if options.len() <= MOST {
        return quoted(keys.chain(options.iter().copied()));
    }
    let keys = quoted(keys);
    let and = if keys.is_empty() { "" } else { ", and " };
    format!("{keys}{and}the {} options that `layercast list {protocol}` shows", options.len())
}
