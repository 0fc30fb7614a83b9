//! What an agent claims about its own failure, in its own words.
//!
//! Agents are programs of others: a rate limit reaches the engine as a sentence that the agent printed or reported. This
//! is the only place that reads such sentences, and it reads nothing that the engine itself has written. A claim decides
//! how long to wait before a retry and which remedy is shown, never whether work counts as done.

use std::sync::LazyLock;

use regex::Regex;

use super::Class;
use super::FailureCause;
use crate::time::parse_span;

static RATE_LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b429\b|rate.?limit|too many requests|quota exceeded|overloaded|\b529\b").ok()
});
static RETRY_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)retry[-_ ]?after(?:_s|_seconds)?["']?\s*[:=]?\s*["']?([0-9]+)\s*(ms|milliseconds|s|sec|seconds|m|min|minutes)?\b"#,
    )
    .ok()
});
static AGAIN_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:try|retry) again in ([0-9]+)\s*(ms|milliseconds|s|sec|seconds|m|min|minutes)\b").ok()
});
static UNAUTHORISED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b40[13]\b|unauthori[sz]ed|forbidden|permission denied|invalid api key|authentication (?:failed|error)|not logged in").ok()
});
static UNAVAILABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b50[234]\b|unavailable|file is locked|lock(?:ed)? by|busy").ok());
static NO_PROGRAM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)exit code 12[67]\b|no program named|cannot be executed|command not found").ok()
});

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Returns the cause that an agent claims: `said` is what its report says, `printed` the end of its output. The class
/// bounds what a claim can be; `unclassed` means that the agent reported a failure without a class.
pub fn claimed(class: Class, unclassed: bool, said: &str, printed: &str) -> Option<FailureCause> {
    let words = format!("{said}\n{printed}");
    let limited = || {
        says(&RATE_LIMIT, &words).then(|| FailureCause::RateLimit { retry_after_ms: retry_after_ms(&words) })
    };
    let no_program = || says(&NO_PROGRAM, said).then_some(FailureCause::NoProgram);
    match class {
        Class::Transport => match () {
            () if says(&RATE_LIMIT, &words) => limited(),
            () if says(&UNAUTHORISED, &words) => Some(FailureCause::Unauthorised),
            () if says(&UNAVAILABLE, &words) => Some(FailureCause::Unavailable),
            () => None,
        },
        Class::Crash => no_program().or_else(limited),
        // A report that names no class is retried like a crash, and is read like one.
        Class::Contract if unclassed => no_program().or_else(limited),
        Class::Contract => {
            no_program().or_else(|| says(&UNAUTHORISED, said).then_some(FailureCause::Unauthorised))
        }
        Class::AgentDeadline
        | Class::Silent
        | Class::Invalid
        | Class::MissingArtifact
        | Class::Scope
        | Class::Denied
        | Class::Cancelled
        | Class::Storage => None,
    }
}

/// How long the other side asks to wait; a bare number counts seconds, as in the header of that name.
fn retry_after_ms(words: &str) -> Option<u64> {
    let captures = [&RETRY_AFTER, &AGAIN_IN]
        .into_iter()
        .find_map(|pattern| pattern.as_ref().and_then(|pattern| pattern.captures(words)))?;
    let number = captures.get(1)?.as_str();
    let unit = match captures.get(2).map(|unit| unit.as_str().to_ascii_lowercase()) {
        Some(unit) if unit.starts_with("ms") || unit.starts_with("milli") => "ms",
        Some(unit) if unit.starts_with('m') => "m",
        Some(_) | None => "s",
    };
    parse_span(&format!("{number}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(class: Class, words: &str) -> Option<FailureCause> {
        claimed(class, false, words, "")
    }

    // OC-20, OC-21, OC-61
    #[test]
    fn oc_20_an_agents_words_tell_a_rate_limit_from_a_missing_permission() {
        let limit = |retry_after_ms| Some(FailureCause::RateLimit { retry_after_ms });
        assert_eq!(said(Class::Transport, "connection reset by peer"), None);
        assert_eq!(said(Class::Transport, "HTTP 429 Too Many Requests"), limit(None));
        assert_eq!(said(Class::Transport, "rate limited, Retry-After: 7"), limit(Some(7_000)));
        assert_eq!(said(Class::Transport, "overloaded; try again in 2 minutes"), limit(Some(120_000)));
        assert_eq!(said(Class::Transport, "503 service unavailable"), Some(FailureCause::Unavailable));
        assert_eq!(said(Class::Transport, "the request timed out"), None);
        assert_eq!(said(Class::Contract, "401 Unauthorized"), Some(FailureCause::Unauthorised));
        assert_eq!(said(Class::Contract, "sh: claude: command not found"), Some(FailureCause::NoProgram));
        assert_eq!(claimed(Class::Crash, false, "", "429 too many requests\n"), limit(None));
        assert_eq!(claimed(Class::Contract, true, "quota exceeded", ""), limit(None));
        assert_eq!(said(Class::Contract, "quota exceeded"), None);
    }

    #[test]
    fn a_claim_never_changes_what_the_engine_found_itself() {
        for class in [
            Class::AgentDeadline,
            Class::Silent,
            Class::Invalid,
            Class::MissingArtifact,
            Class::Scope,
            Class::Denied,
            Class::Cancelled,
            Class::Storage,
        ] {
            assert_eq!(claimed(class, false, "429, 401, exit code 127, unavailable", "429"), None, "{class}");
        }
    }
}
