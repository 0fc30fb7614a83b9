//! Points in time: UTC, whole milliseconds, written as RFC 3339.
//!
//! The clock itself is not here. A flow learns the time by `cx.now()` and the engine reads it.

use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;
use serde::Serialize;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Utc(pub i64);

impl Utc {
    fn stamp(self) -> Timestamp {
        // Out-of-range values can only come from a damaged entry; they are shown as the epoch.
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// The form of the ids in the seeds: `20260118-143052`.
    pub fn compact(self) -> String {
        self.stamp().strftime("%Y%m%d-%H%M%S").to_string()
    }

    /// The day: `2026-01-18`.
    pub fn day(self) -> String {
        self.stamp().strftime("%Y-%m-%d").to_string()
    }

    /// Whole-second RFC 3339, as files of the seeds carry it: `2026-01-18T14:30:52Z`.
    pub fn seconds(self) -> String {
        self.stamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Reads RFC 3339 (any offset).
    pub fn parse(text: &str) -> Option<Utc> {
        text.parse::<Timestamp>().ok().map(|t| Utc(t.as_millisecond()))
    }

    /// Milliseconds from `earlier` to this. Never negative: a clock that was set back gives zero (E-88).
    pub fn since_ms(self, earlier: Utc) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// This point moved by `ms` into the future.
    pub fn plus_ms(self, ms: u64) -> Utc {
        Utc(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stamp().strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

/// A span of time in words: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`.
pub fn span_in_words(ms: u64) -> String {
    let (s, m, h, d) = (ms / 1000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match () {
        () if ms < 1000 => format!("{ms} ms"),
        () if s < 60 => format!("{s} s"),
        () if m < 60 && s % 60 == 0 => format!("{m} min"),
        () if m < 60 => format!("{m} min {} s", s % 60),
        () if h < 24 && m % 60 == 0 => format!("{h} h"),
        () if h < 24 => format!("{h} h {} min", m % 60),
        () if h % 24 == 0 => format!("{d} d"),
        () => format!("{d} d {} h", h % 24),
    }
}

/// Reads a span as configuration files write it: `250ms`, `30s`, `5m`, `2h`, `1d`, or several (`1h30m`).
pub fn parse_span(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let count: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit_end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match rest[..unit_end].trim() {
            "ms" => 1,
            "s" | "sec" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(count.checked_mul(unit)?)?;
        rest = &rest[unit_end..];
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let t = Utc::parse("2026-01-18T14:30:52.7Z").unwrap();
        assert_eq!(t.to_string(), "2026-01-18T14:30:52.700Z");
        assert_eq!(t.compact(), "20260118-143052");
        assert_eq!(t.day(), "2026-01-18");
        assert_eq!(t.seconds(), "2026-01-18T14:30:52Z");
        assert_eq!(Utc::parse("2026-01-18T15:30:52.7+01:00"), Some(t));
        assert_eq!(Utc::parse("yesterday"), None);
    }

    #[test]
    fn e_88_durations_are_never_negative() {
        assert_eq!(Utc(1_000).since_ms(Utc(3_601_000)), 0);
        assert_eq!(Utc(3_601_000).since_ms(Utc(1_000)), 3_600_000);
    }

    #[test]
    fn spans() {
        for (text, ms) in
            [("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("1h30m", 5_400_000), ("1d", 86_400_000)]
        {
            assert_eq!(parse_span(text), Some(ms), "{text}");
        }
        for text in ["", "5", "m5", "5 parsecs", "99999999999999999999d"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
        for (ms, words) in [
            (0, "0 ms"),
            (12_999, "12 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (356_400_000, "4 d 3 h"),
        ] {
            assert_eq!(span_in_words(ms), words);
        }
    }
}
