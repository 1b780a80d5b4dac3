//! The command line of this process, as pages say it.

use std::ffi::OsString;
use std::sync::OnceLock;

/// The command line, as far as it decides what comes out.
static COMMAND: OnceLock<String> = OnceLock::new();

/// Flags that change where results go or how fast they come, and nothing in them: those with a value, and those without.
const WITH_VALUE: [&str; 10] = [
    "--report",
    "--figures",
    "--qlog",
    "--output",
    "-o",
    "--junit",
    "--document",
    "--sparklines",
    "--jobs",
    "-j",
];
const WITHOUT: [&str; 5] = ["--json", "--csv", "--markdown", "--no-timing", "--quiet"];

/// Notes what the process was asked for; what was noted first holds.
pub(crate) fn note(arguments: &[OsString]) {
    let _ = COMMAND.set(shown(arguments));
}

/// What was noted.
pub(crate) fn noted() -> String {
    COMMAND.get().cloned().unwrap_or_default()
}

fn shown(arguments: &[OsString]) -> String {
    let mut words = vec!["lowtide".to_string()];
    let mut all = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = all.next() {
        if word == "--" {
            words.push(word.into_owned());
            words.extend(all.by_ref().map(|word| quoted(&word)));
            break;
        }
        let name = word.split('=').next().unwrap_or(&word);
        if WITH_VALUE.contains(&name) {
            if name == word {
                all.next();
            }
        } else if !WITHOUT.contains(&name) {
            words.push(quoted(&word));
        }
    }
    words.join(" ")
}

/// A word that a shell reads as it stands.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_by_what_decides_its_results() {
        let of = |line: &str| shown(&line.split('|').map(OsString::from).collect::<Vec<_>>());
        let asked = "/usr/bin/lowtide|compare|--cc|bbr,ebb|--report|out";
        assert_eq!(of(asked), "lowtide compare --cc bbr,ebb");
        let asked = "x|score|--report=out|--json=a|--jobs|2|--suite|my cases";
        assert_eq!(of(asked), "lowtide score --suite 'my cases'");
        let asked = "x|link|--rate|5mbit|--|get|--report|it's";
        let shown = r"lowtide link --rate 5mbit -- get --report 'it'\''s'";
        assert_eq!(of(asked), shown);
    }
}
