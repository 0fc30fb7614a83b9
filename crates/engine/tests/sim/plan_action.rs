//! Actions from the seed: roles one after the other and side by side, a reviewer, and a person at the end.

use serde_json::Value;
use serde_json::json;

use seriatim_engine::sim::Rng;
use seriatim_flows::action;

use crate::plan::Planned;
use crate::plan::SCRIPTS;
use crate::plan_cycle::agent;
use crate::plan_cycle::done;
use crate::plan_cycle::failures;
use crate::plan_cycle::some_of;
use crate::plan_cycle::with;

/// Roles, with what each of them writes.
const ROLES: [(&str, &str, &str); 4] = [
    ("backend-developer", "engine/api.md", "# Api\n\nIt answers.\n"),
    ("frontend-developer", "experience/app.md", "# App\n\nIt asks.\n"),
    ("quality-engineer", "tests/plan.md", "# Plan\n\nIt looks.\n"),
    ("security", "planning-mds/security/review.md", "# Review\n\nIt holds.\n"),
];

/// An action in which `mishaps` of a hundred things go wrong; `large` has roles side by side.
pub(crate) fn action(rng: &mut Rng, number: usize, mishaps: u64, large: bool) -> Planned {
    let script = format!("{SCRIPTS}/action-{number}.yaml");
    let steps = if large {
        "      - parallel: [backend-developer, frontend-developer, quality-engineer]\n      - agent: security\n      \
         - {gate: approval, name: release}\n"
    } else {
        "      - agent: backend-developer\n      - {gate: approval, name: release}\n"
    };
    let mut files = vec![
        ("agents/agent-map.yaml".to_owned(), map(steps)),
        (
            "agents/actions/README.md".to_owned(),
            "# Actions\n\n- [build](build.md): Build the product\n".to_owned(),
        ),
        ("agents/actions/build.md".to_owned(), "# Action: build\n\n## User Intent\n\nBuild it.\n".to_owned()),
        (script.clone(), lines(rng, mishaps)),
    ];
    if !rng.chance(mishaps) {
        files.push(("planning-mds/BLUEPRINT.md".to_owned(), "# Blueprint\n".to_owned()));
    }
    for (role, _, _) in ROLES {
        let guide = format!(
            "---\nname: {role}\ndescription: The work of {role}\n---\n# {role}\n\nThe guide of {role}.\n"
        );
        files.push((format!("agents/{role}/SKILL.md"), guide));
    }
    let start =
        action::Start { intent: "build".to_owned(), operator: "ada".to_owned(), ..action::Start::default() };
    Planned {
        name: format!("20260101-00000{number}-act"),
        flow: "action",
        title: "An action".to_owned(),
        subject: String::new(),
        input: serde_json::to_value(start).unwrap(),
        agents: ROLES.map(|(role, _, _)| (role.to_owned(), agent(rng, &script))).to_vec(),
        files,
    }
}

fn map(steps: &str) -> String {
    let mut map = String::from("agents:\n");
    for (role, path, _) in ROLES {
        map.push_str(&format!("  {role}: {{skill: agents/{role}/SKILL.md, writes: [{path}]}}\n"));
    }
    map.push_str("actions:\n  build:\n    doc: agents/actions/build.md\n    description: Build it\n");
    map.push_str("    prerequisites: [planning-mds/BLUEPRINT.md]\n    steps:\n");
    map + steps
}

fn lines(rng: &mut Rng, mishaps: u64) -> String {
    let mut lines = Vec::new();
    let none = || json!({"findings": []});
    for (role, path, text) in ROLES {
        let wrong = failures().into_iter().chain([
            json!({"report": done("done, it says", none())}),
            json!({"report": done("elsewhere", none()), "write": {"elsewhere.md": "# Not mine\n"}}),
            json!({"report": done("broken", none()), "write": {path: "# Open\n\n```sh\necho\n"}}),
        ]);
        lines.extend(some_of(rng, mishaps, role, wrong));
        if role == "security" && rng.chance(mishaps) {
            let found = json!({"severity": "high", "title": "A hole", "file": "engine/api.md", "line": 1, "remedy": "close it"});
            let report = done("a finding", json!({"findings": [found]}));
            lines.push(json!({"step": role, "report": report, "write": {path: text}}));
        }
        lines.push(with(json!({"report": done("as asked", none()), "write": {path: text}}), role));
    }
    seriatim_core::doc::write(&Value::Array(lines))
}
