//! `seriatim snapshot`: the states before actions, and the way back to them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;
use seriatim_core::hash::Hash;
use seriatim_core::seal::Seal;
use seriatim_core::seal::Sealed;
use seriatim_core::time::Utc;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::clock::SystemClock;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::hands::pattern::Pattern;
use seriatim_engine::hands::snapshot::Take;
use seriatim_engine::labelled::Labelled;

use crate::action_support::RELEASE;
use crate::action_support::Workshop;
use crate::support::Env;

const DAY_MS: u64 = 86_400_000;

fn now() -> Utc {
    SystemClock::default().now()
}

/// So many days before now.
fn days_ago(days: u64) -> Utc {
    Utc(now().0 - i64::try_from(days * DAY_MS).unwrap())
}

/// Takes a snapshot as an action does when it starts.
fn take(env: &Env, action: &str, run: &str, created: Utc) -> String {
    let take = Take {
        action: action.to_owned(),
        run: run.to_owned(),
        created,
        scope: ["planning-mds/", "engine/"].map(Pattern::new).to_vec(),
        excludes: vec![],
    };
    let labelled = Labelled::new(&Disk, Workspace::new(&env.root).unwrap());
    labelled.all().create(&take).unwrap().0.id
}

/// Leaves what an action leaves when it ends.
fn seal(env: &Env, id: &str, files: &[&str]) {
    let one = |path: &&str| {
        let mode = fs::metadata(env.path(path)).unwrap().permissions().mode() & 0o7777;
        ((*path).to_owned(), Seal { hash: Hash::of(env.read(path).as_bytes()), mode })
    };
    let sealed = Sealed {
        action: "build".to_owned(),
        run: "r1".to_owned(),
        at: now(),
        snapshot: id.to_owned(),
        files: files.iter().map(one).collect(),
        deleted: Default::default(),
    };
    env.file(".snapshots/sealed.json", serde_json::to_string(&sealed).unwrap());
}

/// Paths, modes and contents of all that a snapshot may bring back.
fn picture(env: &Env) -> BTreeMap<PathBuf, (u32, String)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![env.path("planning-mds"), env.path("engine")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let text = match (meta.is_symlink(), meta.is_dir()) {
                (true, _) => fs::read_link(&path).unwrap().display().to_string(),
                (_, true) => String::new(),
                _ => fs::read_to_string(&path).unwrap(),
            };
            if meta.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (meta.permissions().mode(), text));
        }
    }
    found
}

