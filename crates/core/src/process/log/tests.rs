//! Records survive whatever is written into them (PX-96, PX-97).

use proptest::prelude::*;

use super::*;
use crate::check;
use crate::doc::Limits;
use crate::doc::Vocabulary;
use crate::kind::Kind;
use crate::process::DecisionType;
use crate::process::ObservationType;

/// Texts as people type them, and texts that YAML takes for something else.
fn any_text() -> impl Strategy<Value = String> {
    let tricky = [
        "",
        " ",
        "- x",
        "--- ",
        "---\n---\n",
        "key: value",
        "# no comment",
        "yes",
        "null",
        "~",
        "5.1.1",
        "0o17",
        "1e3",
        "2026-01-18",
        "\"quoted\"",
        "it's",
        "a\nb\n",
        "\n",
        "\ttab",
        "trailing ",
        "{a: 1}",
        "[x]",
        "&a",
        "*a",
        "!t",
        "|",
        ">",
        "%",
        "@",
        "`",
        "\\",
        "\u{0}\u{1b}\u{7f}",
        "\u{85}\u{2028}",
        "\u{feff}x",
        "ünïcödé 検査 🎉",
        "...\n",
    ];
    prop_oneof![prop::sample::select(tricky.to_vec()).prop_map(str::to_owned), any::<String>(), "(?s).{0,80}"]
}

prop_compose! {
    fn any_decision()(
        texts in prop::array::uniform6(any_text()),
        tags in prop::collection::vec(any_text(), 0..4),
        kind in prop::sample::select(DecisionType::WORDS.to_vec()),
    ) -> Decision {
        let [actor, subject, outcome, rationale, context, reference] = texts;
        let at = Utc::parse("2026-01-18T14:30:52Z").unwrap();
        let id = "DEC-20260118-143052".to_owned();
        Decision { id, at, kind: kind.1, actor, subject, outcome, rationale, context, reference, tags }
    }
}

prop_compose! {
    fn any_observation()(
        texts in prop::array::uniform4(any_text()),
        tags in prop::collection::vec(any_text(), 0..4),
        kind in prop::sample::select(ObservationType::WORDS.to_vec()),
    ) -> Observation {
        let [observer, subject, value, context] = texts;
        let at = Utc::parse("2026-01-18T14:30:52Z").unwrap();
        let id = "OBS-20260118-143052".to_owned();
        Observation { id, at, kind: kind.1, observer, subject, value: json!(value), context, tags }
    }
}

/// What another reader finds in the file.
fn read_back(text: &str) -> Result<Value, TestCaseError> {
    match doc::read(text.as_bytes(), &Limits::default()) {
        Ok(document) => Ok(document.root.to_json()),
        Err(findings) => Err(TestCaseError::fail(format!("{findings:?}\n{text}"))),
    }
}

proptest! {
    #[test]
    fn px_97_any_decision_reads_back_as_it_was(decision in any_decision()) {
        let file = decision_file(&decision);
        let text = framed(&file);
        prop_assert_eq!(read_back(&text)?, file);
        let blank = |s: &String| s.trim().is_empty();
        if ![&decision.actor, &decision.subject, &decision.outcome, &decision.rationale, &decision.context].into_iter().any(blank) {
            let checked = check::file(&record_path(&decision.id), text.as_bytes(), None);
            prop_assert_eq!(checked.kind, Some(Kind::Decision));
            prop_assert_eq!(checked.findings, vec![], "{}", text);
        }
    }

    #[test]
    fn px_96_any_observation_reads_back_as_it_was(observation in any_observation()) {
        let file = observation_file(&observation);
        let text = framed(&file);
        prop_assert_eq!(read_back(&text)?, file);
        let checked = check::file(&record_path(&observation.id), text.as_bytes(), None);
        prop_assert_eq!(checked.kind, Some(Kind::Observation));
    }

    /// What the journal keeps of it is the same too, and facts from before there was a reference still read.
    #[test]
    fn a_decision_survives_the_journal(decision in any_decision()) {
        let mut kept = serde_json::to_value(&decision).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Decision>(kept.clone()).unwrap(), &decision);
        kept.as_object_mut().unwrap().remove("ref");
        let older: Decision = serde_json::from_value(kept).unwrap();
        prop_assert_eq!(older, Decision { reference: String::new(), ..decision });
    }
}
