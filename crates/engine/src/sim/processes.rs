//! Agents that are played from the seed.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;

use serde_json::Value;
use serde_json::json;
use seriatim_core::report::Brief;

use super::fate::Fate;
use super::files::SimFiles;
use super::lock;
use super::reciter;
use super::rng::Rng;
use crate::agents::REPORT_BYTES_MAX;
use crate::hands::files::Files;
use crate::hands::process::Ended;
use crate::hands::process::How;
use crate::hands::process::Processes;
use crate::hands::process::Spawn;
use crate::hands::process::SpawnError;
use crate::hands::process::Stream;
use crate::hands::process::Watch;

const BRIEF_BYTES_MAX: u64 = 16 << 20;
/// An agent that is not told to hang works for less than this.
const WORK_MS_MAX: u64 = 400;
/// In all that one step is asked, this many attempts may go wrong; then it succeeds.
const MISHAPS_MAX: u32 = 6;

/// What an agent does in one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// A good report.
    Done,
    /// A good report that carries a secret, and a line of output that does.
    Leaks,
    /// Exit 0 and no report.
    Silent,
    /// A report that is not JSON.
    Garbage,
    /// A report that is far too large.
    Huge,
    /// A report that says what it failed on, and that it may be tried again later.
    Transient,
    /// A report that says what it failed on, for good.
    Permanent,
    /// A report that calls the work half done.
    Partial,
    /// An exit code, whatever it reported.
    Exits(i32),
    Killed(i32),
    /// It works until its time is up.
    Hangs,
    /// It does what its script says.
    Recites,
}

impl Play {
    const MISHAPS: [Play; 10] = [
        Play::Leaks,
        Play::Silent,
        Play::Garbage,
        Play::Huge,
        Play::Transient,
        Play::Permanent,
        Play::Partial,
        Play::Exits(3),
        Play::Killed(9),
        Play::Hangs,
    ];

    fn how(self) -> How {
        match self {
            Play::Exits(code) => How::Exited(code),
            Play::Killed(signal) => How::Signaled(signal),
            Play::Hangs => How::Deadline,
            _ => How::Exited(0),
        }
    }
}

/// A process that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Unique for the attempt.
    pub marker: String,
    pub run: String,
    /// The matter that an agent works at, its step and phase; empty for what is no agent.
    pub step: String,
    pub play: Play,
}

/// Plays every process from the seed, and remembers all of them: it is outside, and outlives the engine.
pub struct SimProcesses {
    files: Arc<SimFiles>,
    fate: Fate,
    seed: u64,
    /// Of a hundred attempts, this many go wrong.
    mishaps: u64,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    begun: Vec<Begun>,
    /// How long each attempt takes, by marker.
    took_ms: BTreeMap<String, u64>,
    /// How many attempts at a step of a run have counted so far.
    played: BTreeMap<(String, String), u32>,
}

impl SimProcesses {
    pub fn new(files: Arc<SimFiles>, fate: Fate, seed: u64, mishaps: u64) -> SimProcesses {
        SimProcesses { files, fate, seed, mishaps, book: Mutex::default() }
    }

    /// What was begun, in order.
    pub fn begun(&self) -> Vec<Begun> {
        lock(&self.book).begun.clone()
    }

    /// How long the attempt with that marker takes.
    pub fn took_ms(&self, marker: &str) -> Option<u64> {
        lock(&self.book).took_ms.get(marker).copied()
    }

    /// Sets which attempts have counted, by run and step. An attempt that was cut off has not: whoever
    /// is asked again does what the one before would have done, so that a run with crashes can end as one without.
    pub fn remember(&self, played: BTreeMap<(String, String), u32>) {
        lock(&self.book).played = played;
    }

    /// The secret that agents of this world leak.
    pub fn secret(&self) -> String {
        let mut rng = Rng::of(self.seed, &["secret"]);
        let letters: Vec<char> = ('a'..='z').chain('0'..='9').collect();
        let tail: String = (0..36).filter_map(|_| rng.pick(&letters)).collect();
        format!("ghp_{tail}")
    }

    fn choose(&self, run: &str, step: &str) -> (Play, Rng) {
        let mut book = lock(&self.book);
        let turn = book.played.entry((run.to_owned(), step.to_owned())).or_default();
        let mut rng = Rng::of(self.seed, &["play", run, step, &turn.to_string()]);
        let goes_wrong = *turn < MISHAPS_MAX && rng.chance(self.mishaps);
        *turn += 1;
        let mishap = rng.pick(&Play::MISHAPS).copied().unwrap_or(Play::Done);
        (if goes_wrong { mishap } else { Play::Done }, rng)
    }

    /// What the agent leaves on its desk.
    fn report(&self, play: Play, brief: &Brief) -> Option<Vec<u8>> {
        let criteria: Vec<Value> = brief
            .criteria
            .iter()
            .map(|text| json!({"criterion": text, "met": true, "confidence": 90, "reason": "it was looked at"}))
            .collect();
        let done = |summary: String| {
            json!({
                "status": "done",
                "summary": summary,
                "outputs": {format!("result-{}", brief.step): format!("what {} found", brief.role)},
                "confidence": 90,
                "criteria": criteria,
                "observations": [{"type": "STATE", "subject": "The work", "value": summary}],
            })
        };
        let failed = |class: &str| json!({"status": "failed", "error": {"class": class, "message": "it would not do"}});
        let report = match play {
            Play::Done | Play::Exits(_) => done("The step is done.".to_owned()),
            Play::Leaks => done(format!("The step is done with {}.", self.secret())),
            Play::Transient => failed("transient"),
            Play::Permanent => failed("permanent"),
            Play::Partial => json!({"status": "partial", "summary": "half of it"}),
            Play::Garbage => return Some(b"{\"status\": ".to_vec()),
            Play::Huge => return Some(vec![b' '; REPORT_BYTES_MAX + 1]),
            Play::Silent | Play::Killed(_) | Play::Hangs | Play::Recites => return None,
        };
        serde_json::to_vec(&report).ok()
    }

