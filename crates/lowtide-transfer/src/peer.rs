//! What the other side says, made harmless: text that a terminal may print.

use lowtide_lab::visible;
use serde::{Deserialize, Deserializer};

/// Longest text that is shown, in bytes.
const MAX_TEXT: usize = 200;

/// Text from the network as it may be printed, in a line: hidden characters by their numbers, and what is too long is
/// cut.
pub(crate) fn printable(text: &str) -> String {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| *end <= MAX_TEXT).last().unwrap_or(0);
    let (text, rest) = text.split_at(end);
    let shown = visible::text(text)
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    if rest.is_empty() {
        shown
    } else {
        shown + "…"
    }
}

/// A peer's text in fields of what is read with serde.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|text| printable(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_what_is_long_is_cut() {
        assert_eq!(printable("rbbr:alpha=0.8"), "rbbr:alpha=0.8");
        assert_eq!(
            printable("\u{1b}]0;x\u{7}\u{9b}2J\r\n"),
            "\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{d}\\n"
        );
        assert_eq!(printable("it's \u{202e}é"), "it's \\u{202e}é");
        let long = printable(&"\u{1b}".repeat(1_000_000));
        assert!(long.len() < 7 * MAX_TEXT, "{}", long.len());
    }
}
