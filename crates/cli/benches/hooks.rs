//! What a hook costs, with the start of its process, beside `/bin/true` in the same run.
//!
//! `cargo bench -p seriatim --bench hooks`, or with the statically linked binary:
//! `SERIATIM=path/to/seriatim cargo bench -p seriatim --bench hooks`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures, and has nobody to tell of failures"
)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use serde_json::json;

#[path = "../tests/shared/phases.rs"]
mod phases;

use phases::FOURTEEN;

const ROUNDS: usize = 200;
const AT_ONCE: usize = 10;
const ROUNDS_AT_ONCE: usize = 30;

struct Case {
    name: &'static str,
    program: PathBuf,
    hook: bool,
    folder: PathBuf,
    payload: Vec<u8>,
}

impl Case {
    fn run(&self) -> Duration {
        let mut command = Command::new(&self.program);
        if self.hook {
            command.args(["hook", "--client", "claude"]);
        }
        command.current_dir(&self.folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let since = Instant::now();
        let mut child = command.spawn().unwrap();
        // `true` does not read what it is given.
        let _ = child.stdin.take().unwrap().write_all(&self.payload);
        let ended = child.wait().unwrap();
        assert!(ended.success(), "{}", self.name);
        since.elapsed()
    }
}

fn main() {
    let program =
        std::env::var_os("SERIATIM").map_or_else(|| env!("CARGO_BIN_EXE_seriatim").into(), PathBuf::from);
    let temp = tempfile::tempdir().unwrap();
    let (guarded, bare) = (temp.path().join("guarded"), temp.path().join("bare"));
    fs::create_dir_all(&bare).unwrap();
    lay_out(&guarded);
    let prompt = prompt(&program, &guarded);
    let case = |name, folder: &Path, prompt: &str| Case {
        name,
        program: program.clone(),
        hook: true,
        folder: folder.to_owned(),
        payload: payload(folder, prompt),
    };
    let cases = [
        Case {
            name: "/bin/true",
            program: "/bin/true".into(),
            hook: false,
            folder: bare.clone(),
            payload: vec![],
        },
        case("unguarded project", &bare, "Look at the tests"),
        case("ad-hoc prompt", &guarded, "Look at the tests"),
        case("validated prompt", &guarded, &prompt),
    ];
    let mut times = vec![vec![]; cases.len()];
    // In turns with the rest, since a disk changes its mood.
    let mut syncs = vec![];
    let mut file = fs::File::create(temp.path().join("sync")).unwrap();
    for _ in 0..ROUNDS {
        for (case, times) in cases.iter().zip(&mut times) {
            times.push(case.run());
        }
        syncs.push(sync(&mut file));
    }
    let (base, sync) = (quantile(&mut times[0], 50), quantile(&mut syncs, 50));
    for (case, times) in cases.iter().zip(&mut times) {
        let median = quantile(times, 50);
        println!("{:20} {:6.2} ms {:6.2}x", case.name, ms(median), median.as_secs_f64() / base.as_secs_f64());
    }
    println!(
        "one sync of this disk {:.2} ms, so a validated prompt has {:.2} ms",
        ms(sync),
        ms(base * 2 + sync)
    );
    let mut crowd = crowd(&cases[3]);
    println!(
        "{AT_ONCE} at once: median {:.2} ms, p99 {:.2} ms",
        ms(quantile(&mut crowd, 50)),
        ms(quantile(&mut crowd, 99))
    );
}

/// A project under guard with one step.
fn lay_out(root: &Path) {
    seriatim_journal::private::make_folder(&root.join(".seriatim")).unwrap();
    fs::create_dir_all(root.join("steps")).unwrap();
    fs::write(root.join(".seriatim/guard.json"), "{}").unwrap();
    let log: Vec<_> = FOURTEEN
        .iter()
        .enumerate()
        .map(|(index, name)| json!({"phase_name": name, "phase_index": index, "status": "NOT_EXECUTED"}))
        .collect();
    let step = json!({
        "task_id": "01-01", "project_id": "demo", "state": {"status": "TODO"},
        "task_specification": {
            "name": "Greet", "description": "Say good morning.", "acceptance_criteria": ["It greets."],
            "allowed_file_patterns": ["src/**"],
        },
        "self_contained_context": {"background": "A greeting."},
        "tdd_cycle": {"phase_execution_log": log},
    });
    fs::write(root.join("steps/01-01.json"), serde_json::to_string_pretty(&step).unwrap()).unwrap();
}

fn prompt(program: &Path, root: &Path) -> String {
    let rendered = Command::new(program)
        .current_dir(root)
        .args([
            "prompt",
            "render",
            "--template",
            "execute-step",
            "--schema",
            "v1",
            "--values",
            "steps/01-01.json",
        ])
        .args([
            "--set",
            "step_file_path=steps/01-01.json",
            "--set",
            "agent_name=dev",
            "--set",
            "agent_specialty=code",
        ])
        .output()
        .unwrap();
    assert!(rendered.status.success(), "{}", String::from_utf8_lossy(&rendered.stderr));
    String::from_utf8(rendered.stdout).unwrap()
}

fn payload(folder: &Path, prompt: &str) -> Vec<u8> {
    let payload = json!({
        "session_id": "s1", "transcript_path": "/nowhere.jsonl", "cwd": folder, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t1",
        "tool_input": {"description": "Execute step 01-01", "prompt": prompt},
    });
    payload.to_string().into_bytes()
}

/// Many hooks at once, each timed.
fn crowd(case: &Case) -> Vec<Duration> {
    let mut times = vec![];
    for _ in 0..ROUNDS_AT_ONCE {
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| case.run())).collect();
            times.extend(all.into_iter().map(|one| one.join().unwrap()));
        });
    }
    times
}

/// What it takes to make four kibibytes more durable.
fn sync(file: &mut fs::File) -> Duration {
    file.write_all(&[0; 4096]).unwrap();
    let since = Instant::now();
    file.sync_data().unwrap();
    since.elapsed()
}

fn quantile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
