//! What is found, what is put in its place, and what is left alone.

use proptest::prelude::*;

use super::*;
use crate::question::Choice;

fn words() -> Words {
    let ids = [
        "5.1.1",
        "5.1.2",
        "5.1.2a",
        "01-02",
        "D.1",
        "PINST-20260118-143052",
        "20260118-ab12cd",
        "build",
        "3",
    ];
    Words::new(ids.map(str::to_owned))
}

fn names() -> BTreeMap<String, String> {
    [("5.1.2", "Check the diff"), ("PINST-20260118-143052", "Review of the login"), ("01-02", " ")]
        .map(|(id, name)| (id.to_owned(), name.to_owned()))
        .into()
}

#[track_caller]
fn mended(text: &str, expected: &str) {
    assert_eq!(words().mend(text, &names()), expected);
    assert_eq!(words().faults(expected), []);
}

#[track_caller]
fn untouched(text: &str) {
    assert_eq!(words().faults(text), [], "{text}");
    assert_eq!(words().mend(text, &names()), text);
}

#[test]
fn px_05_ids_are_found_with_their_place_and_kind() {
    let text = "Step 5.1.2 of PROC-5.1 wrote DEC-20260118-143052, see completion_criteria";
    let found: Vec<(String, Kind)> =
        words().faults(text).into_iter().map(|fault| (text[fault.range].to_owned(), fault.kind)).collect();
    let expected = [
        ("5.1.2", Kind::Step),
        ("PROC-5.1", Kind::Process),
        ("DEC-20260118-143052", Kind::Decision),
        ("completion_criteria", Kind::Field),
    ];
    assert_eq!(found, expected.map(|(found, kind)| (found.to_owned(), kind)));
}

#[test]
fn px_13_known_ids_get_their_plain_names() {
    mended("Step 5.1.2 failed validation", "Step \"Check the diff\" failed validation");
    mended("I stopped at `5.1.2`.", "I stopped at \"Check the diff\".");
    mended("PINST-20260118-143052 waits.", "\"Review of the login\" waits.");
    mended("(\"5.1.2\")", "(\"Check the diff\")");
}

#[test]
fn px_05_ids_without_a_name_become_what_they_are() {
    mended("Step 5.1.1 failed validation", "This step failed validation");
    mended("After the step 5.1.1 nothing was left.", "After this step nothing was left.");
    mended("It failed. 5.1.1 must run again.", "It failed. This step must run again.");
    mended("Go back to 01-02!", "Go back to this step!");
    mended("step_5.1.1, Step-5.1.1 and step5.1.1", "This step, this step and this step");
    mended("5.1.1-5.1.2a", "This step-this step");
    mended("5.1.1/5.1.2a or 5.1.1..5.1.2a", "This step/this step or this step..this step");
}

#[test]
fn px_05_records_are_always_ids() {
    mended("the process PROC-DYNAMIC", "This process");
    mended("Instance PINST-20260101-000000 is over", "This run is over");
    mended("as PINST-2026… says", "as this run says");
    mended("EXEC-* and OBS-*", "This run and a recorded observation");
    mended("see decision DEC-20260118-143052.", "see a recorded decision.");
    mended("a PROC-5.1-like run", "This process-like run");
    mended("PROC-5.1a is over", "This process is over");
    mended("old_ASSESS-20260118-1", "old_a recorded assessment");
    mended("Run 20260118-ab12cd stopped", "This run stopped");
}

#[test]
fn px_05_files_that_are_named_after_ids_go_as_a_whole() {
    mended("Edit .dialogue/logs/EXEC-20260118-143052.yaml now", "Edit a file of this run now");
    mended("the file PINST-20260118-143052.yaml.", "A file of this run.");
    mended("see .seriatim/runs/20260118-ab12cd/out", "see a file of this run");
    untouched("src/5.1.2/notes.md");
}

#[test]
fn px_06_schema_fields_become_words() {
    mended("The `completion_criteria` are not met", "The completion criteria are not met");
    mended("human_role is empty; run_count: 3", "Part of the person is empty; number of runs: 3");
    mended(
        "from instance.context.inputs, definition_source.type",
        "from instance context inputs, definition source type",
    );
    untouched("the pattern, its status and the description");
    untouched("src/step_id.rs, step_id.rs, my_step_id, STEP_ID");
    untouched("example.com and status.txt");
}

#[test]
fn e_21_a_version_of_something_is_no_step() {
    for text in [
        "version 5.1.2 of libfoo",
        "Version: 5.1.2",
        "the versions 5.1.1, 5.1.2 and 5.1.2a",
        "v5.1.2 and v. 5.1.2",
        "libfoo 5.1.2, libfoo@5.1.2, libfoo==5.1.2, libfoo-5.1.2, libfoo (5.1.2)",
        "log4j 5.1.2 and node.js 5.1.2",
        "upgraded from 5.1.1 to 5.1.2",
        "needs >=5.1.2",
        "5.1.2 of libfoo",
        "the 5.1.2 release.",
        "section 5.1.2 and §5.1.2",
        "10.5.1.2 and 5.1.2.3 and 5.1.2-rc1",
        "version 5.1.3 of step libraries",
    ] {
        untouched(text);
    }
}

