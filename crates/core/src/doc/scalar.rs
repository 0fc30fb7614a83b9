//! What an unquoted scalar means: the core schema of YAML 1.2.

use super::Float;
use super::Value;

/// Resolves a plain scalar.
pub(super) fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::Str(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Value> {
    let float = |value: f64| Some(Value::Float(Float { value, text: text.to_owned() }));
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return float(f64::NAN),
        _ => {}
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return match text.parse::<i64>() {
            Ok(value) => Some(Value::Int(value)),
            Err(_) => float(text.parse().ok()?),
        };
    }
    if is_decimal(unsigned) { float(text.parse().ok()?) } else { None }
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let some_digits = |s: &str| !s.is_empty() && all_digits(s);
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => some_digits(fraction),
        Some((whole, fraction)) => some_digits(whole) && all_digits(fraction),
        None => some_digits(mantissa),
    };
    mantissa_fits && exponent.is_none_or(|e| some_digits(e.strip_prefix(['-', '+']).unwrap_or(e)))
}

/// Hexadecimal and octal numbers; those beyond 64 bits stay text, since nothing here could use them.
fn radix(digits: &str, radix: u32) -> Option<Value> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(digits, radix).ok().map(Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_1_2_words_stay_words() {
        for text in [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "N",
            "nULL",
            "tRUE",
            "5.1.1",
            "1_000",
            "0b1",
            "12:30",
            "-",
            ".",
            "e5",
            "0x",
            "2026-01-18",
            "+.nan",
        ] {
            assert_eq!(resolve(text), Value::Str(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(resolve("-12"), Value::Int(-12));
        assert_eq!(resolve("0x1F"), Value::Int(31));
        assert_eq!(resolve("0o17"), Value::Int(15));
        for (text, value) in
            [("33.3", 33.3), ("1.10", 1.1), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("-1.5E-2", -0.015)]
        {
            assert_eq!(resolve(text), Value::Float(Float { value, text: text.to_owned() }), "{text}");
        }
        let Value::Float(big) = resolve("18446744073709551615") else { panic!("not a float") };
        assert_eq!(big.to_json(), serde_json::json!(18_446_744_073_709_551_615_u64));
    }
}
