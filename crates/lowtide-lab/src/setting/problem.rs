//! What is wrong with a setting.

/// What is wrong, at which key. Whoever filled the sections knows what the user calls the keys: a
/// line of a file, a flag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Problem {
    /// The key whose value is wrong, as in `flows.0.every`.
    pub at: String,
    /// What is wrong and what would be right.
    pub problem: String,
    /// Another key that could be changed instead.
    pub see: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(at: impl Into<String>, problem: impl ToString) -> Self {
        Self {
            at: at.into(),
            problem: problem.to_string(),
            see: None,
        }
    }

    pub(crate) fn see(mut self, key: &'static str) -> Self {
        self.see = Some(key);
        self
    }

    /// The problem in a sentence; `name` is what the user calls a key.
    pub fn sentence(&self, name: impl Fn(&str) -> String) -> String {
        match self.see {
            None => self.problem.clone(),
            Some(key) => format!("{} (see {})", self.problem, name(key)),
        }
    }
}

/// An error at a key.
pub(super) fn wrong<T>(at: &str, problem: impl ToString) -> Result<T, Problem> {
    Err(Problem::new(at, problem))
}
