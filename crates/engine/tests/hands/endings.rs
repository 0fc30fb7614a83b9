//! Processes that have to be ended, and whatever they left behind.

use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::process::Command;
use std::process::Stdio;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;
use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::MARKER;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::supervise;
use tempfile::tempdir;

use crate::support::PROGRAM;
use crate::support::Witness;
use crate::support::announced;
use crate::support::command;
use crate::support::has_ended;
use crate::support::processes;
use crate::support::script;

/// A grandchild that left the session and the group, lost its parent, ignores the request to end, and writes on.
const ESCAPEE: &str =
    r#"(setsid sh -c 'trap "" TERM; echo escapee pid=$$; while :; do echo beat >> beats; done' &) "#;

#[test]
fn after_the_deadline_nothing_lives_and_what_was_written_is_kept() {
    let directory = tempdir().unwrap();
    let text =
        format!("trap '' TERM; echo agent pid=$$; echo partial > work; {ESCAPEE}; while :; do sleep 1; done");
    let spawn = Spawn { deadline_ms: Some(1_500), grace_ms: 100, ..script(directory.path(), &text) };
    let witness = Witness::default();
    let ended = processes().run(&spawn, &witness).unwrap();
    assert_eq!(ended.how, How::Deadline);
    witness.assert_gone(2);
    assert!(ended.stdout.contains("agent pid="));
    assert_eq!(fs::read_to_string(directory.path().join("work")).unwrap(), "partial\n");
    let beats = fs::read(directory.path().join("beats")).unwrap();
    assert!(!beats.is_empty());
    assert_eq!(fs::read(directory.path().join("beats")).unwrap(), beats, "somebody still writes");
    assert!(ended.killed.iter().any(|it| it.command.contains("escapee")), "{:?}", ended.killed);
    assert_eq!(ended.survived, []);
}

#[test]
fn an_agent_that_heeds_the_request_is_not_killed() {
    let directory = tempdir().unwrap();
    let text = "trap 'echo tidied; exit 0' TERM; echo stop me; while :; do sleep 0.01; done";
    let spawn = Spawn { grace_ms: 60_000, ..script(directory.path(), text) };
    let ended = processes().run(&spawn, &Witness::with_switch()).unwrap();
    assert_eq!(ended.how, How::Stopped);
    assert!(ended.stdout.ends_with("tidied\n"), "{}", ended.stdout);
}

#[test]
fn the_switch_ends_agent_and_escapee_from_another_thread() {
    let directory = tempdir().unwrap();
    let text =
        format!("echo agent pid=$$; {ESCAPEE}; while [ ! -s beats ]; do :; done; echo stop me; sleep 1000");
    let witness = Witness::with_switch();
    let ended = processes().run(&script(directory.path(), &text), &witness).unwrap();
    assert_eq!(ended.how, How::Stopped);
    witness.assert_gone(2);
}

#[test]
fn a_switch_that_was_thrown_before_ends_it_at_once() {
    let directory = tempdir().unwrap();
    let witness = Witness::with_switch();
    witness.stop.as_ref().unwrap().stop();
    let ended = processes().run(&command(directory.path(), &["sleep", "1000"]), &witness).unwrap();
    assert_eq!(ended.how, How::Stopped);
}

#[test]
fn a_stopped_process_is_ended_too() {
    let directory = tempdir().unwrap();
    let text = "echo agent pid=$$; echo stop me; kill -STOP $$";
    let witness = Witness::with_switch();
    let ended = processes().run(&script(directory.path(), text), &witness).unwrap();
    assert_eq!(ended.how, How::Stopped);
    witness.assert_gone(1);
}

#[test]
fn background_children_are_ended_and_listed() {
    let directory = tempdir().unwrap();
    // The agent ends when both children have announced themselves.
    let text = "mkfifo fifo; exec 3<> fifo; \
                sh -c 'echo child pid=$$; echo ready > fifo; exec sleep 1234' & \
                (setsid sh -c 'echo child pid=$$; echo ready > fifo; exec sleep 4321' &); \
                read -r one <&3; read -r other <&3; exit 5";
    let witness = Witness::default();
    let ended = processes().run(&script(directory.path(), text), &witness).unwrap();
    assert_eq!(ended.how, How::Exited(5));
    witness.assert_gone(2);
    assert_eq!(ended.killed.len(), 2, "{:?}", ended.killed);
    assert_eq!(ended.survived, []);
}

