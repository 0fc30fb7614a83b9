//! Other processes: this same program, started to be killed or to be timed from its very beginning.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use seriatim_core::redact::Redactor;
use seriatim_flows::rehearsal::Plan;

use super::Sizes;
use super::ground::Ground;
use super::instant::Instantly;
use super::instant::Witness;
use crate::error::CommandError;
use crate::error::Result;

/// What such a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Begins a run and does its steps, but never the last of them: it waits to be killed.
    Begin,
    /// Begins runs that ask a person, and goes.
    Ask,
    /// Takes up all runs of the store and goes on with them.
    GoOn,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Begin => "begin",
            Part::Ask => "ask",
            Part::GoOn => "go-on",
        }
    }
}

/// The last line of a process that got to its end.
const OVER: &str = "over";

/// Tells on stdout which step begins.
struct Told {
    /// Steps that may begin before the process stands still; none for no end.
    hold_after: Option<u64>,
}

impl Witness for Told {
    fn begins(&mut self, key: &str) {
        // The other end is the bench that started this process; without it there is nobody to tell.
        let _ = writeln!(std::io::stdout(), "{key}");
        let Some(left) = &mut self.hold_after else { return };
        *left = left.saturating_sub(1);
        if *left == 0 {
            // Ends when the bench does, which never writes here.
            let _ = std::io::stdin().read(&mut [0]);
        }
    }
}

/// The life of such a process.
pub(crate) fn play(part: Part, dir: &Path, redactor: Redactor, sizes: Sizes, behind: u64) -> Result<()> {
    let mut ground = Ground::open(dir, redactor)?;
    let steps = sizes.steps(1);
    let hold_after = (part == Part::Begin).then_some(steps * 3 / 4);
    let mut told = Told { hold_after };
    let mut schedule = Instantly::new(&mut told, Arc::new(AtomicBool::new(false)));
    match part {
        Part::Begin => {
            let plan = Plan { steps: behind + steps, ask: false };
            let leases = ground.begin(1, &plan)?;
            for lease in &leases {
                ground.make_past(lease, &plan, behind)?;
            }
            ground.drive_new(leases, &mut schedule)?;
        }
        Part::Ask => {
            let leases = ground.begin(sizes.runs(1), &Plan { steps, ask: true })?;
            ground.drive_new(leases, &mut schedule)?;
        }
        Part::GoOn => {
            let runs = ground.take_all()?;
            ground.drive(runs, &mut schedule)?;
        }
    }
    let _ = writeln!(std::io::stdout(), "{OVER}");
    ground.close()
}

/// A process that plays a part. It does not outlive this.
pub(crate) struct Other {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// Kept open: a part that stands still waits here.
    _stdin: Option<ChildStdin>,
    /// Just before the process was started.
    pub(crate) since: Instant,
}

impl Other {
    pub(crate) fn start(part: Part, dir: &Path, steps: u64, runs: u64, behind: u64) -> Result<Other> {
        std::fs::create_dir_all(dir).map_err(|e| failed(&e))?;
        let program = std::env::current_exe().map_err(|e| failed(&e))?;
        let mut command = Command::new(program);
        // The store is its workspace too: whatever is configured here has no part in what is measured.
        command.arg("bench").arg("--workspace").arg(dir).arg("--store").arg(dir);
        command.args(["--part", part.name()]);
        command.args(["-n", &steps.to_string(), "-m", &runs.to_string(), "--behind", &behind.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let since = Instant::now();
        let mut child = command.spawn().map_err(|e| failed(&e))?;
        let stdin = child.stdin.take();
        let Some(stdout) = child.stdout.take() else {
            return Err(CommandError::not_good("a process was started without a voice"));
        };
        Ok(Other { child, lines: BufReader::new(stdout), _stdin: stdin, since })
    }

    /// The step that began next; nothing when the process is over or dead.
    pub(crate) fn step(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(read) if read > 0 && line.trim_end() != OVER => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    /// All steps that began, to the end.
    pub(crate) fn steps(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.step()).collect()
    }

    /// Ends it without giving it a chance.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill().map_err(|e| failed(&e))
    }

    /// Waits until it is gone; it must have ended well.
    pub(crate) fn ended(mut self) -> Result<()> {
        let status = self.child.wait().map_err(|e| failed(&e))?;
        if status.success() { Ok(()) } else { Err(CommandError::not_good("a process of the bench failed")) }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may be gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(error: &std::io::Error) -> CommandError {
    CommandError::not_good(format!("a process of the bench could not be started: {error}"))
}
