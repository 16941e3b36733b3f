//! `layercast reference`: what `--help` and `layercast list` print, whole, as pages of Markdown.

use std::fmt::Write as _;

use anyhow::Context;
use clap::{Command, CommandFactory};
use layercast_core::family::AnyProtocol as _;
use layercast_laboratory::lint;
use layercast_laboratory::scenario::protocols::FLOW_PROTOCOLS;
use layercast_laboratory::scenario::reference::{markdown, option_table, suite_markdown};
use layercast_laboratory::scenario::suite::Measure;
use layercast_laboratory::scenario::tables::options::{self, OptionGroup, QUEUES, TRAFFIC};
use layercast_laboratory::scenario::{FlowGauges, catalogue};
use layercast_protocols::registry::{self, Protocol};

use crate::arguments::Arguments;
use crate::commands::{Failure, prepare, read};
use crate::doc::arguments::Reference;
use crate::modes;

pub(crate) fn reference(arguments: &Reference) -> Result<(), Failure> {
    prepare(&arguments.out)?;
    for (name, title, text) in pages() {
        let path = arguments.out.join(name);
        let written = std::fs::write(&path, format!("# {title}\n{text}"));
        written.with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// Each page: its file, its title, its text.
fn pages() -> [(&'static str, &'static str, String); 8] {
    [
        ("commands.md", "Commands", commands()),
        ("keys.md", "Keys of scenario files", format!("\n{}", markdown())),
        ("lints.md", "Warnings about scenarios", format!("\n{}", lint::markdown())),
        ("modes.md", "Flags by mode of commands", format!("\n```text\n{}```\n", modes::text())),
        ("options.md", "Options of queues, TCPs and traffic", options()),
        ("protocols.md", "Options and gauges of protocols", protocols()),
        ("scenarios.md", "Built-in scenarios", scenarios()),
        ("suites.md", "Keys and measures of suites", format!("\n{}{}", suite_markdown(), measures())),
    ]
}

/// A help as a block, without the option that printed it.
fn block(help: &str) -> String {
    let lines: Vec<&str> =
        help.lines().filter(|line| !line.trim_start().starts_with("-h, --help ")).collect();
    let text = lines.join("\n").replace("\nOptions:\n\n", "\n");
    let text = text.trim_end();
    format!("```text\n{}\n```", text.strip_suffix("Options:").unwrap_or(text).trim_end())
}

/// Each command under a heading, then its help.
fn commands() -> String {
    let mut text = String::new();
    let mut whole = Arguments::command().term_width(100);
    whole.build();
    let help = whole.render_help();
    let _ = writeln!(text, "\n## layercast\n\n{}", block(&help.to_string()));
    let is_shown = |command: &&mut Command| command.get_name() != "help" && !command.is_hide_set();
    for command in whole.get_subcommands_mut().filter(is_shown) {
        let name = command.get_name().to_owned();
        let help = command.render_help().to_string();
        let _ = writeln!(text, "\n## layercast {name}\n\n{}", block(&help));
        for part in command.get_subcommands_mut().filter(|part| part.get_name() != "help") {
            let (part_name, help) = (part.get_name().to_owned(), part.render_help().to_string());
            let _ = writeln!(text, "\n### layercast {name} {part_name}\n\n{}", block(&help));
        }
    }
    text
}

fn options() -> String {
    let mut text = String::new();
    // All TCPs have the same options.
    let tcp = FLOW_PROTOCOLS.iter().take(1);
    for name in QUEUES.iter().chain(tcp).chain(TRAFFIC) {
        let title = if FLOW_PROTOCOLS.contains(name) { "every TCP" } else { name };
        let groups = options::named(name).unwrap_or_default();
        let _ = write!(text, "\n## {title}\n\n{}", option_table(&groups, None));
    }
    text
}

fn protocols() -> String {
    let mut text = String::new();
    for protocol in registry::NAMES.iter().filter_map(|name| Protocol::named(name)) {
        let group = OptionGroup { choice: None, profile: None, specs: protocol.option_specs() };
        let _ = write!(text, "\n## {}\n\n{}", protocol.name(), option_table(&[group], None));
        let gauges = FlowGauges { receiver: protocol.receiver_gauges(), source: protocol.source_gauges() };
        let rows: Vec<String> = gauges
            .iter()
            .map(|gauge| format!("| `{}` | {} | {} |\n", gauge.name(), gauge.spec.unit, gauge.spec.doc))
            .collect();
        if !rows.is_empty() {
            let _ = write!(text, "\n| gauge | unit | meaning |\n| --- | --- | --- |\n{}", rows.concat());
        }
    }
    text
}

fn scenarios() -> String {
    let mut text = "\n| scenario | title |\n| --- | --- |\n".to_owned();
    for built_in in catalogue::BUILT_IN {
        let title = read(built_in.name, &[], &[]).map_or(String::new(), |(plan, _)| plan.name);
        let _ = writeln!(text, "| `{}` | {title} |", built_in.name);
    }
    text
}

fn measures() -> String {
    let mut text = "\n## Measures\n\n| measure | unit | what it is |\n| --- | --- | --- |\n".to_owned();
    for measure in Measure::ALL {
        let _ = writeln!(text, "| `{}` | {} | {} |", measure.name(), measure.unit(), measure.doc());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_help(command: &Command, name: &str) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty(), "{name} says what it is for");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{name}: {} has a help", argument.get_id());
        }
        for part in command.get_subcommands().filter(|part| !part.is_hide_set()) {
            check_help(part, &format!("{name} {}", part.get_name()));
        }
    }

    #[test]
    fn every_command_and_argument_has_a_help() {
        Arguments::command().debug_assert();
        let mut whole = Arguments::command();
        whole.build();
        check_help(&whole, "layercast");
    }

    #[test]
    fn the_page_of_commands_has_a_line_for_each() {
        let path = layercast_testkit::generated::in_project("docs/cli.md");
        let page = std::fs::read_to_string(path).expect("the page");
        let first =
            |line: &str| line.strip_prefix("| ").and_then(|rest| rest.split(" | ").next()).map(str::to_owned);
        let cells: Vec<String> = page.lines().filter_map(first).collect();
        for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = format!("`{}`", command.get_name());
            assert!(cells.iter().any(|cell| cell.contains(&name)), "docs/cli.md has no line for {name}");
        }
    }

    #[test]
    fn the_reference_of_commands_has_every_flag() {
        let text = commands();
        let mut whole = Arguments::command();
        whole.build();
        for command in whole.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            if name == "help" {
                continue;
            }
            let heading = format!("\n## layercast {name}\n");
            let (_, part) = text.split_once(&heading).unwrap_or_else(|| panic!("{name} is missing"));
            let part = part.split("\n## ").next().unwrap_or_default();
            let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
            for flag in shown.filter_map(|argument| argument.get_long()) {
                assert!(flag == "help" || part.contains(&format!("--{flag}")), "{name} --{flag}");
            }
        }
    }

    #[test]
    fn tables_of_options_have_every_one_in_a_row_of_its_own() {
        let (mut expected, mut queues) = (0, 0);
        for protocol in registry::NAMES.iter().filter_map(|name| Protocol::named(name)) {
            let gauges = protocol.receiver_gauges().len() + protocol.source_gauges().len();
            // Two lines of a table's head.
            expected += protocol.option_specs().len() + gauges + 2 + if gauges > 0 { 2 } else { 0 };
        }
        let rows = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
        assert_eq!(rows(&protocols()), expected);
        for name in QUEUES.iter().chain(TRAFFIC).chain(&["tcp-sack"]) {
            queues += options::named(name).map_or(0, |groups| groups[0].specs.len()) + 2;
        }
        assert_eq!(rows(&options()), queues);
    }
}