    /// One attempt of an agent that has a script.
    fn recite(&self, desk: &Desk, spawn: &Spawn, script: &str, watch: &dyn Watch) -> Ended {
        let turn = {
            let mut book = lock(&self.book);
            let turn = book.played.entry((desk.run.clone(), desk.matter())).or_default();
            *turn += 1;
            *turn - 1
        };
        self.note(spawn, &desk.run, &desk.matter(), Play::Recites);
        let line = reciter::line(&self.files, script, (&desk.step, &desk.phase), turn).unwrap_or_default();
        for (path, text) in &line.write {
            self.fate.pass("an agent is at work");
            self.files.put(&spawn.cwd.join(path), text.as_bytes());
        }
        self.fate.pass("an agent has done its work");
        if let Some(report) = &line.report {
            self.files.put(&desk.report, report);
        }
        self.fate.pass("an agent has reported");
        let took_ms = Rng::of(self.seed, &["took", &spawn.marker]).below(WORK_MS_MAX);
        lock(&self.book).took_ms.insert(spawn.marker.clone(), took_ms);
        watch.line(Stream::Stdout, "reciting");
        ended(How::Exited(line.exit), "reciting".to_owned(), took_ms)
    }

    /// One attempt of an agent, as the agent sees it.
    fn attempt(&self, desk: &Desk, spawn: &Spawn, watch: &dyn Watch) -> Ended {
        let (play, mut rng) = self.choose(&desk.run, &desk.step);
        self.note(spawn, &desk.run, &desk.step, play);
        let note = spawn.cwd.join("notes").join(format!("{}-{}.txt", desk.run, desk.step));
        self.files.put(&note, b"somebody worked here\n");
        self.fate.pass("an agent is at work");
        if let Some(report) = self.report(play, &desk.brief) {
            self.files.put(&desk.report, &report);
        }
        self.fate.pass("an agent has reported");
        let took_ms =
            if play == Play::Hangs { spawn.deadline_ms.unwrap_or(0) } else { rng.below(WORK_MS_MAX) };
        lock(&self.book).took_ms.insert(spawn.marker.clone(), took_ms);
        let said = if play == Play::Leaks { self.secret() } else { "working".to_owned() };
        let said = watch.clean(&said).into_owned();
        watch.line(Stream::Stdout, &said);
        ended(play.how(), said, took_ms)
    }

    fn note(&self, spawn: &Spawn, run: &str, step: &str, play: Play) {
        let (marker, run, step) = (spawn.marker.clone(), run.to_owned(), step.to_owned());
        lock(&self.book).begun.push(Begun { marker, run, step, play });
    }
}

/// What an agent finds when it is started.
struct Desk {
    run: String,
    step: String,
    phase: String,
    brief: Brief,
    report: PathBuf,
}

impl Desk {
    fn matter(&self) -> String {
        matter(&self.step, &self.phase)
    }

    /// Nothing when the process is no agent, or its brief is not there or not to be read.
    fn find(files: &SimFiles, spawn: &Spawn) -> Option<Desk> {
        let value =
            |name: &str| spawn.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let brief = files.read(Path::new(&value("SERIATIM_BRIEF")?), BRIEF_BYTES_MAX).ok()?;
        Some(Desk {
            run: value("SERIATIM_RUN")?,
            step: value("SERIATIM_STEP")?,
            phase: value("SERIATIM_PHASE").unwrap_or_default(),
            brief: serde_json::from_slice(&brief.bytes).ok()?,
            report: value("SERIATIM_REPORT")?.into(),
        })
    }
}

/// What an agent is asked for, by step and phase.
pub fn matter(step: &str, phase: &str) -> String {
    if phase.is_empty() { step.to_owned() } else { format!("{step} {phase}") }
}

fn ended(how: How, said: String, duration_ms: u64) -> Ended {
    Ended {
        how,
        tail: said.clone(),
        stderr_tail: String::new(),
        stdout: said,
        stderr: String::new(),
        overflow: None,
        dropped_bytes: 0,
        killed: vec![],
        survived: vec![],
        duration_ms,
    }
}

impl Processes for SimProcesses {
    fn run(&self, spawn: &Spawn, watch: &dyn Watch) -> Result<Ended, SpawnError> {
        self.fate.pass("before a process starts");
        let words: Vec<&str> = spawn.argv.iter().map(String::as_str).collect();
        if let Some(desk) = Desk::find(&self.files, spawn) {
            return Ok(match words.as_slice() {
                [reciter::RECITER, script] => self.recite(&desk, spawn, script, watch),
                _ => self.attempt(&desk, spawn, watch),
            });
        }
        self.note(spawn, "", "", Play::Done);
        self.fate.pass("a process is at work");
        let (code, said) = match words.as_slice() {
            [reciter::CHECK, ..] => reciter::check(&self.files, &spawn.cwd, &spawn.argv[1..]),
            [reciter::UNITTEST, ..] => reciter::unittest(&self.files, &spawn.cwd),
            _ => (0, "ok".to_owned()),
        };
        Ok(ended(How::Exited(code), said, 1))
    }

    fn sweep(&self, _marker: &str) -> Vec<u32> {
        // A process of a dead engine is over as soon as that is: its supervisor sees to it.
        vec![]
    }
}
