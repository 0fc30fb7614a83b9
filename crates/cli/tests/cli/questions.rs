//! Questions outlive processes: asked by one, answered from a second, continued by a third.

use crate::support::Env;

/// A run that waits for a person's decision, and its name.
fn waiting() -> (Env, String) {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake it"]).agent_sh("finish \"well done\"");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    (env, run)
}

#[test]
fn a_question_is_asked_by_one_process_answered_from_a_second_and_continued_by_a_third() {
    let (env, run) = waiting();
    insta::assert_snapshot!(env.run(&["inbox"]).snapshot(), @r#"
    --- stdout
    q1  Bake bread for the evening · waiting for SPAN
    Decide on the crust

    How shall it be?

      Knead the dough

    Why it matters: The cook has the last word. This is part of: Bake bread for the evening.

      approve  Yes, go ahead - The decision is recorded and the work goes on.
      changes  Changes first - Say what has to change; it is recorded and the work goes on.
      reject   No - The refusal is recorded and the work goes on to its end.
      cancel   Stop here - Nothing more is done; what there is so far is kept.

    Answer with:  seriatim answer q1 approve
    --- exit 0
    "#);
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");

    let answered = env.run(&["answer", "q1", "approve", "--text", "Dark, please.", "--by", "ada"]);
    insta::assert_snapshot!(answered.snapshot(), @r#"
    --- stdout
    Recorded: Yes, go ahead.
    Continue with:  seriatim resume RUN
    --- exit 0
    "#);
    // Recorded, and nothing went on by itself.
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    env.run(&["inbox"]).exits(0).says("Answered by ada; continue with:  seriatim resume");

    env.run(&["resume", &run, "--no-input"]).exits(0).says("completed:");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.3 attempt 1\n");
    let decisions = env.files_below(".dialogue/logs/decisions");
    let decision = std::fs::read_to_string(&decisions[0]).unwrap();
    assert!(decision.contains("human:ada") && decision.contains("Dark, please."), "{decision}");
    env.run(&["inbox"]).exits(0).says("Nothing waits for you here.");
}

#[test]
fn e_85_answering_twice_is_refused_and_the_recorded_answer_is_named() {
    let (env, run) = waiting();
    env.run(&["answer", "q1", "approve", "--by", "ada"]).exits(0);
    let again = env.run(&["answer", "q1", "reject", "--by", "bob"]);
    insta::assert_snapshot!(again.snapshot(), @r#"
    --- stderr
    error: `q1` was answered already: `approve` by ada; that answer stands and nothing was changed
    --- exit 2
    "#);
    env.run(&["resume", &run, "--no-input"]).exits(0);
    let (shown, _) = env.json(&["show", &run]);
    assert_eq!(shown["decisions"][0]["actor"], "human:ada", "{shown}");
    // Also when the run has gone on meanwhile.
    let late = env.run(&["answer", "q1", "reject", "--by", "bob"]);
    insta::assert_snapshot!(late.snapshot(), @r#"
    --- stderr
    error: `q1` was answered already: `approve` by ada; that answer stands and nothing was changed
    --- exit 2
    "#);
}

#[test]
fn an_unknown_option_is_refused_and_the_question_stays_open() {
    let (env, _) = waiting();
    insta::assert_snapshot!(env.run(&["answer", "q1", "perhaps"]).snapshot(), @r#"
    --- stderr
    error: `perhaps` is not one of the options: `approve`, `changes`, `reject`, `cancel`
    help: `seriatim inbox` shows what each option leads to
    --- exit 2
    "#);
    insta::assert_snapshot!(env.run(&["answer", "q1", "changes"]).snapshot(), @r#"
    --- stderr
    error: the option `changes` needs a few words: add them with --text
    help: `seriatim inbox` shows what each option leads to
    --- exit 2
    "#);
    let (inbox, _) = env.json(&["inbox"]);
    assert_eq!(inbox["questions"][0]["id"], "q1", "{inbox}");
    assert_eq!(inbox["questions"][0]["answered_by"], serde_json::Value::Null, "{inbox}");
}

#[test]
fn an_option_may_be_named_by_its_label_in_any_case() {
    let (env, run) = waiting();
    env.run(&["answer", "Q1", "yes, go AHEAD"]).exits(0);
    env.run(&["resume", &run, "--no-input"]).exits(0);
    let (shown, _) = env.json(&["show", &run]);
    assert_eq!(shown["decisions"][0]["actor"], "human:tester", "{shown}");
}

#[test]
fn an_unknown_question_is_refused_with_the_closest_one() {
    let (env, _) = waiting();
    insta::assert_snapshot!(env.run(&["answer", "q11", "approve"]).snapshot(), @r#"
    --- stderr
    error: there is no open question or assignment `q11`
    help: did you mean `q1`? `seriatim inbox` lists what is open
    --- exit 2
    "#);
    insta::assert_snapshot!(Env::new().run(&["answer", "q1", "approve"]).snapshot(), @r#"
    --- stderr
    error: there is no open question or assignment `q1`
    help: `seriatim inbox` lists what is open
    --- exit 2
    "#);
}

#[test]
fn a_stale_question_is_refused_after_its_run_was_cancelled() {
    let (env, run) = waiting();
    env.run(&["cancel", &run]).exits(0);
    insta::assert_snapshot!(env.run(&["answer", "q1", "approve"]).snapshot(), @r#"
    --- stderr
    error: `q1` is no longer open
    help: its run ended or went another way; `seriatim inbox` lists what is open
    --- exit 2
    "#);
    env.run(&["verify"]).exits(0);
}

#[test]
fn e_70_silence_is_no_answer_however_often_the_engine_starts() {
    let (env, run) = waiting();
    for _ in 0..5 {
        let (document, exit) = env.json(&["resume", &run, "--no-input"]);
        assert_eq!(exit, Some(3), "{document}");
        assert_eq!(document["status"], "waiting");
        assert_eq!(document["questions"].as_array().unwrap().len(), 1);
        assert_eq!(document["questions"][0]["id"], "q1");
    }
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_person_who_stops_the_work_is_obeyed() {
    let env = Env::new();
    env.bakery(&["P:Decide on the flour", "Knead the dough"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    env.run(&["answer", "q1", "cancel"]).exits(0);
    // Stopped by the person: the work is not good, and the step after it was never begun.
    env.run(&["resume", &run, "--no-input"]).exits(1);
    assert!(!env.path("trace").exists());
}

#[test]
fn px_05_the_question_shows_no_ids_and_no_field_names() {
    let (env, run) = waiting();
    let (document, exit) = env.json(&["status", &run]);
    assert_eq!(exit, Some(0));
    let question = document["questions"][0].clone();
    let words =
        ["header", "question", "why", "details"].map(|k| question[k].as_str().unwrap_or("").to_owned());
    let words = words.join("\n");
    for hidden in ["5.1.", "PINST-", "PROC-", "EXEC-", "step_id", "human_role", "completion_criteria", "_"] {
        assert!(!words.contains(hidden), "`{hidden}` in:\n{words}");
    }
    assert!(words.contains("Bake bread for the evening"), "{words}");
}
