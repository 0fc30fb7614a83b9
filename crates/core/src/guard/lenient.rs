//! Reading what others wrote: JSON whose shape is theirs to change.

use std::borrow::Cow;

use serde::Deserialize;
use serde::Deserializer;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The byte order mark that some editors and pipes put in front.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Bytes as text that a JSON parser can take: no byte order mark, and neither foreign bytes nor half surrogate
/// pairs. Clients written in JavaScript do send the latter, as `\ud83d` alone.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    // Nearly everything is whole text, and to look whether it is takes a fraction of the time of mending it.
    if let Ok(text) = std::str::from_utf8(bytes) {
        return whole_surrogates(text);
    }
    let text = String::from_utf8_lossy(bytes);
    Cow::Owned(whole_surrogates(&text).into_owned())
}

/// Replaces each escape of half a surrogate pair by that of the replacement character.
fn whole_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match (unit(text, escape), unit(text, escape + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => escape + 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str(text.get(kept..escape).unwrap_or_default());
                mended.push_str("\\ufffd");
                kept = escape + 6;
                kept
            }
            (Some(_), _) => escape + 6,
            // An escaped character may be longer than a byte; then the search goes on inside of it and is refused
            // by `get`, so the step is made over whole characters.
            (None, _) => escape + 1 + text[escape + 1..].chars().next().map_or(1, char::len_utf8),
        };
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(mended)
}

/// The UTF-16 unit of the escape that begins at a byte, if one does.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

/// A field that is absent when it has another type than was hoped for.
pub(super) fn maybe<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// A JSON object read as `T`, or nothing. A list would be read as the fields in their order, so it is refused.
pub(super) fn object<'a, T: Deserialize<'a>>(raw: &'a str) -> Option<T> {
    raw.trim_start().starts_with('{').then(|| serde_json::from_str(raw).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_surrogates_are_replaced_and_whole_ones_kept() {
        for (given, wanted) in [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\u0041é""#, "Aé"),
        ] {
            let read: String = serde_json::from_str(&text(given.as_bytes())).unwrap();
            assert_eq!(read, wanted, "{given}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped() {
        assert_eq!(text(b"\xef\xbb\xbf{}"), "{}");
    }

    #[test]
    fn a_list_is_no_object() {
        assert_eq!(object::<serde_json::Map<String, serde_json::Value>>("[1]"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_become_text(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            text(&bytes);
        }

        #[test]
        fn any_string_survives_with_its_pairs(given in "[\\\\ud83de0\u{e9}\u{1f600}\"x ]{0,24}") {
            let json = serde_json::to_string(&given).unwrap();
            let read: String = serde_json::from_str(&text(json.as_bytes())).unwrap();
            prop_assert_eq!(read, given);
        }
    }
}
