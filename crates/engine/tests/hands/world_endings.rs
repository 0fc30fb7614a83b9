//! How processes in worlds end, and that nothing of them is left.

use std::fs;

use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::pidfd_open;
use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;

use crate::support::Witness;
use crate::support::has_ended;
use crate::support::processes;
use crate::world_site::Site;
use crate::world_site::User;
use crate::world_site::users;

/// A grandchild without environment in a session of its own that ignores the request to end. It holds the fifo open.
const ESCAPEE: &str = r#"(env -i PATH="$PATH" setsid sh -c 'trap "" TERM; exec 3> "$1"; echo here >&3; while :; do sleep 1; done' escapee "$SHARED/alive" &) "#;

#[test]
fn exit_codes_and_signals_are_exact() {
    for user in users() {
        let site = Site::new(user);
        let how = |text: &str| site.run(&site.script(text)).ended().how;
        assert_eq!(how("exit 7"), How::Exited(7));
        assert_eq!(how("kill -KILL $$"), How::Signaled(9));
        assert_eq!(how("kill -TERM $$"), How::Signaled(15));
        assert_eq!(how("exit 137"), How::Exited(137));
        let both = site.run(&site.script("echo out; echo err >&2"));
        assert_eq!((both.ended().stdout.as_str(), both.ended().stderr.as_str()), ("out\n", "err\n"));
    }
}

#[test]
fn what_cannot_be_started_says_why_as_seen_from_inside() {
    for user in users() {
        let site = Site::new(user);
        fs::write(site.path("store/tool"), "#!/bin/sh\n").unwrap();
        fs::write(site.workspace.join("plain"), "text").unwrap();
        site.hand_over();
        let start = |program: &str| {
            let spawn = Spawn { argv: vec![program.to_owned()], ..site.script("") };
            site.run(&spawn).refused().clone()
        };
        assert_eq!(start("no-such-program"), SpawnError::NotFound { program: "no-such-program".to_owned() });
        assert_eq!(start("./neither").exit_code(), Some(127));
        assert_eq!(start("./plain").exit_code(), Some(126));
        // It is there outside.
        assert_eq!(start(site.path("store/tool").to_str().unwrap()).exit_code(), Some(127));
        let nowhere = Spawn { cwd: site.path("store/nowhere"), ..site.script("true") };
        assert!(matches!(site.run(&nowhere).refused(), SpawnError::NoDirectory { .. }));
        let empty = Spawn { argv: vec![], ..site.script("") };
        assert_eq!(site.run(&empty).refused(), &SpawnError::Empty);
    }
}

#[test]
fn an_escapee_dies_with_the_world_and_is_named() {
    for user in users() {
        let site = Site::new(user);
        let alive = site.fifo("alive");
        let text = format!(
            "mkfifo ready; {}; read -r word < ready; exit 5",
            ESCAPEE.replace("echo here", "echo go > ready; echo here")
        );
        let outcome = site.run(&site.script(&text));
        assert_eq!(outcome.ended().how, How::Exited(5));
        alive.assert_over(0);
        let killed = &outcome.ended().killed;
        assert!(killed.iter().any(|it| it.command.contains("escapee")), "{user:?} {killed:?}");
        assert_eq!(outcome.ended().survived, []);
    }
}

#[test]
fn helpers_that_finish_by_themselves_are_not_ended() {
    for user in users() {
        let site = Site::new(user);
        let outcome = site.run(
            &site.script("mkfifo line; (read -r word < line; echo $word) & exec 3> line; echo late >&3"),
        );
        assert_eq!(outcome.lines, ["late"]);
        assert_eq!(outcome.ended().killed, []);
        assert_eq!(outcome.ended().how, How::Exited(0));
    }
}

