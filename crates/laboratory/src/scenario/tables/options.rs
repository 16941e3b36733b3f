//! Keys that are declared as options: those of queues, of TCPs and of the traffic library.

use layercast_core::option::{OptionSet as _, OptionSpec};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{QueueConfig, QueueKind, RedConfig, RedProfile};

use crate::results::TrafficKind;
use crate::scenario::field::{Absent, Field, FieldKind, OptionOf};
use crate::scenario::library::LibraryOptions;

/// The options of one choice of a table, with the defaults of one profile.
#[derive(Clone, Debug)]
pub struct OptionGroup {
    /// The choice, such as a kind of queue; none if the table has none.
    pub choice: Option<&'static str>,
    /// The profile, if there are several.
    pub profile: Option<&'static str>,
    /// The options.
    pub specs: Vec<OptionSpec>,
}

/// The kinds of queues.
pub const QUEUES: &[&str] = &QueueKind::NAMES;

/// The kinds of traffic of the library.
pub const TRAFFIC: &[&str] = &TrafficKind::NAMES;

/// The options of a kind of queue, of traffic or of a TCP, for each of its profiles; none if there is no such name.
pub fn named(name: &str) -> Option<Vec<OptionGroup>> {
    let queue = QueueKind::named(name).map(queue_options);
    let traffic = || TrafficKind::named(name).map(|kind| vec![library_options(kind)]);
    queue.or_else(traffic).or_else(|| TcpVariant::named(name).map(|_| tcp_options()))
}

/// The options of a kind of queue, for each of its profiles.
pub(super) fn queue_options(kind: QueueKind) -> Vec<OptionGroup> {
    let group = |profile, queue: QueueConfig| OptionGroup {
        choice: Some(kind.name()),
        profile,
        specs: queue.option_specs(),
    };
    match kind {
        QueueKind::Red => {
            let red = |profile: RedProfile| QueueConfig::Red(RedConfig::new(profile));
            RedProfile::ALL.into_iter().map(|profile| group(Some(profile.name()), red(profile))).collect()
        }
        _ => vec![group(None, QueueConfig::new(kind))],
    }
}

/// The options of a TCP, for each profile. All variants have the same.
pub(super) fn tcp_options() -> Vec<OptionGroup> {
    let group = |profile: TcpProfile| OptionGroup {
        choice: None,
        profile: Some(profile.name()),
        specs: TcpOptions::new(TcpVariant::Sack, profile).option_specs(),
    };
    TcpProfile::ALL.into_iter().map(group).collect()
}

/// The options of a kind of traffic of the library.
pub(super) fn library_options(kind: TrafficKind) -> OptionGroup {
    OptionGroup { choice: Some(kind.name()), profile: None, specs: LibraryOptions::new(kind).option_specs() }
}

/// One key for all options of a name. It is made once and kept for good.
pub(super) fn fields(groups: impl IntoIterator<Item = OptionGroup>) -> Vec<Field> {
    let mut keys: Vec<(&'static str, Vec<OptionOf>)> = Vec::new();
    for OptionGroup { choice, profile, specs } in groups {
        for spec in specs {
            let (name, option) = (spec.name, OptionOf { choice, profile, spec });
            match keys.iter_mut().find(|(key, _)| *key == name) {
                Some((_, options)) => options.push(option),
                None => keys.push((name, vec![option])),
            }
        }
    }
    let field = |(key, options): (&'static str, Vec<OptionOf>)| Field {
        key,
        doc: meaning(&options).leak(),
        absent: absent(&options),
        kind: FieldKind::Option(options.leak()),
    };
    keys.into_iter().map(field).collect()
}

/// Values that differ, each with the names of what has it.
fn distinct<'o>(
    options: &'o [OptionOf],
    value: impl Fn(&'o OptionOf) -> &'o str,
    name: impl Fn(&OptionOf) -> Option<String>,
) -> Vec<(&'o str, Vec<String>)> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for option in options {
        let (value, name) = (value(option), name(option));
        let position = found.iter().position(|(known, _)| *known == value).unwrap_or_else(|| {
            found.push((value, Vec::new()));
            found.len() - 1
        });
        if let Some(name) = name.filter(|name| !found[position].1.contains(name)) {
            found[position].1.push(name);
        }
    }
    found
}

/// What a key means: in a table with a choice, of what.
fn meaning(options: &[OptionOf]) -> String {
    let of = |option: &OptionOf| option.choice.map(|choice| format!("`{choice}`"));
    let parts = distinct(options, |option| &option.spec.doc, of).into_iter().map(|(doc, choices)| {
        if choices.is_empty() { doc.to_owned() } else { format!("Of {}: {}", choices.join(", "), inner(doc)) }
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// A sentence as it stands after a colon. A name in capitals stays.
fn inner(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match (chars.next(), chars.as_str()) {
        (Some(first), rest) if !rest.starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// The default, or each one with what has it.
fn absent(options: &[OptionOf]) -> Absent {
    let is_shared = |option: &OptionOf| {
        let mut of_choice = options.iter().filter(|other| other.choice == option.choice);
        of_choice.all(|other| other.spec.default == option.spec.default)
    };
    let of = |option: &OptionOf| match (option.choice, option.profile) {
        (Some(choice), Some(profile)) if !is_shared(option) => Some(format!("{choice} ({profile})")),
        (choice, profile) => choice.or(profile).map(str::to_owned),
    };
    let defaults = distinct(options, |option| &option.spec.default, of);
    // A profile names itself; the first one holds.
    let is_profile = options.iter().all(|option| option.profile == Some(option.spec.default.as_str()));
    match defaults.as_slice() {
        [(default, _), rest @ ..] if rest.is_empty() || is_profile => {
            Absent::Default(default.to_string().leak())
        }
        _ => {
            let parts = defaults.into_iter().map(|(default, of)| format!("`{default}` of {}", of.join(", ")));
            Absent::Means(parts.collect::<Vec<_>>().join("; ").leak())
        }
    }
}
