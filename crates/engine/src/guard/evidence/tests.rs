//! Gates share the time of one stop; how long each takes is made up here.

use std::sync::Arc;
use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::json;
use seriatim_core::roadmap::verdict::Shown;

use super::*;
use crate::hands::clock::SystemClock;
use crate::hands::process::Processes;
use crate::hands::process::SpawnError;
use crate::hands::process::Watch;

/// Commands are numbers here: how many thousandths of a second each would take.
#[derive(Default)]
struct Numbers {
    deadlines: Mutex<Vec<u64>>,
}

impl Processes for Numbers {
    fn run(&self, spawn: &Spawn, _watch: &dyn Watch) -> Result<Ended, SpawnError> {
        let takes: u64 = spawn.argv.concat().parse().map_err(|_| SpawnError::Empty)?;
        let deadline = spawn.deadline_ms.unwrap_or(u64::MAX);
        self.deadlines.lock().unwrap().push(deadline);
        let how = if takes > deadline { How::Deadline } else { How::Exited(0) };
        Ok(Ended {
            how,
            stdout: String::new(),
            stderr: String::new(),
            tail: String::new(),
            stderr_tail: String::new(),
            overflow: None,
            dropped_bytes: 0,
            killed: vec![],
            survived: vec![],
            duration_ms: takes.min(deadline),
        })
    }

    fn sweep(&self, _marker: &str) -> Vec<u32> {
        vec![]
    }
}

fn taking(ms: u64) -> Gate {
    Gate { command: vec![ms.to_string()], ..Gate::default() }
}

fn run_all(gates: &[Gate], left_ms: u64) -> (Vec<Evidence>, Vec<u64>) {
    let numbers = Arc::new(Numbers::default());
    let ports = Ports { processes: numbers.clone(), ..Ports::real() };
    let gates: Vec<(&str, &Gate)> = AT_STOP.into_iter().zip(gates).collect();
    let found = all(&ports, Path::new("/"), &gates, Duration::from_millis(left_ms));
    let deadlines = numbers.deadlines.lock().unwrap().clone();
    (found, deadlines)
}

#[test]
fn all_gates_share_the_time_of_one_stop() {
    let (found, deadlines) = run_all(&[taking(3_000), taking(60_000), taking(10)], 5_000);
    assert_eq!(deadlines, [5_000, 2_000]);
    let told: Vec<String> = found.iter().map(Evidence::sentence).collect();
    assert_eq!(
        told,
        [
            "G6: `tests` is green",
            "Gate `lint` was not run: it did not end within the 2.0 s that a stop has left for it, and says nothing",
            "G6: `acceptance` was not run: the gates before it used up the time that a stop has",
        ]
    );
}

#[test]
fn a_gate_has_no_more_time_than_it_is_given_itself() {
    let slow = Gate { timeout_ms: Some(700), ..taking(800) };
    let (found, deadlines) = run_all(&[slow, taking(10)], 5_000);
    assert_eq!(deadlines, [700, 4_300]);
    assert_eq!(found.iter().map(|one| one.result).collect::<Vec<_>>(), [Shown::NotRun, Shown::Green]);
    assert!(found[0].sentence().ends_with("within its 0.7 s, and says nothing"), "{found:?}");
}

#[test]
fn the_time_of_the_gates_is_below_that_of_every_hook_at_which_they_run() {
    let clock = SystemClock::default();
    for client in Client::ALL {
        for hook in settings::hooks(client) {
            let payload = json!({
                "session_id": "s1", "cwd": "/", "hook_event_name": hook.event, "tool_name": "Bash",
                "tool_input": {"command": "ls"},
            });
            let event = Event::parse(Some(client), payload.to_string().as_bytes()).unwrap();
            let patience = Patience::with(&event, &clock);
            assert_eq!(patience.limit.as_secs(), u64::from(hook.timeout_s), "{client} {}", hook.event);
            assert!(patience.left(&clock) + RESERVE <= patience.limit, "{client} {}", hook.event);
        }
    }
    assert_eq!(Patience::most(&clock).limit.as_secs(), 30);
}

proptest! {
    #[test]
    fn whatever_gates_there_are_they_never_take_longer_than_all_of_them_may(
        times in proptest::collection::vec((0u64..40_000, proptest::option::of(0u64..10_000)), 0..5),
        left in 0u64..30_000,
    ) {
        let gates: Vec<Gate> =
            times.iter().map(|(ms, own)| Gate { timeout_ms: *own, ..taking(*ms) }).collect();
        let (found, deadlines) = run_all(&gates, left);
        // Each gate is told of, whether it was run or not.
        prop_assert_eq!(found.len(), gates.len());
        let taken: u64 = times.iter().zip(&deadlines).map(|((ms, _), deadline)| ms.min(deadline)).sum();
        prop_assert!(deadlines.len() < times.len() || taken <= left);
    }
}
