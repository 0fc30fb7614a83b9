//! `decide`: the arguments of the documented script, one file each, and whatever is written survives (PX-97).

use serde_json::Value;
use serde_json::json;

use crate::support::Env;

/// A decision as another reader finds it; checks the form of the file too.
#[track_caller]
fn recorded(env: &Env, id: &str) -> Value {
    let path = format!(".dialogue/logs/decisions/{id}.yaml");
    let text = env.read(&path);
    assert!(text.starts_with("---\n") && text.ends_with("\n---\n"), "{text}");
    env.run(&["check", &path]).exits(0);
    let (root, findings) = seriatim_core::doc::parse(text.as_bytes(), &seriatim_core::doc::Limits::default());
    root.unwrap_or_else(|| panic!("{findings:?}")).to_json()
}

#[track_caller]
fn decide(env: &Env, args: &[&str]) -> String {
    let output = env.run(&[&["decide"], args].concat()).exits(0);
    assert!(output.stderr.is_empty(), "{}", output.snapshot());
    output.stdout.strip_suffix('\n').unwrap().to_owned()
}

#[test]
fn px_97_the_id_alone_is_printed_and_the_file_holds_everything() {
    let env = Env::new();
    let id = decide(
        &env,
        &[
            "DESIGN",
            "human:ada",
            "Cache",
            "One hour",
            "Prices change daily",
            "Shop",
            "cache, speed,,shop",
            "ADR-001",
        ],
    );
    assert!(seriatim_core::process::instance::is_stamped(&id, "DEC"), "{id}");
    let mut file = recorded(&env, &id);
    let at = file.as_object_mut().unwrap().remove("timestamp").unwrap();
    assert!(seriatim_core::time::Utc::parse(at.as_str().unwrap()).is_some());
    assert_eq!(
        file,
        json!({
            "id": id, "type": "DESIGN", "actor": "human:ada", "subject": "Cache", "outcome": "One hour",
            "rationale": "Prices change daily", "context": "Shop", "ref": "ADR-001",
            "tags": ["cache", "speed", "shop"],
        })
    );
    assert!(!env.path(".dialogue/context-graph").exists(), "a graph is not begun unasked");
    assert!(!env.store().exists());
    env.assert_tidy();
}

#[test]
fn any_text_survives() {
    let env = Env::new();
    let texts = [
        "-5 %",
        "a \"b\" 'c'",
        "line\nline\n",
        "key: value # none",
        "ünï 検査 🎉",
        "--- x",
        "$(id) `id` \\n",
    ];
    for pair in texts.windows(2) {
        let id = decide(&env, &["OPERATIONAL", pair[0], pair[1], pair[0], pair[1], pair[0], "", pair[1]]);
        let file = recorded(&env, &id);
        for (field, text) in
            ["actor", "subject", "outcome", "rationale", "context", "ref"].iter().zip(pair.iter().cycle())
        {
            assert_eq!(file[field], **text, "{field}");
        }
        assert_eq!(file["tags"], Value::Null);
    }
    // What is also an option is a text after the two dashes.
    let id = decide(&env, &["--", "TACTICAL", "ai:claude", "--json", "-v", "-h"]);
    assert_eq!(
        (&recorded(&env, &id)["subject"], &recorded(&env, &id)["rationale"]),
        (&json!("--json"), &json!("-h"))
    );
}

#[test]
fn k_85_many_in_one_second_get_seconds_of_their_own() {
    let env = Env::new();
    let running: Vec<_> = (0..8)
        .map(|i| env.start(&["decide", "OPERATIONAL", "ai:claude", "Race", &i.to_string(), ""]))
        .collect();
    let mut ids: Vec<String> =
        running.into_iter().map(|r| r.output().exits(0).stdout.trim().to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8, "{ids:?}");
    let mut outcomes: Vec<String> =
        ids.iter().map(|id| recorded(&env, id)["outcome"].as_str().unwrap().to_owned()).collect();
    outcomes.sort();
    assert_eq!(outcomes, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(env.files_below(".dialogue").len(), 8);
}

#[test]
fn json_names_the_id_and_the_file() {
    let env = Env::new();
    let (document, exit) = env.json(&["decide", "TACTICAL", "ai:claude", "s", "o", "r"]);
    let id = document["id"].as_str().unwrap();
    assert_eq!(document, json!({"id": id, "path": format!(".dialogue/logs/decisions/{id}.yaml")}));
    assert_eq!(exit, Some(0));
    recorded(&env, id);
}

#[test]
fn what_is_refused_writes_nothing() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["decide", "TACTICL", "ai:claude", "s", "o", "r"]).snapshot(), @r"
    --- stderr
    error: `TACTICL` is not a type of decision; nothing was recorded
    help: did you mean `TACTICAL`?
    --- exit 2
    ");
    env.run(&["decide", "x", "a", "s", "o", "r"])
        .exits(2)
        .says("known are OPERATIONAL, TACTICAL, DESIGN, ADR");
    insta::assert_snapshot!(env.run(&["decide", "ADR", "ai:claude", "s", "o", "r"]).snapshot(), @r"
    --- stderr
    error: a decision of type ADR needs a CONTEXT
    help: a decision of that reach is worth nothing without its reasons; nothing was recorded
    --- exit 2
    ");
    env.run(&["decide", "DESIGN", "ai:claude", "s", "o", " ", "c"]).exits(2).says("needs a RATIONALE");
    env.run(&["decide", "TACTICAL", "ai:claude", "", "o", "r"]).exits(2).says("SUBJECT is empty");
    env.run(&["decide", "TACTICAL", "ai:claude", "s", "o"]).exits(2);
    env.run(&["decide", "TACTICAL", "a", "s", "o", "r", "c", "t", "ref", "one too many"]).exits(2);
    assert!(env.files_below(".").is_empty());
}

#[test]
fn secrets_stay_out_of_the_record() {
    let env = Env::new().variable("MY_API_KEY", "correct-horse-battery");
    env.file(".dialogue/context-graph/README.md", "the graph\n");
    let id = decide(
        &env,
        &["TACTICAL", "ai:claude", "Key correct-horse-battery", "o", "r", "", "correct-horse-battery"],
    );
    assert_eq!(recorded(&env, &id)["subject"], "Key [redacted:secret]");
    for file in env.files_below(".dialogue") {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("correct-horse"), "{}: {text}", file.display());
    }
}

#[test]
fn a_context_graph_gets_a_node_and_an_edge() {
    let env = Env::new();
    env.file(".dialogue/context-graph/README.md", "the graph\n");
    let id = decide(&env, &["TACTICAL", "ai:claude", "Cache: how long", "One \"hour\"", "r"]);
    let node = env.read(&format!(".dialogue/context-graph/nodes/artifacts/{id}.yaml"));
    assert!(
        node.contains("artifact_type: DECISION") && node.contains("title: \"Cache: how long\""),
        "{node}"
    );
    let edge = env.read(&format!(".dialogue/context-graph/edges/actor-artifact/created-ai-claude-{id}.yaml"));
    assert!(edge.contains("edge_type: CREATED") && edge.contains(&format!("target: {id}")), "{edge}");
    // An actor's name never leads out of the folder.
    let id = decide(&env, &["TACTICAL", "../../x", "s", "o", "r"]);
    let path = format!(".dialogue/context-graph/edges/actor-artifact/created-..-..-x-{id}.yaml");
    assert!(env.path(&path).is_file());
}
