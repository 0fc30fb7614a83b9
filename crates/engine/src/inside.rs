//! What an attempt asks for from inside its world: decided outside, by this program started again for each request.
//!
//! The request is a claim of that attempt and nothing else. So the process that carries it out gets the claim together
//! with the words, and refuses whatever does not belong to it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::redact::Redactor;
use seriatim_flows::request::Assignment;

use crate::hands::inside::AnswerInside;
use crate::hands::inside::InsideReply;
use crate::hands::inside::InsideRequest;
use crate::hands::inside::SOCKET;
use crate::hands::process::AskedInside;
use crate::hands::process::How;
use crate::hands::process::Input;
use crate::hands::process::Printed;
use crate::hands::process::Spawn;
use crate::hands::process::Stop;
use crate::hands::process::Watch;
use crate::hands::process::environment_without;
use crate::job::Job;
use crate::perform::Hands;

/// The first argument by which this program carries out one request of an attempt, as it is told on standard input.
pub const CLAIM: &str = "seriatim-claim";

/// Requests of an attempt that are recorded one by one; the rest is counted.
const RECORDED_MAX: usize = 200;
/// How much of the words of a request is recorded.
const RECORDED_CHARS_MAX: usize = 2_000;
/// Variables that say where somebody else works.
const ELSEWHERE: [&str; 5] = [SOCKET, "CLAUDE_PROJECT_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/// Which attempt a request comes from, and what it may speak about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub run: String,
    /// The project of a roadmap, where the attempt works on one of its steps.
    pub project: Option<String>,
    pub assignment: Assignment,
    /// Where its report is expected; nothing where the path is not UTF-8.
    pub report: Option<String>,
}

impl Claim {
    pub(crate) fn new(job: &Job, assignment: &Assignment, report: &Path) -> Claim {
        let project = assignment.brief.parameters.get("project").and_then(Value::as_str);
        Claim {
            run: job.run_name.clone(),
            project: project.map(str::to_owned),
            assignment: assignment.clone(),
            report: report.to_str().map(str::to_owned),
        }
    }
}

/// What the process that carries a request out is told. The input of the request follows the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimOrder {
    pub claim: Claim,
    pub request: InsideRequest,
}

impl ClaimOrder {
    /// Reads an order and the input that follows it; nothing where it is none.
    pub fn read(bytes: &[u8]) -> Option<(ClaimOrder, Vec<u8>)> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, input) = bytes.split_at_checked(end)?;
        Some((serde_json::from_slice(line).ok()?, input.get(1..)?.to_vec()))
    }

    fn bytes(&self, input: &[u8]) -> Option<Vec<u8>> {
        // JSON has no line ends but those that are written into it.
        let line = serde_json::to_vec(self).ok()?;
        Some([line.as_slice(), b"\n", input].concat())
    }
}

/// The requests of one attempt.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    requests: Mutex<(Vec<AskedInside>, u64)>,
}

impl Asked {
    fn add(&self, request: AskedInside) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        match requests.0.len() {
            length if length < RECORDED_MAX => requests.0.push(request),
            _ => requests.1 += 1,
        }
    }

    /// Puts them into the record of the attempt.
    pub(crate) fn tell(&self, printed: &mut Printed) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        printed.requests.clone_from(&requests.0);
        printed.more_requests = requests.1;
    }
}

/// Returns what answers the requests of an attempt that works at a place.
pub(crate) fn answers(
    hands: &Hands,
    job: &Job,
    claim: Claim,
    place: &Path,
    asked: &Arc<Asked>,
) -> AnswerInside {
    let (hands, marker, place) = (hands.clone(), job.marker(), place.to_owned());
    let asked = Arc::clone(asked);
    Arc::new(move |request, input, stop| {
        let at = hands.clock.now();
        let order = ClaimOrder { claim: claim.clone(), request: request.clone() };
        let reply = match order.bytes(&input) {
            Some(bytes) => carry_out(&hands, &marker, &place, bytes, stop),
            None => refused("the request cannot be passed on"),
        };
        let clean = |text: &str| cut(&hands.redactor.clean(text));
        let reason = if reply.exit == 0 { String::new() } else { clean(reply.stderr.trim_end()) };
        let argv = request.argv.iter().map(|word| clean(word)).collect();
        asked.add(AskedInside { at, argv, exit: reply.exit, reason });
        reply
    })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(RECORDED_CHARS_MAX) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

struct ClaimWatch<'a> {
    redactor: &'a Redactor,
    stop: &'a Stop,
}

impl Watch for ClaimWatch<'_> {
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.clean(text)
    }

    fn stop(&self) -> Option<&Stop> {
        Some(self.stop)
    }
}

/// Starts this program again, outside, where the work of the attempt belongs. It ends with the attempt at the latest.
fn carry_out(hands: &Hands, marker: &str, place: &Path, order: Vec<u8>, stop: &Stop) -> InsideReply {
    // The supervisor is this program, so that this is this program too, also when a new version took its place.
    let mut spawn = Spawn::new(vec!["/proc/self/exe".to_owned(), CLAIM.to_owned()], place, marker);
    spawn.env = environment_without(&ELSEWHERE);
    spawn.stdin = Input::Bytes(order);
    let watch = ClaimWatch { redactor: &hands.redactor, stop };
    let ended = match hands.processes.run(&spawn, &watch) {
        Ok(ended) => ended,
        Err(error) => return refused(&format!("the engine could not carry it out: {error}")),
    };
    let (stdout, mut stderr) = (ended.stdout, ended.stderr);
    let exit = match ended.how {
        How::Exited(code) => u8::try_from(code).unwrap_or(2),
        How::Signaled(_) | How::Deadline | How::Stopped => {
            stderr.push_str("error: it was stopped before it was done\n");
            2
        }
    };
    InsideReply { exit, stdout, stderr }
}

fn refused(why: &str) -> InsideReply {
    InsideReply { exit: 2, stdout: String::new(), stderr: format!("error: {why}\n") }
}
