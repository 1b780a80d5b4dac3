//! What the other side says, made harmless: text that a terminal may print.

use serde::{Deserialize, Deserializer};

/// Longest text that is shown, in bytes.
const MAX_TEXT: usize = 200;

/// Text from the network as it may be printed: control characters and others that nobody sees are
/// escaped, and what is too long is cut.
pub(super) fn printable(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        if shown.len() >= MAX_TEXT {
            shown.push('…');
            break;
        }
        match c {
            '\'' | '"' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// The same for fields of what is read with serde.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
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
            "\\u{1b}]0;x\\u{7}\\u{9b}2J\\r\\n"
        );
        assert_eq!(printable("it's \u{202e}é"), "it's \\u{202e}é");
        let long = printable(&"\u{1b}".repeat(1_000_000));
        assert!(long.len() < 2 * MAX_TEXT, "{}", long.len());
    }
}
