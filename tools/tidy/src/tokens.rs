//! Rust text as tokens: as much as paths need.

/// The tokens of a text: identifiers, numbers, `::`, and single marks. Comments are left out, a string or a
/// character is one `"`, a lifetime's name one `'`.
#[must_use]
pub fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, block_comment(rest)),
            '"' => (Some("\""), string(rest)),
            '\'' => quote(rest),
            ':' if rest.starts_with("::") => (Some("::"), 2),
            _ if is_of_name(first) => name(rest),
            _ => (Some(&rest[..first.len_utf8()]), first.len_utf8()),
        };
        found.extend(token);
        rest = &rest[length..];
    }
    found
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A name or number, or a string with a prefix (`r"`, `b"`, `br#"`, `b'`).
fn name(rest: &str) -> (Option<&str>, usize) {
    let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    match word {
        "b" if after.starts_with('\'') => (Some("\""), end + quote(after).1),
        "b" | "c" if after.starts_with('"') => (Some("\""), end + string(after)),
        "r" | "br" | "cr" => {
            let hashes = after.len() - after.trim_start_matches('#').len();
            let Some(body) = after[hashes..].strip_prefix('"') else {
                // A raw identifier: the name without its mark.
                let raw = after
                    .strip_prefix('#')
                    .map_or("", |raw| raw.split(|c| !is_of_name(c)).next().unwrap_or(""));
                let is_raw = !raw.is_empty();
                return if is_raw { (Some(raw), end + 1 + raw.len()) } else { (Some(word), end) };
            };
            let close = format!("\"{}", "#".repeat(hashes));
            let length = body.find(&close).map_or(body.len(), |at| at + close.len());
            (Some("\""), end + hashes + 1 + length)
        }
        _ => (Some(word), end),
    }
}

/// The length of the string that starts here.
fn string(rest: &str) -> usize {
    closed_by(rest, '"')
}

fn closed_by(rest: &str, mark: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == mark => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// A character or a lifetime.
fn quote(rest: &str) -> (Option<&str>, usize) {
    let mut after = rest.chars().skip(1);
    let (second, third) = (after.next(), after.next());
    if second == Some('\\') || third == Some('\'') {
        return (Some("\""), closed_by(rest, '\''));
    }
    let name = rest[1..].find(|c| !is_of_name(c)).unwrap_or(rest.len() - 1);
    (Some("'"), 1 + name)
}

/// The length of the comment that starts here; comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_name_nothing() {
        let text =
            "a::b /* c::d /* e */ f */ (\"g::h\\\"\", r#\"i\"j\"#, 'k', '\\'', b'\"', &'l m) // n\nr#type";
        let want = [
            "a", "::", "b", "(", "\"", ",", "\"", ",", "\"", ",", "\"", ",", "\"", ",", "&", "'", "m", ")",
            "type",
        ];
        assert_eq!(tokens(text), want);
    }
}
