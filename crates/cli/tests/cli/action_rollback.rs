//! Going back: the difference is shown, a person confirms it, files are as they were to the bit, and it can be undone.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

/// Two stages that change, delete and make files.
const STEPS: &str = "- {agent: backend-developer, writes: [\"engine/**\"]}\n- frontend-developer\n\
                     - {gate: approval, name: release}\n";
const WORK: &str =
    "put engine/api.sh 'echo new\\n'; chmod 600 engine/api.sh; chmod 644 engine/tool.sh; rm engine/old.sh
    put engine/deep/new.sh 'echo\\n'; finish";
const GATE: &str = "Gate release";
const CONFIRM: (&str, &str, &str) = ("^Rollback", "confirm", "");

fn workshop() -> Workshop {
    let workshop = Workshop::of(STEPS);
    workshop
        .env
        .file("engine/api.sh", b"echo \xff old\n")
        .file("engine/old.sh", "echo old\n")
        .file("engine/tool.sh", "echo\n");
    for (path, mode) in [("engine/api.sh", 0o755), ("engine/tool.sh", 0o700), ("engine/old.sh", 0o640)] {
        std::fs::set_permissions(workshop.env.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    workshop.table(&[("backend-developer", 0, WORK)]);
    workshop
}

/// Every file of the product with its bytes and its mode.
fn product(workshop: &Workshop) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    for folder in ["engine", "experience", "planning-mds"] {
        for path in workshop.env.files_below(folder) {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            found.insert(workshop.env.relative(&path), (std::fs::read(&path).unwrap(), mode));
        }
    }
    found.retain(|path, _| !path.contains("operations/evidence"));
    found
}

/// OC-64, OC-66, OC-67, OC-87: in mid-action, after two stages.
#[test]
fn oc_67_a_rollback_shows_the_difference_and_brings_everything_back() {
    let workshop = workshop();
    let before = product(&workshop);
    workshop.build(&[]).exits(3);
    let made = product(&workshop);
    assert_eq!(made.len(), 5, "{:?}", made.keys());
    workshop.resume(&[(GATE, "rollback", "")]).exits(3);
    let question = workshop.question();
    assert_eq!(question.choices(), ["confirm", "cancel"]);
    for words in [
        "revert",
        "delete",
        "- engine/api.sh",
        "- engine/old.sh",
        "- engine/tool.sh",
        "- engine/deep/new.sh",
        "- experience/app.md",
    ] {
        assert!(question.details().contains(words), "{words}:\n{}", question.details());
    }
    assert!(!question.why().contains("changed by a person"), "{}", question.why());
    workshop
        .resume(&[CONFIRM])
        .exits(1)
        .says("rolled the action build back")
        .says("Undo with:  seriatim snapshot restore");
    assert_eq!(product(&workshop), before);
    // It is on record, who wanted it included.
    let event = workshop.facts("rolled_back").pop().unwrap()["event"].clone();
    assert_eq!(event["by"], "ada", "{event:#}");
    assert_eq!(workshop.outcome()["result"], "ROLLED_BACK");
    assert!(workshop.env.read(".snapshots/restores.jsonl").contains(event["snapshot"].as_str().unwrap()));
    assert!(workshop.evidence("gate-decisions.md").contains("- Decision: confirm"));
    // OC-87: the undo of the undo.
    let undo = event["undo"].as_str().unwrap();
    workshop.env.run(&["snapshot", "restore", undo, "--yes"]).exits(0);
    assert_eq!(product(&workshop), made);
    workshop.verify();
}

/// E-65: what a person changed meanwhile is named before it is undone.
#[test]
fn e_65_files_that_a_person_changed_are_named_in_the_confirmation() {
    let workshop = workshop();
    workshop.build(&[]).exits(3);
    workshop.env.file("planning-mds/mine.md", "# Mine\n");
    workshop.resume(&[(GATE, "rollback", "")]).exits(3);
    let why = workshop.question().why().to_owned();
    assert!(
        why.starts_with(
            "These were changed by a person since, and would be undone too: planning-mds/mine.md."
        ),
        "{why}"
    );
    workshop.resume(&[CONFIRM]).exits(1);
    assert!(!workshop.env.path("planning-mds/mine.md").exists());
    let undo = workshop.facts("rolled_back")[0]["event"]["undo"].as_str().unwrap().to_owned();
    workshop.env.run(&["snapshot", "restore", &undo, "--yes"]).exits(0);
    assert_eq!(workshop.env.read("planning-mds/mine.md"), "# Mine\n");
}

/// OC-67: without the confirmation nothing is changed, and the gate stands as before.
#[test]
fn oc_67_a_rollback_that_is_not_confirmed_changes_nothing() {
    let workshop = workshop();
    workshop.build(&[(GATE, "rollback", ""), ("^Rollback", "cancel", "")]).exits(3).says(GATE);
    let made = product(&workshop);
    assert!(made.contains_key("engine/deep/new.sh"));
    workshop.resume(&[RELEASE]).exits(0);
    assert_eq!(product(&workshop), made);
    assert!(workshop.facts("rolled_back").is_empty());
}

/// K-47, OC-64: whoever cancels chooses what becomes of the work.
#[test]
fn k_47_cancelling_keeps_the_work_unless_a_person_rolls_it_back() {
    let workshop = workshop();
    let before = product(&workshop);
    workshop.build(&[(GATE, "cancel", "")]).exits(3);
    let question = workshop.question();
    assert_eq!(question.choices(), ["keep", "rollback", "back"]);
    question.every_option_has_its_consequence();
    assert!(question.details().contains("- engine/api.sh"), "{}", question.details());
    workshop.resume(&[("^Cancel", "rollback", ""), CONFIRM]).exits(1);
    assert_eq!(product(&workshop), before);
    assert_eq!(workshop.outcome()["result"], "ROLLED_BACK");
}

/// OC-64, OC-77: also from the question about a failure, while others stand.
#[test]
fn oc_64_a_failure_can_be_answered_with_a_rollback() {
    let workshop = Workshop::new();
    let before = product(&workshop);
    workshop.table(&[("quality-engineer", 0, "usual; failed permanent 'no way'")]);
    workshop.build(&[("Failure", "rollback", "")]).exits(3).says("Shall the files go back");
    // OC-65: nothing has gone back before it is confirmed.
    assert_eq!(product(&workshop).len(), before.len() + 2);
    workshop.resume(&[CONFIRM]).exits(1);
    assert_eq!(product(&workshop), before);
    workshop.verify();
}

/// OC-65, OC-93: neither a partial failure nor a rejection nor invalid output undoes anything by itself.
#[test]
fn oc_65_nothing_is_rolled_back_by_itself() {
    let workshop = Workshop::new();
    workshop.table(&[
        ("quality-engineer", 1, "bad tests/plan.md; finish"),
        ("quality-engineer", 2, "failed permanent 'no'"),
    ]);
    workshop.build(&[("Failure", "retry", ""), (GATE, "reject", "again"), RELEASE]).exits(0);
    assert!(workshop.facts("rolled_back").is_empty());
    assert!(!workshop.env.path(".snapshots/restores.jsonl").exists());
    assert_eq!(workshop.count("backend-developer"), 2);
}

/// OC-66: the manifest names each file with its checksum; evidence is in no snapshot.
#[test]
fn oc_66_a_snapshot_is_taken_before_anything_is_done() {
    let workshop = workshop();
    workshop.build(&[RELEASE]).exits(0);
    let snapshot = workshop.outcome()["snapshot"].as_str().unwrap().to_owned();
    let manifest: serde_json::Value =
        serde_json::from_str(&workshop.env.read(&format!(".snapshots/{snapshot}/manifest.json"))).unwrap();
    let files: BTreeMap<&str, &serde_json::Value> = manifest["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["state"]["file"].is_object())
        .map(|item| (item["path"].as_str().unwrap(), &item["state"]["file"]))
        .collect();
    let names: Vec<&str> = files.keys().copied().collect();
    assert_eq!(names, ["engine/api.sh", "engine/old.sh", "engine/tool.sh", "planning-mds/BLUEPRINT.md"]);
    assert!(files.values().all(|file| file["hash"].as_str().unwrap().len() == 64));
    assert_eq!(files["engine/api.sh"]["mode"], 0o755);
    assert_eq!(manifest["action"], "build");
}

/// OC-67: somebody restores a snapshot while the action waits; what came after it is void and is done again.
#[test]
fn oc_67_a_restoration_from_outside_voids_the_stages() {
    let workshop = workshop();
    workshop.build(&[]).exits(3);
    let began = workshop.facts("action_began").pop().unwrap();
    let snapshot = began["snapshot"].as_str().unwrap();
    workshop.env.run(&["snapshot", "restore", snapshot, "--yes"]).exits(0);
    assert!(!workshop.env.path("experience/app.md").exists());
    workshop.resume(&[RELEASE]).exits(3).says(GATE);
    assert_eq!(workshop.counts()[..2], [2, 2]);
    assert_eq!(workshop.facts("flow_changed")[0]["type"], "VOID");
    workshop.resume(&[RELEASE]).exits(0);
    assert!(workshop.env.path("experience/app.md").exists());
    workshop.verify();
}
