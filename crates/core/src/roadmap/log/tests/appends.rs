//! Events are added in the form that the file has, and nothing else changes.

use proptest::prelude::*;
use serde_json::Value as Json;
use serde_json::json;

use super::BARS;
use crate::roadmap::Outcome;
use crate::roadmap::Schema;
use crate::roadmap::StepState;
use crate::roadmap::StepStatus;
use crate::roadmap::change::Act;
use crate::roadmap::change::Change;
use crate::roadmap::change::change;
use crate::roadmap::log::Event;
use crate::roadmap::log::Log;
use crate::roadmap::log::new_log;
use crate::time::Utc;

fn now() -> Utc {
    Utc::parse("2026-02-06T10:00:00Z").unwrap()
}

fn event(data: &str) -> Event {
    Event {
        data: data.to_owned(),
        status: "EXECUTED".to_owned(),
        phase: "GREEN".to_owned(),
        ..Event::of_file("02-01", "", "", now())
    }
}

/// What is added at the end, in the form of the last event.
#[track_caller]
fn added(path: &str, text: &str, data: &str) -> String {
    let new = Log::read(path, text).unwrap().append(&[event(data)]).unwrap();
    let again = Log::read(path, &new).unwrap();
    assert_eq!(again.events().last().unwrap().data, data.split_whitespace().collect::<Vec<_>>().join(" "));
    let same = text.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let rest = &text[same..];
    assert!(new.ends_with(rest), "the old text stays: {new}");
    new[same..new.len() - rest.len()].to_owned()
}

#[test]
fn dw_49_an_event_takes_the_form_of_the_last_one() {
    let bars =
        BARS.lines().filter(|line| !line.contains("sid")).map(|line| format!("{line}\n")).collect::<String>();
    for (path, text, expected) in [
        (
            "l.yaml",
            bars.as_str(),
            "  - \"02-01|GREEN|EXECUTED|PASS: a: \\\"b\\\" | c|2026-02-06T10:00:00Z\"\n",
        ),
        (
            "l.yaml",
            BARS,
            "  - {\"sid\": \"02-01\", \"p\": \"GREEN\", \"s\": \"EXECUTED\", \"d\": \"PASS: a: \\\"b\\\" | c\", \"t\": \"2026-02-06T10:00:00Z\"}\n",
        ),
        (
            "l.yaml",
            "project_id: p\nevents:\n- sid: 01-01\n  p: GREEN\n  s: EXECUTED\n  d: PASS\n  t: '2026-02-05T22:00:00Z'\n",
            "- sid: \"02-01\"\n  p: GREEN\n  s: EXECUTED\n  d: \"PASS: a: \\\"b\\\" | c\"\n  t: \"2026-02-06T10:00:00Z\"\n",
        ),
    ] {
        assert_eq!(added(path, text, "PASS: a: \"b\" | c"), expected);
    }
}

#[test]
fn dw_49_json_stays_json_in_its_own_style() {
    let one =
        json!({"sid": "01-01", "p": "GREEN", "s": "EXECUTED", "d": "PASS", "t": "2026-02-05T22:00:00Z"});
    let log = json!({"events": [one], "project_id": "p"});
    let spread = serde_json::to_string_pretty(&log).unwrap();
    let new = added("l.json", &spread, "PASS");
    assert!(new.contains("\n      \"sid\": \"02-01\",\n      \"p\": \"GREEN\""), "{new}");
    let brief = log.to_string();
    assert!(!added("l.json", &brief, "PASS").contains('\n'));
    // A pair of surrogates is not YAML; the file is written anew then, with the same content.
    let emoji = spread.replace("\"PASS\"", "\"PASS: \\ud83d\\ude00\"");
    let text = Log::read("l.json", &emoji).unwrap().append(&[event("PASS")]).unwrap();
    let value: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(value["events"][0]["d"], json!("PASS: 😀"));
    assert_eq!(value["events"][1]["sid"], json!("02-01"));
}

#[test]
fn an_empty_log_gets_its_first_event() {
    for (path, text) in [
        ("l.yaml", new_log("l.yaml", "p", now())),
        ("l.json", new_log("l.json", "p", now())),
        ("l.yaml", "project_id: p\nevents:\n".to_owned()),
        ("l.yaml", "project_id: p # mine\nschema_version: '2.0'\nevents: []\n".to_owned()),
    ] {
        let log = Log::read(path, &text).unwrap();
        let new = log.append(&[event("PASS"), event("FAIL")]).unwrap();
        let again = Log::read(path, &new).unwrap();
        assert_eq!(again.events().len(), 2, "{new}");
        let bars = new.contains("|PASS|");
        assert_eq!(bars, text.contains("2.0"), "{new}");
    }
}

/// DW-40: each change of a step is an event of its own, and the log then says what the step says.
#[test]
fn dw_40_a_step_that_goes_on_appends_events() {
    for path in ["l.yaml", "l.json"] {
        let mut text = new_log(path, "p", now());
        let schema = Schema::usual();
        let mut state = StepState::fresh(path, "p", "01-01", schema);
        for name in schema.names() {
            let done = Change {
                outcome: Some(Outcome::Pass),
                note: Some("a | b".into()),
                ..Change::new(Act::Done, name)
            };
            let skip =
                Change { reason: Some("NOT_APPLICABLE: no need".into()), ..Change::new(Act::Skip, name) };
            let end = if name == "RED_UNIT" { skip } else { done };
            for what in [Change::new(Act::Start, name), end] {
                state = change(&state, schema, &what, now()).unwrap().0;
                text = Log::read(path, &text).unwrap().apply(&state, now()).unwrap();
            }
        }
        let log = Log::read(path, &text).unwrap();
        assert_eq!(log.events().len(), 14, "{text}");
        assert_eq!(log.findings(), []);
        let read = log.step("01-01").unwrap();
        assert_eq!(read.status, StepStatus::Done);
        let plain = |state: &StepState| {
            let of = |p: &crate::roadmap::PhaseRecord| {
                (p.name.clone(), p.status.clone(), p.outcome.clone(), p.blocked_by.clone())
            };
            state.phases.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(plain(&read), plain(&state));
        assert_eq!(log.apply(&read, now()).unwrap(), text, "nothing new, nothing added");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the data are, the event is read back and those before it are as they were.
    #[test]
    fn any_data_can_be_appended(data in "\\PC{0,40}", json in any::<bool>(), bars in any::<bool>()) {
        let path = if json { "l.json" } else { "l.yaml" };
        let first = event("PASS");
        let version = if bars { "2.0" } else { "3.0" };
        let empty = new_log(path, "p", now()).replace("3.0", version);
        let text = Log::read(path, &empty).unwrap().append(&[first]).unwrap();
        let new = Log::read(path, &text).unwrap().append(&[event(&data)]).unwrap();
        let log = Log::read(path, &new).unwrap();
        prop_assert_eq!(log.events().len(), 2);
        prop_assert_eq!(&log.events()[0].data, "PASS");
        let words = |text: &str| text.replace('|', " ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(words(&log.events()[1].data), words(&data));
    }
}
