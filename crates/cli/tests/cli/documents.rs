//! The JSON documents, field by field: promises to scripts.

use serde_json::Value;
use serde_json::json;

use crate::support::Env;

/// The names of an object's fields, in order.
#[track_caller]
fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect()
}

fn waiting() -> (Env, Value) {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    let (document, exit) = env.json(&["run", "process", "instance.yaml", "--no-input"]);
    assert_eq!(exit, Some(3), "{document}");
    (env, document)
}

#[test]
fn check_json_is_exactly_as_documented() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]);
    let text = env.read("process.yaml").replace("formal: 90", "formal: 89");
    env.file("p.yaml", text);
    let (document, exit) = env.json(&["check", "p.yaml", "instance.yaml"]);
    assert_eq!(exit, Some(1));
    assert_eq!(fields(&document), ["files", "errors", "warnings"]);
    assert_eq!(document["errors"], 1);
    assert_eq!(document["warnings"], 0);
    assert_eq!(fields(&document["files"][0]), ["path", "kind", "findings"]);
    assert_eq!(document["files"][0]["path"], "p.yaml");
    assert_eq!(document["files"][0]["kind"], "process-definition");
    assert_eq!(
        document["files"][1],
        json!({"path": "instance.yaml", "kind": "process-instance", "findings": []})
    );
    let finding = &document["files"][0]["findings"][0];
    assert_eq!(fields(finding), ["rule", "severity", "message", "line", "column", "help"]);
    assert_eq!(finding["rule"], "V1");
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["message"], "Information composition must sum to 100 (got 99)");
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(8), Some(3)));
}

#[test]
fn run_status_and_resume_print_the_same_document() {
    let (env, document) = waiting();
    let promised = ["run", "flow", "status", "outcome", "questions", "message", "findings", "files"];
    for name in promised {
        assert!(fields(&document).contains(&name), "{name}: {document}");
    }
    assert_eq!(document["flow"], "process");
    assert_eq!(document["status"], "waiting");
    assert_eq!(document["outcome"], Value::Null);
    let question = &document["questions"][0];
    for name in ["id", "header", "question", "options", "free_text"] {
        assert!(fields(question).contains(&name), "{name}: {question}");
    }
    assert_eq!(question["id"], "q1");
    let ids: Vec<_> = question["options"].as_array().unwrap().iter().map(|o| o["id"].clone()).collect();
    assert_eq!(ids, ["approve", "changes", "reject", "cancel"]);
    for option in question["options"].as_array().unwrap() {
        assert!(option["label"].is_string() && option["description"].is_string(), "{option}");
    }
    for file in document["files"].as_array().unwrap() {
        assert!(env.path(file.as_str().unwrap()).is_file(), "{file}");
    }

    let run = document["run"].as_str().unwrap();
    let (status, exit) = env.json(&["status", run]);
    assert_eq!(exit, Some(0));
    // Who works is said where the run begins.
    assert_eq!([fields(&status), vec!["workers"]].concat(), fields(&document));
    assert_eq!(status["questions"], document["questions"]);

    env.json(&["answer", "q1", "approve"]);
    let (resumed, exit) = env.json(&["resume", run, "--no-input"]);
    assert_eq!(exit, Some(0), "{resumed}");
    assert_eq!(fields(&resumed), fields(&status));
    assert_eq!(resumed["status"], "completed");
    assert_eq!(resumed["outcome"]["execution_success"], true);
    assert_eq!(resumed["questions"], json!([]));
}

#[test]
fn status_lists_runs_newest_first() {
    let (env, document) = waiting();
    let (list, exit) = env.json(&["status"]);
    assert_eq!(exit, Some(0));
    let row = &list["runs"][0];
    for name in ["run", "flow", "status", "title", "started", "waiting_for"] {
        assert!(fields(row).contains(&name), "{name}: {row}");
    }
    assert_eq!(row["run"], document["run"]);
    assert_eq!(row["title"], "Bake bread for the evening");
    assert_eq!(row["waiting_for"], "Decide on the crust");
    env.file(
        "other.yaml",
        env.read("instance.yaml").replace("000000", "000001").replace("evening", "morning"),
    );
    let text = env.read("other.yaml");
    let at = text.find("  status:").unwrap();
    env.file("other.yaml", format!("{}  status: PLANNED\n  execution_log_id: null\n---\n", &text[..at]));
    env.json(&["run", "process", "other.yaml", "--no-input"]);
    let (list, _) = env.json(&["status"]);
    let titles: Vec<_> =
        list["runs"].as_array().unwrap().iter().map(|r| r["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Bake bread for the morning", "Bake bread for the evening"]);
    let (none, _) = Env::new().json(&["status"]);
    assert_eq!(none, json!({"runs": []}));
}

#[test]
fn inbox_show_answer_and_verify_print_one_document_each() {
    let (env, document) = waiting();
    let run = document["run"].as_str().unwrap();
    let (inbox, _) = env.json(&["inbox"]);
    let question = &inbox["questions"][0];
    assert_eq!(question["run"], run);
    assert_eq!(question["kind"], "question");
    assert_eq!(question["options"], document["questions"][0]["options"]);

    let (shown, _) = env.json(&["show", run]);
    for name in ["steps", "failed_attempts", "decisions", "observations", "entries", "head"] {
        assert!(fields(&shown).contains(&name), "{name}: {shown}");
    }
    assert_eq!(shown["steps"][0]["step_name"], "Knead the dough");
    let (events, _) = env.json(&["show", run, "--events"]);
    assert_eq!(events["events"].as_array().unwrap().len() as u64, shown["entries"].as_u64().unwrap());

    let (answer, _) = env.json(&["answer", "q1", "approve", "--text", "Dark"]);
    assert_eq!(
        answer,
        json!({"question": "q1", "run": run, "choice": "approve", "text": "Dark", "by": "tester"})
    );
    let (verdict, _) = env.json(&["verify"]);
    assert_eq!(fields(&verdict), ["runs", "entries", "files", "replayed", "problems"]);
}

#[test]
fn an_error_is_a_document_too_and_the_words_are_on_stderr() {
    let env = Env::new();
    let output = env.run(&["status", "nothing", "--json"]).exits(2);
    let document = output.document();
    assert_eq!(fields(&document["error"]), ["message", "help", "exit"]);
    assert_eq!(document["error"]["exit"], 2);
    assert!(output.stderr.starts_with("error: "), "{}", output.snapshot());
}

#[test]
fn log_prints_one_document_to_a_line() {
    let (env, _) = waiting();
    let output = env.run(&["log", "--json"]).exits(0);
    assert!(output.stdout.lines().count() > 2, "{}", output.snapshot());
    for line in output.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(fields(&line).starts_with(&["run", "at"]), "{line}");
    }
}

#[test]
fn findings_that_keep_a_run_from_starting_are_in_its_document() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    env.file("process.yaml", env.read("process.yaml").replace("formal: 90", "formal: 89"));
    let (document, exit) = env.json(&["run", "process", "instance.yaml", "--no-input"]);
    assert_eq!(exit, Some(1), "{document}");
    assert_eq!(document["status"], "blocked", "{document}");
    let finding = &document["findings"][0];
    assert_eq!(finding["path"], "process.yaml", "{document}");
    assert_eq!(finding["rule"], "V1", "{document}");
    assert!(!env.path("trace").exists(), "no step ran");
}
