//! What agents hand in, and what becomes of it when it cannot be used.

use serde_json::Value;

use crate::support::Env;

/// One step; the agent's first attempt goes wrong in some way, and the second does what it should. Each attempt
/// keeps its brief.
fn wrong_at_first(script: &str) -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh(&format!(
        "cp \"$SERIATIM_BRIEF\" brief-$SERIATIM_ATTEMPT.json\n\
         if [ \"$SERIATIM_ATTEMPT\" = 1 ]; then {script}\nelse finish kneaded; fi"
    ));
    env
}

/// Runs it: the second attempt succeeds, and the first is on record with its class. Gives the feedback of the
/// second brief and the failure of the first attempt.
#[track_caller]
fn corrected(env: &Env, class: &str) -> (String, Value) {
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.1 attempt 2\n");
    let (shown, _) = env.json(&["show", &env.newest()]);
    let failed = shown["failed_attempts"].as_array().unwrap();
    assert_eq!(failed.len(), 1, "{shown}");
    assert_eq!(failed[0]["failure"]["class"], class, "{shown}");
    let brief: Value = serde_json::from_str(&env.read("brief-2.json")).unwrap();
    env.assert_tidy();
    (brief["feedback"].to_string(), failed[0]["failure"].clone())
}

#[test]
fn no_report_at_all_is_a_silent_completion_and_is_corrected() {
    let (feedback, _) = corrected(&wrong_at_first("echo all is well"), "silent");
    assert!(feedback.contains("ended without a report"), "{feedback}");
}

#[test]
fn a_report_that_is_not_json_is_corrected_with_the_reason() {
    let (feedback, failure) =
        corrected(&wrong_at_first("echo 'I kneaded it.' >\"$SERIATIM_REPORT\""), "invalid");
    insta::assert_snapshot!(feedback, @r#"["the report is not valid JSON: expected value (line 1, column 1)"]"#);
    assert!(failure["message"].as_str().unwrap().contains("cannot be used"), "{failure}");
}

#[test]
fn e_23_a_report_against_the_protocol_is_corrected_with_every_error() {
    let report = r#"'{"status": "finished", "confidence": "80%", "outputs": []}'"#;
    let env = wrong_at_first(&format!("printf %s {report} >\"$SERIATIM_REPORT\""));
    let (feedback, _) = corrected(&env, "invalid");
    insta::assert_snapshot!(feedback, @r#"["`status` must be \"done\", \"partial\" or \"failed\"; got \"finished\"","`outputs` must be an object; got a list","`confidence` must be a number from 0 to 100; got \"80%\""]"#);
}

#[test]
fn a_report_of_a_hundred_megabytes_is_not_read() {
    let env = wrong_at_first("head -c 104857600 /dev/zero | tr '\\0' x >\"$SERIATIM_REPORT\"");
    let (feedback, _) = corrected(&env, "invalid");
    assert!(feedback.contains("larger than 4 MiB"), "{feedback}");
    let stored: u64 = env.stored_below("").iter().map(|p| p.metadata().unwrap().len()).sum();
    assert!(stored < 4 << 20, "{stored} bytes in the store");
}

#[test]
fn output_of_a_hundred_megabytes_is_cut() {
    let env = Env::new();
    env.bakery(&["Knead the dough"])
        .agent_sh("head -c 104857600 /dev/zero | tr '\\0' x; echo; echo the end; exit 7");
    let output = env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    output
        .says("it ended with exit code 7 and no usable report")
        .says("Its long output is in .seriatim/outputs/");
    let stored: u64 = env.stored_below("").iter().map(|p| p.metadata().unwrap().len()).sum();
    assert!(stored < 12 << 20, "{stored} bytes in the store");
}

#[test]
fn e_62_three_unusable_reports_are_a_question_that_lists_what_was_tried() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("echo nonsense >\"$SERIATIM_REPORT\"");
    let output = env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.1 attempt 2\n5.1.1 attempt 3\n");
    insta::assert_snapshot!(output.asked(), @r#"
    Knead the dough

    An unexpected error occurred: its report cannot be used: the report is not valid JSON: expected ident (line 1, column 2). How should I proceed?

    Why it matters: The step 'Knead the dough' is not done, and the steps after it build on it.

    What was tried:
      - Attempt 1: Its report cannot be used: the report is not valid JSON: expected ident (line 1, column 2)
      - Attempt 2: Its report cannot be used: the report is not valid JSON: expected ident (line 1, column 2)
      - Attempt 3: Its report cannot be used: the report is not valid JSON: expected ident (line 1, column 2)

      retry   Retry - The step is tried again; what you write is passed on.
      skip    Skip step - The work goes on without it, and the record says so.
      cancel  Abort process - The work ends here; what there is so far is kept.
    "#);
    env.run(&["answer", "q1", "skip"]).exits(0);
    env.run(&["resume", &env.newest(), "--no-input"]);
    assert_eq!(env.read("trace").lines().count(), 3);
}

#[test]
fn a_crash_is_asked_about_with_the_last_words_of_the_agent() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("echo 'no flour left' >&2; exit 3");
    let output = env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    output.says("it ended with exit code 3 and no usable report").says("no flour left");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
}

#[test]
fn an_agent_killed_by_a_signal_is_a_crash() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded; kill -9 $$");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3).says("it was killed from outside");
}

#[test]
fn a_report_that_says_failed_for_good_is_asked_about_at_once() {
    let env = Env::new();
    let report = r#"{"status": "failed", "error": {"class": "permanent", "message": "the oven is broken"}}"#;
    env.bakery(&["Heat the oven"]).agent_sh(&format!("printf %s '{report}' >\"$SERIATIM_REPORT\"; exit 1"));
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3).says("the oven is broken");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    env.run(&["answer", "q1", "cancel"]).exits(0);
    env.run(&["resume", &env.newest(), "--no-input"]).exits(1);
}

#[test]
fn a_program_that_is_not_there_is_a_question_that_names_it() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]);
    env.file("seriatim.toml", "[agents.default]\nkind = \"command\"\nargv = [\"no-such-baker\"]\n");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3).says("no-such-baker");
}

#[test]
fn the_environment_is_withheld_unless_it_is_named() {
    let env = Env::new().variable("FLOUR", "rye").variable("SALT", "none");
    env.bakery(&["Knead the dough"])
        .agent_with("env = [\"PATH\", \"FLOUR\"]\n", "env >seen.txt; finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
    let seen = env.read("seen.txt");
    assert!(seen.contains("FLOUR=rye"), "{seen}");
    assert!(!seen.contains("SALT=") && !seen.contains("SERIATIM_USER="), "{seen}");
    for name in ["BRIEF", "REPORT", "RUN", "STEP", "ATTEMPT"] {
        assert!(seen.contains(&format!("SERIATIM_{name}=")), "{seen}");
    }
}

#[test]
fn a_report_that_is_a_link_is_not_read_and_is_corrected() {
    let script = "printf '{\"status\": \"done\", \"summary\": \"elsewhere\"}' >other.json; \
                  ln -s \"$PWD/other.json\" \"$SERIATIM_REPORT\"";
    let (feedback, _) = corrected(&wrong_at_first(script), "invalid");
    assert!(feedback.contains("its report is a symbolic link, which is not read"), "{feedback}");
}
