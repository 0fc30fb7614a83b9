//! Reads the sections of the file. Fields that other tools need are known and passed over.

use std::path::Component;
use std::path::Path;

use super::Automation;
use super::Check;
use super::Gates;
use super::Limits;
use super::Names;
use super::Risk;
use super::RiskGate;
use crate::cycle::limits::ScopeMode;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;
use crate::doc::Vocabulary;
use crate::finding::Finding;
use crate::finding::Severity;
use crate::forbidden::check_pattern;
use crate::time::parse_span;

impl Vocabulary for ScopeMode {
    const WHAT: &'static str = "a scope mode";
    const WORDS: &'static [(&'static str, ScopeMode)] = &[("all", ScopeMode::All), ("any", ScopeMode::Any)];
}

/// Sections without a meaning for this tool.
const PASSED_OVER: [&str; 4] = ["paths", "logging", "notifications", "images"];

pub(super) fn read(root: &Node, sink: &Sink) -> Automation {
    let mut automation = Automation::default();
    let Some(mut top) = Fields::of(root, "an automation file", sink) else { return automation };
    scope_mode(&mut top, &mut automation.limits);
    if let Some(fields) = top.map("loop", "`loop`") {
        the_loop(fields, &mut automation);
    }
    if let Some(fields) = top.map("agents", "`agents`") {
        agents(fields, &mut automation);
    }
    if let Some(fields) = top.map("risk_gates", "`risk_gates`") {
        risk_gates(fields, &mut automation.gates);
    }
    if let Some(fields) = top.map("human_checkpoints", "`human_checkpoints`") {
        human_checkpoints(fields, &mut automation.gates);
    }
    if let Some(fields) = top.map("judge_test_battery", "`judge_test_battery`") {
        battery(fields, &mut automation.gates);
    }
    if let Some(fields) = top.map("archiving", "`archiving`") {
        archiving(fields, &mut automation.names);
    }
    top.ignore(&PASSED_OVER);
    top.finish();
    automation
}

/// `scope_mode` may stand at the top, with the loop or with the Actor.
fn scope_mode(fields: &mut Fields<'_>, limits: &mut Limits) {
    if let Some(mode) = fields.word::<ScopeMode>("scope_mode", Severity::Error) {
        limits.mode = mode.value;
    }
}

fn the_loop(mut fields: Fields<'_>, automation: &mut Automation) {
    scope_mode(&mut fields, &mut automation.limits);
    set(&mut automation.limits.insufficient, at_least_one(&mut fields, "max_consecutive_insufficient"));
    set(&mut automation.limits.minutes, at_least_one(&mut fields, "max_duration"));
    must_stay(&mut fields, "human_approval_checkpoints");
    set(&mut automation.names.context, inside(&mut fields, "context_path"));
    set(&mut automation.names.archive, inside(&mut fields, "archive_path"));
    fields.ignore(&["start_agent"]);
    fields.finish();
}

fn agents(mut fields: Fields<'_>, automation: &mut Automation) {
    let Automation { limits, gates, .. } = automation;
    if let Some(mut planner) = fields.map("planner", "the planner") {
        limits.plan_loc = at_least_one(&mut planner, "max_plan_loc").map(|at| at.value).or(limits.plan_loc);
        set(&mut limits.docs, planner.count("max_context_docs"));
        gates.planner_minutes = at_least_one(&mut planner, "time_budget").map(|at| at.value);
        planner.ignore(&MODEL);
        planner.finish();
    }
    if let Some(mut actor) = fields.map("actor", "the actor") {
        set(&mut limits.loc, at_least_one(&mut actor, "max_execution_loc"));
        set(&mut limits.files, at_least_one(&mut actor, "max_files_modified"));
        scope_mode(&mut actor, limits);
        gates.actor_minutes = at_least_one(&mut actor, "time_budget").map(|at| at.value);
        if actor.node("forbidden_commands").is_some() {
            limits.forbidden = forbidden_commands(&mut actor);
        }
        actor.ignore(&MODEL);
        actor.finish();
    }
    if let Some(mut judge) = fields.map("judge", "the judge") {
        gates.judge_minutes = at_least_one(&mut judge, "time_budget").map(|at| at.value);
        if judge.node("required_checks").is_some() {
            gates.required_checks = required_checks(&mut judge);
        }
        must_stay(&mut judge, "validate_scope");
        pause_threshold(&mut judge, limits);
        judge.ignore(&MODEL);
        judge.finish();
    }
    fields.finish();
}

