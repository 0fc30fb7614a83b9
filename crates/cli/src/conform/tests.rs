//! Tests of how the suite reads what an orchestrator did.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;
use std::time::SystemTime;

use seriatim_core::action::conformance::POINTS;

use super::*;
use calls::Calls;
use judging::Judging;
use orchestrator::Unusable;
use reply::End;
use reply::Reply;
use reply::plain;

const ASKS: &str = r#"{"run": "r1", "message": "│ Waiting │",
    "questions": [{"id": "q7", "header": "Gate", "options": [{"id": "approve", "label": "Yes", "description": "On"}]}]}"#;

fn shell(script: &str, timeout: Duration) -> Orchestrator {
    let words: Vec<OsString> = ["sh", "-c", script].map(OsString::from).to_vec();
    Orchestrator::typed(&words, timeout).unwrap()
}

fn call(script: &str, timeout_ms: u64) -> Reply {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::make(dir.path(), false).unwrap();
    let orchestrator = shell(script, Duration::from_millis(timeout_ms));
    orchestrator.call(&place, dir.path(), &["run", "action", "x"], &dir.path().join("said"))
}

#[test]
fn a_reply_waits_only_with_the_exit_code_and_a_question() {
    let reply = Reply::read(&["run"], End::Code(3), ASKS, "");
    assert!(reply.waits() && reply.is_usable() && reply.tells_of_failure() && !reply.is_good());
    assert_eq!((reply.run.as_str(), reply.shown.as_str()), ("r1", "r1 Waiting q7 Gate approve Yes On"));
    assert!(reply.question().unwrap().offers("approve") && !reply.question().unwrap().offers("Yes"));
    assert_eq!(reply.in_words(), "`run`: exit code 3, the question \"Gate\"");
    for (code, out) in [(0, ASKS), (1, ASKS), (3, "{}"), (3, r#"{"questions": []}"#)] {
        assert!(!Reply::read(&["run"], End::Code(code), out, "").waits(), "{code} {out}");
    }
    // Waiting for nobody is not telling anybody.
    assert!(!Reply::read(&["run"], End::Code(3), "{}", "").tells_of_failure());
    assert!(Reply::read(&["run"], End::Code(1), "{}", "").tells_of_failure());
}

#[test]
fn what_is_not_one_json_object_is_no_document() {
    for out in ["", "done", "[]", "{} {}", "null"] {
        let reply = Reply::read(&["resume", "r1"], End::Code(0), out, "warning: odd\n\n");
        assert!(!reply.is_usable(), "{out}");
        let words = "`resume r1`: exit code 0, no JSON document on stdout, \"warning: odd\" on stderr";
        assert_eq!(reply.in_words(), words);
    }
    // An answer is taken or refused by its exit code.
    assert!(Reply::read(&["answer", "q1"], End::Code(2), "", "").is_usable());
    assert!(!Reply::read(&["answer", "q1"], End::Signal(9), "", "").is_usable());
}

#[test]
fn documents_of_any_shape_are_read() {
    for out in [r#"{"questions": 3}"#, r#"{"questions": [1, null, {"options": "x"}], "run": []}"#] {
        let reply = Reply::read(&["run"], End::Code(3), out, "");
        assert!(reply.run.is_empty() && reply.questions.iter().all(|question| question.options.is_empty()));
    }
}

#[test]
fn boxes_are_no_words() {
    assert_eq!(plain("┌───┐\n│ one   two │\n│ three     │\n└───┘"), "one two three");
}

#[test]
fn a_command_that_does_not_end_is_ended_with_all_it_started() {
    let reply = call("sleep 600 & wait", 50);
    assert_eq!(reply.in_words(), "`run action x` did not end within 50 ms");
    assert!(!reply.is_usable() && !reply.ended_by_itself());
}

#[test]
fn a_command_that_dies_is_told_from_one_that_fails() {
    assert_eq!(
        call("kill -9 $$", 60_000).in_words(),
        "`run action x`: ended by signal 9, no JSON document on stdout"
    );
    assert_eq!(call("echo '{}'; exit 1", 60_000).in_words(), "`run action x`: exit code 1, no question");
    assert!(call("exit 127", 60_000).is_no_program());
    assert!(!call("echo '{}'; exit 127", 60_000).is_no_program());
}

#[test]
fn a_program_is_found_or_named() {
    let named = |word: &str| Orchestrator::typed(&[word.into()], Duration::from_secs(1));
    assert!(matches!(Orchestrator::typed(&[], Duration::from_secs(1)), Err(Unusable::Nothing)));
    assert!(matches!(named("no-such-program-anywhere"), Err(Unusable::NoProgram { .. })));
    assert!(matches!(named("./no/such/program"), Err(Unusable::NoProgram { .. })));
    assert!(matches!(named(env!("CARGO_MANIFEST_DIR")), Err(Unusable::NotExecutable { .. })));
    let argv = shell("exit 0", Duration::from_secs(1)).argv;
    assert!(Path::new(&argv[0]).is_absolute() && argv[1..] == ["-c", "exit 0"]);
}

/// Writes down a call as the agent does.
fn note(folder: &Path, number: u32, role: &str, began_ms: u64, over_ms: u64) {
    let folder = folder.join(number.to_string());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("role"), role).unwrap();
    fs::write(folder.join("prompt"), "Do it").unwrap();
    fs::write(folder.join("brief.json"), r#"{"prompt": "Well", "feedback": ["one", 2, "two"]}"#).unwrap();
    for (name, ms) in [("began", began_ms), ("over", over_ms)] {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)).unwrap();
    }
}

