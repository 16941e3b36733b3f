//! `layercast completions` and `layercast man`: what a package installs next to the program, from the same description
//! of the arguments as `--help`.

use std::path::Path;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell as Generator;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::arguments::Arguments;
use crate::commands::{Failure, prepare};
use crate::doc::arguments::{Completions, ManualPages, Shell};
use crate::output::print;

pub(crate) fn completions(arguments: &Completions) -> Result<(), Failure> {
    let generator = match arguments.shell {
        Shell::Bash => Generator::Bash,
        Shell::Zsh => Generator::Zsh,
        Shell::Fish => Generator::Fish,
    };
    let mut script = Vec::new();
    let mut shown = without_hidden(&Arguments::command());
    clap_complete::generate(generator, &mut shown, "layercast", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}

pub(crate) fn manual_pages(arguments: &ManualPages) -> Result<(), Failure> {
    prepare(&arguments.out)?;
    let mut whole = without_hidden(&Arguments::command()).disable_help_subcommand(true);
    whole.build();
    Ok(write_pages(&whole, &arguments.out)?)
}

/// The command without what `--help` does not list, which generators of completions would offer.
fn without_hidden(whole: &Command) -> Command {
    let shown = whole.get_subcommands().filter(|part| !part.is_hide_set()).cloned();
    Command::new("layercast")
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .after_help(whole.get_after_help().cloned().unwrap_or_default())
        .subcommand_required(true)
        .subcommands(shown)
}

/// Writes the page of a command and those of its parts.
fn write_pages(command: &Command, directory: &Path) -> anyhow::Result<()> {
    for part in command.get_subcommands() {
        write_pages(part, directory)?;
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let page = Man::new(command.clone().override_usage(usage));
    let path = directory.join(page.get_filename());
    let written = text(command, &page).and_then(|text| std::fs::write(&path, text));
    written.with_context(|| format!("the manual page {} cannot be written", path.display()))
}

/// A page in roff: what `clap_mangen` makes, then what follows the options in `--help`, under headings of manual pages.
fn text(command: &Command, page: &Man) -> std::io::Result<String> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    // Not that of `clap_mangen`, which leaves an empty date out, so that the version takes its place.
    let title = format!(".TH {name} 1 \"\" \"layercast {}\"\n", env!("CARGO_PKG_VERSION"));
    let mut text = title.into_bytes();
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.get_subcommands().next().is_some() {
        page.render_subcommands_section(&mut text)?;
    }
    let mut roff = Roff::default();
    if let Some(after) = command.get_after_help() {
        after.to_string().split("\n\n").for_each(|paragraph| add_paragraph(&mut roff, paragraph));
    }
    if command.get_name() != "layercast" {
        roff.control("SH", ["SEE ALSO"]).text([bold("layercast"), roman("(1)")]);
    }
    roff.to_writer(&mut text)?;
    // Before possible values it puts two breaks around an empty line, of which readers warn.
    Ok(String::from_utf8_lossy(&text).replace("\n.br\n\n.br\n", "\n.sp\n"))
}

/// Examples are a list of commands, each with its explanation two spaces or more after it.
fn add_paragraph(roff: &mut Roff, paragraph: &str) {
    match paragraph.split_once(':') {
        Some(("Examples", lines)) => {
            roff.control("SH", ["EXAMPLES"]);
            for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
                let (command, what) = line.split_once("  ").unwrap_or((line, ""));
                roff.control("TP", []).text([bold(command)]).text([roman(what.trim_start())]);
            }
        }
        Some(("Exit status", rest)) => {
            roff.control("SH", ["EXIT STATUS"]).text([roman(rest.trim_start())]);
        }
        _ => {
            roff.control("SH", ["NOTES"]).text([roman(paragraph)]);
        }
    }
}
