//! `--answers FILE`: answers prepared in a file.

use crate::support::Env;

/// Two decisions in a row, and the file with the answers.
fn decide_twice(answers: &str) -> Env {
    let env = Env::new();
    env.bakery(&["P:Decide on the flour", "P:Decide on the crust"]).agent_sh("finish baked");
    env.file("answers.yaml", answers);
    env
}

const RUN: [&str; 6] = ["run", "process", "instance.yaml", "--answers", "answers.yaml", "--no-input"];

#[test]
fn each_answer_is_used_once_first_match_first() {
    let env = decide_twice(
        "- match: \"the crust\"\n  choose: reject\n  by: bob\n\
         - match: \"Decide\"\n  choose: Yes, go ahead\n  by: ada\n",
    );
    env.run(&RUN).exits(1);
    let (shown, _) = env.json(&["show", &env.newest()]);
    let decided: Vec<_> = shown["decisions"].as_array().unwrap().iter().collect();
    assert_eq!(decided[0]["actor"], "human:ada", "{shown}");
    assert_eq!(decided[1]["actor"], "human:bob", "{shown}");
}

#[test]
fn the_pattern_is_not_anchored_and_knows_header_and_question() {
    let env = decide_twice("- match: \"on .he (flour|crust)\"\n  choose: approve\n  repeat: true\n");
    env.run(&RUN).exits(0);
}

#[test]
fn an_answer_without_pattern_fits_any_question_and_repeat_uses_it_again() {
    let env = decide_twice("- choose: approve\n  repeat: true\n");
    env.run(&RUN).exits(0).says("Approved by tester");
}

#[test]
fn when_the_answers_are_used_up_the_run_parks() {
    let env = decide_twice("- choose: approve\n");
    env.run(&RUN).exits(3).says("Decide on the crust");
    let run = env.newest();
    // The same list again, on `resume`, for the question that is open by now.
    env.run(&["resume", &run, "--answers", "answers.yaml", "--no-input"]).exits(0).says("completed:");
}

#[test]
fn an_answer_that_matches_nothing_is_left_alone() {
    let env = decide_twice("- match: \"the weather\"\n  choose: approve\n");
    env.run(&RUN).exits(3);
    env.run(&["inbox"]).says("q1");
}

#[test]
fn an_answer_that_names_no_option_is_an_error_and_never_a_guess() {
    let env = decide_twice("- choose: aprove\n");
    insta::assert_snapshot!(env.run(&RUN).snapshot(), @r#"
    --- stderr
    error: the answer prepared for "Decide on the flour" cannot be taken: `aprove` is not one of the options: `approve`, `changes`, `reject`, `cancel`
    help: the run waits; answer it, or mend the answers and resume
    --- exit 2
    "#);
    let (status, _) = env.json(&["status"]);
    assert_eq!(status["runs"][0]["status"], "waiting", "{status}");
    env.run(&["answer", "q1", "approve"]).exits(0);
}

#[test]
fn an_answer_that_needs_words_and_has_none_is_an_error() {
    let env = decide_twice("- choose: changes\n");
    env.run(&RUN).exits(2).says("needs a few words");
    env.file("answers.yaml", "- choose: changes\n  text: less salt\n- choose: approve\n");
    let run = env.newest();
    env.run(&["resume", &run, "--answers", "answers.yaml", "--no-input"]).exits(0);
}

#[test]
fn a_broken_list_of_answers_is_shown_with_its_place_and_nothing_is_started() {
    let env = decide_twice("- match: \"(\"\n  choose: approve\n- chose: approve\n- approve\n");
    insta::assert_snapshot!(env.run(&RUN).snapshot(), @r#"
    --- stderr
    error[bad-pattern]: not a regular expression: regex parse error:
                            (
                            ^
                        error: unclosed group
     --> answers.yaml:1:10
      |
    1 | - match: "("
      |          ^^^

    error[unknown-field]: unknown field `chose` in an answer
     --> answers.yaml:3:3
      |
    3 | - chose: approve
      |   ^^^^^
      |
      = help: known: match, choose, text, by, repeat

    error[missing-field]: an answer needs `choose`
     --> answers.yaml:3:3
      |
    3 | - chose: approve
      |   ^^^^^^^^^^^^^^

    error[type]: expected an answer with `choose`, found the text `approve`
     --> answers.yaml:4:3
      |
    4 | - approve
      |   ^^^^^^^

    error: the answers in answers.yaml cannot be used
    --- exit 2
    "#);
    assert!(!env.store().exists());
    env.file("answers.yaml", "choose: approve\n");
    insta::assert_snapshot!(env.run(&RUN).snapshot(), @r#"
    --- stderr
    error[type]: expected a list of answers, found a mapping
     --> answers.yaml:1:1
      |
    1 | choose: approve
      | ^^^^^^^^^^^^^^^
      |
      = help: each entry is `- match: "..."` with `choose: ...`

    error: the answers in answers.yaml cannot be used
    --- exit 2
    "#);
    std::fs::remove_file(env.path("answers.yaml")).unwrap();
    env.run(&RUN).exits(2).says("answers.yaml cannot be read");
}
