//! Gates: the one place where a flow runs a check and learns what it came to.

use seriatim_core::failure::Class;
use seriatim_core::gate;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::gate::Demand;
use seriatim_core::gate::Gate;
use seriatim_core::gate::GateEnd;
use seriatim_core::gate::GateRun;
use seriatim_core::gate::OutputReading;

use crate::Cx;
use crate::request::Check;
use crate::request::Command;
use crate::request::Done;
use crate::request::Ran;
use crate::request::Unmerged;

/// One gate, as a flow wants it run.
#[derive(Clone, Debug, Default)]
pub struct GateCall {
    /// The name under which the gate is configured or declared. It says what its output is read for.
    pub name: String,
    /// What people call it; empty means its name.
    pub label: String,
    /// The declaration, with all places filled in.
    pub gate: Gate,
    /// Where it runs, relative to the workspace; empty means its root.
    pub cwd: String,
    /// Unmerged work that it looks at.
    pub on: Option<Unmerged>,
    /// A commit follows: of all files that differ from the last commit it sees only these as they are.
    pub ours: Option<Vec<String>>,
    pub demand: Demand,
}

/// How a gate went: the evidence, and what only some dialects record.
#[derive(Clone, Debug)]
pub struct GateDone {
    pub evidence: CheckEvidence,
    pub duration_ms: u64,
    /// What was printed, as far as it was kept.
    pub output: String,
}

/// Runs a gate in a view of what is to be delivered and judges its whole output. A command that crashed instead of
/// failing is run again: its smaller run where there is one, else the same once more (CY-68).
pub async fn run_gate(cx: &Cx, call: &GateCall) -> GateDone {
    let argv = [call.gate.within.as_slice(), &call.gate.command].concat();
    let (run, whole_ms, whole_output) = run_once(cx, call, argv.clone()).await;
    let crashed = run.end.is_crash();
    let whole = gate::judge(run, &call.demand);
    if !crashed {
        return GateDone { evidence: whole, duration_ms: whole_ms, output: whole_output };
    }
    if call.gate.subset.is_empty() {
        let (again, ms, output) = run_once(cx, call, argv).await;
        return GateDone {
            evidence: gate::judge(again, &call.demand),
            duration_ms: whole_ms.saturating_add(ms),
            output,
        };
    }
    let smaller = [call.gate.within.as_slice(), &call.gate.subset].concat();
    let (part, ms, output) = run_once(cx, call, smaller).await;
    GateDone {
        evidence: gate::judge_subset(&whole, part, &call.demand),
        duration_ms: whole_ms.saturating_add(ms),
        output,
    }
}

async fn run_once(cx: &Cx, call: &GateCall, argv: Vec<String>) -> (GateRun, u64, String) {
    let command = Command {
        argv: argv.clone(),
        cwd: call.cwd.clone(),
        env: call.gate.env.clone(),
        timeout_ms: call.gate.timeout_ms,
        check: Some(Check {
            on: call.on.clone(),
            ours: call.ours.clone(),
            reports: call.gate.value.iter().cloned().collect(),
            query: Some(gate::query(&call.name, &call.gate)),
            ..Check::of(&call.name, &call.gate)
        }),
        ..Command::default()
    };
    let ran = cx.exec(command).await;
    let (end, reading, output, hash, duration_ms) = ended(call, ran);
    let run = GateRun {
        gate: if call.label.is_empty() { call.name.clone() } else { call.label.clone() },
        argv,
        end,
        good: call.gate.good_exits(),
        reading,
        tail: gate::tail(&output),
        output: hash,
    };
    (run, duration_ms, output)
}

type Ended = (GateEnd, OutputReading, String, Option<seriatim_core::hash::Hash>, u64);

fn ended(call: &GateCall, ran: Done<Ran>) -> Ended {
    let ran = match ran {
        Ok(ran) => ran,
        Err(failure) => {
            let end = if failure.class == Class::AgentDeadline {
                GateEnd::Deadline(failure.message)
            } else {
                GateEnd::NotRun(failure.message)
            };
            return (end, OutputReading::default(), failure.output, None, 0);
        }
    };
    let end = ran.code.map_or(GateEnd::Signal, GateEnd::Exit);
    let output = format!("{}{}", ran.stdout, ran.stderr);
    // Runs of earlier versions did not record what the whole output showed: what was kept of it speaks for them.
    let reading = ran.reading.unwrap_or_else(|| {
        let query = gate::query(&call.name, &call.gate);
        let reports = ran.reports.unwrap_or_default();
        let kept = gate::read(&query, &output, ran.code, &reports);
        OutputReading { cut: ran.cut || ran.file.is_some(), ..kept }
    });
    (end, reading, output, ran.output, ran.duration_ms)
}