/// Settings of a model, which belong to the agents of the configuration.
const MODEL: [&str; 4] = ["temperature", "top_p", "max_tokens", "model"];

/// The Judge's own number for the pause must not contradict that of the loop; the smaller one holds.
fn pause_threshold(judge: &mut Fields<'_>, limits: &mut Limits) {
    let Some(threshold) = at_least_one(judge, "pause_threshold") else { return };
    if threshold.value != limits.insufficient {
        let message = format!(
            "`pause_threshold` is {threshold}, but the loop pauses after {}; the smaller number holds",
            limits.insufficient
        );
        let finding = Finding::warning("contradiction", threshold.place, message);
        judge.sink().push(finding.help("write the same number as in `max_consecutive_insufficient`"));
    }
    limits.insufficient = limits.insufficient.min(threshold.value);
}

fn forbidden_commands(actor: &mut Fields<'_>) -> Vec<String> {
    let mut patterns = vec![];
    for At { value, place } in actor.lines("forbidden_commands") {
        match check_pattern(&value) {
            Ok(()) => patterns.push(value),
            Err(error) => {
                // The first lines of the error draw the pattern; its last line says what is wrong.
                let said = error.to_string();
                let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
                let message = format!("`{value}` is not a valid regular expression: {why}");
                let finding = Finding::error("bad-pattern", place, message);
                actor.sink().push(finding.help("put a backslash before signs that stand for themselves"));
            }
        }
    }
    patterns
}

fn required_checks(judge: &mut Fields<'_>) -> Vec<Check> {
    let mut checks = vec![];
    for At { value, place } in judge.lines("required_checks") {
        match Check::ALL.into_iter().find(|check| check.word() == value) {
            Some(check) => checks.push(check),
            None => {
                // A check that nobody can run would otherwise be one check less.
                let finding =
                    Finding::error("unknown-value", place, format!("`{value}` is not a known check"));
                let known = Check::ALL.map(Check::word);
                judge.sink().push(match crate::closest::closest(&value, known) {
                    Some(word) => finding.help(format!("did you mean `{word}`?")),
                    None => finding.help(format!("known are {}", known.join(", "))),
                });
            }
        }
    }
    checks
}

fn risk_gates(mut fields: Fields<'_>, gates: &mut Gates) {
    let sections = [("low", Risk::Low), ("medium", Risk::Medium), ("high", Risk::High)];
    for (name, risk) in sections {
        let Some(mut gate) = fields.map(name, "a risk gate") else { continue };
        must_stay(&mut gate, "require_human_commit_approval");
        let mut on = |field| gate.flag(field).is_some_and(|flag| flag.value);
        let escalates = on("block_and_escalate");
        let audit_trail = on("require_audit_trail");
        // A step of medium risk is approved with the commit; one that is blocked, before it is carried out.
        gate.ignore(&["require_human_approval", "judge_auto_approve"]);
        let operations = gate.lines("operations").into_iter().map(|at| at.value).collect();
        let approval_before = escalates || risk == Risk::High;
        gates.risks.insert(risk, RiskGate { operations, approval_before, audit_trail });
        gate.finish();
    }
    fields.finish();
}

fn human_checkpoints(mut fields: Fields<'_>, gates: &mut Gates) {
    for name in ["planner_questions_enabled", "judge_pass_approval_required"] {
        must_stay(&mut fields, name);
    }
    gates.question_reminder_ms = span(&mut fields, "planner_question_timeout");
    gates.approval_reminder_ms = span(&mut fields, "judge_pass_timeout");
    fields.ignore(&["judge_pause_notification"]);
    fields.finish();
}

