//! The hands: what may come of each kind of request, in which order, and how it is told.

use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::report::Report;
use seriatim_flows::Request;
use seriatim_flows::request::BookCall;
use seriatim_flows::request::Done;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Ran;

/// What people write where an option needs words.
pub(crate) const WORDS: &str = "Make the tests of the change pass and say so in two lines";

/// What an agent does when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Deed {
    /// Does its work and says so.
    Honest,
    /// Says that it is done and did nothing.
    Lies,
    /// Does its work and says that it is partly done.
    Partial,
    /// Says no: a judge that is not satisfied, a reviewer with a critical finding.
    SaysNo,
    /// Does its work, and something else that nobody asked for.
    Strays,
    /// Says that it failed, and leaves a file behind.
    Leaves,
    /// Makes its checks look green without doing the work.
    Cheats,
    /// Says yes and is not sure.
    Unsure,
    /// Says that it cannot be done.
    Fails,
    Crashes,
    Silent,
    Invalid,
    Late,
}

/// What comes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum How {
    Fine,
    Agent(Deed),
    /// A person takes this option.
    Option(usize),
    /// Files change while the question is open; then the first option is taken.
    Changed,
    /// A person cancels the run from outside.
    Cancel,
    Red,
    NoProgram,
    Killed,
    Timeout,
    /// It ends well and has run nothing.
    NoTests,
    Fails,
    /// Somebody else changed the file.
    Foreign,
    /// There is nothing: no file, no change.
    Nothing,
}

/// What agents may do in every role.
pub(crate) const TROUBLE: [Deed; 6] =
    [Deed::Partial, Deed::Fails, Deed::Crashes, Deed::Silent, Deed::Invalid, Deed::Late];

/// The deeds of a role: its own beside the honest one, and what can happen to everybody.
pub(crate) fn deeds(own: &[Deed]) -> Vec<How> {
    let all = [Deed::Honest].iter().chain(own).chain(&TROUBLE);
    all.map(|deed| How::Agent(*deed)).chain([How::Cancel]).collect()
}

/// The possible outcomes of requests that are the same in all worlds.
pub(crate) fn menu(request: &Request) -> Vec<How> {
    match request {
        Request::Agent(_) => deeds(&[]),
        Request::Ask(question) => {
            let options = (0..question.options.len()).map(How::Option);
            options.chain([How::Changed, How::Cancel]).collect()
        }
        Request::Exec(command) => {
            let counts = command.argv.iter().any(|word| word == "tests");
            let all = [How::Fine, How::Red, How::NoProgram, How::Killed, How::Timeout, How::NoTests];
            all.into_iter().filter(|how| counts || *how != How::NoTests).collect()
        }
        Request::Read(_) | Request::Write(_) | Request::Snapshot { .. } | Request::Restore { .. } => {
            vec![How::Fine, How::Fails]
        }
        Request::Compare { .. } | Request::Scene(_) => vec![How::Fine, How::Fails],
        Request::Edit(_) => vec![How::Fine, How::Fails, How::Foreign],
        Request::Look { .. } => vec![How::Fine, How::Nothing],
        Request::Git(GitCall::Commit(_)) => vec![How::Fine, How::Fails, How::Foreign, How::Nothing],
        Request::Git(GitCall::Deliver(_)) => vec![How::Fine, How::Fails, How::Foreign],
        Request::Git(_) => vec![How::Fine, How::Fails],
        Request::Book(BookCall::Post(_)) => vec![How::Fine, How::Fails, How::Foreign],
        Request::Compute(_) => vec![How::Fine, How::Red, How::Fails],
        Request::Wait { .. } => vec![How::Fine, How::Cancel],
        Request::Survey(_) | Request::Book(BookCall::Recall { .. }) => vec![How::Fine],
        Request::Now | Request::Sleep { .. } | Request::Ids(_) | Request::World(_) => vec![How::Fine],
        Request::Record { .. } | Request::Go(_) | Request::Par { .. } => vec![How::Fine],
    }
}

/// Whether an outcome is trouble with the disk or with git, of which a path has only few.
pub(crate) fn is_fault(request: &Request, how: How) -> bool {
    let dealt_with = matches!(
        request,
        Request::Agent(_) | Request::Ask(_) | Request::Exec(_) | Request::Wait { .. } | Request::Compute(_)
    );
    !dealt_with && how != How::Fine
}

/// Whether an outcome is much like another one, so that a path with several deviations can do without it.
pub(crate) fn is_minor(how: How) -> bool {
    let alike = matches!(how, How::Agent(Deed::Fails | Deed::Late | Deed::Invalid));
    alike || matches!(how, How::Timeout | How::NoProgram | How::Cancel)
}

/// Whether an outcome comes again until a person was asked.
pub(crate) fn lasts(request: &Request, how: How) -> bool {
    match how {
        How::Agent(Deed::Silent | Deed::Invalid) | How::NoProgram => true,
        How::Fails => matches!(request, Request::Read(_) | Request::Write(_)),
        _ => false,
    }
}

