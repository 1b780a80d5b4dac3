//! Tables of results, for terminals of any width and as Markdown.

use std::fmt::Display;
use std::iter;
use std::ops::Range;

use comfy_table::{CellAlignment, Table, presets};

/// Spaces on either side of a cell.
const PADDING: usize = 2;
/// The least room for names; longer ones are broken.
const MIN_NAME: usize = 16;

/// The head of a column, and its rank: where there is no room, columns of a high rank go first.
pub(crate) type Column<'a> = (&'a str, u8);

/// How a table is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Markdown,
    /// For a terminal of so many columns; `None`: as wide as it gets.
    Plain(Option<usize>),
}

impl Look {
    /// A table as wide as the terminal that standard output is, if it is one.
    pub(crate) fn of_output(markdown: bool) -> Self {
        if markdown {
            return Self::Markdown;
        }
        Self::plain(terminal_size::terminal_size_of(std::io::stdout()))
    }

    /// A table as wide as the terminal that standard error is, if it is one.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_errors() -> Self {
        Self::plain(terminal_size::terminal_size_of(std::io::stderr()))
    }

    fn plain(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Self {
        Self::Plain(size.map(|(width, _)| usize::from(width.0)))
    }

    pub(crate) fn is_markdown(self) -> bool {
        self == Self::Markdown
    }

    /// What a heading begins with.
    pub(crate) fn heading(self) -> &'static str {
        if self.is_markdown() { "### " } else { "" }
    }
}

/// A name and its values in each row.
pub(crate) fn table(
    name: &str,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = (String, Vec<String>)>,
    look: Look,
) -> String {
    let rows: Vec<(String, Vec<String>)> = rows.into_iter().collect();
    let width = match look {
        Look::Markdown | Look::Plain(None) => usize::MAX,
        Look::Plain(Some(width)) => width,
    };
    let chars = |text: &str| text.chars().count();
    let widest = |n: usize| {
        let cells = rows.iter().map(|(_, cells)| chars(&cells[n]));
        cells.fold(chars(columns[n].0), usize::max) + PADDING
    };
    let names = rows.iter().map(|(name, _)| chars(name));
    let mut name_width = names.fold(chars(name), usize::max);
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let needed = |shown: &[usize]| shown.iter().map(|n| widest(*n)).sum::<usize>() + PADDING;
    if needed(&shown).saturating_add(name_width) > width {
        name_width = name_width.min((width / 3).max(MIN_NAME));
    }
    while shown.len() > 1 && needed(&shown).saturating_add(name_width) > width {
        let last = (0..shown.len()).max_by_key(|n| (columns[shown[*n]].1, *n));
        shown.remove(last.unwrap_or(0));
    }
    let heads = shown.iter().map(|n| columns[*n].0);
    let heads = iter::once(name).chain(heads).collect();
    let rows = rows.iter().map(|(name, cells)| {
        let values = shown.iter().map(|n| cells[*n].clone());
        iter::once(broken(name, name_width)).chain(values).collect()
    });
    let mut text = aligned(heads, rows, 1..usize::MAX, look);
    let gone: Vec<&str> = (0..columns.len())
        .filter(|n| !shown.contains(n))
        .map(|n| columns[n].0)
        .collect();
    if !gone.is_empty() {
        let note = format!(
            "no room for {}: a wider terminal or --json has all",
            gone.join(", ")
        );
        text.push_str(&format!("\n{}\n", wrapped(&note, width)));
    }
    text
}

/// Cells below their heads, as wide as they are; the columns in `right` are aligned to the right.
pub(crate) fn aligned(
    heads: Vec<&str>,
    rows: impl Iterator<Item = Vec<String>>,
    right: Range<usize>,
    look: Look,
) -> String {
    let mut table = Table::new();
    table.load_style(if look.is_markdown() {
        presets::ASCII_MARKDOWN
    } else {
        presets::NOTHING
    });
    table.set_header(heads);
    for cells in rows {
        table.add_row(cells);
    }
    for (n, column) in table.column_iter_mut().enumerate() {
        if right.contains(&n) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_string() + "\n");
    lines.collect()
}

/// Names, padded to `width`, each with what is said of it.
pub(crate) fn list(
    width: usize,
    entries: impl Iterator<Item = (impl AsRef<str>, impl Display)>,
) -> String {
    entries
        .map(|(name, about)| format!("{:<width$} {about}\n", name.as_ref()))
        .collect()
}

/// A name in lines of at most `width` characters where its parts allow it, those after the first
/// indented.
fn broken(name: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for part in name.split_inclusive([' ', ',', ':']) {
        let length = part.trim_end().chars().count();
        if used > 0 && used + length > width {
            text.truncate(text.trim_end().len());
            text.push_str("\n    ");
            used = 4;
        }
        text.push_str(part);
        used += part.chars().count();
    }
    text
}

/// What stands below tables for people: not in Markdown.
pub(crate) fn note(text: &str, look: Look) -> String {
    match look {
        Look::Markdown => String::new(),
        Look::Plain(width) => wrapped(text, width.unwrap_or(100).min(100)) + "\n",
    }
}

/// A text in lines of at most `width` characters, where its words allow it.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push('\n');
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_its_terminal_and_says_what_it_leaves_out() {
        let columns = [("Mbit/s", 1), ("used %", 2), ("p95", 1), ("resent %", 4)];
        let cells = ["13.98", "99.8", "14991.4", "0.00"].map(str::to_string);
        let row = (
            "window:packets=33 (best window)".to_string(),
            cells.to_vec(),
        );
        let of = |width| table("controller", &columns, [row.clone()], Look::Plain(width));
        let whole = of(None);
        assert_eq!(whole.lines().count(), 2, "{whole}");
        for width in [40, 50, 60] {
            let text = of(Some(width));
            let fits = text.lines().all(|line| line.chars().count() <= width);
            assert!(fits && text.contains("p95"), "{text}");
            assert!(text.contains("\n     (best"), "{text}");
        }
        assert!(!of(Some(60)).contains("no room"), "{}", of(Some(60)));
        let narrow = of(Some(40));
        assert!(narrow.contains("no room for used %, resent %:"), "{narrow}");
    }
}
