//! Cuts the plot of one node out of a report and makes a picture of its own of it, as in the README:
//! `cargo run -p layercast-laboratory --example picture -- REPORT.html NODE > PICTURE.svg`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [report, node] = arguments.as_slice() else { return Err("name a report and a node".into()) };
    let page = std::fs::read_to_string(report).map_err(|error| format!("{report}: {error}"))?;
    println!("{}", picture(&page, node).ok_or(format!("{report} has no plot of the node {node}"))?);
    Ok(())
}

fn picture(page: &str, node: &str) -> Option<String> {
    let label = format!("aria-label=\"Throughput and subscription level over time at {node}\"");
    let plot =
        page.split("<svg ").find(|part| part.starts_with("class=\"plot wide\"") && part.contains(&label))?;
    let (opening, rest) = plot.split_once('>')?;
    let (body, _) = rest.split_once("</svg>")?;
    // The rules for plots alone: dashes, and the colours of dark screens.
    let style = page.split_once("<style>")?.1.split_once("</style>")?.0;
    let mut dark = false;
    let rules: Vec<&str> = style
        .lines()
        .filter(|line| {
            let opens = line.starts_with("@media screen and (prefers-color-scheme: dark)");
            dark |= opens;
            let closes = dark && *line == "}";
            dark &= !closes;
            opens || closes || line.trim_start().starts_with(".plot [")
        })
        .collect();
    let rules = rules.join("\n");
    // A ground of its own, so that it can be read on a page of any colour.
    let ground = "<rect width=\"100%\" height=\"100%\" rx=\"16\" fill=\"#FFFFFF\"/>";
    Some(format!("<svg font-family=\"sans-serif\" {opening}><style>\n{rules}\n</style>{ground}{body}</svg>"))
}
