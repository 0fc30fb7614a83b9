//! What kind of failure an exception or a message stands for.

use crate::evidence::Kind;

/// By the name of an exception and what it says: `AssertionError: 1 != 2`, `java.lang.NullPointerException`.
/// `None` where the text does not begin like an exception.
pub(super) fn of_exception(text: &str) -> Option<Kind> {
    let text = text.trim();
    let (name, said) = text.split_once(':').unwrap_or((text, ""));
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    if name.is_empty() || !name.chars().all(of_name) {
        return of_words(text);
    }
    let name = name.rsplit(['.', '$']).next().unwrap_or(name);
    let said = said.trim();
    match name {
        "Failed" if said.starts_with("Timeout") => Some(Kind::Timeout),
        // `pytest.fail` and `pytest.raises`: the test has judged.
        "Failed" => Some(Kind::Assertion),
        "NotImplementedError" | "NotImplementedException" | "NotImplemented" => Some(Kind::Missing),
        "ImportError" | "ModuleNotFoundError" => Some(Kind::Import),
        "SyntaxError" | "IndentationError" | "TabError" => Some(Kind::Compile),
        "TimeoutError" | "TimeoutException" | "TestTimedOutException" => Some(Kind::Timeout),
        _ if is_assertion(name) => Some(Kind::Assertion),
        // Many languages throw the plainest exception there is for what is not written yet.
        "Error" | "Exception" | "RuntimeError" | "RuntimeException" => {
            Some(of_words(said).unwrap_or(Kind::Error))
        }
        _ if ["Error", "Exception", "Exit", "Interrupt", "Warning"].iter().any(|end| name.ends_with(end)) => {
            Some(Kind::Error)
        }
        _ => of_words(text),
    }
}

fn is_assertion(name: &str) -> bool {
    name.contains("Assertion") || name.contains("ComparisonFailure") || name == "ExpectationNotMetError"
}

/// By words without an exception's name before them.
pub(super) fn of_words(text: &str) -> Option<Kind> {
    let text = text.trim();
    let begins = |words: &str| text.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words));
    if begins("assert ") || begins("assert.") || begins("assertion ") || begins("expect(") {
        return Some(Kind::Assertion);
    }
    if begins("not implemented") || begins("not yet implemented") || begins("unimplemented") {
        return Some(Kind::Missing);
    }
    if begins("Cannot find module") || begins("Cannot find package") || begins("Failed to resolve import") {
        return Some(Kind::Import);
    }
    if begins("Failed to load url") {
        return Some(Kind::Import);
    }
    if begins("Test timed out") || begins("Exceeded timeout") || begins("thrown: \"Exceeded timeout") {
        return Some(Kind::Timeout);
    }
    None
}
