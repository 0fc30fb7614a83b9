//! Whatever an old file holds, every scalar of it is in the new one.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        "[a-zA-Z0-9 :#_-]{0,12}".prop_map(Json::from),
    ]
}

/// Anything at all.
fn value() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

/// A mapping with some of the fields that are known, any values in them, and others beside them.
fn fields(known: &'static [&'static str]) -> impl Strategy<Value = Map<String, Json>> {
    let of_known = proptest::collection::vec((0..known.len(), value()), 0..6);
    let others = proptest::collection::btree_map("x_[a-z]{1,6}", value(), 0..3);
    (of_known, others).prop_map(move |(some, others)| {
        let named = some.into_iter().map(|(at, value)| (known[at].to_owned(), value));
        named.chain(others).collect()
    })
}

fn phase() -> impl Strategy<Value = Json> {
    const FIELDS: &[&str] = &[
        "status",
        "outcome",
        "started_at",
        "ended_at",
        "completed_at",
        "timestamp",
        "duration_minutes",
        "turn_count",
        "notes",
        "blocked_by",
        "skip_reason",
        "history",
        "phase_index",
        "artifacts",
        "migrated_from",
    ];
    let word = prop_oneof![
        Just("EXECUTED"),
        Just("completed"),
        Just("SKIPPED"),
        Just("WAITING"),
        Just("IN_PROGRESS")
    ];
    let name = prop_oneof![Just("PREPARE"), Just("GREEN"), Just("REVIEW"), Just("COMMIT")];
    (fields(FIELDS), proptest::option::of(word), name).prop_map(|(mut map, word, name)| {
        map.insert("phase_name".to_owned(), json!(name));
        map.extend(word.map(|word| ("status".to_owned(), json!(word))));
        Json::Object(map)
    })
}

fn phases() -> impl Strategy<Value = Json> {
    prop_oneof![4 => proptest::collection::vec(phase(), 0..5).prop_map(Json::from), 1 => value()]
}

fn status_file() -> impl Strategy<Value = Json> {
    const HEAD: &[&str] = &[
        "project_id",
        "created_at",
        "created",
        "schema_version",
        "metadata",
        "current",
        "current_step",
        "completed_steps",
        "step_checkpoint",
        "step_checkpoint_01_02",
        "updated_at",
        "migrated_from",
    ];
    let checkpoint =
        (phases(), fields(&["status", "failure_reason", "migrated_from"])).prop_map(|(phases, mut map)| {
            map.insert("step_id".to_owned(), json!("07-07"));
            map.insert("phases".to_owned(), phases);
            Json::Object(map)
        });
    (fields(HEAD), fields(HEAD), checkpoint).prop_map(|(mut top, mut base, checkpoint)| {
        base.insert("step_checkpoint_07_07".to_owned(), checkpoint);
        top.insert("execution_status".to_owned(), Json::Object(base));
        Json::Object(top)
    })
}

fn step_file() -> impl Strategy<Value = Json> {
    const FIELDS: &[&str] = &[
        "state",
        "status",
        "project_id",
        "task_specification",
        "execution_result",
        "quality_gates",
        "step_type",
    ];
    (fields(FIELDS), phases()).prop_map(|(mut map, phases)| {
        map.insert("task_id".to_owned(), json!("01-01"));
        map.insert("tdd_cycle".to_owned(), json!({"phase_execution_log": phases}));
        Json::Object(map)
    })
}

fn tracker() -> impl Strategy<Value = Json> {
    let step = |id: &'static str| {
        (fields(&["status", "started_at", "failure_reason"]), phases()).prop_map(move |(mut map, phases)| {
            map.insert("id".to_owned(), json!(id));
            map.insert("tdd_phases".to_owned(), phases);
            Json::Object(map)
        })
    };
    (fields(&["project_id", "metadata"]), step("01-01"), step("01-02")).prop_map(|(mut map, one, two)| {
        map.insert("steps".to_owned(), json!([one, two]));
        Json::Object(map)
    })
}

fn log() -> impl Strategy<Value = Json> {
    let line = "01-0[12]\\|(GREEN|COMMIT|X)\\|(EXECUTED|SKIP)\\|[a-zA-Z:| ]{0,10}\\|2026-02-05T22:00:0[0-9]Z";
    let event = prop_oneof![3 => line.prop_map(Json::from), 1 => value()];
    (fields(&["project_id", "total_steps"]), proptest::collection::vec(event, 0..6)).prop_map(
        |(mut map, events)| {
            map.insert("events".to_owned(), Json::from(events));
            Json::Object(map)
        },
    )
}

fn survives(path: &str, old: &Json) {
    let text = if path.ends_with(".json") { old.to_string() } else { doc::write(old) };
    let first = migrate(&[Source { path, text: &text }], now()).unwrap();
    if first.changed {
        nothing_is_lost(&[old], &tree(&first.text));
    }
    let again = migrate(&[Source { path: "execution-status.yaml", text: &first.text }], Utc(0)).unwrap();
    assert_eq!((again.changed, again.text), (false, first.text), "twice is as good as once");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn a_status_file_loses_nothing(old in status_file()) {
        survives("execution-status.yaml", &old);
    }

    #[test]
    fn a_step_file_loses_nothing(old in step_file()) {
        survives("01-01.json", &old);
    }

    #[test]
    fn a_tracker_loses_nothing(old in tracker()) {
        survives("execution-status.yaml", &old);
    }

    #[test]
    fn a_log_loses_nothing(old in log()) {
        survives("execution-log.json", &old);
    }
}
