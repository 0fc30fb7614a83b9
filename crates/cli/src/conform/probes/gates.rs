//! Probes of gates: work that is sent back, findings that nobody can let pass, and the record of every decision.

use std::io;

use seriatim_core::action::conformance::Judgement;

use crate::conform::judging::Judging;
use crate::conform::layout::Action;
use crate::conform::layout::Layout;
use crate::conform::layout::Role;
use crate::conform::reply::Choice;
use crate::conform::reply::Reply;
use crate::conform::trial::Trial;

const WRITER: Role = Role { name: "writer", writes: &["engine/guide.md"] };
const BUILD: Action = Action { name: "build", purpose: "Build the product", steps: &["agent: writer"] };

/// One role, and a gate at which a person decides.
pub(super) const REJECTED: Layout = Layout {
    roles: &[WRITER],
    actions: &[Action { steps: &["agent: writer", "{gate: approval, name: release}"], ..BUILD }],
    play: "write engine/guide.md \"# Guide of call $n\"\nfinish\n",
    ..Layout::PLAIN
};

const REASONS: [&str; 2] = ["the second chapter speaks of unicorns", "the index begins with the letter Q"];

pub(super) fn reject_twice(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let mut replies = vec![trial.run("build")];
    for reason in REASONS {
        let Some(before) = replies.last().cloned() else { break };
        replies.push(trial.decide(&before, "reject", reason));
    }
    let end = match replies.last().cloned() {
        Some(before) => trial.decide(&before, "approve", ""),
        None => Reply::none("the action was never started"),
    };
    let calls = trial.calls();
    let writer = calls.of("writer");
    let mut judging =
        Judging::of("rejection-feedback", format!("{}; then {}", calls.in_words(), end.in_words()))
            .demand(end.is_good(), format!("it does not end well once it is approved: {}", end.in_words()));
    for (round, reply) in (1..).zip(&replies) {
        judging = judging
            .demand(reply.waits(), format!("the gate is not shown in round {round}: {}", reply.in_words()));
    }
    for (number, reason) in (2..).zip(REASONS) {
        let told = writer.get(number - 1).is_some_and(|call| call.was_told(reason));
        judging = judging.demand(told, format!("brief {number} does not say \"{reason}\""));
    }
    Ok(vec![judging.close()])
}

/// A reviewer who always finds something critical, and a role behind the gate.
pub(super) const CRITICAL: Layout = Layout {
    roles: &[
        WRITER,
        Role { name: "security", writes: &["planning-mds/security/review.md"] },
        Role { name: "shipper", writes: &["experience/release.md"] },
    ],
    actions: &[Action {
        steps: &["agent: writer", "agent: security", "{gate: approval, name: release}", "agent: shipper"],
        ..BUILD
    }],
    play: r##"
case $role in
writer) write engine/guide.md "# Guide of call $n"; finish ;;
security)
    write planning-mds/security/review.md "# Review of call $n"
    finish '{"findings": [{"severity": "critical", "title": "A key is in the text", "file": "engine/guide.md",
        "line": 1, "remedy": "Take it out"}]}'
    ;;
*) write experience/release.md "# Release"; finish ;;
esac
"##,
    ..Layout::PLAIN
};

/// Ids of options that would let something pass.
const WAYS_PAST: [&str; 4] = ["approve", "override", "skip", "accept"];

pub(super) fn critical(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let asked = trial.run("build");
    let options = asked.question().map(|question| question.options.clone()).unwrap_or_default();
    let lets_pass = |option: &&Choice| {
        let names = [option.id.to_lowercase(), option.label.to_lowercase()];
        names.iter().any(|name| WAYS_PAST.contains(&name.as_str()))
    };
    let ways: Vec<&str> = options.iter().filter(lets_pass).map(|option| option.id.as_str()).collect();
    let answered = trial.answer(&asked, "approve", "It will be mended some other day");
    let after = trial.resume(&asked);
    let calls = trial.calls();
    let shipped = calls.count("shipper");
    let ids: Vec<&str> = options.iter().map(|option| option.id.as_str()).collect();
    let reviewed = calls.count("security");
    Ok(vec![
        Judging::of("critical-blocks", format!("options: {}; `approve` is refused", ids.join(", ")))
            .demand(asked.waits(), format!("nobody is asked: {}", asked.in_words()))
            .demand(ways.is_empty(), format!("options that let it pass: {}", ways.join(", ")))
            .demand(!answered.is_good(), "an answer that approves is taken")
            .demand(!after.is_good(), "the action ends well although the finding is critical")
            .close(),
        Judging::of("no-way-past-critical", calls.in_words())
            .demand(reviewed > 0, "the reviewer was never called")
            .demand(shipped == 0, format!("the role behind the gate was called {shipped} times"))
            .close(),
    ])
}

