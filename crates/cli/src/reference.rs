//! The reference of commands in `docs/cli.md`: what `--help` prints.

use std::fmt::Write as _;

use clap::CommandFactory;
use layercast_testkit::generated::{check_between, in_project};

use crate::arguments::Arguments;

/// A help as a block, without the option that printed it and without examples: pages have theirs.
fn block(help: &str) -> String {
    let help = help.split("\nExamples:\n").next().unwrap_or_default();
    let lines: Vec<&str> =
        help.lines().filter(|line| !line.trim_start().starts_with("-h, --help ")).collect();
    let text = lines.join("\n");
    let text = text.trim_end();
    format!("```text\n{}\n```", text.strip_suffix("Options:").unwrap_or(text).trim_end())
}

/// Each command under a heading, then its help.
fn markdown() -> String {
    let mut text = String::new();
    let mut whole = Arguments::command().term_width(100);
    whole.build();
    let help = whole.render_help();
    let _ = writeln!(text, "\n## layercast\n\n{}", block(&help.to_string()));
    let is_shown = |command: &&mut clap::Command| command.get_name() != "help" && !command.is_hide_set();
    for command in whole.get_subcommands_mut().filter(is_shown) {
        let name = command.get_name().to_owned();
        let help = command.render_help().to_string();
        let _ = writeln!(text, "\n## layercast {name}\n\n{}", block(&help));
        for part in command.get_subcommands_mut().filter(|part| part.get_name() != "help") {
            let (part_name, help) = (part.get_name().to_owned(), part.render_help().to_string());
            let _ = writeln!(text, "\n### layercast {name} {part_name}\n\n{}", block(&help));
        }
    }
    text.push('\n');
    text
}

#[test]
fn generated_command_reference_is_fresh() {
    let (begin, end) = ("<!-- generated: commands -->", "<!-- end of generated: commands -->");
    check_between(&in_project("docs/cli.md"), begin, end, &markdown());
}

#[test]
fn the_arguments_are_sound() {
    Arguments::command().debug_assert();
}
