//! Gates share the time of one stop; how long each takes is made up here.

use std::sync::Arc;
use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::hands::clock::SystemClock;
use crate::hands::process::Ended;
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
        Ok(ended(how, "1 passed\n", takes.min(deadline)))
    }

    fn sweep(&self, _marker: &str) -> Vec<u32> {
        vec![]
    }
}

fn ended(how: How, stdout: &str, duration_ms: u64) -> Ended {
    Ended {
        how,
        stdout: stdout.to_owned(),
        stderr: String::new(),
        tail: String::new(),
        stderr_tail: String::new(),
        overflow: None,
        dropped_bytes: 0,
        killed: vec![],
        survived: vec![],
        duration_ms,
    }
}

fn taking(ms: u64) -> Gate {
    Gate { command: vec![ms.to_string()], ..Gate::default() }
}

fn run_all(gates: &[Gate], left_ms: u64, at: At) -> (Vec<Evidence>, Vec<u64>) {
    let numbers = Arc::new(Numbers::default());
    let ports = Ports { processes: numbers.clone(), ..Ports::real() };
    let gates: Vec<(&str, &Gate)> = AT_STOP.into_iter().zip(gates).collect();
    let found = all(&ports, Path::new("/"), &gates, Duration::from_millis(left_ms), at);
    let deadlines = numbers.deadlines.lock().unwrap().clone();
    (found, deadlines)
}

#[test]
fn all_gates_share_the_time_of_one_stop() {
    let (found, deadlines) = run_all(&[taking(3_000), taking(60_000), taking(10)], 5_000, At::Stop);
    assert_eq!(deadlines, [5_000, 2_000]);
    let told: Vec<String> = found.iter().map(Evidence::sentence).collect();
    assert_eq!(
        told,
        [
            "G6: `tests` is green",
            "Gate `lint` was not run: it did not end within the 2.0 s that a stop has left for it; the commit gate runs it",
            "G6: `acceptance` was not run: the gates before it used up the time that a stop has; the commit gate runs it",
        ]
    );
    assert_eq!(found.iter().filter_map(Evidence::objection).count(), 0);
}

#[test]
fn what_does_not_fit_into_the_time_of_a_commit_holds_it() {
    let (found, _) = run_all(&[taking(60_000), taking(10)], 5_000, At::Commit);
    let told: Vec<String> = found.iter().filter_map(Evidence::objection).map(|one| one.sentence()).collect();
    assert_eq!(
        told,
        [
            "G6: `tests` is broken: it did not end within the 5.0 s that a commit has left for it",
            "Gate `lint` is broken: the gates before it used up the time that a commit has",
        ]
    );
}

#[test]
fn a_gate_has_no_more_time_than_it_is_given_itself() {
    let slow = Gate { timeout_ms: Some(700), ..taking(800) };
    let (found, deadlines) = run_all(&[slow, taking(10)], 5_000, At::Stop);
    assert_eq!(deadlines, [700, 4_300]);
    assert_eq!(found.iter().map(|one| one.result).collect::<Vec<_>>(), [Shown::Broken, Shown::Green]);
    assert!(found[0].sentence().contains("it did not end within its 0.7 s"), "{found:?}");
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
        let (found, deadlines) = run_all(&gates, left, At::Stop);
        // Each gate is told of, whether it was run or not.
        prop_assert_eq!(found.len(), gates.len());
        let taken: u64 = times.iter().zip(&deadlines).map(|((ms, _), deadline)| ms.min(deadline)).sum();
        prop_assert!(deadlines.len() < times.len() || taken <= left);
    }
}

/// Where the value of a gate stands in the matrix.
#[derive(Clone, Copy)]
enum Coverage {
    Printed,
    FreshReport,
    StaleReport,
    /// The agent wrote it, after the last run of the gate and with a good value.
    ByTheAgent,
}

const REPORT: &str = "coverage.xml";
const GOOD_REPORT: &str = r#"<coverage line-rate="0.99" lines-covered="99" lines-valid="100"></coverage>"#;

/// A gate that prints and ends as it is told, and writes its report where it does so.
struct Gated {
    how: How,
    output: String,
    writes: bool,
}

impl Processes for Gated {
    fn run(&self, spawn: &Spawn, _watch: &dyn Watch) -> Result<Ended, SpawnError> {
        if self.writes {
            std::fs::write(spawn.cwd.join(REPORT), GOOD_REPORT).unwrap();
        }
        Ok(ended(self.how, &self.output, 1))
    }

