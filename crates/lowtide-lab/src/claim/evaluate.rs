//! Works claims out.

use super::parse::{Arithmetic, Claim, Comparison, Expression, Function};
use super::{ClaimError, Holds};

/// Where values come from.
pub trait Context {
    /// The values of the cells that have all these labels, in their order; NaN for a cell without
    /// such a value.
    ///
    /// # Errors
    /// When there is no such value or no such cell at all.
    fn values(&self, name: &str, labels: &[String]) -> Result<Vec<f64>, ClaimError>;
}

/// Works an expression out: one number, or one for each cell.
///
/// # Errors
/// When it names what does not exist, or compares different numbers of cells.
pub fn evaluate(expression: &Expression, context: &dyn Context) -> Result<Vec<f64>, ClaimError> {
    match expression {
        Expression::Number(number) => Ok(vec![*number]),
        Expression::Value { name, labels } => context.values(name, labels),
        Expression::Arithmetic(operation, left, right) => {
            let (left, right) = (evaluate(left, context)?, evaluate(right, context)?);
            pairwise(&left, &right, |a, b| operation.of(a, b))
        }
        Expression::Function(function, inner) => {
            let values = evaluate(inner, context)?;
            Ok(match function {
                Function::Abs => values.into_iter().map(f64::abs).collect(),
                Function::Log2 => values.into_iter().map(libm::log2).collect(),
                Function::Min => vec![fold(&values, f64::min)],
                Function::Max => vec![fold(&values, f64::max)],
                Function::Mean => vec![crate::statistics::mean(&values)],
                Function::GeometricMean => vec![crate::statistics::geometric_mean(&values)],
                Function::Median => vec![median(values)],
            })
        }
    }
}

/// Works an expression out whose values are single numbers; NaN for a name that `value` does not
/// know.
pub(crate) fn number(expression: &Expression, value: &impl Fn(&str) -> f64) -> f64 {
    match expression {
        Expression::Number(number) => *number,
        Expression::Value { name, .. } => value(name),
        Expression::Arithmetic(operation, left, right) => {
            operation.of(number(left, value), number(right, value))
        }
        Expression::Function(Function::Abs, inner) => number(inner, value).abs(),
        Expression::Function(Function::Log2, inner) => libm::log2(number(inner, value)),
        // Of one number it is that number.
        Expression::Function(_, inner) => number(inner, value),
    }
}

impl Arithmetic {
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Plus => a + b,
            Self::Minus => a - b,
            Self::Times => a * b,
            Self::Over => a / b,
            Self::Smaller => known(f64::min, a, b),
            Self::Larger => known(f64::max, a, b),
            Self::Existing if a.is_nan() => b,
            Self::Existing => a,
        }
    }
}

/// NaN where one of the values is.
fn known(f: fn(f64, f64) -> f64, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        f(a, b)
    }
}

fn fold(values: &[f64], f: fn(f64, f64) -> f64) -> f64 {
    let values = values.iter().copied();
    values.reduce(|a, b| known(f, a, b)).unwrap_or(f64::NAN)
}

fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (values[(n - 1) / 2] + values[n / 2]) / 2.0
}

/// Matches two lists of which one may have a single number for all of the other's.
pub(crate) fn pairwise<T>(
    left: &[f64],
    right: &[f64],
    f: impl Fn(f64, f64) -> T,
) -> Result<Vec<T>, ClaimError> {
    let (a, b) = (left.len(), right.len());
    if a != b && a != 1 && b != 1 {
        return Err(ClaimError(format!("{a} cells cannot be matched with {b}")));
    }
    let at = |values: &[f64], n: usize| values[if values.len() == 1 { 0 } else { n }];
    Ok((0..a.max(b))
        .map(|n| f(at(left, n), at(right, n)))
        .collect())
}

/// Whether a claim holds. What cannot be compared (NaN) does not.
///
/// # Errors
/// As [`evaluate`].
pub fn holds(claim: &Claim, context: &dyn Context) -> Result<Holds, ClaimError> {
    let mut outcomes = Vec::new();
    for (first, further) in &claim.clauses {
        let mut left = evaluate(first, context)?;
        // A chain holds for a cell when each of its links does.
        let mut chain: Vec<bool> = vec![true];
        for (comparison, right) in further {
            let right = evaluate(right, context)?;
            let link = pairwise(&left, &right, |a, b| match comparison {
                Comparison::Below => a < b,
                Comparison::AtMost => a <= b,
                Comparison::Above => a > b,
                Comparison::AtLeast => a >= b,
            })?;
            let number = |all: &[bool]| all.iter().map(|b| f64::from(*b)).collect::<Vec<_>>();
            chain = pairwise(&number(&chain), &number(&link), |a, b| a * b > 0.0)?;
            left = right;
        }
        outcomes.extend(chain);
    }
    Ok(match outcomes.iter().filter(|o| **o).count() {
        0 => Holds::No,
        n if n == outcomes.len() => Holds::Yes,
        _ => Holds::Partly,
    })
}
