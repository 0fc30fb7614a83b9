//! A dialect is one value: a sixth one, of which only its own rooms and one line know, has the whole face.

use crate::support::Env;

const LIST: &str = "tally: Things on the desk\nthings:\n  - pens\n  - cups\n";

/// Pens are counted at once; cups fail until the agent is asked a second time.
const COUNTER: &str = r#"- {step: pens, report: {status: done, summary: "Three of them.", outputs: {number: 3}}}
- {step: cups, report: {status: failed, error: {class: permanent, message: "the cups are locked away"}}}
- {step: cups, report: {status: done, summary: "Two cups.", outputs: {number: 2}}}
"#;

fn desk() -> Env {
    let env = Env::new().program("sixth");
    env.file("desk.yaml", LIST).file("counter.yaml", COUNTER).file(
        "seriatim.toml",
        "[agents.counter]\nkind = \"scripted\"\nscript = \"counter.yaml\"\n\n[tally]\nunit = \"item\"\n",
    );
    env
}

#[test]
fn a_sixth_dialect_is_run_asked_answered_resumed_logged_shown_and_measured() {
    let env = desk();
    env.run(&["check", "desk.yaml", "seriatim.toml"])
        .exits(0)
        .says("desk.yaml: tally, no problems found")
        .says("seriatim.toml: config, no problems found");
    env.run(&["run", "tally", "--help"]).exits(0).says("--from <N>").says("Where to begin [default: 0]");
    env.run(&["run", "tally", "desk.yaml", "--no-input"])
        .exits(3)
        .says("The cups could not be counted. Shall they be counted again?")
        .says("Answer with:  seriatim answer q1 retry");
    env.run(&["inbox"]).exits(0).says("q1  Things on the desk");
    env.run(&["answer", "q1", "retry", "--by", "ada"]).exits(0);
    env.run(&["resume", &env.newest()]).exits(0).says("Counted 5 items in all.");
    insta::assert_snapshot!(env.run(&["log"]).snapshot(), @r#"
    --- stdout
    TIME  Run RUN began: Things on the desk
    TIME  "Things on the desk" has 2 things to count.
    TIME  Count pens started.
    TIME  Count pens reported done after SPAN. Three of them.
    TIME  Counted 3 pens.
    TIME  Count cups started.
    TIME  Count cups failed after SPAN: the cups are locked away.
    TIME  Asked "Not counted": The cups could not be counted. Shall they be counted again?
    TIME  ada answered "Not counted": Count again.
    TIME  Count cups started.
    TIME  Count cups reported done after SPAN. Two cups.
    TIME  Counted 2 cups.
    TIME  Counted 5 items in all.
    --- exit 0
    "#);
    env.run(&["status"]).exits(0).says("completed");
    env.run(&["metrics", "--dialect", "tally"]).exits(0).says("tallies  1");
    let run = env.json(&["status"]).0["runs"][0]["run"].as_str().unwrap().to_owned();
    let shown = env.json(&["show", &run]).0;
    assert_eq!(shown["total"], 5);
    assert_eq!(shown["attempts"].as_array().unwrap().len(), 3);
    env.run(&["verify"]).exits(0).says("1 run(s) replayed");
}

#[test]
fn a_broken_document_of_a_sixth_dialect_starts_nothing() {
    let env = desk();
    env.file("desk.yaml", "things: [pens]\n");
    env.run(&["run", "tally", "desk.yaml", "--no-input"]).exits(1).says("desk.yaml has errors");
    env.run(&["status"]).exits(0).says("Nothing has run in this workspace yet.");
}