    fn sweep(&self, _marker: &str) -> Vec<u32> {
        vec![]
    }
}

fn pytest(body: &str) -> String {
    format!("=== test session starts ===\n{body}")
}

/// One test failed early, and much was printed after that.
fn failed_early() -> String {
    let head = "collected 3 items\n\ntest_a.py F..\n\n=== FAILURES ===\n___ test_b ___\n\n>       assert 1 == 2\n\
        E       assert 1 == 2\n\ntest_a.py:5: AssertionError\n";
    let noise = "a line of captured output\n".repeat(4_000);
    pytest(&format!("{head}{noise}=== 1 failed, 2 passed in 0.02s ===\n"))
}

/// What a gate of coverage with a threshold comes to.
fn cell(how: How, output: &str, coverage: Coverage) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    let (value, printed, writes) = match coverage {
        Coverage::Printed => ("total: ([0-9.]+)%", "total: 99%\n", false),
        Coverage::FreshReport => (REPORT, "", true),
        Coverage::StaleReport | Coverage::ByTheAgent => (REPORT, "", false),
    };
    if matches!(coverage, Coverage::StaleReport | Coverage::ByTheAgent) {
        std::fs::write(folder.path().join(REPORT), GOOD_REPORT).unwrap();
    }
    let gate = Gate { value: Some(value.to_owned()), threshold: Some(80.0), ..taking(0) };
    let processes = Gated { how, output: format!("{output}{printed}"), writes };
    let ports = Ports { processes: Arc::new(processes), ..Ports::real() };
    one(&ports, folder.path(), "coverage", &gate, Duration::from_secs(5), At::Stop).0.result
}

// Promise 2: a gate is green in two cells of sixty, and there everything says so.
#[test]
fn the_matrix_of_gates_at_the_guard() {
    let passed = pytest("collected 3 items\n\ntest_a.py ...\n\n=== 3 passed in 0.02s ===\n");
    let none = pytest("collected 0 items\n\n=== no tests ran in 0.01s ===\n");
    let outputs = [("passed", passed), ("early", failed_early()), ("none", none)];
    let ends = [
        ("0", How::Exited(0)),
        ("1", How::Exited(1)),
        ("101", How::Exited(101)),
        ("137", How::Exited(137)),
        ("signal", How::Signaled(9)),
    ];
    let places = [Coverage::Printed, Coverage::FreshReport, Coverage::StaleReport, Coverage::ByTheAgent];
    let mut table = vec![];
    for (end, how) in ends {
        for (tests, output) in &outputs {
            let row: Vec<String> = places
                .iter()
                .map(|place| format!("{:?}", cell(how, output, *place)).to_lowercase())
                .collect();
            table.push(format!("{end} {tests}: {}", row.join(" ")));
        }
    }
    assert_eq!(
        table,
        [
            "0 passed: green green broken broken",
            "0 early: red red red red",
            "0 none: broken broken broken broken",
            "1 passed: red red red red",
            "1 early: red red red red",
            "1 none: red red red red",
            "101 passed: red red red red",
            "101 early: red red red red",
            "101 none: red red red red",
            "137 passed: broken broken broken broken",
            "137 early: broken broken broken broken",
            "137 none: broken broken broken broken",
            "signal passed: broken broken broken broken",
            "signal early: broken broken broken broken",
            "signal none: broken broken broken broken",
        ]
    );
}

#[test]
fn output_that_was_cut_off_is_never_green() {
    struct Cut;
    impl Processes for Cut {
        fn run(&self, _spawn: &Spawn, _watch: &dyn Watch) -> Result<Ended, SpawnError> {
            Ok(Ended { dropped_bytes: 1, ..ended(How::Exited(0), "3 passed\n", 1) })
        }

        fn sweep(&self, _marker: &str) -> Vec<u32> {
            vec![]
        }
    }
    let ports = Ports { processes: Arc::new(Cut), ..Ports::real() };
    let (evidence, _) = one(&ports, Path::new("/"), "lint", &taking(0), Duration::from_secs(5), At::Stop);
    assert_eq!(evidence.sentence(), "Gate `lint` is broken: it printed more than can be judged: 3 passed");
}
