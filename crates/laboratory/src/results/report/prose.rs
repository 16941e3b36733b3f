//! Text with code between backticks, as messages have it.

use maud::{Markup, html};

/// The text, with what stands between backticks as code.
pub(crate) fn coded(text: &str) -> Markup {
    let is_closed = text.matches('`').count().is_multiple_of(2);
    html! {
        @if is_closed {
            @for (number, part) in text.split('`').enumerate() {
                @if number % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}

#[cfg(test)]
mod tests {
    use super::coded;

    #[test]
    fn backticks_become_code_and_text_stays_text() {
        assert_eq!(coded("no `queue`, <b>").into_string(), "no <code>queue</code>, &lt;b&gt;");
        assert_eq!(coded("a lone ` stays").into_string(), "a lone ` stays");
        assert_eq!(coded("").into_string(), "");
    }
}
