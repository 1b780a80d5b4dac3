use super::*;

struct Cells;

impl Context for Cells {
    fn values(&self, name: &str, labels: &[String]) -> Result<Vec<f64>, ClaimError> {
        let all = [
            ("bbr", [100.0, 200.0, 300.0]),
            ("rbbr", [50.0, 250.0, 60.0]),
        ];
        let is_it = |(cc, _): &&(&str, _)| labels.first().is_some_and(|l| l == cc);
        match name {
            "rtt_ms.mean" => match all.iter().find(is_it) {
                Some((_, values)) => Ok(values.to_vec()),
                None => Err(ClaimError("no such cell".to_string())),
            },
            "paper" => Ok(vec![60.0]),
            "missing" => Ok(vec![f64::NAN]),
            _ => Err(ClaimError(format!("no value {name}"))),
        }
    }
}

fn value(text: &str) -> Vec<f64> {
    evaluate(&parse_expression(text).unwrap(), &Cells).unwrap()
}

#[test]
fn arithmetic_goes_cell_by_cell_with_the_usual_precedence() {
    for (text, expected) in [
        ("1 + 2 * 3 - 8 / 4", &[5.0][..]),
        ("-(1 + 2) * 3", &[-9.0]),
        ("rtt_ms.mean('bbr') / 100", &[1.0, 2.0, 3.0]),
        (
            "rtt_ms.mean(\"bbr\") - rtt_ms.mean('rbbr')",
            &[50.0, -50.0, 240.0],
        ),
        ("abs(rtt_ms.mean('bbr') - 250)", &[150.0, 50.0, 50.0]),
        ("median(rtt_ms.mean('rbbr'))", &[60.0]),
        (
            "max(rtt_ms.mean('rbbr')) + min(rtt_ms.mean('rbbr'))",
            &[300.0],
        ),
        ("mean(rtt_ms.mean('bbr'))", &[200.0]),
        (
            "max(rtt_ms.mean('bbr'), rtt_ms.mean('rbbr'), 240)",
            &[240.0, 250.0, 300.0],
        ),
        ("or(missing, 3) + or(4, missing)", &[7.0]),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    assert!(value("max(missing, 1)")[0].is_nan());
    let geometric = value("geomean(rtt_ms.mean('bbr') / 100)")[0];
    assert!((geometric.powi(3) - 6.0).abs() < 1e-12, "{geometric}");
}

#[test]
fn a_claim_holds_everywhere_somewhere_or_nowhere() {
    for (text, expected) in [
        ("rtt_ms.mean('bbr') >= 100", Holds::Yes),
        ("rtt_ms.mean('rbbr') < rtt_ms.mean('bbr')", Holds::Partly),
        ("rtt_ms.mean('rbbr') > 2 * rtt_ms.mean('bbr')", Holds::No),
        ("1 < 2 < 3", Holds::Yes),
        ("1 < 3 < 2", Holds::No),
        ("1 < 2; 2 < 1", Holds::Partly),
        ("median(rtt_ms.mean('rbbr')) <= paper", Holds::Yes),
        ("missing < 1", Holds::No),
        ("missing >= 1", Holds::No),
    ] {
        let claim = parse_claim(text).unwrap();
        assert_eq!(holds(&claim, &Cells).unwrap(), expected, "{text}");
    }
}

#[test]
fn what_is_no_claim_is_refused() {
    for (text, part) in [
        ("1 +", "a value is missing at the end"),
        ("rtt_ms.mean('bbr'", "')' is missing"),
        ("rtt_ms.mean('bbr", "not closed"),
        ("1 2 < 3", "before"),
        ("1", "a comparison is missing"),
        ("1 < 2 $", "'$' means nothing"),
        ("1.2.3 < 1", "is no number"),
    ] {
        let error = parse_claim(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    assert!(parse_expression(&"(".repeat(10_000)).is_err());
    let unmatched = parse_claim("rtt_ms.mean('bbr') < other('x')").unwrap();
    assert!(holds(&unmatched, &Cells).is_err());
}
