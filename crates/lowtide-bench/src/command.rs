//! Commands for the shell, with values put in.

/// A command with values in the places of its names, each one word of the shell's whatever it holds: the value says
/// what it is within the quotes that it stands in.
pub(crate) fn filled(text: &str, values: &[(&str, String)]) -> String {
    let mut command = String::with_capacity(text.len());
    let mut quotes = Quotes::None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // `${dir}` is a variable of the shell's.
        let place = values.iter().filter(|_| !command.ends_with('$'));
        let place = { place }.find_map(|(name, value)| {
            let behind = rest
                .strip_prefix('{')?
                .strip_prefix(*name)?
                .strip_prefix('}')?;
            Some((value, behind))
        });
        if let Some((value, behind)) = place {
            quotes.put(value, &mut command);
            rest = behind;
            continue;
        }
        let mut length = c.len_utf8();
        match (quotes, c) {
            // What is behind it does not end a quote.
            (Quotes::None | Quotes::Double, '\\') => {
                length += rest[1..].chars().next().map_or(0, char::len_utf8);
            }
            (Quotes::None, '\'') => quotes = Quotes::Single,
            (Quotes::None, '"') => quotes = Quotes::Double,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => quotes = Quotes::None,
            _ => {}
        }
        command.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    command
}

/// The shell's quotes that a place in a command is in.
#[derive(Clone, Copy)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// A value as part of the word that is written within these.
    fn put(self, value: &str, command: &mut String) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
        match self {
            Self::None if !value.is_empty() && value.chars().all(is_plain) => {
                command.push_str(value);
            }
            Self::None => {
                command.push('\'');
                Self::Single.put(value, command);
                command.push('\'');
            }
            Self::Single => command.push_str(&value.replace('\'', r"'\''")),
            Self::Double => {
                for c in value.chars() {
                    if "\"$`\\".contains(c) {
                        command.push('\\');
                    }
                    command.push(c);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_word_within_any_quotes() {
        let value = r#"/t $(echo x) `y` "q" it's \ /0"#;
        let values = [("dir", value.to_string())];
        let folder = tempfile::tempdir().unwrap();
        for text in [
            "printf %s {dir}",
            "printf %s '{dir}'",
            "printf %s \"{dir}\"",
            "printf '%s' \"\"{dir}''",
            "printf %s \\\"{dir} # it's",
        ] {
            let output = std::process::Command::new("sh")
                .args(["-c", &filled(text, &values)])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said.trim_start_matches('"'), value, "{text}");
        }
    }
}
