//! Reads a paper's claims from TOML.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::book::{Book, Claim, Kind, LeftOut, Relation, Test};

/// A file of claims that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// It is not TOML.
    #[error("{file} is not TOML: {source}")]
    Syntax {
        /// The file.
        file: String,
        /// Where and why.
        source: toml_edit::TomlError,
    },
    /// An entry is wrong.
    #[error("{file}, {entry}: {fault}")]
    Entry {
        /// The file.
        file: String,
        /// The claim by its name, or the entry by its number.
        entry: String,
        /// What is wrong, and what to do.
        fault: Fault,
    },
}

/// What is wrong with an entry, and what to do about it.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    /// A key is missing.
    #[error("`{0}` is missing: add it")]
    Missing(&'static str),
    /// A key is not known.
    #[error("`{key}` is not known: use one of {known}")]
    Unknown {
        /// The key.
        key: String,
        /// Those that are.
        known: String,
    },
    /// A value has the wrong type.
    #[error("`{key}` must be {wanted}")]
    Type {
        /// The key.
        key: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// The kind is not known.
    #[error("the kind `{0}` is not known: use paper, own, identity or fitted")]
    Kind(String),
    /// A test has no relation or several.
    #[error("a test needs exactly one of above, below, within, trend and order, this one has {0}")]
    Relations(usize),
    /// A trend that is neither.
    #[error("the trend `{0}` is not known: use rises or falls")]
    Trend(String),
    /// A band whose ends are the wrong way round.
    #[error("`within` goes from {0} to {1}: put the smaller number first")]
    Band(f64, f64),
    /// A claim without a test.
    #[error("there is no [[claim.test]]: add one, or move the claim to [[left_out]]")]
    NoTest,
    /// A bound without a reason.
    #[error("a bound other than 0 and 1 needs a `reason`: say why it is where it is")]
    NoReason,
    /// Two claims of one name.
    #[error("another claim has this id: choose another one")]
    Twice,
    /// An order of fewer than two.
    #[error("`order` needs two quantities or more")]
    Order,
}

/// Reads a file.
pub(crate) fn read(file: &str, text: &str) -> Result<Book, ReadError> {
    let document: DocumentMut =
        text.parse().map_err(|source| ReadError::Syntax { file: file.to_owned(), source })?;
    let wrong = |entry: String| {
        let file = file.to_owned();
        move |fault| ReadError::Entry { file, entry, fault }
    };
    let top = document.as_table();
    known(top, &["reasons", "claim", "left_out"]).map_err(wrong("the file".to_owned()))?;
    let mut book = Book { file: file.to_owned(), ..Book::default() };
    if let Some(reasons) = top.get("reasons").and_then(Item::as_table_like) {
        for (key, value) in reasons.iter() {
            let text = value.as_str().ok_or_else(|| must(key, "a text"));
            book.reasons.push((key.to_owned(), text.map_err(wrong("reasons".to_owned()))?.to_owned()));
        }
    }
    for (number, table) in entries(top, "claim").enumerate() {
        let id = table.get("id").and_then(Item::as_str);
        let entry = id.map_or_else(|| format!("claim {}", number + 1), |id| format!("claim {id}"));
        let claim = claim(table).map_err(wrong(entry.clone()))?;
        if book.claims.iter().any(|other| other.id == claim.id) {
            return Err(wrong(entry)(Fault::Twice));
        }
        book.claims.push(claim);
    }
    for (number, table) in entries(top, "left_out").enumerate() {
        book.left_out.push(left_out(table).map_err(wrong(format!("left_out {}", number + 1)))?);
    }
    Ok(book)
}

fn must(key: &str, wanted: &'static str) -> Fault {
    Fault::Type { key: key.to_owned(), wanted }
}

/// The tables of an array of tables, or of an array of inline ones.
fn entries<'t>(table: &'t dyn TableLike, key: &str) -> Box<dyn Iterator<Item = &'t dyn TableLike> + 't> {
    match table.get(key) {
        Some(Item::ArrayOfTables(all)) => Box::new(all.iter().map(|table: &Table| table as &dyn TableLike)),
        Some(Item::Value(Value::Array(all))) => {
            let tables = all.iter().filter_map(Value::as_inline_table);
            Box::new(tables.map(|table: &InlineTable| table as &dyn TableLike))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn known(table: &dyn TableLike, keys: &[&str]) -> Result<(), Fault> {
    match table.iter().find(|(key, _)| !keys.contains(key)) {
        Some((key, _)) => Err(Fault::Unknown { key: key.to_owned(), known: keys.join(", ") }),
        None => Ok(()),
    }
}

fn optional(table: &dyn TableLike, key: &'static str) -> Result<Option<String>, Fault> {
    let text = |item: &Item| item.as_str().map(str::to_owned).ok_or_else(|| must(key, "a text"));
    table.get(key).map(text).transpose()
}

fn text(table: &dyn TableLike, key: &'static str) -> Result<String, Fault> {
    optional(table, key)?.ok_or(Fault::Missing(key))
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn list(table: &dyn TableLike, key: &'static str) -> Result<Vec<String>, Fault> {
    let Some(item) = table.get(key) else { return Ok(Vec::new()) };
    let texts = |all: &Array| all.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>();
    item.as_array().and_then(texts).ok_or_else(|| must(key, "a list of texts"))
}

fn pair<T>(all: Vec<T>) -> Option<[T; 2]> {
    <[T; 2]>::try_from(all).ok()
}

fn left_out(table: &dyn TableLike) -> Result<LeftOut, Fault> {
    known(table, &["place", "says", "why"])?;
    Ok(LeftOut { place: text(table, "place")?, says: text(table, "says")?, why: text(table, "why")? })
}

fn claim(table: &dyn TableLike) -> Result<Claim, Fault> {
    known(table, &["id", "figure", "place", "kind", "says", "reason", "note", "test"])?;
    let kind = text(table, "kind")?;
    let (kind, _) = Kind::ALL.into_iter().find(|(_, name)| *name == kind).ok_or(Fault::Kind(kind))?;
    let tests = entries(table, "test").map(test).collect::<Result<Vec<Test>, Fault>>()?;
    let claim = Claim {
        id: text(table, "id")?,
        figure: text(table, "figure")?,
        place: text(table, "place")?,
        kind,
        says: text(table, "says")?,
        reason: optional(table, "reason")?,
        note: optional(table, "note")?,
        tests,
    };
    if claim.tests.is_empty() {
        return Err(Fault::NoTest);
    }
    let is_plain = |test: &Test| match test.relation {
        Some(Relation::Above(bound) | Relation::Below(bound)) => bound == 0.0 || bound == 1.0,
        Some(Relation::Within(..)) => false,
        Some(Relation::Rises | Relation::Falls) | None => true,
    };
    if claim.reason.is_none() && !claim.tests.iter().all(is_plain) {
        return Err(Fault::NoReason);
    }
    Ok(claim)
}

fn test(table: &dyn TableLike) -> Result<Test, Fault> {
    const RELATIONS: [&str; 5] = ["above", "below", "within", "trend", "order"];
    known(
        table,
        &["quantity", "over", "at", "change", "unpaired", "above", "below", "within", "trend", "order"],
    )?;
    let given: Vec<&str> = RELATIONS.into_iter().filter(|key| table.contains_key(key)).collect();
    let [relation] = given[..] else { return Err(Fault::Relations(given.len())) };
    let bound = |key: &str| {
        let value = table.get(key).and_then(Item::as_value).and_then(number);
        value.ok_or_else(|| must(key, "a number"))
    };
    let relation = match relation {
        "above" => Some(Relation::Above(bound("above")?)),
        "below" => Some(Relation::Below(bound("below")?)),
        "within" => {
            let ends = table.get("within").and_then(Item::as_array);
            let ends =
                ends.and_then(|ends| ends.iter().map(number).collect::<Option<Vec<f64>>>()).and_then(pair);
            let [low, high] = ends.ok_or_else(|| must("within", "a list of two numbers"))?;
            if low >= high {
                return Err(Fault::Band(low, high));
            }
            Some(Relation::Within(low, high))
        }
        "trend" => Some(match text(table, "trend")?.as_str() {
            "rises" => Relation::Rises,
            "falls" => Relation::Falls,
            other => return Err(Fault::Trend(other.to_owned())),
        }),
        _ => None,
    };
    let quantities = match relation {
        Some(_) => vec![text(table, "quantity")?],
        None => list(table, "order")?,
    };
    if relation.is_none() && quantities.len() < 2 {
        return Err(Fault::Order);
    }
    let change = match list(table, "change")? {
        none if none.is_empty() => None,
        both => Some(pair(both).ok_or_else(|| must("change", "a list of two places"))?),
    };
    let unpaired = match table.get("unpaired") {
        Some(item) => item.as_bool().ok_or_else(|| must("unpaired", "true or false"))?,
        None => false,
    };
    Ok(Test {
        quantities,
        over: optional(table, "over")?,
        at: list(table, "at")?,
        change,
        relation,
        unpaired,
    })
}
