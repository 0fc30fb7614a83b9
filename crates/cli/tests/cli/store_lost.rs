//! The record vanishes or is replaced while an agent works: the engine stops loudly and keeps what it knows.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::process::Fifo;
use crate::process::Running;
use crate::support::Env;
use crate::support::files_below;

/// A run in which the second step is at work until somebody ends it.
fn at_work(env: &Env) -> (Running, crate::process::Handle, Fifo) {
    env.bakery(&["Knead the dough", "Let it rise"]).agent_sh(
        "[ \"$SERIATIM_STEP\" != 5.1.2 ] || { echo $$ >began; read word <hold; }\nfinish \"$SERIATIM_STEP\"",
    );
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    let (mut began, hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&engine);
    (engine, agent, hold)
}

/// The files in which entries are kept that could not be recorded.
fn kept(env: &Env) -> Vec<PathBuf> {
    files_below(&env.root.with_file_name("home").join(".local/state/seriatim"))
}

fn stops_loudly(env: &Env, engine: Running, agent: &crate::process::Handle) {
    let ended = engine.output().exits(1);
    agent.ends();
    let store = env.stored("journal.db");
    let ended = ended
        .says(&format!(
            "error: the store {} was removed or replaced while this run was at work",
            store.display()
        ))
        .says("help: put the store back as it was, then `seriatim verify` and `seriatim resume`");
    let files = kept(env);
    assert_eq!(files.len(), 1, "{}", ended.snapshot());
    let ended = ended.says(&files[0].display().to_string());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let lines: Vec<Value> = fs::read_to_string(&files[0])
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty(), "{}", ended.snapshot());
    assert!(lines.iter().all(|line| line["run"].as_str().is_some_and(|run| run.len() > 8)), "{lines:?}");
    assert!(lines.iter().any(|line| line["kind"] == "outcome" && line["key"] != ""), "{lines:?}");
}

#[test]
fn a_record_that_is_removed_while_an_agent_works_stops_the_run_loudly() {
    let env = Env::new();
    let (engine, agent, _hold) = at_work(&env);
    fs::remove_dir_all(env.store()).unwrap();
    stops_loudly(&env, engine, &agent);
    assert!(!env.stored("journal.db").exists(), "no new one takes its place");
}

#[test]
fn an_older_record_that_is_put_in_its_place_stops_the_run_loudly() {
    let env = Env::new();
    let (engine, agent, _hold) = at_work(&env);
    let (store, aside) = (env.store(), env.root.with_file_name("aside"));
    fs::rename(&store, &aside).unwrap();
    seriatim_journal::private::make_folder(&store).unwrap();
    let older = fs::read(aside.join("journal.db")).unwrap();
    fs::write(store.join("journal.db"), &older).unwrap();
    stops_loudly(&env, engine, &agent);
    assert_eq!(fs::read(store.join("journal.db")).unwrap(), older, "nothing was written into it");
    // Put back as it was, the run goes on.
    fs::remove_dir_all(&store).unwrap();
    fs::rename(&aside, &store).unwrap();
    env.file("agent.sh", env.read("agent.sh").replace("echo $$ >began; read word <hold", "true"));
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    env.run(&["verify"]).exits(0);
}

#[test]
fn what_was_kept_before_is_never_overwritten() {
    let env = Env::new();
    let (engine, agent, _hold) = at_work(&env);
    let folder = env.root.with_file_name("home").join(".local/state/seriatim");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("other"), "mine").unwrap();
    fs::remove_file(env.stored("journal.db")).unwrap();
    engine.output().exits(1);
    agent.ends();
    let files = kept(&env);
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(fs::read_to_string(folder.join("other")).unwrap(), "mine");
}