/// What a request is about, without counters and times.
pub(crate) fn pending(request: &Request) -> String {
    let text = match request {
        Request::Agent(given) => format!("agent {} {} {}", given.brief.step, given.brief.role, given.phase),
        Request::Ask(question) => {
            let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
            format!("ask {} {} {}", question.header, question.question, ids.join(" "))
        }
        Request::Exec(command) => format!("exec {}", command.argv.join(" ")),
        Request::Read(file) => format!("read {}", file.path),
        Request::Write(file) => format!("write {}", file.path),
        Request::Edit(file) => {
            let fields: Vec<String> = file.set.iter().map(|set| set.path.join(".")).collect();
            format!("edit {} {}", file.path, fields.join(" "))
        }
        Request::Git(call) => format!("git {}", git_name(call)),
        Request::Scene(call) => format!("scene {}", scene_name(call)),
        Request::Book(BookCall::Post(post)) => format!("save {}", post.key),
        other => other.name().to_owned(),
    };
    without_numbers(&text)
}

pub(crate) fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if plain.ends_with('#') => {}
            true => plain.push('#'),
            false => plain.push(c),
        }
    }
    plain
}

fn tag(value: &impl serde::Serialize, key: &str) -> String {
    let value = serde_json::to_value(value).unwrap();
    value[key].as_str().unwrap_or_default().to_owned()
}

fn git_name(call: &GitCall) -> String {
    tag(call, "git")
}

fn scene_name(call: &seriatim_flows::request::SceneCall) -> String {
    tag(call, "scene")
}

/// Tells what happened, where it is worth a line.
pub(crate) fn in_words(request: &Request, how: How) -> Option<String> {
    let who = match request {
        Request::Agent(given) if given.phase.is_empty() => given.brief.step.clone(),
        Request::Agent(given) => format!("{} {}", given.brief.step, given.phase),
        Request::Ask(question) => {
            let index = if let How::Option(index) = how { index } else { 0 };
            let before = if how == How::Changed { " (files changed meanwhile)" } else { "" };
            return Some(format!("asked '{}': {}{before}", question.header, question.options[index].id));
        }
        Request::Exec(command) => format!("gate {}", command.argv.join(" ")),
        Request::Git(call @ (GitCall::Commit(_) | GitCall::Deliver(_))) => git_name(call),
        Request::Wait { signal } => format!("waits for {signal}"),
        _ if how == How::Fine => return None,
        request => pending(request),
    };
    Some(format!("{who}: {}", what(how)))
}

fn what(how: How) -> &'static str {
    match how {
        How::Fine => "fine",
        How::Agent(deed) => deed.word(),
        How::Option(_) | How::Changed => "answered",
        How::Cancel => "cancelled from outside",
        How::Red => "red",
        How::NoProgram => "no such program",
        How::Killed => "killed by a signal",
        How::Timeout => "not finished in time",
        How::NoTests => "exit 0, and no test was run",
        How::Fails => "fails",
        How::Foreign => "somebody else changed it",
        How::Nothing => "nothing there",
    }
}

impl Deed {
    /// Whether nothing usable was reported.
    pub(crate) fn is_nothing(self) -> bool {
        matches!(self, Deed::Fails | Deed::Crashes | Deed::Silent | Deed::Invalid | Deed::Late)
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Deed::Honest => "done",
            Deed::Lies => "says done and did nothing",
            Deed::Partial => "partly done, and says so",
            Deed::SaysNo => "says no",
            Deed::Strays => "done, and changed something else",
            Deed::Leaves => "says it failed, and leaves a file",
            Deed::Cheats => "makes the checks look green",
            Deed::Unsure => "says yes and is not sure",
            Deed::Fails => "says it cannot be done",
            Deed::Crashes => "crashed",
            Deed::Silent => "reported nothing",
            Deed::Invalid => "reported nothing usable",
            Deed::Late => "did not finish in time",
        }
    }
}

/// The report of an agent, or the failure that its deed is.
pub(crate) fn report(deed: Deed, mut report: Value) -> Done<Report> {
    let failed = |class: Class| Err(Failure::new(class, deed.word()));
    match deed {
        Deed::Fails => return failed(Class::Contract),
        Deed::Crashes => return failed(Class::Crash),
        Deed::Silent => return failed(Class::Silent),
        Deed::Invalid => return failed(Class::Invalid),
        Deed::Late => return failed(Class::AgentDeadline),
        Deed::Partial => report["status"] = "partial".into(),
        Deed::Honest
        | Deed::Lies
        | Deed::SaysNo
        | Deed::Strays
        | Deed::Leaves
        | Deed::Cheats
        | Deed::Unsure => {
            report["status"] = "done".into();
        }
    }
    report["summary"] = "as asked".into();
    Ok(serde_json::from_value(report).unwrap())
}

/// What a command did, where it is not as it should be; `none` is what it prints when it ran no test.
pub(crate) fn ran(how: How, code: i32, output: &str, none: &str) -> Done<Ran> {
    let output = if how == How::NoTests { none } else { output };
    let of = |code: Option<i32>| {
        Ok(Ran {
            code,
            stdout: output.to_owned(),
            output: Some(Hash::of(output.as_bytes())),
            duration_ms: 10,
            ..Ran::default()
        })
    };
    match how {
        How::NoProgram => of(Some(127)),
        How::Killed => of(None),
        How::Timeout => Err(Failure::new(Class::AgentDeadline, "it did not finish in time")),
        How::NoTests => of(Some(0)),
        _ => of(Some(code)),
    }
}

/// The failure of a disk or of git.
pub(crate) fn refused<T>() -> Done<T> {
    Err(Failure::new(Class::Storage, "the disk refuses it"))
}

/// An outcome as the journal holds it.
pub(crate) fn body(outcome: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(outcome).unwrap()
}
