//! `verify`: one byte changed in the store, or a file edited by hand, and it says which.

use std::fs;

use crate::support::Env;

/// A finished run with words that can be found again in the store.
fn finished() -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough", "Bake it"]).agent_sh("finish \"words of $SERIATIM_STEP\"");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
    env
}

/// Changes one byte of the store in each place where `words` stand, one place at a time, and gives what `verify`
/// said of each.
fn tampered(env: &Env, words: &str) -> Vec<serde_json::Value> {
    let path = env.stored("journal.db");
    let whole = fs::read(&path).unwrap();
    let places = whole.windows(words.len()).enumerate().filter(|(_, w)| *w == words.as_bytes());
    let verdicts = places.map(|(at, _)| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x01;
        fs::write(&path, &bytes).unwrap();
        let output = env.run(&["verify", "--json"]).exits(1);
        output.document()
    });
    let verdicts = verdicts.collect();
    fs::write(&path, &whole).unwrap();
    verdicts
}

#[test]
fn a_sound_store_is_sound() {
    let env = finished();
    let (document, exit) = env.json(&["verify"]);
    assert_eq!(exit, Some(0), "{document}");
    assert_eq!(document["problems"].as_array().unwrap().len(), 0);
    assert_eq!(document["runs"], 1);
    assert_eq!(document["replayed"], 1);
    env.run(&["verify", "no-such-run"]).exits(2);
    Env::new().run(&["verify"]).exits(0).says("There is no record in this workspace yet.");
}

#[test]
fn one_changed_byte_of_a_body_is_found_and_the_entry_named() {
    let env = finished();
    let run = env.newest();
    for words in ["words of 5.1.1", "words of 5.1.2", "Knead the dough", "PROC-5.1"] {
        let verdicts = tampered(&env, words);
        assert!(!verdicts.is_empty(), "`{words}` stands nowhere in the store");
        for verdict in verdicts {
            let problem = &verdict["problems"][0];
            assert_eq!(problem["run"], run.as_str(), "{verdict}");
            assert!(problem["entry"].as_u64().is_some_and(|n| n > 0), "{verdict}");
        }
    }
    env.run(&["verify"]).exits(0);
}

#[test]
fn one_changed_byte_of_a_header_or_of_the_row_of_the_run_is_found() {
    let env = finished();
    let run = env.newest();
    for words in ["Bake bread for the evening", run.as_str(), "instance.yaml"] {
        let verdicts = tampered(&env, words);
        assert!(!verdicts.is_empty(), "`{words}` stands nowhere in the store");
    }
}

#[test]
fn the_entry_is_named_for_people_too_and_the_run_is_not_continued() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish \"a singular summary\"");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    let path = env.stored("journal.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(18).position(|w| w == b"a singular summary").unwrap();
    bytes[at] = b'A';
    fs::write(&path, &bytes).unwrap();
    let output = env.run(&["verify"]).exits(1);
    assert!(output.stdout.contains(&format!("broken: run {run}, entry ")), "{}", output.snapshot());
    env.run(&["resume", &run, "--no-input"]).exits(1).says("verify");
    // Others go on: the damage is that run's alone.
    env.file("other.yaml", env.read("process.yaml").replace("PROC-5.1", "PROC-6.1").replace("5.1.", "6.1."));
    env.run(&["run", "process", "other.yaml", "--no-input"]).exits(3);
    env.run(&["status"]).exits(0);
}

#[test]
fn a_projection_edited_by_hand_is_named() {
    let env = finished();
    let log = env.files_below(".dialogue/logs/executions").remove(0);
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace("COMPLETED", "BLOCKED")).unwrap();
    let named = format!("the file {} is not what the record makes it: it was changed", env.relative(&log));
    env.run(&["verify"])
        .exits(1)
        .says(&format!("broken: run {}: {named}", env.newest()))
        .says("1 problem(s).");
    fs::remove_file(&log).unwrap();
    env.run(&["verify"]).exits(1).says("is not there");
    // It can be made again at any time.
    env.run(&["resume", &env.newest()]).exits(2);
    assert_eq!(fs::read_to_string(&log).unwrap(), text);
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_foreign_edit_during_a_parked_run_is_warned_about_and_kept() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let log = env.files_below(".dialogue/logs/executions").remove(0);
    let ours = fs::read_to_string(&log).unwrap();
    fs::write(&log, "somebody else was here\n").unwrap();
    let output = env.run(&["resume", &env.newest(), "--no-input"]).exits(3);
    output.says(
        "was changed by somebody else; it is written anew and the change is kept in .seriatim/foreign/",
    );
    assert_eq!(fs::read_to_string(&log).unwrap(), ours);
    let kept = env.stored_below("foreign");
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "somebody else was here\n");
}
