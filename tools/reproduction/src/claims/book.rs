//! The claims of one paper.

/// Whose claim it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The paper's text says so. Only these are in the headline counts.
    Paper,
    /// This project's own question.
    Own,
    /// It follows from a definition or an equation: only a mistake in the code could fail it.
    Identity,
    /// A value was chosen so that it holds.
    Fitted,
}

impl Kind {
    /// All of them, with their names in files.
    pub(crate) const ALL: [(Kind, &'static str); 4] =
        [(Kind::Paper, "paper"), (Kind::Own, "own"), (Kind::Identity, "identity"), (Kind::Fitted, "fitted")];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// What must be true of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Relation {
    /// The mean is above this at each place.
    Above(f64),
    /// The mean is below this at each place.
    Below(f64),
    /// The mean is between these at each place: equivalence, by two one-sided tests.
    Within(f64, f64),
    /// It grows over the places.
    Rises,
    /// It falls over the places.
    Falls,
}

/// One condition of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test {
    /// The quantities: one, or several that must be in ascending order at each place.
    pub(crate) quantities: Vec<String>,
    /// What is divided by, replication by replication.
    pub(crate) over: Option<String>,
    /// Only these places; all if there is none.
    pub(crate) at: Vec<String>,
    /// The quantity at the second place over that at the first, replication by replication.
    pub(crate) change: Option<[String; 2]>,
    /// What must be true. None of several quantities, which have their order.
    pub(crate) relation: Option<Relation>,
    /// Whether samples of several quantities do not belong together in pairs.
    pub(crate) unpaired: bool,
}

/// One claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    /// Its name, unique in the paper.
    pub(crate) id: String,
    /// The figure whose quantities decide it.
    pub(crate) figure: String,
    /// Where the paper says it.
    pub(crate) place: String,
    /// Whose claim it is.
    pub(crate) kind: Kind,
    /// What it says, in our words.
    pub(crate) says: String,
    /// Why the bounds are where they are, or the key of a reason that several claims share.
    pub(crate) reason: Option<String>,
    /// What explains the outcome.
    pub(crate) note: Option<String>,
    /// All must be met.
    pub(crate) tests: Vec<Test>,
}

/// A claim of the paper's text that is not judged.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOut {
    /// Where the paper says it.
    pub(crate) place: String,
    /// What it says.
    pub(crate) says: String,
    /// Why it is not judged.
    pub(crate) why: String,
}

/// All claims of a paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Book {
    /// The file's name.
    pub(crate) file: String,
    /// Reasons of bounds that several claims share, by key.
    pub(crate) reasons: Vec<(String, String)>,
    /// The claims, in the file's order.
    pub(crate) claims: Vec<Claim>,
    /// What is not judged.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Book {
    /// The reason of a claim's bounds in full.
    pub(crate) fn reason<'b>(&'b self, claim: &'b Claim) -> Option<&'b str> {
        let reason = claim.reason.as_deref()?;
        let shared = self.reasons.iter().find(|(key, _)| key == reason);
        Some(shared.map_or(reason, |(_, text)| text))
    }
}
