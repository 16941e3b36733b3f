//! A paper's claims judged with what was measured, and its figures' panels.

use super::figure::{Data, Figure, Kind, Label, Panel, Paper, Variant};
use crate::claims::book::{Book, Claim};
use crate::claims::evidence::Verdict;
use crate::claims::judge::{self, JudgeError, Judged, Supplies};
use crate::claims::{self, ReadError};
use crate::readings::rhythm::Reading;

/// A paper's claims that cannot be judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    /// Their file is wrong.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// They ask for what is not there.
    #[error("{file}, {source}")]
    Judge {
        /// Their file.
        file: String,
        /// What is not there.
        source: Box<JudgeError>,
    },
}

/// A figure's panels.
pub(crate) struct Shown<'p> {
    /// The figure.
    pub(crate) figure: &'p Figure,
    /// With the paper's own studies.
    pub(crate) panels: Vec<Panel>,
    /// With each variant that changes a verdict of the figure.
    pub(crate) variants: Vec<(&'p Variant, Vec<Panel>)>,
}

/// All of a paper.
pub(crate) struct Report<'p> {
    /// The paper.
    pub(crate) paper: &'p Paper,
    /// Its claims.
    pub(crate) book: Book,
    /// Their verdicts, in their order, each in the reading that counts.
    pub(crate) judged: Vec<Judged>,
    /// The verdicts if all drop-tail queues are read alike.
    pub(crate) readings: Vec<(Reading, Vec<Judged>)>,
    /// The verdicts with each variant.
    pub(crate) variants: Vec<(&'p Variant, Vec<Judged>)>,
    /// Its figures.
    pub(crate) figures: Vec<Shown<'p>>,
}

impl<'p> Report<'p> {
    /// Judges all claims, once with what counts and once in each reading, and draws all panels.
    ///
    /// # Errors
    /// Claims that cannot be read, or that ask for quantities that no figure supplies.
    pub(crate) fn new(
        paper: &'p Paper,
        data: &Data,
        in_readings: &[(Reading, Data)],
    ) -> Result<Report<'p>, ReportError> {
        let book = claims::read(&file(paper), paper.claims)?;
        let (panels, supplies) = measure(&paper.figures, data);
        let judge = |supplies: &Supplies| {
            let judged = judge::judge(&book, supplies);
            judged.map_err(|source| ReportError::Judge { file: book.file.clone(), source: Box::new(source) })
        };
        let judged = judge(&supplies)?;
        let in_reading =
            |(reading, data): &(Reading, Data)| Ok((*reading, judge(&measure(&paper.figures, data).1)?));
        let readings = in_readings.iter().map(in_reading).collect::<Result<_, ReportError>>()?;
        let mut figures: Vec<Shown<'p>> = paper
            .figures
            .iter()
            .zip(panels)
            .map(|(figure, panels)| Shown { figure, panels, variants: Vec::new() })
            .collect();
        let mut variants = Vec::new();
        for variant in &paper.variants {
            let (panels, supplies) = measure(&paper.figures, &data.with(variant));
            let other = judge(&supplies)?;
            for (shown, panels) in figures.iter_mut().zip(panels) {
                let label = shown.figure.label.to_string();
                let mut pairs = book.claims.iter().zip(judged.iter().zip(&other));
                if pairs.any(|(claim, (own, other))| claim.figure == label && own.verdict != other.verdict) {
                    shown.variants.push((variant, panels));
                }
            }
            variants.push((variant, other));
        }
        Ok(Report { paper, book, judged, readings, variants, figures })
    }

    /// What the readings say of the claim at an index; none where all measure the same, as without a drop-tail queue.
    pub(crate) fn in_readings(&self, index: usize) -> Option<Vec<(Reading, Verdict)>> {
        let own = self.judged.get(index)?;
        let each = || self.readings.iter().filter_map(|(reading, all)| Some((*reading, all.get(index)?)));
        let is_read = each().any(|(_, judged)| judged.long != own.long);
        is_read.then(|| each().map(|(reading, judged)| (reading, judged.verdict)).collect())
    }

    /// The claims of a figure, with their verdicts.
    pub(crate) fn of_figure(&self, label: Label) -> impl Iterator<Item = (&Claim, &Judged)> {
        let label = label.to_string();
        self.book.claims.iter().zip(&self.judged).filter(move |(claim, _)| claim.figure == label)
    }
}

/// The file of a paper's claims.
pub(crate) fn file(paper: &Paper) -> String {
    format!("the claims of {}", paper.name)
}

/// The panels and what figures supply.
pub(crate) fn measure<'f>(
    figures: impl IntoIterator<Item = &'f Figure>,
    data: &Data,
) -> (Vec<Vec<Panel>>, Supplies) {
    let mut supplies = Supplies::default();
    let mut all = Vec::new();
    for figure in figures {
        let panels = (figure.panels)(data);
        let label = figure.label.to_string();
        if matches!(figure.kind, Kind::Analytic | Kind::Trace) {
            supplies.mark_exact(&label);
        }
        for supply in &figure.supplies {
            for (name, places) in (supply.measure)(data, &panels).0 {
                supplies.add(&label, name, places);
            }
        }
        all.push(panels);
    }
    (all, supplies)
}

#[cfg(test)]
pub(crate) use testing::{Outcome, outcomes};

#[cfg(test)]
mod testing {
    use super::*;

    /// A verdict on made-up numbers: they do not vary, so what holds can only be observed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Outcome {
        Holds,
        Fails,
        Open,
    }

    /// What becomes of the claims of one figure.
    pub(crate) fn outcomes(paper: &Paper, data: &Data, label: Label) -> Vec<Outcome> {
        let mut book = claims::read(&file(paper), paper.claims).unwrap_or_else(|error| panic!("{error}"));
        let name = label.to_string();
        book.claims.retain(|claim| claim.figure == name);
        let (_, supplies) = measure(paper.figures.iter().filter(|figure| figure.label == label), data);
        let judged = judge::judge(&book, &supplies).unwrap_or_else(|error| panic!("{error}"));
        let outcome = |judged: &Judged| match judged.verdict {
            Verdict::Held | Verdict::Observed => Outcome::Holds,
            Verdict::Failed | Verdict::Contrary => Outcome::Fails,
            Verdict::Undecided => Outcome::Open,
        };
        judged.iter().map(outcome).collect()
    }
}