/// Every sort of gate, one behind the other.
pub(super) const EVERY_SORT: Layout = Layout {
    roles: &[WRITER],
    actions: &[Action {
        steps: &[
            "agent: writer",
            "{gate: clarification, name: open points}",
            "{gate: self-review, name: second look}",
            "{gate: quality, name: figures}",
            "{gate: tracker-sync, name: tracker, script: scripts/track.sh}",
            "{gate: approval, name: release}",
            "{gate: signoff, name: customer}",
        ],
        ..BUILD
    }],
    files: &[("scripts/track.sh", "exit 0\n")],
    config: "[gates.coverage]\ncommand = [\"echo\", \"coverage: 91.0% of statements\"]\n",
    play: "write engine/guide.md \"# Guide of call $n\"\nfinish\n",
};

const GATES: [&str; 6] = ["open points", "second look", "figures", "tracker", "release", "customer"];
/// More questions than this are not answered: then something asks in circles.
const QUESTIONS_MAX: usize = 12;

pub(super) fn every_sort(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let mut reply = trial.run("build");
    let mut reasons = vec![];
    while reply.waits() && reasons.len() < QUESTIONS_MAX {
        let reason = format!("reason number {}", reasons.len() + 1);
        reply = trial.decide(&reply, "approve", &reason);
        reasons.push(reason);
    }
    let files = trial.evidence("gate-decisions.md");
    let sections = files.first().map(|text| sections(text)).unwrap_or_default();
    let mut judging =
        Judging::of("gate-decisions", format!("{} decisions are on record, in order", sections.len()))
            .demand(
                reply.is_good(),
                format!("it does not end well once all is approved: {}", reply.in_words()),
            )
            .demand(!files.is_empty(), "there is no gate-decisions.md among the evidence");
    let place = |gate: &str| sections.iter().position(|section| section.gate == gate);
    for gate in GATES {
        let section = place(gate).and_then(|place| sections.get(place));
        let left_out = section.map(Section::left_out).unwrap_or_default();
        judging = judging
            .demand(section.is_some(), format!("there is no decision of the gate \"{gate}\""))
            .demand(left_out.is_empty(), format!("the gate \"{gate}\" lacks {}", left_out.join(" and ")));
    }
    let order: Vec<usize> = GATES.iter().filter_map(|gate| place(gate)).collect();
    judging = judging.demand(order.is_sorted(), "the gates are not in the order of the action");
    let text = files.concat();
    for reason in &reasons {
        judging = judging.demand(text.contains(reason.as_str()), format!("\"{reason}\" is not on record"));
    }
    Ok(vec![judging.close()])
}

/// What the record says about one gate.
#[derive(Debug, Default)]
struct Section {
    gate: String,
    decision: String,
    at: String,
    rationale: String,
}

impl Section {
    fn left_out(&self) -> Vec<&'static str> {
        let fields =
            [("Decision", &self.decision), ("Timestamp (UTC)", &self.at), ("Rationale", &self.rationale)];
        fields.into_iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| name).collect()
    }
}

/// The sections of `gate-decisions.md`.
fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = vec![];
    for line in text.lines() {
        if let Some(gate) = line.strip_prefix("## ") {
            sections.push(Section { gate: gate.trim().to_owned(), ..Section::default() });
        }
        let Some(section) = sections.last_mut() else { continue };
        let fields = [
            ("- Decision:", &mut section.decision),
            ("- Timestamp (UTC):", &mut section.at),
            ("- Rationale:", &mut section.rationale),
        ];
        for (name, field) in fields {
            if let Some(value) = line.strip_prefix(name) {
                value.trim().clone_into(field);
            }
        }
    }
    sections
}