fn battery(mut fields: Fields<'_>, gates: &mut Gates) {
    let switches = [
        ("run_existing_tests", Check::ExistingTests),
        ("run_linter", Check::Linter),
        ("run_security_scan", Check::SecurityScan),
    ];
    for (name, check) in switches {
        let Some(flag) = fields.flag(name) else { continue };
        if !flag.value && gates.required_checks.contains(&check) {
            let message = format!("`{name}` is off, but `{}` is a required check and is run", check.word());
            fields.sink().push(Finding::warning("contradiction", flag.place, message));
        }
    }
    gates.test_timeout_ms = span(&mut fields, "test_timeout");
    set(&mut gates.linter_warnings_fail, fields.flag("fail_on_linter_warnings"));
    set(&mut gates.security_warnings_fail, fields.flag("fail_on_security_warnings"));
    fields.ignore(&["linter_config", "security_tools"]);
    fields.finish();
}

fn archiving(mut fields: Fields<'_>, names: &mut Names) {
    set(&mut names.success_suffix, suffix(&mut fields, "success_suffix"));
    set(&mut names.incomplete_suffix, suffix(&mut fields, "incomplete_suffix"));
    set(&mut names.failed_suffix, suffix(&mut fields, "failed_suffix"));
    fields.ignore(&["archive_on_success", "archive_on_pause", "archive_on_failure", "retention_days"]);
    fields.finish();
}

fn set<T>(slot: &mut T, found: Option<At<T>>) {
    if let Some(At { value, .. }) = found {
        *slot = value;
    }
}

/// A count of which nothing at all would stop everything.
fn at_least_one(fields: &mut Fields<'_>, name: &'static str) -> Option<At<u32>> {
    let count = fields.count(name)?;
    if count.value == 0 {
        let message = format!("`{name}` must be at least 1");
        fields.sink().push(Finding::error("bad-value", count.place, message));
        return None;
    }
    Some(count)
}

/// A person's say and the measuring of the scope are no settings (CY-11, CY-80).
fn must_stay(fields: &mut Fields<'_>, name: &'static str) {
    if let Some(flag) = fields.flag(name).filter(|flag| !flag.value) {
        let message = format!("`{name}` cannot be switched off and stays on");
        fields.sink().push(Finding::warning("always-on", flag.place, message));
    }
}

/// A span such as `24h`.
fn span(fields: &mut Fields<'_>, name: &'static str) -> Option<u64> {
    let text = fields.text(name)?;
    let ms = parse_span(&text);
    if ms.is_none() {
        let message = format!("`{name}` must be a span of time, but this is `{text}`");
        fields.sink().push(Finding::error("type", text.place, message).help("write it as in 90s, 5m or 24h"));
    }
    ms
}

/// A path of the project. Where links lead is for the engine to find out.
fn inside(fields: &mut Fields<'_>, name: &'static str) -> Option<At<String>> {
    let path = fields.text(name)?;
    let stays = Path::new(path.trim())
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays || path.trim().is_empty() {
        let message = format!("`{name}` must be a path inside of the project, but this is `{path}`");
        fields.sink().push(Finding::error("outside", path.place, message));
        return None;
    }
    Some(At::new(path.trim().trim_end_matches('/').to_owned(), path.place))
}

/// A part of a file's name.
fn suffix(fields: &mut Fields<'_>, name: &'static str) -> Option<At<String>> {
    let suffix = fields.text(name)?;
    let fits = suffix.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        // A digit right behind the number of the cycle would become a part of it.
        && !suffix.starts_with(|c: char| c.is_ascii_digit());
    if !fits {
        let message =
            format!("`{name}` may hold letters, digits, `_` and `-`, but this is `{}`", suffix.value);
        fields.sink().push(Finding::error("bad-value", suffix.place, message));
        return None;
    }
    Some(suffix)
}
