//! What is personal and never reaches a log (OC-73): shapes that are redacted like secrets. Each can be switched off where
//! it finds too much.

/// A shape of something personal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub name: &'static str,
    pub pattern: &'static str,
}

/// The shapes. They are narrow on purpose: a log in which every number is blotted out helps nobody.
pub const SHAPES: [Shape; 6] = [
    Shape {
        name: "email",
        pattern: r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}\b",
    },
    Shape { name: "phone", pattern: r"\+[0-9]{1,3}[ .-]?\(?[0-9]{1,4}\)?(?:[ .-]?[0-9]{2,4}){2,4}\b" },
    Shape { name: "phone-us", pattern: r"(?:\([0-9]{3}\) ?|\b[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}\b" },
    Shape { name: "ssn", pattern: r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b" },
    Shape {
        name: "card",
        pattern: r"\b(?:(?:4[0-9]{3}|5[1-5][0-9]{2}|6011)(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})\b",
    },
    Shape { name: "iban", pattern: r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b" },
];

/// The patterns for a [`Redactor`](crate::redact::Redactor), without those that are switched off by name.
pub fn patterns(off: &[String]) -> Vec<String> {
    let on = SHAPES.iter().filter(|shape| !off.iter().any(|name| name == shape.name));
    on.map(|shape| shape.pattern.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::hash::Hash;
    use crate::redact::Redactor;
    use crate::time::Utc;

    /// Made once: putting the expressions together takes longer than using them.
    fn redactor() -> &'static Redactor {
        static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&patterns(&[]), &[]).unwrap());
        &REDACTOR
    }

    #[test]
    fn oc_73_what_is_personal_is_taken_out() {
        for text in [
            "mail ann.lee+x@mail.example.org now",
            "call +49 30 1234567",
            "call (415) 555-2671",
            "call 415-555-2671",
            "ssn 078-05-1120",
            "card 4111 1111 1111 1111",
            "card 378282246310005",
            "iban DE89 3704 0044 0532 0130 00",
        ] {
            let clean = redactor().clean(text).into_owned();
            assert!(clean.contains("[redacted:pattern]"), "{clean}");
            assert!(!clean.chars().any(|c| c.is_ascii_digit()), "{clean}");
        }
    }

    #[test]
    fn what_logs_are_full_of_stays() {
        for text in [
            "2026-02-07T10:45:23Z took 754000 ms",
            "build-2026-02-07-10-30-00",
            "550e8400-e29b-41d4-a716-446655440000",
            "src/Customer.cs:45 at 127.0.0.1:8080 v1.2.3-4567",
            "@scope/package and user@host",
            "coverage 79.99 of 1234567890123456 lines",
        ] {
            assert_eq!(redactor().clean(text), text);
        }
        assert_eq!(patterns(&["email".to_owned()]).len(), SHAPES.len() - 1);
        let off = Redactor::new(&patterns(&["email".to_owned()]), &[]).unwrap();
        assert_eq!(off.clean("ann@example.org"), "ann@example.org");
    }

    proptest! {
        #[test]
        fn digests_and_times_are_never_taken_for_people(seed in any::<u64>(), ms in 0_i64..4_000_000_000_000) {
            let text = format!("{} {} {}", Hash::of(&seed.to_le_bytes()), Utc(ms), Utc(ms).compact());
            prop_assert_eq!(redactor().clean(&text).into_owned(), text);
        }
    }
}
