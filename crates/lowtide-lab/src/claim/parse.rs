//! Reads claims.

use super::ClaimError;

/// What is worked out.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// A value of the cells with these labels.
    Value {
        /// The value's name.
        name: String,
        /// The labels; none: all cells.
        labels: Vec<String>,
    },
    /// One of two values at a time.
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    /// A function of an expression.
    Function(Function, Box<Expression>),
}

impl Expression {
    /// The names of all values in it.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Value { name, .. } => vec![name],
            Self::Arithmetic(_, left, right) => [left.names(), right.names()].concat(),
            Self::Function(_, inner) => inner.names(),
        }
    }
}

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Sum.
    Plus,
    /// Difference.
    Minus,
    /// Product.
    Times,
    /// Quotient.
    Over,
    /// The smaller one.
    Smaller,
    /// The larger one.
    Larger,
    /// The first one, or the second where the first does not exist.
    Existing,
}

/// A function of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The smallest of all.
    Min,
    /// The largest of all.
    Max,
    /// The mean of all.
    Mean,
    /// The geometric mean of all.
    GeometricMean,
    /// The median of all.
    Median,
    /// The absolute value of each.
    Abs,
    /// The binary logarithm of each.
    Log2,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// Clauses of compared expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The first expression of each, and each further one with its comparison to the one before.
    pub(super) clauses: Vec<(Expression, Vec<(Comparison, Expression)>)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Label(String),
    Sign(char),
    Compare(Comparison),
}

/// The deepest nesting of an expression.
const MAX_DEPTH: usize = 64;

/// The most words and signs of a claim. A long sum nests, too.
const MAX_TOKENS: usize = 2000;