#[test]
fn a_crowd_that_forks_against_its_end_is_ended() {
    let directory = tempdir().unwrap();
    let crowd = "trap '' TERM; while :; do setsid sleep 1000 & done";
    let text =
        format!("sh -c '{}' & echo agent pid=$$; echo stop me; sleep 1000", crowd.replace('\'', "'\\''"));
    let witness = Witness::with_switch();
    let spawn = Spawn { grace_ms: 50, ..script(directory.path(), &text) };
    let ended = processes().run(&spawn, &witness).unwrap();
    assert_eq!((ended.how, ended.survived), (How::Stopped, Vec::new()));
    witness.assert_gone(1);
    assert_eq!(processes().sweep(&spawn.marker), Vec::<u32>::new());
}

#[test]
fn e_86_an_engine_that_is_killed_takes_its_agents_along() {
    let directory = tempdir().unwrap();
    let marker = format!("killed-engine-{}", directory.path().display());
    let text = format!("echo agent pid=$$; {ESCAPEE}; trap '' TERM; while :; do sleep 1; done");
    let mut engine = Command::new(PROGRAM)
        .args(["run", &marker, "sh", "-c", &text])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(engine.stdout.take().unwrap()).lines();
    let handles: Vec<_> = lines.take(2).map(|line| announced(&line.unwrap()).flatten().unwrap()).collect();
    engine.kill().unwrap();
    engine.wait().unwrap();
    for handle in &handles {
        assert!(has_ended(handle, 60));
    }
}

#[test]
fn e_86_a_sweep_ends_what_a_dead_engine_and_a_dead_supervisor_left() {
    let directory = tempdir().unwrap();
    let marker = format!("swept-{}", directory.path().display());
    let text = format!("echo supervisor pid=$PPID; echo agent pid=$$; {ESCAPEE}; sleep 1000");
    let mut engine = Command::new(PROGRAM)
        .args(["run", &marker, "sh", "-c", &text])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(engine.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    let handles: Vec<_> = lines.iter().map(|line| announced(line).flatten().unwrap()).collect();
    let supervisor = lines.iter().find_map(|line| line.strip_prefix("supervisor pid=")).unwrap();
    // Frozen first: otherwise the supervisor might notice the death of the engine and do its duty.
    let supervisor = Pid::from_raw(supervisor.parse().unwrap()).unwrap();
    kill_process(supervisor, Signal::STOP).unwrap();
    engine.kill().unwrap();
    engine.wait().unwrap();
    kill_process(supervisor, Signal::KILL).unwrap();
    assert!(has_ended(&handles[0], 60));

    // The one that sweeps carries the marker as well and must not end itself.
    let swept = Command::new(PROGRAM).args(["sweep", &marker]).env(MARKER, &marker).output().unwrap();
    assert!(swept.status.success());
    assert!(String::from_utf8(swept.stdout).unwrap().split_whitespace().count() >= 2);
    for handle in &handles {
        assert!(has_ended(handle, 0));
    }
    assert_eq!(processes().sweep(&marker), Vec::<u32>::new());
}

#[test]
fn an_agent_that_kills_its_supervisor_gains_nothing() {
    let directory = tempdir().unwrap();
    // The second one has emptied its environment and is found by its session.
    let text = format!(
        "{ESCAPEE}; env -i sh -c 'echo bare pid=$$; while :; do sleep 1; done' & \
         echo agent pid=$$; while [ ! -s beats ]; do :; done; kill -KILL $PPID; while :; do sleep 1; done"
    );
    let witness = Witness::default();
    let ended = processes().run(&script(directory.path(), &text), &witness).unwrap();
    assert_eq!(ended.how, How::Signaled(9));
    let announced = witness.lines.lock().unwrap().iter().filter(|line| line.contains("pid=")).count();
    witness.assert_gone(announced);
    assert!(announced >= 2);
}

#[test]
fn an_agent_that_freezes_its_supervisor_is_ended_nevertheless() {
    let directory = tempdir().unwrap();
    let text = "echo agent pid=$$; kill -STOP $PPID; echo stop me; while :; do sleep 1; done";
    let witness = Witness::with_switch();
    let hurried = processes().margin_ms(100);
    let ended = hurried.run(&script(directory.path(), text), &witness).unwrap();
    assert_eq!(ended.how, How::Stopped);
    witness.assert_gone(1);
}

#[test]
fn a_supervisor_without_an_order_ends_with_an_error() {
    let status = Command::new(PROGRAM).arg(supervise::ARGUMENT).stdin(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(70));
}
