//! The figures on one page, to look at.

use maud::{DOCTYPE, PreEscaped, html};

use super::figure::{Data, Figure, Panel, Paper, Variant};
use super::finding::{Finding, Verdict};

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; color: #1c232b; max-width: 1100px; margin: 32px auto; padding: 0 16px }
figure { margin: 8px 0 } img { max-width: 100% } section { margin-top: 48px } h2 { margin-bottom: 0 }
.where { color: #5f6b7a; margin-top: 0 } li { margin: 6px 0 } .numbers { color: #5f6b7a; display: block }
b.holds { color: #007a55 } b.fails { color: #b3261e } b.open { color: #8a6d00 }
";

/// A figure and what was found of its claims.
pub(crate) struct FigureReport<'p> {
    /// The figure.
    pub(crate) figure: &'p Figure,
    /// As the paper has it.
    pub(crate) shown: Shown,
    /// With each variant on which it depends.
    pub(crate) variants: Vec<(&'p Variant, Shown)>,
}

/// What is drawn, and what was found.
pub(crate) struct Shown {
    /// What is drawn.
    pub(crate) panels: Vec<Panel>,
    /// One for each claim.
    pub(crate) findings: Vec<Finding>,
}

impl<'p> FigureReport<'p> {
    /// Makes the panels of a figure and checks its claims, also with the variants.
    pub(crate) fn new(figure: &'p Figure, data: &Data, variants: &[(&'p Variant, Data)]) -> FigureReport<'p> {
        let show = |data: &Data| {
            let panels = (figure.panels)(data);
            let findings = figure.claims.iter().map(|claim| (claim.check)(data, &panels)).collect();
            Shown { panels, findings }
        };
        let shown = show(data);
        let variants = variants.iter().map(|(variant, data)| (*variant, show(data)));
        let differs = |other: &Shown| other.findings != shown.findings;
        let variants = variants.filter(|(_, other)| differs(other)).collect();
        FigureReport { figure, shown, variants }
    }

    /// The name of its file.
    pub(crate) fn file(&self) -> String {
        format!("{}.svg", self.figure.label.slug())
    }

    /// The name of its file with a variant.
    pub(crate) fn variant_file(&self, variant: &Variant) -> String {
        format!("{}-{}.svg", self.figure.label.slug(), variant.name)
    }
}

/// The page's text.
pub(crate) fn html(paper: &Paper, reports: &[FigureReport<'_>]) -> String {
    let class = |verdict| match verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::Open => "open",
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (paper.title) } style { (PreEscaped(STYLE)) } }
            body {
                h1 { (paper.title) }
                p { "Means over replications; bars are 95 % confidence intervals." }
                @for one in reports {
                    section {
                        h2 { (one.figure.label.to_string()) ": " (one.figure.title) }
                        p.where { "Section " (one.figure.section) ", " (one.figure.kind.words()) }
                        figure { img src=(one.file()) alt=(one.figure.title); }
                        ul { @for (claim, finding) in one.figure.claims.iter().zip(&one.shown.findings) {
                            li {
                                (claim.says) " " b.(class(finding.verdict)) { (finding.verdict.words()) }
                                span.numbers { (finding.numbers) }
                            }
                        } }
                        @for (variant, shown) in &one.variants {
                            h3 { "With " (variant.with) }
                            figure { img src=(one.variant_file(variant)) alt=(one.figure.title); }
                            ul { @for (claim, finding) in one.figure.claims.iter().zip(&shown.findings) {
                                li {
                                    (claim.says) " " b.(class(finding.verdict)) { (finding.verdict.words()) }
                                    span.numbers { (finding.numbers) }
                                }
                            } }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}