fn tokens(text: &str) -> Result<Vec<Token>, ClaimError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = |f: &dyn Fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
        let (token, used) = match c {
            _ if c.is_whitespace() => (None, c.len_utf8()),
            '0'..='9' => {
                let used = length(&|c| c.is_ascii_digit() || c == '.');
                let number = rest[..used]
                    .parse()
                    .map_err(|_| ClaimError(format!("'{}' is no number", &rest[..used])))?;
                (Some(Token::Number(number)), used)
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let used = length(&|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                (Some(Token::Name(rest[..used].to_string())), used)
            }
            '"' | '\'' => {
                let Some(end) = rest[1..].find(c) else {
                    return Err(ClaimError(format!("a label is not closed: {rest}")));
                };
                (Some(Token::Label(rest[1..=end].to_string())), end + 2)
            }
            '<' | '>' => {
                let or_equal = rest[1..].starts_with('=');
                let comparison = match (c, or_equal) {
                    ('<', false) => Comparison::Below,
                    ('<', true) => Comparison::AtMost,
                    (_, false) => Comparison::Above,
                    (_, true) => Comparison::AtLeast,
                };
                (Some(Token::Compare(comparison)), 1 + usize::from(or_equal))
            }
            '+' | '-' | '*' | '/' | '(' | ')' | ',' | ';' => (Some(Token::Sign(c)), 1),
            _ => return Err(ClaimError(format!("'{c}' means nothing here: {rest}"))),
        };
        found.extend(token);
        if found.len() > MAX_TOKENS {
            return Err(ClaimError(format!(
                "it has more than {MAX_TOKENS} words and signs: make several claims of it"
            )));
        }
        rest = &rest[used..];
    }
    Ok(found)
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn new(text: &str) -> Result<Self, ClaimError> {
        Ok(Self {
            tokens: tokens(text)?,
            at: 0,
        })
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.tokens.get(self.at) == Some(&Token::Sign(wanted));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), ClaimError> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(self.problem(&format!("'{wanted}' is missing")))
    }

    fn problem(&self, problem: &str) -> ClaimError {
        match self.tokens.get(self.at) {
            None => ClaimError(format!("{problem} at the end")),
            Some(token) => ClaimError(format!("{problem} before {token:?}")),
        }
    }

    fn end(&self) -> Result<(), ClaimError> {
        if self.at == self.tokens.len() {
            return Ok(());
        }
        Err(self.problem("an operator is missing"))
    }

    fn claim(&mut self) -> Result<Claim, ClaimError> {
        let mut clauses = Vec::new();
        loop {
            let first = self.sum(0)?;
            let mut further = Vec::new();
            while let Some(Token::Compare(comparison)) = self.tokens.get(self.at) {
                let comparison = *comparison;
                self.at += 1;
                further.push((comparison, self.sum(0)?));
            }
            if further.is_empty() {
                return Err(self.problem("a comparison is missing"));
            }
            clauses.push((first, further));
            if !self.take(';') {
                return Ok(Claim { clauses });
            }
        }
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, ClaimError> {
        let mut left = self.product(depth)?;
        loop {
            let operation = match () {
                () if self.take('+') => Arithmetic::Plus,
                () if self.take('-') => Arithmetic::Minus,
                () => return Ok(left),
            };
            let right = self.product(depth)?;
            left = Expression::Arithmetic(operation, Box::new(left), Box::new(right));
        }
    }

    fn product(&mut self, depth: usize) -> Result<Expression, ClaimError> {
        let mut left = self.factor(depth)?;
        loop {
            let operation = match () {
                () if self.take('*') => Arithmetic::Times,
                () if self.take('/') => Arithmetic::Over,
                () => return Ok(left),
            };
            let right = self.factor(depth)?;
            left = Expression::Arithmetic(operation, Box::new(left), Box::new(right));
        }
    }

    fn factor(&mut self, depth: usize) -> Result<Expression, ClaimError> {
        if depth > MAX_DEPTH {
            return Err(ClaimError("it is nested too deeply".to_string()));
        }
        if self.take('-') {
            let zero = Box::new(Expression::Number(0.0));
            let right = Box::new(self.factor(depth + 1)?);
            return Ok(Expression::Arithmetic(Arithmetic::Minus, zero, right));
        }
        if self.take('(') {
            let inner = self.sum(depth + 1)?;
            self.expect(')')?;
            return Ok(inner);
        }
        let token = self.tokens.get(self.at).cloned();
        match token {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Expression::Number(number))
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                let function = match name.as_str() {
                    "min" => Function::Min,
                    "max" => Function::Max,
                    "mean" => Function::Mean,
                    "geomean" => Function::GeometricMean,
                    "median" => Function::Median,
                    "abs" => Function::Abs,
                    "log2" => Function::Log2,
                    "or" => {
                        self.expect('(')?;
                        let first = Box::new(self.sum(depth + 1)?);
                        self.expect(',')?;
                        let second = Box::new(self.sum(depth + 1)?);
                        self.expect(')')?;
                        return Ok(Expression::Arithmetic(Arithmetic::Existing, first, second));
                    }
                    _ => return self.value(name),
                };
                self.expect('(')?;
                let mut inner = self.sum(depth + 1)?;
                let operation = match function {
                    Function::Min => Arithmetic::Smaller,
                    Function::Max => Arithmetic::Larger,
                    _ => {
                        self.expect(')')?;
                        return Ok(Expression::Function(function, Box::new(inner)));
                    }
                };
                if self.take(')') {
                    return Ok(Expression::Function(function, Box::new(inner)));
                }
                while self.take(',') {
                    let other = self.sum(depth + 1)?;
                    inner = Expression::Arithmetic(operation, Box::new(inner), Box::new(other));
                }
                self.expect(')')?;
                Ok(inner)
            }
            _ => Err(self.problem("a value is missing")),
        }
    }

    fn value(&mut self, name: String) -> Result<Expression, ClaimError> {
        let mut labels = Vec::new();
        if self.take('(') {
            loop {
                let Some(Token::Label(label)) = self.tokens.get(self.at) else {
                    return Err(self.problem("a label in quotes is missing"));
                };
                labels.push(label.clone());
                self.at += 1;
                if !self.take(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        Ok(Expression::Value { name, labels })
    }
}

/// Reads an expression.
///
/// # Errors
/// When the text is none.
pub fn parse_expression(text: &str) -> Result<Expression, ClaimError> {
    let mut reader = Reader::new(text)?;
    let expression = reader.sum(0)?;
    reader.end()?;
    Ok(expression)
}

/// Reads a claim.
///
/// # Errors
/// When the text is none.
pub fn parse_claim(text: &str) -> Result<Claim, ClaimError> {
    let mut reader = Reader::new(text)?;
    let claim = reader.claim()?;
    reader.end()?;
    Ok(claim)
}
