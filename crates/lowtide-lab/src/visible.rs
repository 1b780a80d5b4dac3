//! Text from files, programs and networks, made harmless for whatever shows it: a terminal, JSON, XML, Markdown.
//!
//! Names of files, titles, metrics and reasons are anybody's. Printed as they are, an escape sequence in one clears
//! the screen or types into it, and a mark that turns the direction of text lets a line read as another. All output
//! passes through here, and what is hidden is shown by its number instead.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character acts on what shows it, or on the text around it, instead of being seen: control characters but
/// line feed and tab, marks of direction (Unicode's annex 9), separators of lines and paragraphs, and what is no
/// character at all.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let is_of_text = c == '\n' || c == '\t';
    (c.is_control() && !is_of_text)
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fdd0}'..='\u{fdef}'
        )
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Each hidden character by `shown`.
fn replaced(text: &str, shown: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(is_hidden) else {
        return Cow::Borrowed(text);
    };
    let (plain, rest) = text.split_at(first);
    let mut all = String::with_capacity(text.len() + 16);
    all.push_str(plain);
    for c in rest.chars() {
        if is_hidden(c) {
            shown(c, &mut all);
        } else {
            all.push(c);
        }
    }
    Cow::Owned(all)
}

/// Text for a terminal: `\u{1b}` instead of an escape.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    replaced(text, |c, all| all.extend(c.escape_unicode()))
}

/// JSON that shows no more than [`text()`] does, and says what it said: hidden characters are within its strings, where
/// they can be escaped.
#[must_use]
pub fn json(json: &str) -> Cow<'_, str> {
    replaced(json, |c, all| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(all, "\\u{unit:04x}");
        }
    })
}

/// Text within XML, and within its attributes.
#[must_use]
pub fn xml(text: &str) -> String {
    entities(text, &['&', '<', '>', '"'])
}

/// Text within Markdown, in a line or a cell of a table.
#[must_use]
pub fn markdown(text: &str) -> String {
    entities(text, &['&', '<', '|']).replace(['\n', '\t'], " ")
}

/// A code span of Markdown, in a line or a cell of a table, with its marks.
#[must_use]
pub fn code(text: &str) -> String {
    let text = self::text(text)
        .replace(['\n', '\t'], " ")
        .replace('`', "'");
    format!("`{}`", text.replace('|', "\\|"))
}

/// With some characters as entities.
fn entities(text: &str, special: &[char]) -> String {
    let mut all = String::with_capacity(text.len());
    for c in self::text(text).chars() {
        match c {
            c if !special.contains(&c) => all.push(c),
            '&' => all.push_str("&amp;"),
            '<' => all.push_str("&lt;"),
            '>' => all.push_str("&gt;"),
            '"' => all.push_str("&quot;"),
            // Writing to a string cannot fail.
            c => drop(write!(all, "&#{};", u32::from(c))),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\r\u{9b}b\u{202e}c\u{fffe}\u{1ffff}<script>&|`\"\n";

    #[test]
    fn what_is_hidden_is_shown_by_its_number() {
        let shown = r#"a\u{1b}[2J\u{d}\u{9b}b\u{202e}c\u{fffe}\u{1ffff}<script>&|`""#;
        assert_eq!(text(HOSTILE), format!("{shown}\n"));
        assert_eq!(text(&text(HOSTILE)), text(HOSTILE));
        let plain = "plain, 4 ≤ 5 ±2 · ✓\tשלום\n";
        assert!(matches!(text(plain), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_what_it_said() {
        let written = serde_json::to_string(HOSTILE).unwrap();
        let visible = json(&written);
        assert!(!visible.chars().any(is_hidden), "{visible}");
        assert_eq!(serde_json::from_str::<String>(&visible).unwrap(), HOSTILE);
    }

    #[test]
    fn markup_is_no_markup() {
        for shown in [xml(HOSTILE), markdown(HOSTILE)] {
            assert!(shown.contains("&lt;script"), "{shown}");
            assert!(!shown.chars().any(is_hidden), "{shown}");
        }
        assert!(markdown("a|b\nc").eq("a&#124;b c"));
        assert_eq!(code("a`b|c\n"), "`a'b\\|c `");
    }
}