#[test]
fn e_21_a_known_id_is_a_step_wherever_nothing_says_otherwise() {
    for text in [
        "5.1.2",
        "step=5.1.2",
        "We return to 5.1.2 now",
        "The release is ready. 5.1.2 failed",
        "A new version\n5.1.2 failed",
        "the version of step 5.1.2",
        "steps 5.1.1 and 5.1.2",
        "5.1.2 of the review",
        "[5.1.2]",
    ] {
        assert!(!words().faults(text).is_empty(), "{text}");
    }
    let stranger = "Step 9.9.9 is not of this run";
    untouched(stranger);
}

#[test]
fn ordinary_words_and_programs_stay() {
    untouched("We build 3 of them with OBS-Studio on DEC-tape by Dec-25, PROC- and EXEC.");
    untouched("exec-20260118 is lower case");
    untouched("");
    untouched("ä — “ö” 🙂 ...---///___");
}

#[test]
fn a_name_is_mended_as_well() {
    let names = [("5.1.1".to_owned(), "Do \"5.1.2\" and completion_criteria".to_owned())].into();
    assert_eq!(words().mend("5.1.1", &names), "\"Do this step and completion criteria\"");
}

fn question() -> Question {
    Question {
        header: "Step 5.1.1".into(),
        question: "Shall 5.1.2 run again?".into(),
        why: "PROC-5.1 needs it.".into(),
        tried: vec!["trust_level was read".into()],
        details: "+ expect(\"5.1.2\")\n+ step_id = 4\n- see PINST-1 and step 5.1.1\n".into(),
        options: vec![
            Choice::new("5.1.2", "Run 5.1.2", "It starts."),
            Choice::new("skip", "Skip", "OBS-1 is kept."),
        ],
        free_text: true,
        about: vec![],
    }
}

#[test]
fn px_05_a_question_is_mended_in_every_word_but_the_ids_of_its_options() {
    let plain = words().question(question(), &names());
    let expected = Question {
        header: "This step".into(),
        question: "Shall \"Check the diff\" run again?".into(),
        why: "This process needs it.".into(),
        tried: vec!["Trust level was read".into()],
        details: "+ expect(\"5.1.2\")\n+ step_id = 4\n- see this run and this step\n".into(),
        options: vec![
            Choice::new("5.1.2", "Run \"Check the diff\"", "It starts."),
            Choice::new("skip", "Skip", "A recorded observation is kept."),
        ],
        free_text: true,
        about: vec![],
    };
    assert_eq!(plain, expected);
    assert_eq!(words().question_faults(&question()).len(), 8);
    assert_eq!(words().question_faults(&plain), []);
}

#[test]
fn px_148_a_question_that_lacks_a_part_is_told_so() {
    assert_eq!(complete(&question()), []);
    let mut bare = Question { question: " ".into(), why: String::new(), ..question() };
    bare.options = vec![Choice::new("a", "", ""), Choice::new("b", "Stop", " ")];
    let said: Vec<String> = complete(&bare).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "the question does not say what needs attention",
            "the question does not say why it matters",
            "option 1 has no label",
            "the option `` does not say what happens when it is chosen",
            "the option `Stop` does not say what happens when it is chosen",
        ]
    );
    let alone = Question { options: vec![Choice::new("a", "Go", "It goes.")], ..question() };
    assert_eq!(complete(&alone), [Missing::Options { count: 1 }]);
}

/// Texts made of ids, of words that change their meaning, and of what may stand between them.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "5.1.1",
        "5.1.2",
        "5.1.2a",
        "01-02",
        "D.1",
        "PINST-20260118-143052",
        "20260118-ab12cd",
        "PROC-5.1",
        "DEC-",
        "OBS-*",
        "EXEC-1.yaml",
        "ASSESS-A",
        "completion_criteria",
        "instance.context",
        "trust_level",
        "version",
        "versions",
        "step",
        "Step",
        "the",
        "libfoo",
        "log4j",
        "of",
        "to",
        "and",
        "release",
        "section",
        "failed",
        " ",
        " ",
        " ",
        ".",
        ". ",
        ",",
        "-",
        "/",
        "_",
        "\n",
        "\"",
        "`",
        "(",
        ")",
        "=",
        "@",
        "…",
        "*",
        ":",
        "ä",
        "…",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_mended_text_has_no_faults_and_stays_as_it_is(text in any_text()) {
        let once = words().mend(&text, &names());
        prop_assert_eq!(words().faults(&once), [], "{}", &once);
        prop_assert_eq!(words().mend(&once, &names()), once);
    }

    #[test]
    fn a_text_without_ids_is_unchanged(text in "[a-zA-Z ,;:!?()äöü\n'\"]{0,80}") {
        prop_assert_eq!(words().mend(&text, &names()), text);
    }

    #[test]
    fn any_text_can_be_mended(text in "\\PC{0,60}", id in "\\PC{0,8}") {
        let words = Words::new([id.clone()]);
        let names = [(id, text.clone())].into();
        let once = words.mend(&text, &names);
        prop_assert_eq!(words.faults(&once), []);
    }

    #[test]
    fn faults_are_in_order_and_do_not_overlap(text in any_text()) {
        let mut end = 0;
        for fault in words().faults(&text) {
            prop_assert!(fault.range.start >= end && fault.range.end > fault.range.start, "{:?}", fault);
            prop_assert!(text.get(fault.range.clone()).is_some());
            end = fault.range.end;
        }
    }
}
