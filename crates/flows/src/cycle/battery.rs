//! The battery: checks that the engine runs itself, and what they found (CY-52 to CY-62, CY-68).

use seriatim_core::cycle::facts::CheckResult;
use seriatim_core::cycle::limits::counted;
use seriatim_core::evidence;
use seriatim_core::hash::Hash;

use super::Gate;
use super::act::Done;
use super::course::Course;
use crate::Cx;
use crate::request::Check as RunCheck;
use crate::request::Command;
use crate::request::Done as Outcome;
use crate::request::Ran;
use crate::request::Unmerged;

/// How much of a red check goes to the Planner.
const OUTPUT_BYTES_MAX: usize = 4000;

/// A check of the configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Battery {
    Tests,
    Lint,
    Security,
}

impl Battery {
    const ALL: [Battery; 3] = [Battery::Tests, Battery::Lint, Battery::Security];

    /// The name of its gate in the configuration.
    fn key(self) -> &'static str {
        match self {
            Battery::Tests => "tests",
            Battery::Lint => "lint",
            Battery::Security => "security",
        }
    }

    /// What the document calls it.
    fn name(self) -> &'static str {
        match self {
            Battery::Tests => "Existing Tests",
            Battery::Lint => "Linter/Formatter",
            Battery::Security => "Security Scans",
        }
    }
}

/// One check and what it found.
#[derive(Clone)]
pub(super) struct Evidence {
    pub(super) name: String,
    pub(super) result: CheckResult,
    pub(super) words: String,
    pub(super) hash: Option<Hash>,
}

impl Evidence {
    pub(super) fn of(name: &str, green: bool, words: String) -> Evidence {
        let result = if green { CheckResult::Green } else { CheckResult::Red };
        Evidence { name: name.to_owned(), result, words, hash: None }
    }

    /// A check that this project does not have.
    fn absent(name: &str) -> Evidence {
        let words = "no such check is configured".to_owned();
        Evidence { name: name.to_owned(), result: CheckResult::None, words, hash: None }
    }

    /// Whether it lets the work pass: a check that the project does not have does.
    pub(super) fn lets_pass(&self) -> bool {
        match self.result {
            CheckResult::Green | CheckResult::None => true,
            CheckResult::Red => false,
        }
    }
}

/// A check as this cycle runs it.
struct Check {
    name: String,
    gate: Gate,
    /// Warnings count as failures.
    strict: bool,
    /// The work that it looks at.
    on: Option<Unmerged>,
    /// All files of the work, where it is in a view.
    ours: Option<Vec<String>>,
}

impl Course<'_> {
    /// Runs the battery. What it leaves behind is no part of the work; a check that changes the work itself is red,
    /// since what was checked is then not what would be committed.
    pub(super) async fn battery_on(&mut self, work: &Done) -> Vec<Evidence> {
        let before = self.tree().await;
        let mut evidence = self.battery(&work.paths).await;
        let (touched, left): (Vec<String>, Vec<String>) =
            self.changed_since(&before).await.into_iter().partition(|path| work.paths.contains(path));
        self.by_products.extend(left);
        if !touched.is_empty() {
            let words = format!("a check changed files of the step: {}", touched.join(", "));
            evidence.push(Evidence::of("Checks", false, words));
        }
        evidence
    }

    /// The checks of the configuration, side by side; each is run by the engine.
    async fn battery(&mut self, changed: &[String]) -> Vec<Evidence> {
        self.adopt();
        let mut found = Vec::new();
        let mut branches = Vec::new();
        for check in Battery::ALL {
            match self.start.gates.get(check.key()) {
                Some(gate) => branches.push((check.key().to_owned(), self.check(check, gate, changed))),
                None => found.push(Evidence::absent(check.name())),
            }
        }
        found.extend(self.cx.par(3, branches, |cx, check| async move { run(&cx, check).await }).await);
        found.sort_by_key(|e| Battery::ALL.iter().position(|check| check.name() == e.name));
        found
    }

    fn check(&self, check: Battery, gate: &Gate, changed: &[String]) -> Check {
        let mut gate = gate.clone();
        gate.subset = with_files(&gate.subset, changed);
        let strict = match check {
            Battery::Tests => {
                gate.timeout_ms = gate.timeout_ms.or(self.rules.test_timeout_ms);
                false
            }
            Battery::Lint => self.rules.linter_warnings_fail,
            Battery::Security => self.rules.security_warnings_fail,
        };
        let strict = strict && self.start.automation.is_some();
        Check {
            name: check.name().to_owned(),
            gate,
            strict,
            on: self.seen_work(),
            ours: self.files_of_work(),
        }
    }
}

