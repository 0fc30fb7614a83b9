//! The battery: checks that the engine runs itself, and what they found (CY-52 to CY-62, CY-68).

use seriatim_core::config::Comparator;
use seriatim_core::cycle::automation;
use seriatim_core::gate;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::gate::Demand;
use seriatim_core::gate::Gate;
use seriatim_core::verdict::Verdict;

use super::act::Done;
use super::course::Course;
use crate::gate::GateCall;
use crate::gate::run_gate;

/// A check of the configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Battery {
    Tests,
    Lint,
    Security,
}

impl Battery {
    pub(super) const ALL: [Battery; 3] = [Battery::Tests, Battery::Lint, Battery::Security];

    /// The name of its gate in the configuration.
    pub(super) fn key(self) -> &'static str {
        match self {
            Battery::Tests => gate::TESTS,
            Battery::Lint => gate::LINT,
            Battery::Security => gate::SECURITY,
        }
    }

    /// What the document calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Battery::Tests => "Existing Tests",
            Battery::Lint => "Linter/Formatter",
            Battery::Security => "Security Scans",
        }
    }

    /// What the automation file calls it.
    fn required_as(self) -> automation::Check {
        match self {
            Battery::Tests => automation::Check::ExistingTests,
            Battery::Lint => automation::Check::Linter,
            Battery::Security => automation::Check::SecurityScan,
        }
    }
}

/// Evidence of something that the engine compared itself.
pub(super) fn compared(name: &str, problems: &[String], good: &str) -> CheckEvidence {
    let (verdict, words) = match problems.is_empty() {
        true => (Verdict::checked(name, good, None), good.to_owned()),
        false => {
            let words = problems.join("; ");
            (Verdict::bad(format!("{name}: {words}")), words)
        }
    };
    CheckEvidence::measured(name, verdict, words)
}

/// What a check came to, with the end of its output where it did not do well.
pub(super) fn in_full(evidence: &CheckEvidence) -> String {
    let wants_output = matches!(evidence.verdict, Verdict::Bad(_) | Verdict::Unknown(_));
    match wants_output && !evidence.tail.is_empty() {
        true => format!("{}\n{}", evidence.words, evidence.tail),
        false => evidence.words.clone(),
    }
}

impl Course<'_> {
    /// Runs the battery. What it leaves behind is no part of the work; a check that changes the work itself is bad,
    /// since what was checked is then not what would be committed.
    pub(super) async fn battery_on(&mut self, work: &Done, floor_holds: bool) -> Vec<CheckEvidence> {
        let before = self.tree().await;
        let mut evidence = self.battery(&work.paths, floor_holds).await;
        let (touched, left): (Vec<String>, Vec<String>) =
            self.changed_since(&before).await.into_iter().partition(|path| work.paths.contains(path));
        self.by_products.extend(left);
        if !touched.is_empty() {
            let what = format!("a check changed files of the step: {}", touched.join(", "));
            evidence.push(compared("Checks", &[what], ""));
        }
        evidence
    }

    /// The checks of the configuration, side by side; each is run by the engine.
    async fn battery(&mut self, changed: &[String], floor_holds: bool) -> Vec<CheckEvidence> {
        self.adopt();
        if self.isolated {
            // A gate of another configuration: the base is still there, below the view.
            self.take_floor().await;
        }
        let mut found = Vec::new();
        let mut branches = Vec::new();
        for check in Battery::ALL {
            match self.start.gates.get(check.key()) {
                Some(gate) => {
                    let mut call = self.gate_call(check, gate, changed);
                    call.demand.floor = call.demand.floor.filter(|_| floor_holds);
                    branches.push((check.key().to_owned(), call));
                }
                None => found.push(self.absent(check)),
            }
        }
        let run = |cx: crate::Cx, call: GateCall| async move { run_gate(&cx, &call).await.evidence };
        found.extend(self.cx.par(3, branches, run).await);
        found.sort_by_key(|e| Battery::ALL.iter().position(|check| check.name() == e.gate));
        found.into_iter().map(|evidence| self.named_around(evidence)).collect()
    }

    /// A check that this project does not have. Where its automation file requires it, nobody knows what it would say.
    fn absent(&self, check: Battery) -> CheckEvidence {
        let required = self.start.automation.is_some();
        match required && self.rules.required_checks.contains(&check.required_as()) {
            true => CheckEvidence::not_run(
                check.name(),
                "the automation file requires it, and it is not configured",
            ),
            false => CheckEvidence::not_configured(check.name()),
        }
    }

    fn gate_call(&self, check: Battery, gate: &Gate, changed: &[String]) -> GateCall {
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
        let demand = Demand {
            floor: if check == Battery::Tests { self.floor() } else { None },
            warnings_fail: strict && self.start.automation.is_some(),
            threshold: gate.limit(Comparator::AtLeast),
        };
        GateCall {
            name: check.key().to_owned(),
            label: check.name().to_owned(),
            gate,
            on: self.seen_work(),
            ours: self.files_of_work(),
            demand,
            ..GateCall::default()
        }
    }

    /// The command around a check is told with what it found (OC-98).
    fn named_around(&self, evidence: CheckEvidence) -> CheckEvidence {
        let check = Battery::ALL.into_iter().find(|check| check.name() == evidence.gate);
        let gate = check.and_then(|check| self.start.gates.get(check.key()));
        match gate.map(|gate| gate.within.join(" ")).filter(|within| !within.is_empty()) {
            Some(within) => {
                CheckEvidence { words: format!("within `{within}`: {}", evidence.words), ..evidence }
            }
            None => evidence,
        }
    }

    /// The checks of the battery that are not configured.
    pub(super) fn not_configured(&self) -> Vec<String> {
        let absent = Battery::ALL.into_iter().filter(|check| !self.start.gates.contains_key(check.key()));
        absent.map(|check| check.name().to_owned()).collect()
    }
}

/// The smaller run, with the changed files where it wants them.
fn with_files(argv: &[String], files: &[String]) -> Vec<String> {
    let word = |word: &String| if word == "{files}" { files.to_vec() } else { vec![word.clone()] };
    argv.iter().flat_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cy_68_the_changed_files_stand_where_the_smaller_run_wants_them() {
        let argv = ["pytest", "{files}", "-x"].map(str::to_owned);
        let files = ["a.py", "b.py"].map(str::to_owned);
        assert_eq!(with_files(&argv, &files), ["pytest", "a.py", "b.py", "-x"]);
    }
}
