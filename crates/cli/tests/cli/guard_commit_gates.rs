//! Gates before a commit: what a stop had no time for, or looked at on other files, is run there.

use std::fs;

use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::holds;

/// A gate that notes each of its runs beside the project, and passes as long as a file says so.
fn counting(guarded: &Guarded, name: &str, then: &str) -> String {
    let runs = runs_of(guarded, name);
    let script = format!("echo run >> {runs}; {then}");
    format!("[gates.{name}]\ncommand = [\"sh\", \"-c\", {script:?}]\n")
}

fn runs_of(guarded: &Guarded, name: &str) -> String {
    guarded.env.root.with_file_name("home").join(format!("runs-{name}")).display().to_string()
}

fn runs(guarded: &Guarded, name: &str) -> usize {
    fs::read_to_string(runs_of(guarded, name)).unwrap_or_default().lines().count()
}

/// A step whose record is whole, in a project with one gate.
fn finished(then: &str) -> Guarded {
    let guarded = Guarded::new().with_git_hooks();
    let text = counting(&guarded, "lint", then);
    guarded.env.file("seriatim.toml", text);
    guarded.env.git(&["add", "--all"]);
    guarded.env.git(&["commit", "--quiet", "--no-verify", "--message=Gates"]);
    let guarded = guarded.at_work();
    guarded.all_done();
    guarded
}

fn commit(guarded: &Guarded) -> crate::support::Output {
    guarded.git(&["add", "--all"]);
    guarded.git(&["commit", "--message=Work"])
}

#[test]
fn a_gate_that_was_green_on_the_same_files_is_not_run_again_at_the_commit() {
    let guarded = finished("true");
    guarded.sub_stop(AGENT).passes();
    assert_eq!(runs(&guarded, "lint"), 1);
    commit(&guarded).exits(0);
    assert_eq!(runs(&guarded, "lint"), 1);
}

#[test]
fn a_file_that_changed_after_the_stop_is_looked_at_before_the_commit() {
    let guarded = finished("! grep -q evening src/greet.sh");
    guarded.sub_stop(AGENT).passes();
    guarded.env.file("src/greet.sh", "echo good evening\n");
    let said = commit(&guarded).exits(1);
    said.says("Gate `lint` is red: it failed with exit code 1")
        .says("mend it and commit again")
        .says("seriatim inbox");
    let event = guarded.last("COMMIT_VALIDATION_FAILED");
    assert_eq!(event["evidence"][0]["result"], "red", "{event}");
    guarded.sh("seriatim guard status").says("its commit is held by: lint");
    // A person asked for nothing: what is mended passes, and the question is withdrawn.
    guarded.env.run(&["inbox"]).says("cannot be committed");
    guarded.env.file("src/greet.sh", "echo good morning\n");
    commit(&guarded).exits(0);
    assert_eq!(runs(&guarded, "lint"), 3);
    let (inbox, _) = guarded.env.json(&["inbox"]);
    assert!(!inbox.to_string().contains("cannot be committed"), "{inbox}");
}

#[test]
fn a_gate_that_says_nothing_holds_the_commit() {
    let guarded = finished("test ! -f src/late.sh || kill -KILL $$");
    guarded.sub_stop(AGENT).passes();
    guarded.env.file("src/late.sh", "\n");
    commit(&guarded).exits(1).says("Gate `lint` is broken: it was ended by a signal");
}

#[test]
fn a_commit_before_the_stop_runs_the_gates_of_finished_work() {
    let guarded = finished("false");
    commit(&guarded).exits(1).says("Gate `lint` is red");
    assert_eq!(runs(&guarded, "lint"), 1);
}

#[test]
fn a_persons_override_covers_the_gates_it_names_on_the_files_it_was_asked_about() {
    let guarded = finished("! grep -q evening src/greet.sh");
    guarded.sub_stop(AGENT).passes();
    guarded.env.file("src/greet.sh", "echo good evening\n");
    commit(&guarded).exits(1);
    guarded.env.run(&["answer", "q1", "override", "--text", "It is evening", "--by", "Ada"]).exits(0);
    // Other files are another matter.
    guarded.env.file("src/greet.sh", "echo good evening to all\n");
    commit(&guarded).exits(1).says("Gate `lint` is red");
    guarded.env.file("src/greet.sh", "echo good evening\n");
    let said = commit(&guarded).exits(0);
    said.says("accepted by Ada although not green: lint (It is evening)");
}

#[test]
fn without_gates_it_is_said_that_nothing_was_checked() {
    let words = "nothing was checked: no gate is configured";
    let guarded = Guarded::new().with_git_hooks().at_work();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    let stop = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!(stop["gates"], json!(words), "{stop}");
    assert!(!stop.to_string().contains("green"), "{stop}");
    guarded.sh("seriatim guard status").says(words);
    holds(&commit(&guarded).exits(0).stderr, &[words]);
}