/// The smaller run, with the changed files where it wants them.
fn with_files(argv: &[String], files: &[String]) -> Vec<String> {
    let word = |word: &String| if word == "{files}" { files.to_vec() } else { vec![word.clone()] };
    argv.iter().flat_map(word).collect()
}

/// Runs a check. One that crashed instead of failing is tried again: its smaller run where there is one, and the
/// same once more where there is none (CY-68).
async fn run(cx: &Cx, check: Check) -> Evidence {
    let within = check.gate.within.join(" ");
    let evidence = run_within(cx, check).await;
    match within.is_empty() {
        true => evidence,
        false => Evidence { words: format!("within `{within}`: {}", evidence.words), ..evidence },
    }
}

async fn run_within(cx: &Cx, check: Check) -> Evidence {
    let Check { name, gate, strict, on, ours } = check;
    let whole = Command {
        argv: [gate.within.as_slice(), &gate.argv].concat(),
        env: gate.env.clone(),
        timeout_ms: gate.timeout_ms,
        check: Some(RunCheck { on, ours, ..gate.check.under(&name) }),
        ..Command::default()
    };
    let ran = cx.exec(whole.clone()).await;
    let Some(crash) = crash(&ran) else { return told(&name, ran, strict) };
    if gate.subset.is_empty() {
        return told(&name, cx.exec(whole).await, strict);
    }
    let smaller = cx.exec(Command { argv: [gate.within, gate.subset].concat(), ..whole }).await;
    let evidence = told(&name, smaller, strict);
    let words =
        format!("The whole suite crashed ({crash}); a subset of it was run instead: {}", evidence.words);
    Evidence { words, ..evidence }
}

/// How a check ended, when it did not end by itself.
fn crash(ran: &Outcome<Ran>) -> Option<String> {
    match ran {
        Ok(ran) => match ran.code {
            None => Some("ended by a signal".to_owned()),
            Some(code) if code > 128 => Some(format!("exit code {code}")),
            Some(_) => None,
        },
        Err(failure) => Some(failure.message.clone()),
    }
}

fn told(name: &str, ran: Outcome<Ran>, strict: bool) -> Evidence {
    let ran = match ran {
        Ok(ran) => ran,
        Err(failure) => return Evidence::of(name, false, failure.message),
    };
    let output = format!("{}{}", ran.stdout, ran.stderr);
    let code = ran.code.map_or("a signal".to_owned(), |c| format!("exit code {c}"));
    let tests = counts(&output, ran.code);
    let warned = if strict { warnings(&output) } else { 0 };
    let (green, words) = match (ran.ok(), warned) {
        (false, _) => (
            false,
            [Some(code), tests, Some(tail(&output))].into_iter().flatten().collect::<Vec<_>>().join("\n"),
        ),
        (true, 0) => (true, tests.unwrap_or_else(|| last_line(&output))),
        (true, count) => {
            let warnings = counted(count as u64, "warning");
            let words = format!("{warnings}, which this project counts as failures\n{}", tail(&output));
            (false, words)
        }
    };
    Evidence { hash: ran.output, ..Evidence::of(name, green, words) }
}

/// How many tests ran and failed, where the output is one that is known (CY-53).
fn counts(output: &str, code: Option<i32>) -> Option<String> {
    let counts = evidence::read(output, code, None).counts?;
    Some(format!("{} passed, {} failed", counts.passed, counts.failed + counts.errors))
}

/// Lines that warn. A summary that there were none is no warning.
fn warnings(output: &str) -> usize {
    let warns = |line: &str| {
        let line = line.to_lowercase();
        let none = ["0 warning", "no warning", "without warning"].iter().any(|words| line.contains(words));
        !none && (line.contains("warning:") || line.contains("[warning]") || line.contains("warn:"))
    };
    output.lines().filter(|line| warns(line)).count()
}

fn last_line(text: &str) -> String {
    text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("green").trim().to_owned()
}

fn tail(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES_MAX));
    text[from..].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_without_warnings_does_not_warn() {
        assert_eq!(warnings("checked 3 files, 0 warnings\nno warnings: fine"), 0);
        assert_eq!(warnings("a.rs:3: warning: unused\nWARN: old lock file\nall done"), 2);
    }

    #[test]
    fn cy_53_the_counts_of_known_tools_are_told() {
        let output = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(counts(output, Some(101)).as_deref(), Some("3 passed, 1 failed"));
        assert_eq!(counts("all is well", Some(0)), None);
    }

    #[test]
    fn cy_68_the_changed_files_stand_where_the_smaller_run_wants_them() {
        let argv = ["pytest", "{files}", "-x"].map(str::to_owned);
        let files = ["a.py", "b.py"].map(str::to_owned);
        assert_eq!(with_files(&argv, &files), ["pytest", "a.py", "b.py", "-x"]);
    }
}