#[test]
fn calls_are_read_with_the_pauses_between_them() {
    let dir = tempfile::tempdir().unwrap();
    note(dir.path(), 1, "writer", 0, 100);
    note(dir.path(), 2, "drawer", 0, 5_000);
    note(dir.path(), 3, "writer", 1_100, 1_200);
    note(dir.path(), 4, "writer", 3_200, 3_300);
    let calls = Calls::read(dir.path());
    assert_eq!(calls.in_words(), "writer was called 3 times, drawer was called once");
    assert_eq!(calls.pauses("writer"), [1_000, 2_000].map(Duration::from_millis));
    assert!(calls.pauses("drawer").is_empty() && calls.pauses("nobody").is_empty());
    let first = calls.first().unwrap();
    assert!(first.was_told("Do it") && first.was_told("Well") && !first.was_told("one"));
    assert_eq!(first.feedback(), "one\ntwo");
    assert_eq!(Calls::read(&dir.path().join("none")).in_words(), "no role was called");
}

#[test]
fn a_call_that_was_cut_off_is_still_a_call() {
    let dir = tempfile::tempdir().unwrap();
    note(dir.path(), 1, "writer", 0, 0);
    for name in ["over", "brief.json", "prompt"] {
        fs::remove_file(dir.path().join("1").join(name)).unwrap();
    }
    let calls = Calls::read(dir.path());
    assert_eq!((calls.len(), calls.of("writer")[0].feedback().as_str()), (1, ""));
}

#[test]
fn a_point_holds_when_every_demand_does() {
    let judging = |one, other| {
        Judging::of("backoff", "fine").demand(one, "no pause").demand(other, "no question").close()
    };
    assert_eq!((judging(true, true).compliant, judging(true, true).seen.as_str()), (true, "fine"));
    assert_eq!((judging(true, false).compliant, judging(true, false).seen.as_str()), (false, "no question"));
    assert_eq!(judging(false, false).seen, "no pause; no question");
}

#[test]
fn every_probe_has_a_folder_of_its_own() {
    let mut names: Vec<&str> = vec![];
    for point in &POINTS {
        names.push(name(point.probe));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 13);
}

#[test]
fn agents_are_posix_shell() {
    // Bashisms that other shells stumble over.
    let agent = include_str!("agent.sh");
    for word in ["[[", "local ", "function ", "$'", "<<<", "source ", "pipefail", "$RANDOM", "=="] {
        assert!(!agent.contains(word), "{word}");
        for point in &POINTS {
            assert!(!probes::of(point.probe).0.play.contains(word), "{word} in {}", point.id);
        }
    }
}