fn ids(env: &Env) -> Vec<String> {
    let (document, exit) = env.json(&["snapshot", "list"]);
    assert_eq!(exit, Some(0));
    document["snapshots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

fn restorations(env: &Env) -> Vec<Value> {
    env.read(".snapshots/restores.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A workspace, the snapshot before an action, and what the action did then.
fn built() -> (Env, String) {
    let env = Env::new();
    env.file("planning-mds/plan.md", "the plan\n").file("planning-mds/old.md", "old\n");
    env.file("engine/main.sh", "echo hello\n").file("engine/sub/deep.txt", "deep\n");
    fs::set_permissions(env.path("engine/main.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(env.path("engine/empty")).unwrap();
    symlink("../../outside", env.path("engine/link")).unwrap();
    let id = take(&env, "build", "r1", Utc::parse("2026-02-07T10:30:00Z").unwrap());
    env.file("planning-mds/plan.md", "another plan\n").file("engine/new.txt", "new\n");
    fs::remove_file(env.path("planning-mds/old.md")).unwrap();
    fs::set_permissions(env.path("engine/main.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_dir(env.path("engine/empty")).unwrap();
    fs::remove_file(env.path("engine/link")).unwrap();
    fs::remove_dir_all(env.path("engine/sub")).unwrap();
    (env, id)
}

// OC-66: an id that names action and time; the newest first.
#[test]
fn oc_66_the_list_names_action_run_and_time() {
    let env = Env::new();
    env.run(&["snapshot", "list"]).exits(0).says("There are no snapshots: one is taken before each action.");
    assert_eq!(env.json(&["snapshot", "list"]).0, json!({"snapshots": []}));
    env.file("planning-mds/plan.md", "the plan\n");
    take(&env, "build", "r1", Utc::parse("2026-02-07T10:30:00Z").unwrap());
    take(&env, "plan", "r2", Utc::parse("2026-02-08T10:30:00Z").unwrap());
    let (document, _) = env.json(&["snapshot", "list"]);
    let expected = json!({"snapshots": [
        {"id": "plan-2026-02-08-10-30-00", "action": "plan", "run": "r2", "created": "2026-02-08T10:30:00.000Z"},
        {"id": "build-2026-02-07-10-30-00", "action": "build", "run": "r1", "created": "2026-02-07T10:30:00.000Z"},
    ]});
    assert_eq!(document, expected);
    insta::assert_snapshot!(env.run(&["snapshot", "list"]).snapshot(), @r#"
    --- stdout
    snapshot                   created               files  size     run
    plan-2026-02-08-10-30-00   TIME  1      9 bytes  r2
    build-2026-02-07-10-30-00  TIME  1      9 bytes  r1
    --- exit 0
    "#);
}

// OC-67: the difference is shown, then confirmed, then done, and it is on record. OC-87: and it can be undone.
#[test]
fn oc_67_the_difference_is_shown_confirmed_done_and_on_record() {
    let (env, id) = built();
    let after = picture(&env);
    insta::assert_snapshot!(env.run(&["snapshot", "show", &id]).snapshot(), @r#"
    --- stdout
    build-2026-02-07-10-30-00: build, run r1, TIME
    4 files, 29 bytes, of planning-mds/, engine/
    This will revert 2 files, bring back 3 deleted files, delete 1 new file, adjust 2 directories
      bring back  engine/empty
      bring back  engine/link
      mode        engine/main.sh
      delete      engine/new.txt
      bring back  engine/sub
      bring back  engine/sub/deep.txt
      bring back  planning-mds/old.md
      revert      planning-mds/plan.md
    Whose changes these are is not on record: look at each of them.
    Go back with:  seriatim snapshot restore build-2026-02-07-10-30-00
    --- exit 0
    "#);
    insta::assert_snapshot!(env.run(&["-q", "snapshot", "restore", &id]).snapshot(), @r#"
    --- stdout
    This will revert 2 files, bring back 3 deleted files, delete 1 new file, adjust 2 directories
      bring back  engine/empty
      bring back  engine/link
      mode        engine/main.sh
      delete      engine/new.txt
      bring back  engine/sub
      bring back  engine/sub/deep.txt
      bring back  planning-mds/old.md
      revert      planning-mds/plan.md
    --- stderr
    error: nobody can be asked here, so nothing was changed
    help: add --yes to agree to the changes above beforehand
    --- exit 2
    "#);
    assert_eq!(picture(&env), after, "nobody agreed");
    assert!(!env.path(".snapshots/restores.jsonl").exists());

    let (document, exit) = env.json(&["snapshot", "restore", &id, "--yes", "--by", "Ada"]);
    assert_eq!(exit, Some(0), "{document}");
    let undo = document["undo"].as_str().unwrap().to_owned();
    assert_eq!(document["restored"], true);
    assert_eq!(env.read("planning-mds/plan.md"), "the plan\n");
    let noted = restorations(&env);
    assert_eq!(noted.len(), 1);
    assert_eq!(noted[0]["snapshot"], id.as_str());
    assert_eq!(noted[0]["undo"], undo.as_str());
    assert_eq!(noted[0]["by"], "Ada");
    assert_eq!(noted[0]["run"], "r1");
    assert_eq!(noted[0]["words"], document["words"]);
    assert!(Utc::parse(noted[0]["at"].as_str().unwrap()).is_some());

    env.run(&["snapshot", "restore", &id]).exits(0).says("Nothing has changed since the snapshot");
    let undone = env.run(&["snapshot", "restore", &undo, "--yes"]).exits(0);
    undone.says("Undo with:  seriatim snapshot restore before-restore-build-");
    assert_eq!(picture(&env), after);
    assert_eq!(restorations(&env).len(), 2);
    assert_eq!(restorations(&env)[1]["by"], "tester");
}

// E-67: modes, deletions, empty folders and links come back, and links are not followed.
#[test]
fn e_67_modes_deletions_empty_folders_and_links_come_back() {
    let env = Env::new();
    env.file("engine/main.sh", "echo hello\n").file("outside/secret", "theirs");
    env.file("planning-mds/plan.md", "the plan\n");
    fs::set_permissions(env.path("engine/main.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(env.path("engine/empty")).unwrap();
    symlink("../outside", env.path("engine/link")).unwrap();
    let before = picture(&env);
    let id = take(&env, "build", "r1", now());
    fs::set_permissions(env.path("engine/main.sh"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_dir(env.path("engine/empty")).unwrap();
    fs::remove_file(env.path("engine/link")).unwrap();
    fs::remove_file(env.path("planning-mds/plan.md")).unwrap();
    env.file("engine/link/in/the/way", "x").file("engine/new", "x").file("outside/secret", "edited");
    env.run(&["snapshot", "restore", &id, "--yes"]).exits(0);
    assert_eq!(picture(&env), before);
    assert_eq!(env.read("outside/secret"), "edited", "links are not followed");
}

#[test]
fn e_65_what_a_person_changed_since_is_named_and_never_lost() {
    let (env, id) = built();
    seal(&env, &id, &["planning-mds/plan.md", "engine/new.txt", "engine/main.sh"]);
    env.file("planning-mds/plan.md", "my plan\n");
    let (document, _) = env.json(&["snapshot", "show", &id]);
    let conflicts = document["conflicts"].to_string();
    assert!(conflicts.contains("planning-mds/plan.md"), "{document}");
    assert!(!conflicts.contains("engine/new.txt"), "{document}");
    let said = env.run(&["snapshot", "restore", &id]).exits(2);
    let said = said.says("Changed by somebody since then, and undone as well: ");
    said.says("revert      planning-mds/plan.md  (changed by somebody since)");
    assert_eq!(env.read("planning-mds/plan.md"), "my plan\n");
    let (document, _) = env.json(&["snapshot", "restore", &id, "--yes"]);
    assert_eq!(env.read("planning-mds/plan.md"), "the plan\n");
    env.run(&["snapshot", "restore", document["undo"].as_str().unwrap(), "--yes"]).exits(0);
    assert_eq!(env.read("planning-mds/plan.md"), "my plan\n", "what was replaced is a snapshot, too");
}

// What is on record stays on record.
#[test]
fn oc_67_evidence_and_logs_are_never_brought_back() {
    let env = Env::new();
    let apart = [
        "planning-mds/operations/evidence/build-1/x.md",
        "logs/errors/x.json",
        ".artifacts-failed/x",
        ".git/x",
    ];
    env.file("planning-mds/plan.md", "before");
    for path in apart {
        env.file(path, "before");
    }
    let id = take(&env, "build", "r1", now());
    let manifest = env.read(&format!(".snapshots/{id}/manifest.json"));
    assert!(!manifest.contains("evidence"), "{manifest}");
    env.file("planning-mds/plan.md", "after").file("planning-mds/operations/evidence/build-1/y.md", "after");
    for path in apart {
        env.file(path, "after");
    }
    env.run(&["snapshot", "restore", &id, "--yes"]).exits(0).says("This will revert 1 file\n");
    assert_eq!(env.read("planning-mds/plan.md"), "before");
    assert!(apart.iter().all(|path| env.read(path) == "after"));
    assert_eq!(env.read("planning-mds/operations/evidence/build-1/y.md"), "after");
}

/// A run that waits for a person.
fn waiting(env: &Env) -> String {
    env.bakery(&["P:Decide on the crust"]).agent_sh("finish done");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.newest()
}

// OC-95: going back works while a run waits, and says how to go on.
#[test]
fn oc_95_it_works_while_a_run_waits() {
    let env = Env::new();
    env.file("planning-mds/plan.md", "before");
    let run = waiting(&env);
    let id = take(&env, "build", &run, now());
    env.file("planning-mds/plan.md", "after");
    let said = env.run(&["snapshot", "restore", &id, "--yes"]).exits(0);
    said.says(&format!("Go on with:  seriatim resume {run}"));
    assert_eq!(env.read("planning-mds/plan.md"), "before");
    assert_eq!(restorations(&env)[0]["run"], run.as_str());
}

#[test]
fn files_do_not_change_under_the_hands_of_a_run_at_work() {
    let env = Env::new();
    env.file("planning-mds/plan.md", "before");
    env.bakery(&["Knead the dough"]).agent_sh("echo here >at-work; read go <go; finish kneaded");
    let mut at_work = env.fifo("at-work");
    let mut go = env.fifo("go");
    let running = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    at_work.until("here", &running);
    let id = take(&env, "build", &env.newest(), now());
    env.file("planning-mds/plan.md", "after");
    env.run(&["snapshot", "restore", &id, "--yes"]).exits(4).says("is at work");
    assert_eq!(env.read("planning-mds/plan.md"), "after");
    go.send("on\n");
    running.output().exits(0);
    env.run(&["snapshot", "restore", &id, "--yes"]).exits(0);
}

// OC-68, OC-69, K-53, K-106: too many and too old go; the newest of each action and what a run needs stay.
#[test]
fn e_66_pruning_keeps_what_an_unfinished_run_needs() {
    let env = Env::new();
    env.file("planning-mds/plan.md", "the plan");
    let run = waiting(&env);
    let needed = take(&env, "build", &run, days_ago(50));
    let many: Vec<String> = (1..=12).rev().map(|day| take(&env, "build", "over", days_ago(day))).collect();
    let alone = take(&env, "plan", "over", days_ago(90));
    let dry = env.run(&["snapshot", "prune", "--dry-run"]).exits(0).says("Nothing was removed.");
    assert!(dry.stdout.contains(&format!("would remove {}", many[0])), "{}", dry.snapshot());
    assert_eq!(ids(&env).len(), 14);
    let (document, _) = env.json(&["snapshot", "prune"]);
    assert_eq!(document["removed"], json!(many[..2]));
    let mut expected: Vec<String> = many[2..].iter().rev().cloned().collect();
    expected.extend([needed.clone(), alone.clone()]);
    assert_eq!(ids(&env), expected);

    env.run(&["snapshot", "prune", "--keep", "3"]).exits(0);
    assert_eq!(ids(&env).len(), 5);
    env.run(&["snapshot", "prune", "--older-than", "0"]).exits(0);
    assert_eq!(ids(&env), [many[11].clone(), needed.clone(), alone]);

    env.run(&["snapshot", "prune", &needed]).exits(1).says("is not over and may need the snapshot");
    env.run(&["cancel", &run]).exits(0);
    env.run(&["snapshot", "prune", &needed]).exits(0).says(&format!("removed {needed}"));
}

// OC-69: nobody has to remember it: what is too much goes whenever an action takes its snapshot.
#[test]
fn oc_68_the_last_ten_of_an_action_are_kept_by_themselves() {
    let workshop = Workshop::new();
    let env = &workshop.env;
    let old = take(env, "build", "over", days_ago(40));
    let many: Vec<String> = (1..=10).rev().map(|day| take(env, "build", "over", days_ago(day))).collect();
    let other = take(env, "plan", "over", days_ago(40));
    workshop.build(&[RELEASE]).exits(0);
    let kept = ids(env);
    assert_eq!(kept.iter().filter(|id| id.starts_with("build-")).count(), 10, "{kept:?}");
    assert!(kept.contains(&other) && !kept.contains(&old) && !kept.contains(&many[0]), "{kept:?}");
}

#[test]
fn oc_70_people_remove_snapshots_by_name() {
    let env = Env::new();
    env.file("planning-mds/plan.md", "the plan");
    let one = take(&env, "build", "r1", days_ago(2));
    let other = take(&env, "build", "r1", days_ago(1));
    env.run(&["snapshot", "prune", &other, "no-such"]).exits(2).says("there is no snapshot `no-such`");
    assert_eq!(ids(&env), [other.clone(), one.clone()], "none goes when one is not there");
    env.run(&["snapshot", "prune", &other]).exits(0);
    assert_eq!(ids(&env), std::slice::from_ref(&one));
    env.file("planning-mds/plan.md", "after");
    env.run(&["snapshot", "restore", &one, "--yes"]).exits(0);
    assert_eq!(env.read("planning-mds/plan.md"), "the plan", "contents that are still needed stay");
}

// OC-96: whatever is damaged is named, and what helps.
#[test]
fn oc_96_damaged_snapshots_are_named_and_keep_no_other_from_being_read() {
    let (env, id) = built();
    env.file(".snapshots/torn/manifest.json", "{").file(".snapshots/empty/x", "");
    let listed = env.run(&["snapshot", "list"]).exits(0).says(&id);
    listed
        .says("the snapshot torn cannot be read; `seriatim snapshot prune torn` removes what is left of it");
    assert_eq!(env.json(&["snapshot", "list"]).0["damaged"], json!(["empty", "torn"]));
    env.run(&["snapshot", "show", "torn"]).exits(1).says("the manifest of snapshot `torn` cannot be read");
    env.run(&["snapshot", "show", &id.replace("30", "3")]).exits(2).says(&format!("did you mean `{id}`?"));
    env.run(&["snapshot", "restore", "../etc", "--yes"]).exits(2).says("there is no snapshot `../etc`");
    env.run(&["snapshot", "prune", "torn", "empty"]).exits(0).says("removed torn");
    assert_eq!(ids(&env), std::slice::from_ref(&id));

    let after = picture(&env);
    for object in env.files_below(".snapshots/objects") {
        fs::write(object, "damaged").unwrap();
    }
    env.run(&["snapshot", "show", &id]).exits(1).says("the contents of these are damaged");
    env.run(&["snapshot", "restore", &id, "--yes"]).exits(1).says("nothing was restored; what is damaged: ");
    assert_eq!(picture(&env), after);
}
