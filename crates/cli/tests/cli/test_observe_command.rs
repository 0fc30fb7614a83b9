//! `observe`: the arguments of the documented script, one file each, and whatever is written survives (PX-96).

use serde_json::json;

use crate::support::Env;

#[test]
fn px_96_the_id_alone_is_printed_and_the_file_holds_everything() {
    let env = Env::new();
    let args =
        ["observe", "MEASUREMENT", "ai:claude", "Speed: of \"it\"", "-5\n# %", "Shop", "process-execution"];
    let output = env.run(&args).exits(0);
    assert!(output.stderr.is_empty(), "{}", output.snapshot());
    let id = output.stdout.trim_end();
    assert!(seriatim_core::process::instance::is_stamped(id, "OBS"), "{id}");
    let path = format!(".dialogue/logs/observations/{id}.yaml");
    env.run(&["check", &path]).exits(0).says("observation");
    let text = env.read(&path);
    let (root, _) = seriatim_core::doc::parse(text.as_bytes(), &seriatim_core::doc::Limits::default());
    let mut file = root.unwrap().to_json();
    file.as_object_mut().unwrap().remove("timestamp");
    assert_eq!(
        file,
        json!({
            "id": id, "type": "MEASUREMENT", "observer": "ai:claude", "subject": "Speed: of \"it\"",
            "value": "-5\n# %", "context": "Shop", "tags": ["process-execution"],
        })
    );
    env.assert_tidy();
}

#[test]
fn two_in_one_second_are_two_and_the_form_is_that_of_a_run() {
    let env = Env::new();
    let (first, _) = env.json(&["observe", "EVENT", "ai:claude", "s", ""]);
    let (second, _) = env.json(&["observe", "EVENT", "ai:claude", "s", "v", "", ""]);
    assert_ne!(first["id"], second["id"]);
    let text = env.read(second["path"].as_str().unwrap());
    insta::assert_snapshot!(text.replace(second["id"].as_str().unwrap(), "ID").lines().filter(|l| !l.starts_with("timestamp")).collect::<Vec<_>>().join("\n"), @r"
    ---
    id: ID
    type: EVENT
    observer: ai:claude
    subject: s
    value: v
    ---
    ");
}

#[test]
fn what_is_refused_writes_nothing() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["observe", "MESUREMENT", "ai:claude", "s", "v"]).snapshot(), @r"
    --- stderr
    error: `MESUREMENT` is not a type of observation; nothing was recorded
    help: did you mean `MEASUREMENT`?
    --- exit 2
    ");
    env.run(&["observe", "STATE", " ", "s", "v"]).exits(2).says("OBSERVER is empty");
    env.run(&["observe", "STATE", "ai:claude", "s"]).exits(2);
    assert!(env.files_below(".").is_empty());
}

#[test]
fn a_context_graph_gets_a_node_and_an_edge() {
    let env = Env::new();
    env.file(".dialogue/context-graph/README.md", "the graph\n");
    let (document, _) = env.json(&["observe", "STATE", "human:ada", "Tests", "green"]);
    let id = document["id"].as_str().unwrap();
    let node = env.read(&format!(".dialogue/context-graph/nodes/artifacts/{id}.yaml"));
    assert!(node.contains("observation_type: STATE") && node.contains("observer: human:ada"), "{node}");
    assert!(
        env.path(&format!(".dialogue/context-graph/edges/actor-artifact/created-human-ada-{id}.yaml"))
            .is_file()
    );
}