#[test]
fn after_the_deadline_nothing_lives() {
    for user in users() {
        let site = Site::new(user);
        let alive = site.fifo("alive");
        let text = format!("trap '' TERM; echo partial > work; {ESCAPEE}; while :; do sleep 1; done");
        let spawn = Spawn { deadline_ms: Some(3_000), grace_ms: 100, ..site.script(&text) };
        let outcome = site.run(&spawn);
        assert_eq!(outcome.ended().how, How::Deadline);
        alive.assert_over(0);
        assert_eq!(fs::read_to_string(site.path("layers/upper/work")).unwrap(), "partial\n");
    }
}

#[test]
fn the_switch_ends_it_and_an_agent_that_heeds_the_request_may_tidy_up() {
    if !users().contains(&User::Current) {
        return;
    }
    let site = Site::new(User::Current);
    let text = "trap 'echo tidied; exit 0' TERM; echo stop me; while :; do sleep 0.01; done";
    let spawn = Spawn { grace_ms: 60_000, ..site.script(text) };
    let ended = processes().run(&spawn, &Witness::with_switch()).unwrap();
    assert_eq!(ended.how, How::Stopped);
    assert!(ended.stdout.ends_with("tidied\n"), "{}", ended.stdout);
    // Thrown before: it may end before it has begun.
    let witness = Witness::with_switch();
    witness.stop.as_ref().unwrap().stop();
    let ended = processes().run(&site.script("sleep 1000"), &witness).unwrap();
    assert_eq!(ended.how, How::Stopped);
}

#[test]
fn a_crowd_that_forks_against_its_end_is_ended() {
    for user in users() {
        let site = Site::new(user);
        let text = "trap '' TERM; while :; do setsid sleep 1000 & done";
        let spawn = Spawn { deadline_ms: Some(300), grace_ms: 50, ..site.script(text) };
        let outcome = site.run(&spawn);
        assert_eq!((outcome.ended().how, &outcome.ended().survived), (How::Deadline, &Vec::new()));
        assert_eq!(processes().sweep(&spawn.marker), Vec::<u32>::new());
    }
}

/// Handles on the supervisor and on the first process of the world.
fn keepers(marker: &str) -> Vec<std::os::fd::OwnedFd> {
    let mut found = vec![];
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if words.split(|byte| *byte == 0).any(|word| word == marker.as_bytes()) {
            found.extend(pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()));
        }
    }
    found
}

#[test]
fn an_engine_that_is_killed_takes_the_world_along() {
    for user in users() {
        let site = Site::new(user);
        let alive = site.fifo("alive");
        let text = ESCAPEE.replace("echo here", "echo ready; echo here")
            + "; trap '' TERM; while :; do sleep 1; done";
        let spawn = Spawn { grace_ms: 50, ..site.script(&text) };
        let (mut engine, mut lines) = site.start(&spawn);
        assert_eq!(lines.next().unwrap(), "ready");
        let keepers = keepers(&spawn.marker);
        assert_eq!(keepers.len(), 2);
        let before = fs::read_to_string("/proc/self/mountinfo").unwrap();
        engine.kill().unwrap();
        engine.wait().unwrap();
        alive.assert_over(60);
        for keeper in &keepers {
            assert!(has_ended(keeper, 60));
        }
        assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
        assert!(site.path("layers/upper").is_dir());
    }
}

#[test]
fn a_supervisor_that_is_killed_takes_the_world_along() {
    for user in users() {
        let site = Site::new(user);
        let alive = site.fifo("alive");
        let text = ESCAPEE.replace("echo here", "echo ready; echo here")
            + "; trap '' TERM; while :; do sleep 1; done";
        let spawn = site.script(&text);
        let (mut engine, mut lines) = site.start(&spawn);
        assert_eq!(lines.next().unwrap(), "ready");
        let supervisor = keepers(&spawn.marker);
        // Whichever of the two ends first, the other one follows.
        rustix::process::pidfd_send_signal(&supervisor[0], rustix::process::Signal::KILL).unwrap();
        let last = lines.last().unwrap();
        alive.assert_over(0);
        for keeper in &supervisor {
            assert!(has_ended(keeper, 0));
        }
        assert!(last.starts_with("ended ") && last.contains("\"signaled\":9"), "{last}");
        engine.wait().unwrap();
    }
}
